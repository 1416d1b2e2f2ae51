"""Messages stay short however long a line is."""

import pytest

from tidelog import Database, EvaluationError, ProgramError
from tidelog.base.diagnostic import CUT, WIDEST, Report, render
from tidelog.base.span import Source, Span
from tidelog.session.engines import EngineName


def excerpt(text: str, start: int, end: int) -> tuple[str, str]:
    report = Report()
    report.add("E0000", "wrong", Span(Source("p.dl", text), start, end))
    *_, line, marks = render(report.diagnostics[0]).split("\n")
    return line.partition("| ")[2], marks.partition("| ")[2]


@pytest.mark.parametrize("before", [0, 1, 39, 40, 41, 159, 160, 1_000_000])
@pytest.mark.parametrize("after", [0, 1, 119, 120, 121, 1_000_000])
def test_a_long_line_is_cut_around_the_mistake(before: int, after: int) -> None:
    text = "a" * before + "[here]" + "b" * after
    line, marks = excerpt(f"first\n{text}\nlast", 6 + before, 12 + before)
    assert len(line) <= WIDEST + 2 * len(CUT)
    assert line[marks.index("^") : marks.rindex("^") + 1] == "[here]"
    assert line.removeprefix(CUT).removesuffix(CUT) in text
    assert line == text if len(text) <= WIDEST else CUT in line


def test_a_span_longer_than_the_line_that_is_shown() -> None:
    line, marks = excerpt("x" * 1000, 10, 990)
    assert len(marks) <= len(line) <= WIDEST + len(CUT)


def test_lines_are_those_of_the_text() -> None:
    source = Source("p.dl", "one\r\ntwo\n\nfour")
    assert [source.line(number) for number in (1, 2, 3, 4)] == ["one", "two", "", "four"]


@pytest.mark.parametrize(
    "text",
    [
        "relation R(x: u8) " + " " * 500_000 + "R(y)." + " " * 500_000,
        "relation R(x: u8) R(" + "y" * 1_000_000 + ").",
        "relation " + "R" * 1_000_000 + "(x: u8) R(1).",
        'relation R(x: string) R("' + "a" * 1_000_000,
    ],
)
def test_a_megabyte_in_a_line(text: str) -> None:
    with pytest.raises(ProgramError) as raised:
        Database(text)
    assert len(str(raised.value)) < 4000


@pytest.mark.parametrize("engine", ["columnar", "tuples", "reference"])
def test_a_megabyte_in_a_rule_that_fails(engine: EngineName) -> None:
    blank = " " * 1_000_000
    with pytest.raises(EvaluationError) as raised:
        Database(f"relation Z(x: u8)  Z(0).  relation R(x: u8)  R(1 / x) :- {blank} Z(x).", engine=engine)
    assert "in the rule `R(1 / x) :- " in str(raised.value)
    assert len(str(raised.value)) < 4000

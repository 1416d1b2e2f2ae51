"""Rules: what is accepted and how, one mistake gives one diagnostic, and warnings are rare."""

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.logic.print import print_rule

DECLARED = """
typedef Shape = Circle{radius: u32} | Dot
input relation A(x: u32, name: string)
input relation B(x: u32)
input relation K(x: u32) primary key (k) k.x
input relation S(shape: Shape)
input relation V(items: Vec<u32>)
input relation G[(u32, string)]
output relation Out(x: u32)
output relation Text(x: string)
"""


def mistakes(text: str) -> list[str]:
    report = Report()
    analyse(Source("test", DECLARED + text), report)
    return [f"{d.code} {d.message}" for d in report.sorted()]


def rules(text: str) -> list[str]:
    report = Report()
    program = analyse(Source("test", DECLARED + text), report)
    assert program is not None, report.diagnostics
    return [print_rule(rule) for rule in program.rules]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Out(x) :- x > y, B(y), A(x, _).", "Out(x) :- B(y), A(x, _), x > y."),
        ("Out(n as u32) :- var n = s.len(), A(_, s).", "Out(n as bit<32>) :- A(_, s), n := std::len(string)(s)."),
        ("Out(r) :- Circle{var r} = s, S(s).", "Out(r) :- S(s), s is Circle, r := s.0."),
        ("Out(x) :- V(v), var x = FlatMap(v), B(x).", "Out(x) :- V(v), x in v, B(x)."),
        ("Out(x) :- B(x), V(v), x = FlatMap(v).", "Out(x) :- B(x), V(v), #x in v, x == #x."),
        ("Out(x) :- G((x, _)).", "Out(x) :- G(#1), x := #1.0."),
        ('Out(g.0) :- G[g], g.1 == "a".', 'Out(g.0) :- G(g), g.1 == "a".'),
        ("Out(3).", "Out(3)."),
        ("B(3).", "B(3)."),
        ("Out(.x = 3 + 4).", "Out(7)."),
        ("Out(x) :- A(.x = x).", "Out(x) :- A(x, _)."),
        ("Out(x) :- A(x, n), A(x, n), not A(_, n).", "Out(x) :- A(x, n), A(x, n), not A(_, n)."),
        ('Text("${x}") :- B(x), var y: bit<64> = 3, y > 2.', "Text(string(x)) :- B(x), y := 3, y > 2."),
    ],
)
def test_one_rule(text: str, after: str) -> None:
    assert rules(text) == [after]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        # a variable that is unknown in one place is known to be so in the others
        ("Out(y) :- B(x), y > x, not B(y).", "E0402 variable `y` is not bound"),
        ("Out(y + y) :- Nosuch(y), y > 3.", "E0201 unknown relation `Nosuch`"),
        ("Nosuch(x) :- B(x), x > 3.", "E0201 unknown relation `Nosuch`"),
        ("Out(x) :- A(x, x).", "E0301 expected `string`, found `bit<32>`"),
        ("Out(x) :- A(n, n), B(n), var x = n + 1.", "E0301 expected `string`, found `bit<32>`"),
        ("Out(x) :- A(x), x > 3.", "E0405 `A` has 2 columns, but 1 is given"),
        ("Out(x), Out(x + 1) :- A(x, n), n > 3.", "E0301 expected `string`, found `integer`"),
        ("Out(n) :- A(x, _), var n = x.group_by(y).sum().", "E0402 variable `y` is not bound"),
        ("Out(x) :- A(x, _), var n = x.group_by(()).sum().", "E0407 variable `x` is hidden by `group_by`"),
    ],
)
def test_one_mistake_is_told_once(text: str, found: str) -> None:
    assert mistakes(text) == [found]


@pytest.mark.parametrize(
    "text",
    [
        'Out(x) :- A(x, name1), A(_, name2), name2 != "".',
        'Out(x) :- A(x, source_port), A(_, source_host), source_host != "".',
        'Out(x) :- A(x, name), A(x, names), names != "".',
        'Out(x) :- A(x, _nmae), A(_, name), name != "".',
        "Out(x) :- B(x). Out(x + 1) :- Out(x), x < 10.",
        "Out(x) :- B(x). Out(y) :- Out(x), A(x, _), B(y).",
        "relation W(n: u8) W(n + 1) :- W(n), B(_). W(0).",
        "relation Later(x: u32)",
        "relation N(x: u32) N(x + 1) :- N(x), not B(x). N(0).",
    ],
)
def test_no_warning(text: str) -> None:
    assert mistakes(text) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('Out(x) :- A(x, hostname), A(_, hostnmae), hostname != "".', "W0404"),
        ('Out(x) :- A(x, host_name), A(_, hostname), host_name != "".', "W0404"),
        ("Out(x) :- B(x). Out(x + 1) :- Out(x).", "W0403"),
        ("Out(x) :- B(x). Out(y) :- Out(x), var y = x * 2, x != 7.", "W0403"),
        ('Text("a"). Text(x ++ "b") :- Text(x).', "W0403"),
        ("relation Later(x: u32) Out(x) :- Later(x).", "W0402"),
    ],
)
def test_warning(text: str, code: str) -> None:
    assert [m.partition(" ")[0] for m in mistakes(text)] == [code]


def test_a_rule_that_never_holds_is_left_out() -> None:
    assert rules("Out(x) :- B(x), 1 > 2. Out(1).") == ["Out(1)."]


def test_every_rule_knows_the_declaration_it_was_made_from() -> None:
    text = 'Out(x), Text("a") :- (B(x); A(x, _)).'
    report = Report()
    program = analyse(Source("test", DECLARED + text), report)
    assert program is not None
    assert [rule.origin.text for rule in program.rules] == [text] * 4


def test_mistakes_of_all_rules_are_reported() -> None:
    assert mistakes("Out(y) :- B(x). Text(y) :- B(x). K(x) :- A(x, _).") == [
        "E0402 variable `y` is not bound",
        "E0402 variable `y` is not bound",
        "E0410 `K` has a primary key, so rules cannot derive it",
    ]

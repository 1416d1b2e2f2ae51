"""All mistakes of a text are reported at once, and what is right is kept."""

from __future__ import annotations

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse, parse_expression, parse_rules, parse_type
from tidelog.lang.syntax import RelationDef, RuleDef

PROGRAM = """\
input relation Edge(a: u8 b: u8)
input relation Node(n: u8)
output relation Path(a: u8, b: u8)
Path(a, b) :- Edge(a b), Node(a), a ==, Node(b).
Path(a, c) :- Path(a, b), Edge(b, c)
function f(x: u8): u8 {
    var y = x + ;
    for (z in y) { z }
    g(x, ;
    y
}
Path(a, a) <- Node(a).
Path(1, 2).
typedef T = A{x u8} | B
index I(a: u8) Path(a, _)
Path(3, 4) :- Node(3); Node(4).
"""


def mistakes(text: str) -> list[tuple[int, str]]:
    report = Report()
    source = Source("program.dl", text)
    parse(source, report)
    return [(source.position(d.span.start)[0], d.code) for d in report.errors]


def test_all_mistakes_are_reported() -> None:
    assert mistakes(PROGRAM) == [
        (1, "E0110"),
        (4, "E0110"),
        (4, "E0110"),
        (5, "E0112"),
        (7, "E0110"),
        (8, "E0118"),
        (9, "E0110"),
        (12, "E0113"),
        (14, "E0110"),
        (15, "E0110"),
        (16, "E0114"),
    ]


def test_what_is_right_is_kept() -> None:
    module = parse(Source("program.dl", PROGRAM), Report())
    assert [d.name for d in module.declarations if isinstance(d, RelationDef)] == ["Node", "Path"]
    assert len([d for d in module.declarations if isinstance(d, RuleDef)]) == 4


def test_rules_only() -> None:
    report = Report()
    rules = parse_rules(Source("rules", "relation R(x: u8)\nR(1).\nfor (x in R) S(x.x)"), report)
    assert [type(rule).__name__ for rule in rules] == ["RuleDef", "ImperativeRule"]
    assert [d.code for d in report.errors] == ["E0127"]


def test_the_whole_text_is_one_expression_or_type() -> None:
    for entry, text in ((parse_expression, "x + 1 y"), (parse_type, "u8 u8"), (parse_expression, "")):
        report = Report()
        assert entry(Source("text", text), report) is None
        assert [d.code for d in report.errors] == ["E0110"]

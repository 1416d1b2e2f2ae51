"""The layout of the formatter: format/*.dl is badly laid out, format/*.formatted is what becomes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.format.format import format_expression, format_module, format_rule
from tidelog.lang.format.layout import HARD, LINE, Suffix, flat, group, nest, render
from tidelog.lang.parse.parse import parse, parse_expression, parse_rules
from tidelog.lang.syntax import (
    Assign,
    Atom,
    Block,
    BlockStatement,
    Call,
    Construct,
    Expr,
    FieldAccess,
    ForStatement,
    If,
    IfStatement,
    ImperativeRule,
    IntLiteral,
    Lambda,
    Name,
    Parameter,
    SkipStatement,
    Slice,
    TupleAccess,
    VecLiteral,
    Wildcard,
)

CASES = sorted((Path(__file__).parent / "format").glob("*.dl"))
X, Y = Name(("x",)), Name(("y",))


def formatted(text: str, width: int = 100) -> str:
    report = Report()
    module = parse(Source("program.dl", text), report)
    assert not report.diagnostics
    return format_module(module, width)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_layout(case: Path) -> None:
    expected = case.with_suffix(".formatted").read_text()
    assert formatted(case.read_text()) == expected
    assert formatted(expected) == expected


@pytest.mark.parametrize("width", [1, 20, 40, 1000])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_width_does_not_change_the_program(case: Path, width: int) -> None:
    report = Report()
    module = parse(Source("program.dl", case.read_text()), report)
    again = parse(Source("again.dl", format_module(module, width)), report)
    assert not report.diagnostics
    assert again == module


@pytest.mark.parametrize(
    "text",
    [
        "a + b * c - d",
        "(a + b) * (c - d)",
        "a - (b - c)",
        "not (a and b) or c",
        "(a < b) == (c < d)",
        "a == b == c",
        "-x.f + ~y[7:0]",
        "(-x).f",
        "(x as u8) < y",
        "x as u8 << y",
        "(a + x as u8) < y",
        "x as bit<8> < y",
        "(if (a) b else c) ++ d",
        "x = if (a) b else c",
        "(|x| x)(1)",
        "f(|x| x + 1, y)",
        "[(|x| x)]",
        "(1).0",
        "x.0.1",
        "(x.f)(y)",
        "x: (function(u8)): u8",
        '"${f("a")}$ \\${b}"',
    ],
)
def test_parentheses_are_minimal(text: str) -> None:
    tree = parse_expression(Source("text", text), Report())
    assert tree is not None
    assert format_expression(tree) == text


@pytest.mark.parametrize(
    ("tree", "text"),
    [
        (Slice(Construct(("C",)), 7, 0), "(C)[7:0]"),
        (Call(Construct(("C",)), (X,)), "(C)(x)"),
        (Call(FieldAccess(X, "f"), ()), "(x.f)()"),
        (TupleAccess(IntLiteral(1), 0), "(1).0"),
        (VecLiteral((Lambda((Parameter("x", None),), None, X),)), "[(|x| x)]"),
        (If(X, If(Y, X, None), Y), "if (x) (if (y) x) else y"),
        (If(X, Assign(X, If(Y, X, None)), Y), "if (x) (x = if (y) x) else y"),
        (Block(()), "{}"),
    ],
)
def test_trees_that_need_parentheses(tree: Expr, text: str) -> None:
    assert format_expression(tree) == text


def test_an_else_that_would_go_astray() -> None:
    inner = IfStatement(Y, SkipStatement(), None)
    loop = ForStatement(Wildcard(), Atom(("R",), ()), None, IfStatement(X, inner, SkipStatement()))
    text = format_rule(ImperativeRule(loop))
    (again,) = parse_rules(Source("rules", text), Report())
    assert isinstance(again, ImperativeRule)
    assert again.statement.body == IfStatement(X, BlockStatement((inner,)), SkipStatement())


def test_canonical_text_does_not_depend_on_the_source() -> None:
    texts = ['#[name = "a"]\nR(x, 16, "a\\n") :- // why\n S(x).', "R(x,1_6,[|a\n|]):-S( x ) ."]
    rules = [parse_rules(Source("rules", text), Report())[0] for text in texts]
    assert [format_rule(rule) for rule in rules] == ['R(x, 16, "a\\n") :- S(x).'] * 2


def test_comments_in_strings() -> None:
    once = formatted('R("a${ /* why */ x }").')
    assert once == 'R(/* why */ "a${x}").\n'
    assert formatted(once) == once


def test_comments_that_meet() -> None:
    assert render((group("a", Suffix("// one"), Suffix("// two")), HARD, "b"), 80) == "a // one\n// two\nb"


def test_documents() -> None:
    doc = group("f(", nest(LINE, "a,", LINE, "b"), LINE, ")")
    assert flat(doc) == "f( a, b )"
    assert render(doc, 9) == "f( a, b )"
    assert render(doc, 8) == "f(\n    a,\n    b\n)"
    assert render(("x", HARD, HARD, nest(HARD, HARD, "y")), 80) == "x\n\n\n\n    y"

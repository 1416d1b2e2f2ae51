"""Programs built in Python are the same trees as those parsed."""

from __future__ import annotations

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.errors import ProgramError
from tidelog.base.span import Source
from tidelog.lang.build import (
    Constructor,
    Program,
    and_,
    concat,
    each,
    either,
    function,
    implies,
    let,
    not_,
    or_,
    text,
    variables,
)
from tidelog.lang.build_terms import expression
from tidelog.lang.parse.parse import parse, parse_expression
from tidelog.lang.syntax import Module

x, y, z, n = variables("x y z n")
Some = Constructor("Some")


def parsed(source: str) -> Module:
    report = Report()
    module = parse(Source("program.dl", source), report)
    assert not report.diagnostics
    return module


@pytest.mark.parametrize(
    ("term", "source"),
    [
        (x + 1, "x + 1"),
        (1 + x * 2 - y / 3 % 4, "1 + x * 2 - y / 3 % 4"),
        (2 - x, "2 - x"),
        (2 * x, "2 * x"),
        (2 / x, "2 / x"),
        (2 % x, "2 % x"),
        ((x & y) | (z ^ 1), "(x & y) | (z ^ 1)"),
        (x << 1 >> 2, "x << 1 >> 2"),
        (~x, "~x"),
        (-x, "-x"),
        (x == "a", 'x == "a"'),
        (x != -1, "x != -1"),
        (and_(x < 1, x <= 2, or_(x > 3, not_(x >= 4))), "x < 1 and x <= 2 and (x > 3 or not (x >= 4))"),
        (implies(x, y), "x => y"),
        (concat(x, "b", y), 'x ++ "b" ++ y'),
        (x.name, "x.name"),
        (x.group_by((y, z)).count(), "x.group_by((y, z)).count()"),
        (x[0][1], "x.0.1"),
        (x[15:8], "x[15:8]"),
        (x.as_("bit<8>"), "x as bit<8>"),
        (x.typed(int), "x: bigint"),
        (x.try_().f, "x?.f"),
        (function("m::f")(x, [1, 2]), "m::f(x, [1, 2])"),
        (function("f")({"a": True}, (), ...), 'f(["a" -> true], (), _)'),
        (function("f")(1.5, -0.5, ""), 'f(1.5, -0.5, "")'),
        (Some(x), "Some{x}"),
        (Constructor("m::P")(a=x, b=y), "m::P{.a = x, .b = y}"),
        (text("if (x) y else z"), "if (x) y else z"),
        (x == "${n}", 'x == "\\${n}"'),
    ],
)
def test_terms(term: object, source: str) -> None:
    assert expression(term) == parse_expression(Source("text", source), Report())


def test_clauses() -> None:
    p = Program()
    R, S, T = p.input("R", a="u8", b="u8"), p.relation("S", "(u8, u8)"), p.output("T", a=int)  # noqa: N806
    p.rule(T(x), R(x, ...), ~R(a=x), S[x, y], x < y)
    p.rule([T(x), T(y)], R(x, y).row(z), let((x, Some(y)), z), each(n, x.items()))
    p.rule(T(x), R(x, 1) | R(x, 2) | ~T(x), either([R(x, 3), x > 1], [T(x)]), cold=True)
    p.fact(R(1, 2), R(a=3, b=4))
    assert p.module() == parsed("""
        input relation R(a: u8, b: u8)
        relation S[(u8, u8)]
        output relation T(a: bigint)
        T(x) :- R(x, _), not R(.a = x), S[(x, y)], x < y.
        T(x), T(y) :- z in R(x, y), (var x, Some{var y}) = z, var n = FlatMap(x.items()).
        #[cold = true]
        T(x) :- (R(x, 1); R(x, 2); not T(x)), (R(x, 3), x > 1; T(x)).
        R(1, 2).
        R(.a = 3, .b = 4).
    """)
    assert parsed(str(p)) == p.module()


def test_declarations() -> None:
    p = Program()
    p.import_("std.time", "t")
    p.typedef("Pair", "('A, 'B)", "A", "B")
    p.extern_type("Opaque", "A")
    Point, Nowhere = p.union("Place", Point={"x": "u8", "y": "u8"}, Nowhere={})  # noqa: N806
    p.function("outside", {"v": "mut Vec<'A>", "n": int}, None)
    where = p.function("where", {"n": "u8"}, "Place", "{ var m = n; Point{m, m} }")
    R = p.output("R", place="Place").keyed("place")  # noqa: N806
    p.fact(R(where(1)), R(Point(1, 2)), R(Nowhere()))
    p.index("At", R(x), x="Place")
    p.add("function f(): u8 = 1")
    assert p.module() == parsed("""
        import std::time as t
        typedef Pair<'A, 'B> = ('A, 'B)
        extern type Opaque<'A>
        typedef Place = Point{x: u8, y: u8} | Nowhere
        extern function outside(v: mut Vec<'A>, n: bigint)
        function where(n: u8): Place { var m = n; Point{m, m} }
        output relation R(place: Place) primary key (x) x.place
        R(where(1)).
        R(Point{1, 2}).
        R(Nowhere).
        index At(x: Place) on R(x)
        function f(): u8 = 1
    """)


def test_mistakes() -> None:
    p = Program()
    R = p.input("R", a="u8")  # noqa: N806
    with pytest.raises(TypeError, match="truth value"):
        bool(x < 1)
    with pytest.raises(TypeError, match="all positional or all named"):
        R(x, a=y)
    with pytest.raises(TypeError, match="not a clause"):
        p.rule(R(x), "R(x)")
    with pytest.raises(TypeError, match="not a term"):
        R(None)
    with pytest.raises(TypeError, match="not a type"):
        p.input("S", a=object)
    with pytest.raises(TypeError, match="two alternatives"):
        either([R(x)])
    with pytest.raises(ProgramError, match="E0110"):
        text("x +")
    with pytest.raises(ProgramError, match="E0110"):
        p.input("S", a="Vec<")
    with pytest.raises(ProgramError, match="E0112"):
        p.add("R(1)")
    with pytest.raises(TypeError):
        list(x)

"""Typed expressions and values as text."""

from __future__ import annotations

import pytest

from tidelog.base import expr, types
from tidelog.base.expr import Const, Expr, Operate, Var
from tidelog.base.text.show import show_expression, show_value
from tidelog.base.types import BIGINT, BOOL, STRING, Constructor, Field
from tidelog.base.values import FrozenMap, Group, Variant

X, Y, B = Var("x", BIGINT), Var("y", BIGINT), Var("b", BOOL)
SOME = Constructor("std::Some", "std::Option", 0, (Field("x", BIGINT),))
OPTION = types.Named("std::Option", (BIGINT,))
VEC = types.Named(types.VEC, (BIGINT,))


def op(operator: str, *operands: Expr) -> Expr:
    return Operate(operator, operands, BIGINT)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (op("+", X, op("*", X, Y)), "x + x * y"),
        (op("*", op("+", X, Y), Y), "(x + y) * y"),
        (op("-", X, op("-", X, Y)), "x - (x - y)"),
        (op("-", op("-", X, Y), X), "x - y - x"),
        (op("and", op("<", X, Y), op("not", op("or", B, B))), "x < y and not (b or b)"),
        (op("neg", op("neg", X)), "-(-x)"),
        (op("slice", op("+", X, Y), Const(7, BIGINT), Const(0, BIGINT)), "(x + y)[7:0]"),
        (Operate("as", (op("+", X, Y),), types.Bit(8)), "(x + y) as bit<8>"),
        (op("string", X), "string(x)"),
        (op("==", X, Const('a"b', STRING)), 'x == "a\\"b"'),
        (expr.MakeTuple((X, Y), BIGINT), "(x, y)"),
        (expr.MakeVec((X, Const(1, BIGINT)), VEC), "[x, 1]"),
        (expr.MakeMap(((X, Y),), BIGINT), "[x -> y]"),
        (expr.Construct(SOME, (X,), OPTION), "Some{x}"),
        (expr.Project(Var("t", BIGINT), 1, BIGINT), "t.1"),
        (expr.Project(op("+", X, Y), 1, BIGINT), "(x + y).1"),
        (expr.Is(X, SOME), "x is Some"),
        (op("and", expr.Is(X, SOME), B), "x is Some and b"),
        (expr.Call("f", (X, op("+", X, Y)), BIGINT), "f(x, x + y)"),
        (expr.Apply(X, (Y,), BIGINT), "x(y)"),
        (expr.FunctionValue("f", BIGINT), "f"),
        (expr.Lambda((X,), op("+", X, Y), BIGINT), "|x| x + y"),
        (expr.If(B, X, Y, BIGINT), "if (b) x else y"),
        (op("+", expr.If(B, X, Y, BIGINT), Y), "(if (b) x else y) + y"),
        (
            expr.Match(
                X,
                (
                    (expr.ConstructorPattern(SOME, (expr.VarPattern("y", BIGINT),)), Y),
                    (expr.TuplePattern((expr.ConstPattern(1, BIGINT), expr.AnyPattern())), X),
                    (expr.VarPattern("z", BIGINT, expr.ConstPattern(2, BIGINT)), X),
                    (expr.AnyPattern(), X),
                ),
                BIGINT,
            ),
            "match (x) {Some{y} -> y, (1, _) -> x, z @ 2 -> x, _ -> x}",
        ),
        (
            expr.Sequence(
                (
                    expr.Declare(expr.VarPattern("s", BIGINT), X),
                    expr.For(
                        expr.VarPattern("e", BIGINT),
                        Y,
                        expr.If(B, expr.Break(), expr.Continue(), types.UNIT),
                    ),
                    expr.Assign(expr.Place("s", BIGINT, (0, 1)), Y),
                    expr.Return(X),
                ),
                BIGINT,
            ),
            "{var s = x; for (e in y) if (b) break else continue; s.0.1 = y; return x}",
        ),
    ],
)
def test_expression(expression: Expr, text: str) -> None:
    assert show_expression(expression) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (True, "true"),
        (-3, "-3"),
        (1.5, "1.5"),
        ("a\n", '"a\\n"'),
        ((1, "x"), '(1, "x")'),
        (Variant("std::Some", 0, (1,)), "Some{1}"),
        (frozenset({2, 1}), "[1, 2]"),
        (FrozenMap({2: "b", 1: "a"}), '[1 -> "a", 2 -> "b"]'),
        (Group("k", {1: 2}), 'group "k"'),
    ],
)
def test_value(value: object, text: str) -> None:
    assert show_value(value) == text

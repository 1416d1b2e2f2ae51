"""The reference interpreter on typed expressions made by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tidelog.base import expr as e
from tidelog.base.types import (
    BIGINT,
    BOOL,
    DOUBLE,
    FLOAT,
    STRING,
    UNIT,
    VEC,
    Bit,
    Constructor,
    Field,
    Function,
    Named,
    Signed,
    Tuple,
    Type,
    TypeDefinition,
)
from tidelog.base.values import NAN, FrozenMap, Group, Variant, single
from tidelog.run.reference.evaluate import Evaluator
from tidelog.run.reference.operators import Failure

SHAPE = Named("Shape")
CIRCLE = Constructor("Circle", "Shape", 0, (Field("r", Bit(8)),))
BOX = Constructor("Box", "Shape", 1, (Field("w", Bit(8)), Field("r", Bit(8))))
TYPES = {"Shape": TypeDefinition("Shape", (), (CIRCLE, BOX))}


def constant(value: Any, type: Type) -> e.Const:
    return e.Const(value, type)


def run(expr: e.Expr, functions: tuple[e.Function, ...] = (), **env: Any) -> Any:
    return Evaluator({f.name: f for f in functions}, TYPES).value(expr, env)


def binary(operator: str, a: Any, b: Any, type: Type, right: Type | None = None, result: Type | None = None) -> Any:
    operands = (constant(a, type), constant(b, right or type))
    return run(e.Operate(operator, operands, result or type))


@pytest.mark.parametrize(
    ("operator", "a", "b", "type", "expected"),
    [
        ("+", 250, 10, Bit(8), 4),
        ("-", 3, 5, Bit(8), 254),
        ("*", 100, 2, Signed(8), -56),
        ("-", -128, 1, Signed(8), 127),
        ("/", -7, 2, Signed(8), -3),
        ("%", -7, 2, Signed(8), -1),
        ("%", 7, -2, Signed(8), 1),
        ("/", -128, -1, Signed(8), -128),
        ("*", 10**30, 10**30, BIGINT, 10**60),
        ("&", 12, 10, Bit(8), 8),
        ("|", 12, 10, Bit(8), 14),
        ("^", 12, 10, Bit(8), 6),
        ("+", 0.1, 0.2, DOUBLE, 0.1 + 0.2),
        ("/", 1.0, 0.0, DOUBLE, math.inf),
        ("/", -1.0, 0.0, DOUBLE, -math.inf),
        ("/", single(1.0), single(3.0), FLOAT, single(1 / 3)),
        ("%", -7.5, 2.0, DOUBLE, -1.5),
        ("++", "a", "b", STRING, "ab"),
    ],
)
def test_arithmetic(operator: str, a: Any, b: Any, type: Type, expected: Any) -> None:
    assert binary(operator, a, b, type) == expected


def test_nan_is_one_value_equal_to_itself_and_greatest() -> None:
    assert binary("/", 0.0, 0.0, DOUBLE) is NAN
    assert binary("==", NAN, NAN, DOUBLE, result=BOOL) is True
    assert binary("<", math.inf, NAN, DOUBLE, result=BOOL) is True


@pytest.mark.parametrize("operator", ["/", "%"])
def test_integer_division_by_zero_fails(operator: str) -> None:
    with pytest.raises(Failure, match=rf"5 {operator} 0: division by zero"):
        binary(operator, 5, 0, Bit(8))


@pytest.mark.parametrize(
    ("operator", "a", "amount", "type", "expected"),
    [
        ("<<", 1, 9, Bit(10), 512),
        ("<<", 1, 10, Bit(10), 0),
        ("<<", 1, 16, Bit(10), 1),
        ("<<", 3, 17, Bit(10), 6),
        (">>", -8, 1, Signed(8), -4),
        ("<<", 1, 8, Bit(8), 1),
        ("<<", 1, 100, BIGINT, 1 << 100),
        ("<<", 1, 7, Bit(1), 1),
    ],
)
def test_shifts(operator: str, a: int, amount: int, type: Type, expected: int) -> None:
    assert binary(operator, a, amount, type, right=Bit(32)) == expected


def test_bits() -> None:
    x = constant(0xABCD, Bit(16))
    high, low = constant(11, Bit(32)), constant(4, Bit(32))
    assert run(e.Operate("slice", (x, high, low), Bit(8))) == 0xBC
    assert binary("++", 0xA, 0xB, Bit(4), result=Bit(8)) == 0xAB
    assert run(e.Operate("~", (x,), Bit(16))) == 0x5432
    assert run(e.Operate("neg", (constant(1, Bit(8)),), Bit(8))) == 255


@pytest.mark.parametrize(
    ("value", "source", "target", "expected"),
    [
        (300, Bit(16), Bit(8), 44),
        (200, Bit(8), Signed(8), -56),
        (-1, Signed(8), Bit(16), 65535),
        (-1, BIGINT, Bit(4), 15),
        (3, Bit(8), DOUBLE, 3.0),
        (0.1, DOUBLE, FLOAT, single(0.1)),
        (300.7, DOUBLE, Bit(8), 255),
        (-3.7, DOUBLE, Bit(8), 0),
        (-3.7, DOUBLE, Signed(8), -3),
        (-math.inf, DOUBLE, Signed(8), -128),
        (NAN, DOUBLE, Bit(8), 0),
        (1e20, DOUBLE, BIGINT, 10**20),
        pytest.param(10**400, BIGINT, DOUBLE, math.inf, id="huge"),
    ],
)
def test_casts(value: Any, source: Type, target: Type, expected: Any) -> None:
    assert run(e.Operate("as", (constant(value, source),), target)) == expected


def test_infinity_is_no_bigint() -> None:
    with pytest.raises(Failure, match="inf as bigint: not a finite number"):
        run(e.Operate("as", (constant(math.inf, DOUBLE),), BIGINT))


def test_and_or_imply_need_not_evaluate_the_right_side() -> None:
    fails = e.Operate("==", (e.Operate("/", (constant(1, Bit(8)), constant(0, Bit(8))), Bit(8)),) * 2, BOOL)
    assert run(e.Operate("and", (constant(False, BOOL), fails), BOOL)) is False
    assert run(e.Operate("or", (constant(True, BOOL), fails), BOOL)) is True
    assert run(e.Operate("=>", (constant(False, BOOL), fails), BOOL)) is True


def test_long_chains_of_operators() -> None:
    one: e.Expr = constant(1, Bit(8))
    total, truth = one, e.Operate("==", (one, one), BOOL)
    for _ in range(5000):
        total = e.Operate("+", (total, one), Bit(8))
        truth = e.Operate("and", (truth, constant(True, BOOL)), BOOL)
    assert run(total) == 5001 % 256
    assert run(truth) is True


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        ("a", STRING, "a"),
        (True, BOOL, "true"),
        (-5, Signed(8), "-5"),
        (1.0, DOUBLE, "1"),
        (single(0.1), FLOAT, "0.1"),
        (("a", 1), Tuple((STRING, Bit(8))), '("a", 1)'),
        (Variant("Circle", 0, (3,)), SHAPE, "Circle{.r = 3}"),
    ],
)
def test_text_of_values(value: Any, type: Type, text: str) -> None:
    assert run(e.Operate("string", (constant(value, type),), STRING)) == text


def test_a_field_may_stand_elsewhere_in_each_constructor() -> None:
    field = e.Project(e.Var("s", SHAPE), 0, Bit(8), positions=(0, 1))
    assert run(field, s=Variant("Circle", 0, (3,))) == 3
    assert run(field, s=Variant("Box", 1, (1, 2))) == 2


def test_match_takes_the_first_arm_that_fits() -> None:
    arms = (
        (e.ConstructorPattern(CIRCLE, (e.ConstPattern(0, Bit(8)),)), constant("dot", STRING)),
        (e.VarPattern("x", SHAPE, e.ConstructorPattern(CIRCLE, (e.AnyPattern(),))), constant("circle", STRING)),
        (e.AnyPattern(), constant("other", STRING)),
    )
    match = e.Match(e.Var("s", SHAPE), arms, STRING)
    shapes = [Variant("Circle", 0, (0,)), Variant("Circle", 0, (3,)), Variant("Box", 1, (1, 2))]
    assert [run(match, s=shape) for shape in shapes] == ["dot", "circle", "other"]


def test_assigning_a_part_copies_the_whole() -> None:
    box = Variant("Box", 1, (1, 2))
    place = e.Place("p", Tuple((SHAPE, BOOL)), (0, 1))
    body = e.Sequence((e.Assign(place, constant(9, Bit(8))), e.Var("p", place.type)), place.type)
    assert run(body, p=(box, True)) == (Variant("Box", 1, (1, 9)), True)
    assert box == Variant("Box", 1, (1, 2))


def sum_until(stop: int, group: bool = False) -> e.Expr:
    """`for (x in v) { if (x == stop) break; if (x == 1) continue; total = total + x }; total`."""
    x, total = e.Var("x", Bit(8)), e.Var("total", Bit(8))
    unit = constant((), UNIT)
    pattern: e.Pattern = e.VarPattern("x", Bit(8))
    pattern = e.TuplePattern((pattern, e.AnyPattern())) if group else pattern
    body = e.Sequence(
        (
            e.If(e.Operate("==", (x, constant(stop, Bit(8))), BOOL), e.Break(), unit, UNIT),
            e.If(e.Operate("==", (x, constant(1, Bit(8))), BOOL), e.Continue(), unit, UNIT),
            e.Assign(e.Place("total", Bit(8)), e.Operate("+", (total, x), Bit(8))),
        ),
        UNIT,
    )
    loop = e.For(pattern, e.Var("v", Named(VEC, (Bit(8),))), body)
    start = e.Declare(e.VarPattern("total", Bit(8)), constant(0, Bit(8)))
    return e.Sequence((start, loop, total), Bit(8))


def test_loops() -> None:
    assert run(sum_until(9), v=(5, 1, 3, 9, 7)) == 8
    assert run(sum_until(9), v=frozenset({9, 2, 100})) == 2
    assert run(sum_until(9, group=True), v=FrozenMap({2: "a", 1: "b", 9: "c"})) == 2
    assert run(sum_until(9, group=True), v=Group((), {3: 2, 2: 1})) == 5


def test_functions_write_back_mut_parameters_and_return_early() -> None:
    v, x = e.Var("v", Bit(8)), e.Var("x", Bit(8))
    body = e.Sequence((e.Assign(e.Place("v", Bit(8)), x), e.Return(constant(True, BOOL)), constant(False, BOOL)), BOOL)
    store = e.Function("store", (e.Parameter("v", Bit(8), mutable=True), e.Parameter("x", Bit(8))), BOOL, body)
    call = e.Call("store", (e.Var("a", Bit(8)), constant(7, Bit(8))), BOOL, (e.Place("a", Bit(8)),))
    assert run(e.MakeTuple((call, e.Var("a", Bit(8))), Tuple((BOOL, Bit(8)))), (store,), a=1) == (True, 7)
    assert v != x


def test_lambdas_capture_by_value() -> None:
    x, y = e.Var("x", Bit(8)), e.Var("y", Bit(8))
    kind = Function((Bit(8),), Bit(8), (False,))
    add = e.Lambda((y,), e.Operate("+", (x, y), Bit(8)), kind)
    body = e.Sequence(
        (
            e.Declare(e.VarPattern("f", kind), add),
            e.Assign(e.Place("x", Bit(8)), constant(100, Bit(8))),
            e.Apply(e.Var("f", kind), (constant(1, Bit(8)),), Bit(8)),
        ),
        Bit(8),
    )
    assert run(body, x=5) == 6


def test_python_functions_are_checked() -> None:
    def extern(python: Any, trusted: bool = False) -> e.Function:
        return e.Function("f", (e.Parameter("x", Bit(8)),), Bit(8), None, python, trusted=trusted)

    call = e.Call("f", (constant(5, Bit(8)),), Bit(8))
    assert run(call, (extern(lambda x: x + 1),)) == 6
    assert run(call, (extern(lambda _: "wrong", trusted=True),)) == "wrong"
    with pytest.raises(Failure, match=r"f\(5\) returned a wrong value: 300 is not between 0 and 255"):
        run(call, (extern(lambda _: 300),))
    with pytest.raises(Failure, match=r"f\(5\) raised KeyError: 5"):
        run(call, (extern(lambda x: {}[x]),))

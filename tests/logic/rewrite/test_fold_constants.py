"""Folding keeps the value of every expression, and its failure."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.expr import Const, Expr, If, MakeTuple, Operate, Project, Var
from tidelog.base.types import BIGINT, BOOL, STRING, Bit, Signed, Tuple, Type
from tidelog.base.values import Value
from tidelog.logic.rewrite.fold_constants import fold_expression
from tidelog.run.reference.evaluate import Evaluator
from tidelog.run.reference.operators import Failure

INTEGERS: tuple[Type, ...] = (Bit(8), Bit(3), Signed(8), Signed(64), BIGINT)
ARITHMETIC = ("+", "-", "*", "/", "%", "&", "|", "^")
ORDER = ("==", "!=", "<", "<=", ">", ">=")
VARIABLES: dict[str, tuple[Value, Type]] = {
    "b": (True, BOOL),
    "s": ("tide", STRING),
    **{f"x{i}": (3, type) for i, type in enumerate(INTEGERS)},
}


def constants(type: Type) -> st.SearchStrategy[Expr]:
    match type:
        case Bit(width):
            values: st.SearchStrategy[Value] = st.integers(0, (1 << width) - 1)
        case Signed(width):
            values = st.integers(-(1 << (width - 1)), (1 << (width - 1)) - 1)
        case _ if type == BIGINT:
            values = st.integers(-100, 100)
        case _ if type == BOOL:
            values = st.booleans()
        case _:
            values = st.text("ab", max_size=2)
    variables = [Var(name, t) for name, (_, t) in VARIABLES.items() if t == type]
    return st.one_of(values.map(lambda value: Const(value, type)), st.sampled_from(variables))


@st.composite
def expressions(draw: st.DrawFn, type: Type, depth: int = 4) -> Expr:
    """An expression of a type; its leaves are constants and the variables above."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(constants(type))

    def part(of: Type) -> Expr:
        return draw(expressions(of, depth - 1))

    other = draw(st.sampled_from((*INTEGERS, BOOL, STRING)))
    forms: list[Callable[[], Expr]] = [
        lambda: If(part(BOOL), part(type), part(type), type),
        lambda: Project(MakeTuple((part(other), part(type)), Tuple((other, type))), 1, type),
    ]
    if type in INTEGERS:
        forms += [
            lambda: Operate(draw(st.sampled_from(ARITHMETIC)), (part(type), part(type)), type),
            lambda: Operate(draw(st.sampled_from(("neg", "~"))), (part(type),), type),
            lambda: Operate("as", (part(draw(st.sampled_from(INTEGERS))),), type),
        ]
    if isinstance(type, Bit) and type.width == 3:
        low, high = Const(2, Bit(32)), Const(4, Bit(32))
        forms.append(lambda: Operate("slice", (part(Bit(8)), high, low), type))
    if type == BOOL:
        forms += [
            lambda: Operate(draw(st.sampled_from(ORDER)), (part(other), part(other)), BOOL),
            lambda: Operate(draw(st.sampled_from(("and", "or", "=>"))), (part(BOOL), part(BOOL)), BOOL),
            lambda: Operate("not", (part(BOOL),), BOOL),
        ]
    if type == STRING:
        forms += [
            lambda: Operate("++", (part(STRING), part(STRING)), STRING),
            lambda: Operate("string", (part(draw(st.sampled_from((*INTEGERS, STRING)))),), STRING),
        ]
    return draw(st.sampled_from(forms))()


def outcome(expression: Expr) -> Value:
    try:
        return Evaluator({}, {}).value(expression, {name: value for name, (value, _) in VARIABLES.items()})
    except Failure as failure:
        return str(failure)


@given(st.sampled_from((*INTEGERS, BOOL, STRING)).flatmap(expressions))
def test_folding_keeps_values_and_failures(expression: Expr) -> None:
    folded = fold_expression(expression)
    assert folded.type == expression.type
    assert outcome(folded) == outcome(expression)


def test_folding_again_changes_nothing() -> None:
    one = Operate("+", (Var("x", BIGINT), Operate("*", (Const(2, BIGINT), Const(3, BIGINT)), BIGINT)), BIGINT)
    assert fold_expression(fold_expression(one)) == fold_expression(one)


def test_a_division_by_zero_stays() -> None:
    division = Operate("/", (Const(1, BIGINT), Const(0, BIGINT)), BIGINT)
    assert fold_expression(division) == division


def test_an_operand_that_may_fail_stays() -> None:
    fails = Operate("==", (Operate("/", (Const(1, BIGINT), Const(0, BIGINT)), BIGINT), Const(1, BIGINT)), BOOL)
    both = Operate("or", (fails, Const(True, BOOL)), BOOL)
    assert fold_expression(both) == both

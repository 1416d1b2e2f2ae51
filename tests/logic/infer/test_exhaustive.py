"""Coverage of patterns, against trying every value."""

from collections.abc import Iterator
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.logic.small_programs import check, declared
from tidelog.base.diagnostic import Report
from tidelog.base.expr import AnyPattern, ConstPattern, ConstructorPattern, Pattern, TuplePattern, VarPattern
from tidelog.base.span import NOWHERE
from tidelog.base.types import BOOL, Bit, Constructor, Named, Tuple, Type
from tidelog.base.values import Variant
from tidelog.logic.infer.exhaustive import check_exhaustive
from tidelog.logic.infer.infer import BodyInference

ENVIRONMENT = declared("typedef E = A | B{b: bool} | C{x: bool, y: E2}\ntypedef E2 = P | Q", Report()).environments[()]
TYPES: list[Type] = [
    BOOL,
    Bit(2),
    Named("E"),
    Named("E2"),
    Tuple((BOOL, Named("E2"))),
    Tuple((Named("E"), Bit(1))),
    Named("std::Option", (Tuple((Named("E2"), BOOL)),)),
]


def fields(constructor: Constructor, type: Named) -> list[Type]:
    return [type.arguments[0]] if constructor.name == "std::Some" else [f.type for f in constructor.fields]


def values(type: Type) -> Iterator[object]:
    """All values of a small type."""
    match type:
        case Bit(width):
            yield from range(2**width)
        case Tuple(items):
            yield from product(*map(values, items))
        case Named(name):
            for c in ENVIRONMENT.definition(name).constructors:
                for made in product(*map(values, fields(c, type))):
                    yield Variant(c.name, c.position, made)
        case _:
            yield from (False, True)


def patterns(type: Type) -> st.SearchStrategy[Pattern]:
    anything: st.SearchStrategy[Pattern] = st.sampled_from([AnyPattern(), VarPattern("x", type)])
    match type:
        case Bit(width):
            return anything | st.integers(0, 2**width - 1).map(lambda v: ConstPattern(v, type))
        case Tuple(items):
            return anything | st.tuples(*map(patterns, items)).map(TuplePattern)
        case Named(name):
            constructors = ENVIRONMENT.definition(name).constructors
            made = [
                st.tuples(*map(patterns, fields(c, type))).map(lambda i, c=c: ConstructorPattern(c, i))  # type: ignore[misc]
                for c in constructors
            ]
            return anything | st.one_of(made)
        case _:
            return anything | st.booleans().map(lambda v: ConstPattern(v, type))


def fits(pattern: Pattern, value: object) -> bool:
    match pattern, value:
        case AnyPattern(), _:
            return True
        case VarPattern(inner=inner), _:
            return fits(inner, value)
        case ConstPattern(constant), _:
            return bool(constant == value)
        case TuplePattern(items), tuple():
            return all(map(fits, items, value))
        case ConstructorPattern(constructor, items), Variant():
            return constructor.position == value.position and all(map(fits, items, value.fields))
        case _:
            raise AssertionError(pattern)


matches = st.sampled_from(TYPES).flatmap(lambda t: st.tuples(st.just(t), st.lists(patterns(t), min_size=1, max_size=5)))


@given(matches)
def test_agrees_with_trying_every_value(drawn: tuple[Type, list[Pattern]]) -> None:
    type, arms = drawn
    report = Report()
    placed = [(arm, NOWHERE._replace(start=i, end=i)) for i, arm in enumerate(arms)]
    check_exhaustive(BodyInference(ENVIRONMENT, report), "match", type, placed, NOWHERE)
    first = [next((i for i, arm in enumerate(arms) if fits(arm, value)), None) for value in values(type)]
    assert any(d.code == "E0318" for d in report.diagnostics) == (None in first)
    unreached = {d.span.start for d in report.diagnostics if d.code == "W0301"}
    assert unreached == set(range(len(arms))) - set(first)


def test_many_arms_are_quick() -> None:
    arms = ", ".join(f'("{i}", {i % 7}) -> {i}' for i in range(400))
    text = f"function f(s: string, n: bit<32>): bit<32> = match ((s, n)) {{ {arms} }}"
    assert check(text) == ["E0318 not covered: `(_, _)`"]

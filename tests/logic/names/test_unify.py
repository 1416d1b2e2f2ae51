"""Unification of types."""

from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.types import (
    BIGINT,
    BOOL,
    DOUBLE,
    STRING,
    Bit,
    Function,
    Named,
    Signed,
    Tuple,
    Type,
    TypeVariable,
    substitute,
)
from tidelog.logic.names.unify import ERROR, Unifier

ATOMS: list[Type] = [BOOL, STRING, Bit(8), TypeVariable("A")]


def deeper(inner: st.SearchStrategy[Type]) -> st.SearchStrategy[Type]:
    return st.one_of(
        st.lists(inner, max_size=3).map(lambda items: Tuple(tuple(items))),
        inner.map(lambda item: Named("std::Vec", (item,))),
        st.tuples(inner, inner).map(lambda pair: Function((pair[0],), pair[1], (False,))),
    )


concrete = st.recursive(st.sampled_from(ATOMS), deeper, max_leaves=6)
open_types = st.recursive(st.sampled_from([*ATOMS, TypeVariable("?a"), TypeVariable("?b")]), deeper, max_leaves=6)


def has_unknown(type: Type) -> bool:
    return "?" in repr(type)


@given(open_types, open_types)
def test_unified_types_are_equal(a: Type, b: Type) -> None:
    types = Unifier()
    if types.unify(a, b):
        assert types.zonk(a) == types.zonk(b)


@given(open_types, concrete, concrete)
def test_an_instance_unifies_with_its_pattern(pattern: Type, a: Type, b: Type) -> None:
    types = Unifier()
    instance = substitute(pattern, {"?a": a, "?b": b})
    assert types.unify(pattern, instance)
    assert types.zonk(pattern) == instance


@given(concrete, concrete)
def test_types_without_unknowns_unify_only_if_equal(a: Type, b: Type) -> None:
    assert Unifier().unify(a, b) == (a == b)


@given(open_types)
def test_a_mistake_fits_everything_and_leaves_nothing_unknown(a: Type) -> None:
    types = Unifier()
    assert types.unify(a, ERROR)
    assert not has_unknown(types.zonk(a)) or "?error" in repr(types.zonk(a))


def test_no_type_contains_itself() -> None:
    types = Unifier()
    unknown = types.fresh()
    assert not types.unify(unknown, Named("std::Vec", (unknown,)))


def test_numbers_unify_only_with_their_class() -> None:
    types = Unifier()
    integer, real, number = types.fresh("integer"), types.fresh("real"), types.fresh("number")
    assert not types.unify(integer, STRING)
    assert not types.unify(integer, DOUBLE)
    assert not types.unify(integer, real)
    assert types.unify(number, integer)
    assert not types.unify(number, DOUBLE)
    assert types.unify(number, Signed(16))
    assert types.zonk(integer) == Signed(16)


def test_numbers_have_default_types() -> None:
    types = Unifier()
    integer, real = types.fresh("integer"), types.fresh("real")
    types.default_all()
    assert (types.zonk(integer), types.zonk(real)) == (BIGINT, DOUBLE)

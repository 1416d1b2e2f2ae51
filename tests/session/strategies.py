"""Random types of a small program, and random values of a type."""

from collections.abc import Mapping
from typing import Any, assert_never

from hypothesis import strategies as st

from tidelog.base import types as t
from tidelog.base.conform import bounds, fields_of
from tidelog.base.plain.plain import OPTION
from tidelog.base.types import Constructor, Field, Named, Type, TypeDefinition, TypeVariable
from tidelog.base.values import FrozenMap, Value, Variant, real, single

A = TypeVariable("A")


def define(name: str, parameters: tuple[str, ...], **constructors: dict[str, Type]) -> TypeDefinition:
    made = [
        Constructor(constructor.replace("__", "::"), name, i, tuple(Field(f, type) for f, type in fields.items()))
        for i, (constructor, fields) in enumerate(constructors.items())
    ]
    return TypeDefinition(name, parameters, tuple(made))


DEFINITIONS: Mapping[str, TypeDefinition] = {
    definition.name: definition
    for definition in [
        define(OPTION, ("A",), std__None={}, std__Some={"x": A}),
        define("Severity", (), Low={}, Medium={}, High={}),
        define("Only", (), Only={}),
        define("Point", (), Point={"x": t.Signed(32), "y": t.Signed(32)}),
        define("Box", ("A",), Box={"content": A}),
        define("lib::Shape", (), lib__Dot={}, lib__Circle={"r": t.DOUBLE}, lib__Line={"tag": t.STRING, "r": t.DOUBLE}),
        define("List", (), Nil={}, Cons={"head": t.BIGINT, "tail": Named(t.REF, (Named("List"),))}),
    ]
}

SCALARS: list[Type] = [
    t.BOOL,
    t.STRING,
    t.BIGINT,
    t.FLOAT,
    t.DOUBLE,
    *(t.Bit(width) for width in (1, 7, 8, 16, 33, 64, 65, 128, 300)),
    *(t.Signed(width) for width in (8, 16, 64, 128)),
]

simple_types = st.sampled_from(SCALARS)
types: st.SearchStrategy[Type] = st.recursive(
    st.one_of(simple_types, st.sampled_from([Named(n) for n in ("Severity", "Only", "Point", "lib::Shape", "List")])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).filter(lambda items: len(items) != 1).map(lambda items: t.Tuple(tuple(items))),
        *(st.builds(Named, st.just(name), st.tuples(inner)) for name in (OPTION, "Box", t.VEC, t.SET, t.REF)),
        st.builds(Named, st.just(t.MAP), st.tuples(inner, inner)),
    ),
    max_leaves=4,
)


def values(type: Type) -> st.SearchStrategy[Value]:
    """The values of a type."""
    match type:
        case t.Bool():
            return st.booleans()
        case t.String():
            return st.text()
        case t.BigInt():
            return st.one_of(st.integers(-9, 9), st.integers(), st.integers(-(10**90), 10**90))
        case t.Bit() | t.Signed():
            return st.integers(*bounds(type))
        case t.Float():
            return st.floats(width=32).map(single)
        case t.Double():
            return st.floats().map(real)
        case t.Tuple(items):
            return st.tuples(*map(values, items))
        case Named(t.REF, (inner,)):
            return values(inner)
        case Named(t.VEC, (inner,)):
            return st.lists(values(inner), max_size=4).map(tuple)
        case Named(t.SET, (inner,)):
            return st.frozensets(values(inner), max_size=4)
        case Named(t.MAP, (key, inner)):
            return st.dictionaries(values(key), values(inner), max_size=4).map(FrozenMap)
        case Named("List"):
            return st.recursive(st.just(Variant("Nil", 0, ())), cons, max_leaves=3)
        case Named(name):
            return st.one_of(*(variants(type, constructor) for constructor in DEFINITIONS[name].constructors))
        case t.Function() | t.TypeVariable():
            raise AssertionError(type)
        case _:
            assert_never(type)


def cons(tails: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.builds(lambda head, tail: Variant("Cons", 1, (head, tail)), values(t.BIGINT), tails)


def variants(type: Named, constructor: Constructor) -> st.SearchStrategy[Variant]:
    fields = st.tuples(*map(values, fields_of(type, constructor, DEFINITIONS)))
    return fields.map(lambda given: Variant(constructor.name, constructor.position, given))


@st.composite
def typed_lists(draw: st.DrawFn, of: st.SearchStrategy[Type] = types) -> tuple[Type, list[Value]]:
    """A type and some of its values."""
    type = draw(of)
    return type, draw(st.lists(values(type), max_size=5))

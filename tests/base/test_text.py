"""Values as text: display and cells, reading them back, and what a wrong text is answered with."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.conform import conforms
from tidelog.base.errors import DataError
from tidelog.base.text.read import read_cell, read_value
from tidelog.base.text.write import show_cell, show_value
from tidelog.base.types import (
    BIGINT,
    BOOL,
    DOUBLE,
    FLOAT,
    INTERN,
    MAP,
    REF,
    SET,
    STRING,
    UNIT,
    VEC,
    Bit,
    Constructor,
    Field,
    Named,
    Signed,
    Tuple,
    Type,
    TypeDefinition,
    TypeVariable,
)
from tidelog.base.values import NAN, NONE, FrozenMap, Variant, real, single, some

A = TypeVariable("A")
OPTION = TypeDefinition(
    "std::Option",
    ("A",),
    (Constructor("std::None", "std::Option", 0, ()), Constructor("std::Some", "std::Option", 1, (Field("x", A),))),
)
POINT = TypeDefinition(
    "geo::Point", (), (Constructor("geo::Point", "geo::Point", 0, (Field("x", Bit(8)), Field("name", STRING))),)
)
TYPES = {"std::Option": OPTION, "geo::Point": POINT, "Opaque": TypeDefinition("Opaque", (), ())}


def option(type: Type) -> Type:
    return Named("std::Option", (type,))


PAIRS = Named(MAP, (STRING, Named(SET, (Bit(8),))))


@pytest.mark.parametrize(
    ("value", "type", "text"),
    [
        (True, BOOL, "true"),
        (-3, Signed(8), "-3"),
        (1.0, DOUBLE, "1"),
        (-0.5, DOUBLE, "-0.5"),
        (1e300, DOUBLE, "1e+300"),
        (NAN, DOUBLE, "NaN"),
        (-math.inf, FLOAT, "-inf"),
        (single(1.1), FLOAT, "1.1"),
        ('a"\\\n\t\x01é', STRING, '"a\\"\\\\\\n\\t\\u{1}é"'),
        ((), UNIT, "()"),
        ((1, "b"), Tuple((Bit(8), STRING)), '(1, "b")'),
        ((3, 1), Named(VEC, (Bit(8),)), "[3, 1]"),
        (frozenset({3, 1}), Named(SET, (Bit(8),)), "[1, 3]"),
        (FrozenMap({"b": frozenset(), "a": frozenset({1})}), PAIRS, '[("a", [1]), ("b", [])]'),
        (some(NONE), option(option(BOOL)), "Some{.x = None{}}"),
        (Variant("geo::Point", 0, (1, "p")), Named("geo::Point"), 'geo::Point{.x = 1, .name = "p"}'),
        ("a", Named(INTERN, (STRING,)), '"a"'),
        (5, Named(REF, (Bit(8),)), "5"),
    ],
)
def test_display_and_back(value: Any, type: Type, text: str) -> None:
    assert conforms(value, type, TYPES) is None
    assert show_value(value, type, TYPES) == text
    read = read_value(text, type, TYPES)
    assert read is value or read == value


@pytest.mark.parametrize(
    ("text", "type", "value"),
    [
        (" Some { 1 } ", option(Bit(8)), some(1)),
        ("std::Some{.x=1}", option(Bit(8)), some(1)),
        ("ddlog_std::Some{1}", option(Bit(8)), some(1)),
        ('Point{1, "p"}', Named("geo::Point"), Variant("geo::Point", 0, (1, "p"))),
        ("None", option(Bit(8)), NONE),
        ("0xff", Bit(8), 255),
        ("8'hff", Bit(8), 255),
        ("16'd1_000", Bit(16), 1000),
        ("8'b101", Bit(8), 5),
        ("-0x10", Signed(8), -16),
        ("+5", BIGINT, 5),
        ("64'f1.5", DOUBLE, 1.5),
        ("2", DOUBLE, 2.0),
        ("1e3", FLOAT, 1000.0),
        ("-0.0", DOUBLE, 0.0),
        ("[|raw \\n|]", STRING, "raw \\n"),
        ('i"a"', Named(INTERN, (STRING,)), "a"),
        ("&5", Named(REF, (Bit(8),)), 5),
        ("[(1, 2) -> 3]", Named(MAP, (Tuple((Bit(8), Bit(8))), Bit(8))), FrozenMap({(1, 2): 3})),
        ("[((1, 2), 3)]", Named(MAP, (Tuple((Bit(8), Bit(8))), Bit(8))), FrozenMap({(1, 2): 3})),
        ('geo::Point{.name = "p", .x = 1}', Named("geo::Point"), Variant("geo::Point", 0, (1, "p"))),
    ],
)
def test_other_ways_to_write_a_value(text: str, type: Type, value: Any) -> None:
    assert read_value(text, type, TYPES) == value


@pytest.mark.parametrize(
    ("text", "type", "message"),
    [
        ("300", Bit(8), "expected a bit<8>, between 0 and 255, at character 1 of `300`, found `300`"),
        ("-1", Bit(8), "between 0 and 255"),
        ("abc", Bit(8), "expected a bit<8> at character 1"),
        ("1.5", Bit(8), "expected a bit<8> at character 1"),
        ("", BOOL, "expected true or false at character 1 of ``, found the end"),
        ("(1, )", Tuple((Bit(8), Bit(8))), "expected a bit<8> at character 5 of `(1, )`, found `)`"),
        ("(1)", Tuple((Bit(8), Bit(8))), "expected `,` at character 3"),
        ("1 2", Bit(8), "expected the end at character 3 of `1 2`, found `2`"),
        ("Sme{1}", option(Bit(8)), "(None, Some; did you mean `Some`?) at character 1"),
        ("Some", option(Bit(8)), "expected `{` and the fields of std::Some at character 5"),
        ("geo::Point{1}", Named("geo::Point"), "expected `,` and field name of geo::Point at character 13"),
        ("geo::Point{.x = 1}", Named("geo::Point"), "expected field name of geo::Point before this"),
        ("geo::Point{.z = 1}", Named("geo::Point"), "expected a field of geo::Point (x, name) at character 13"),
        ('"open', STRING, "expected a string that ends with a quote"),
        ("open", STRING, "expected a string in quotes"),
        ('"\\q"', STRING, "known escapes (not `\\q`)"),
        ("[1, x]", Named(VEC, (Bit(8),)), "expected a bit<8> at character 5"),
        ("[1", Named(VEC, (Bit(8),)), "expected `,` at character 3"),
        ("x", Named("Opaque"), "values of type Opaque cannot be written"),
    ],
)
def test_mistakes_say_what_was_expected_where(text: str, type: Type, message: str) -> None:
    with pytest.raises(DataError) as caught:
        read_value(text, type, TYPES)
    assert message in str(caught.value)


def test_cells_have_strings_as_they_are() -> None:
    assert show_cell('a "b"', STRING, TYPES) == 'a "b"'
    assert read_cell('a "b"', Named(INTERN, (STRING,)), TYPES) == 'a "b"'
    assert show_cell(some("a"), option(STRING), TYPES) == 'Some{.x = "a"}'
    assert read_cell('Some{"a"}', option(STRING), TYPES) == some("a")


TEXTS = st.text(st.characters(exclude_categories=["Cs"]))
SCALARS: st.SearchStrategy[tuple[Any, Type]] = st.one_of(
    st.tuples(st.booleans(), st.just(BOOL)),
    st.tuples(TEXTS, st.just(STRING)),
    st.tuples(st.integers(), st.just(BIGINT)),
    st.tuples(st.integers(-128, 127), st.just(Signed(8))),
    st.tuples(st.floats().map(real), st.just(DOUBLE)),
    st.tuples(st.floats(width=32).map(single), st.just(FLOAT)),
)


def larger(inner: st.SearchStrategy[tuple[Any, Type]]) -> st.SearchStrategy[tuple[Any, Type]]:
    def pair(a: tuple[Any, Type], b: tuple[Any, Type]) -> tuple[Any, Type]:
        return (a[0], b[0]), Tuple((a[1], b[1]))

    return st.one_of(
        inner.map(lambda a: (some(a[0]), option(a[1]))),
        inner.map(lambda a: (NONE, option(a[1]))),
        inner.map(lambda a: ((a[0], a[0]), Named(VEC, (a[1],)))),
        inner.map(lambda a: (frozenset({a[0]}), Named(SET, (a[1],)))),
        st.builds(pair, inner, inner),
        st.builds(lambda a, b: (FrozenMap({a[0]: b[0]}), Named(MAP, (a[1], b[1]))), inner, inner),
    )


@given(st.recursive(SCALARS, larger, max_leaves=6))
def test_what_is_shown_is_read_back(case: tuple[Any, Type]) -> None:
    value, type = case
    assert conforms(value, type, TYPES) is None
    shown = show_value(value, type, TYPES)
    assert show_value(read_value(shown, type, TYPES), type, TYPES) == shown
    assert (read_value(shown, type, TYPES),) == (value,)

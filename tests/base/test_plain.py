import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.session.strategies import DEFINITIONS, typed_lists
from tidelog.base import types as t
from tidelog.base.conform import conforms
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import OPTION, Plain
from tidelog.base.plain.write import finite
from tidelog.base.types import Named, Type
from tidelog.base.values import NAN, FrozenMap, Value, Variant

PLAIN = Plain(DEFINITIONS)


@given(typed_lists())
def test_writing_then_reading_gives_the_value(typed: tuple[Type, list[Value]]) -> None:
    type, values = typed
    write, read = PLAIN.write(type), PLAIN.read(type)
    assert [read(write(value) if write else value) for value in values] == values


@given(typed_lists())
def test_values_themselves_are_read(typed: tuple[Type, list[Value]]) -> None:
    type, values = typed
    assert [PLAIN.read(type)(value) for value in values] == values


@given(typed_lists())
def test_plain_forms_survive_json(typed: tuple[Type, list[Value]]) -> None:
    type, values = typed
    write, read = PLAIN.write(type), PLAIN.read(type)
    lines = [json.dumps(finite(write(value) if write else value), allow_nan=False) for value in values]
    assert [read(json.loads(line)) for line in lines] == values


@given(typed_lists())
def test_what_is_read_conforms(typed: tuple[Type, list[Value]]) -> None:
    type, values = typed
    assert [conforms(PLAIN.read(type)(value), type, DEFINITIONS) for value in values] == [None] * len(values)


@dataclass
class Place:
    x: int
    y: int


SOME, NONE = Variant("std::Some", 1, (7,)), Variant("std::None", 0, ())
OPTIONAL = Named(OPTION, (t.Bit(8),))
SHAPE = Named("lib::Shape")


@pytest.mark.parametrize(
    ("type", "given", "value"),
    [
        (t.Bit(8), np.uint8(7), 7),
        (t.Bit(8), Decimal(7), 7),
        (t.BOOL, np.bool_(1), True),
        (t.DOUBLE, 1, 1.0),
        (t.DOUBLE, np.float32("nan"), NAN),
        (t.FLOAT, 0.1, 0.10000000149011612),
        (t.BIGINT, str(10**100), 10**100),
        (OPTIONAL, 7, SOME),
        (OPTIONAL, None, NONE),
        (OPTIONAL, SOME, SOME),
        (Named(OPTION, (OPTIONAL,)), {"tag": "Some", "x": None}, Variant("std::Some", 1, (NONE,))),
        (Named("Severity"), "High", Variant("High", 2, ())),
        (Named("Point"), {"x": 1, "y": 2}, Variant("Point", 0, (1, 2))),
        (Named("Point"), Place(1, 2), Variant("Point", 0, (1, 2))),
        (SHAPE, {"_tag": "Circle", "r": 2.0}, Variant("lib::Circle", 1, (2.0,))),
        (SHAPE, {"_tag": "lib::Circle", "r": 2.0, "tag": None}, Variant("lib::Circle", 1, (2.0,))),
        (Named(t.VEC, (t.Bit(8),)), [1, 2], (1, 2)),
        (Named(t.VEC, (t.Bit(8),)), np.array([1, 2]), (1, 2)),
        (Named(t.SET, (t.Bit(8),)), {1, 2}, frozenset({1, 2})),
        (Named(t.MAP, (t.STRING, t.Bit(8))), {"a": 1}, FrozenMap({"a": 1})),
    ],
)
def test_friendly_forms(type: Type, given: Any, value: Value) -> None:
    assert [PLAIN.read(type)(given)] == [value]  # in a list NaN equals itself


@pytest.mark.parametrize(
    ("type", "given", "message"),
    [
        (t.Bit(8), 256, "expected bit<8> (0 to 255), found 256"),
        (t.Bit(8), True, "expected bit<8>, found True"),
        (t.Bit(8), "7", "expected bit<8>, found '7'"),
        (t.Bit(8), 7.0, "expected bit<8>, found 7.0"),
        (t.STRING, 7, "expected string, found 7"),
        (t.STRING, "\ud800", r"expected string (Unicode text), found '\ud800'"),
        (t.BOOL, 1, "expected bool, found 1"),
        (t.DOUBLE, "1", "expected double, found '1'"),
        (t.Tuple((t.BOOL, t.BOOL)), (True,), "expected (bool, bool), found (True,)"),
        (t.Tuple((t.BOOL, t.Tuple((t.BOOL, t.BOOL)))), (True, (True, 0)), "expected bool at .1.1, found 0"),
        (Named(t.VEC, (t.Bit(8),)), [1, -1], "expected bit<8> (0 to 255) at [1], found -1"),
        (Named(t.VEC, (t.STRING,)), "ab", "expected Vec<string>, found 'ab'"),
        (Named(t.MAP, (t.STRING, t.BOOL)), {"a": 1}, "expected bool at ['a'], found 1"),
        (Named("Severity"), "Hihg", "expected Severity (one of Low, Medium, High), found 'Hihg'"),
        (Named("Point"), {"x": 1}, "expected signed<32> at .y, found None"),
        (Named("Point"), {"x": 1, "z": 2}, "expected Point, found {'x': 1, 'z': 2}"),
        (SHAPE, {"_tag": "Circle", "r": "2"}, "expected double at .r, found '2'"),
        (Named(OPTION, (t.Bit(8),)), "x", "expected bit<8>, found 'x'"),
    ],
)
def test_misfits_say_where_and_why(type: Type, given: Any, message: str) -> None:
    with pytest.raises(Misfit) as caught:
        PLAIN.read(type)(given)
    assert str(caught.value) == message


def test_long_values_are_cut() -> None:
    with pytest.raises(Misfit) as caught:
        PLAIN.read(t.BOOL)("x" * 1000)
    assert len(str(caught.value)) < 120


def test_interrupts_leave_no_reader_or_writer_half_made(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, pair = Plain({}), t.Tuple((t.Bit(8), t.String()))

    def interrupted(self: Plain, type: Type) -> Any:
        raise KeyboardInterrupt

    for name in ("_make_reader", "_make_writer"):
        with monkeypatch.context() as patch:
            patch.setattr(Plain, name, interrupted)
            with pytest.raises(KeyboardInterrupt):
                (plain.read if name == "_make_reader" else plain.write)(pair)
    assert plain.read(pair)([1, "a"]) == (1, "a")
    write = plain.write(pair)
    assert write is not None
    assert plain.read(pair)(write((1, "a"))) == (1, "a")

"""Which Python objects are values of which type."""

from __future__ import annotations

from typing import Any

import pytest

from tests.base.test_text import TYPES, option
from tidelog.base.conform import conforms
from tidelog.base.types import BIGINT, BOOL, DOUBLE, FLOAT, MAP, SET, STRING, VEC, Bit, Named, Signed, Tuple, Type
from tidelog.base.values import FrozenMap, Variant, some


@pytest.mark.parametrize(
    ("value", "type", "reason"),
    [
        (1, BOOL, "1 is not a bool (Python bool)"),
        (True, Bit(8), "True is not a bit<8> (Python int)"),
        (True, BIGINT, "True is not a bigint (Python int)"),
        (256, Bit(8), "256 is not between 0 and 255 (bit<8>)"),
        (-129, Signed(8), "-129 is not between -128 and 127 (signed<8>)"),
        (1, DOUBLE, "1 is not a double (Python float)"),
        (0.1, FLOAT, "0.1 is not a float"),
        (float("nan"), DOUBLE, "NaN must be tidelog.base.values.NAN"),
        (None, STRING, "None is not a string (Python str)"),
        ("\ud800", STRING, "surrogates"),
        ([1], Named(VEC, (Bit(8),)), "[1] is not a Vec<bit<8>> (Python tuple)"),
        ((1, 300), Named(VEC, (Bit(8),)), "element 1: 300 is not between"),
        ({1}, Named(SET, (Bit(8),)), "{1} is not a Set<bit<8>> (Python frozenset)"),
        (FrozenMap({1: 2}), Named(MAP, (Bit(8), STRING)), "a value: 2 is not a string"),
        ((1,), Tuple((Bit(8), Bit(8))), "(1,) is not a (bit<8>, bit<8>) (Python tuple of 2)"),
        ((1, "x"), Tuple((Bit(8), Bit(8))), "component 1: 'x' is not a bit<8>"),
        (some("x"), option(Bit(8)), "field x: 'x' is not a bit<8>"),
        (Variant("std::Some", 0, ()), option(Bit(8)), "constructor 0 is std::None"),
        (Variant("std::Some", 7, ()), option(Bit(8)), "(Variant)"),
        ([], Named("Opaque"), "must be hashable"),
    ],
)
def test_misfits_are_explained(value: Any, type: Type, reason: str) -> None:
    assert reason in (conforms(value, type, TYPES) or "")

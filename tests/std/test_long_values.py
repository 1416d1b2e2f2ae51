"""Texts and values far too long or too deep: functions of the library answer at once, and rows are refused kindly."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from tests.run.hostile.child import forget_peak, peak
from tidelog import Database, DataError, Variant
from tidelog.base.text.terms import literal, parse_term
from tidelog.base.values import NONE, some
from tidelog.logic.std import datatypes
from tidelog.logic.std.texts.urls import FUNCTIONS as URLS

MANY = 1 << 20
INF = float("inf")
TREE = "typedef Tree = Leaf | Node{l: Tree, r: Tree}"


def of(text: str, datatype: str) -> Variant:
    return literal(text, datatypes.XSD + datatype)


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("a" * MANY + "!", "Name"),  # took time that is quadratic in the length, where nothing interrupts
        ("a" * MANY + "!", "NCName"),
        ("aaa " * MANY + "!", "base64Binary"),
        ("a b" * MANY + "  ", "token"),
        ("a-b" * MANY + "  ", "language"),
    ],
)
def test_long_texts_are_ill_typed(text: str, datatype: str) -> None:
    assert datatypes.is_ill_typed(of(text, datatype))
    assert not datatypes.is_ill_typed(of("abcd", datatype))


@pytest.mark.parametrize(
    ("text", "datatype"),
    [
        ("1" * MANY, "integer"),
        ("0." + "1" * MANY, "decimal"),
        ("1" * MANY + "-01-01T00:00:00Z", "dateTimeStamp"),  # were a `ValueError`
        ("2000-01-01T00:00:00." + "1" * MANY + "Z", "dateTimeStamp"),
    ],
)
def test_numbers_of_too_many_digits_have_no_value(text: str, datatype: str) -> None:
    assert datatypes.value_key(of(text, datatype)) == NONE


@pytest.mark.parametrize(("sign", "expected"), [("", INF), ("-", -INF)])
def test_numbers_beyond_all_doubles_are_infinite(sign: str, expected: float) -> None:
    assert datatypes.number_value(of(sign + "1" * 2000, "integer")) == some(expected)


def test_a_long_text_of_a_term_takes_memory_of_its_size() -> None:
    text = f'"{"1" * (MANY << 3)}"'
    forget_peak()
    before = peak()
    parse_term(text)
    assert peak() - before < 10 * len(text), "was 200 times its size"


@pytest.mark.parametrize(("port", "there"), [("1" * MANY, False), ("0" * 5000 + "8080", True), ("65536", False)])
def test_ports_of_many_digits(port: str, there: bool) -> None:
    found = URLS["url_parse"](f"http://a:{port}/")
    assert found.name == ("std::Ok" if there else "std::Err"), found


def deep() -> Variant:
    value = Variant("Leaf", 0, ())
    for _ in range(50_000):
        value = Variant("Node", 1, (value, Variant("Leaf", 0, ())))
    return value


@pytest.mark.parametrize(
    ("made", "told"), [(deep, "nested too deeply"), (lambda: Decimal("1e999999999"), "expected bigint")]
)
def test_values_that_cannot_be_read(made: Callable[[], Any], told: str) -> None:
    db = Database(
        "typedef Tree = Leaf | Node{l: Tree, r: Tree}  input relation T(x: Tree)  input relation N(x: bigint)"
    )
    with pytest.raises(DataError, match=told), db.transaction() as tx:
        tx.insert("N" if isinstance(value := made(), Decimal) else "T", [(value,)])
    assert not db.relation("T").rows() + db.relation("N").rows()

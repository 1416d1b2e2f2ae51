"""Writers of plain values, by the kind of type, and the names they use for constructors."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tidelog.base.text.integers import DIGITS, show_integer
from tidelog.base.types import Constructor
from tidelog.base.values import Value, Variant

Write = Callable[[Value], Any]

LONG = DIGITS * 3
"""Integers of more bits may have too many digits for Python's `json`."""


def short(name: str) -> str:
    """Return a constructor's name without its module."""
    return name.rpartition("::")[2]


def is_enumeration(constructors: Iterable[Constructor]) -> bool:
    """Tell whether no constructor has fields, so that a value is its name."""
    return not any(c.fields for c in constructors)


def tag_name(constructors: Iterable[Constructor]) -> str:
    """Return the key for the constructor's name: "tag", with underscores before it while a field has that name."""
    names = {field.name for c in constructors for field in c.fields}
    tag = "tag"
    while tag in names:
        tag = "_" + tag
    return tag


def same(value: Any) -> Any:
    """Return the value: it is its own plain form."""
    return value


def write_unit(_: Value) -> None:
    """Write the empty tuple."""
    return


def write_name(value: Variant) -> str:
    """Write a value without fields."""
    return short(value.name)


def tuple_writer(writers: Sequence[Write]) -> Write:
    """Return the writer of a tuple type."""
    return lambda value: {str(i): write(item) for i, (write, item) in enumerate(zip(writers, value, strict=True))}


def items_writer(write: Write, order: Callable[[Any], list[Value]]) -> Write:
    """Return the writer of a Vec or Set type, whose elements `order` lists."""
    return lambda value: [write(item) for item in order(value)]


def map_writer(write_key: Write, write_value: Write) -> Write:
    """Return the writer of a Map type."""
    return lambda value: [(write_key(k), write_value(v)) for k, v in value.items()]


def struct_writer(writers: Sequence[tuple[str, Write]]) -> Write:
    """Return the writer of a type with one constructor."""
    return lambda value: {name: write(v) for (name, write), v in zip(writers, value.fields, strict=True)}


def union_writer(tag: str, writers: Sequence[Sequence[tuple[str, Write]]]) -> Write:
    """Return the writer of a type with several constructors."""

    def write(value: Variant) -> dict[str, Any]:
        fields = writers[value.position]
        return {tag: short(value.name)} | {n: w(v) for (n, w), v in zip(fields, value.fields, strict=True)}

    return write


def finite(value: Any) -> Any:
    """Return a plain value in which numbers that JSON cannot write are strings: NaN, infinities, huge integers."""
    match value:
        case int() if value.bit_length() > LONG:
            return show_integer(value)
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case list() | tuple():
            return [finite(item) for item in value]
        case dict():
            return {key: finite(item) for key, item in value.items()}
        case _:
            return value

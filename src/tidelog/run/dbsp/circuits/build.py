"""What is checked while a circuit is built: numbers of columns, and columns that wires have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tidelog.base.arguments import brief
from tidelog.run.dbsp.zsets.zset import ZSet


class Carrier(Protocol):
    """A wire, as far as its columns go."""

    label: str
    zero: Any


def expect_function(value: object, name: str, of: str) -> None:
    """Refuse what cannot be called."""
    if not callable(value):
        raise TypeError(f"{name}: expected a function of {of}, found {brief(value)}")


def count(columns: object) -> int:
    """Return a number of columns, or raise `TypeError`."""
    if type(columns) is not int or columns < 0:
        raise TypeError(f"columns: expected a number of columns, found {brief(columns)}")
    return columns


def chosen(what: str, columns: Sequence[int], of: Carrier | int, *, once: bool = False) -> tuple[int, ...]:
    """Return columns of a wire, or of what has this number of them; refuse those that it does not have.

    >>> chosen("keep", [0, 2], 2)
    Traceback (most recent call last):
    ...
    ValueError: keep: there is no column 2; there are 2, counted from 0
    """
    width, where = (of, "there are") if isinstance(of, int) else (_width(what, of), f"`{of.label}` has")
    found = tuple(columns)
    for column in found:
        if isinstance(column, bool) or not hasattr(column, "__index__"):
            raise TypeError(f"{what}: expected the number of a column, found {brief(column)}")
        if not 0 <= column < width:
            raise ValueError(f"{what}: there is no column {column}; {where} {width}, counted from 0")
    if once and len({*found}) < len(found):
        raise ValueError(f"{what}: a column is named twice in {found}")
    return found


def _width(what: str, wire: Carrier) -> int:
    if not hasattr(wire.zero, "columns"):
        raise TypeError(f"{what}: `{wire.label}` carries no Z-sets, but {type(wire.zero).__name__}")
    return int(wire.zero.columns)


def same_columns(what: str, a: Carrier, b: object) -> None:
    """Refuse two wires that carry different kinds of values, or Z-sets of different numbers of columns."""
    if not hasattr(b, "zero") or not hasattr(b, "label"):
        raise TypeError(f"{what}: expected a wire, found {brief(b)}")
    if type(a.zero) is not type(b.zero):
        kinds = type(a.zero).__name__, type(b.zero).__name__
        raise TypeError(f"{what}: `{a.label}` carries {kinds[0]}, `{b.label}` {kinds[1]}")
    if isinstance(a.zero, ZSet) and a.zero.columns != b.zero.columns:
        raise ValueError(f"{what}: `{a.label}` has {a.zero.columns} columns, `{b.label}` has {b.zero.columns}")

"""Codes: every value as an unsigned 64-bit integer, equal codes meaning equal values of one type.

Numbers of at most 64 bits, booleans and floating point are coded so that codes order like values: signed numbers are
shifted by 2**63, floating point by the usual trick on its bits. A bigint whose magnitude is below 2**62 is coded like
a signed number; larger ones, and every other value (strings, tuples, structs, collections), are interned: a `Pool` for
each type numbers the distinct values it has seen, from 0. Numbers of interned big integers go down from the top.
A reference (Ref, Intern) is coded like what it refers to: a pattern `&x` gives a column to a variable of that type.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from math import isnan
from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.base import types as t
from tidelog.base.types import Type
from tidelog.base.values import NAN
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.columnar.storage.layout import FULL, MIDDLE

SMALL = 1 << 62


def referred(type: Type) -> Type:
    """Return the type below references.

    >>> referred(t.Named(t.REF, (t.Bit(8),)))
    Bit(width=8)
    """
    while isinstance(type, t.Named) and type.name in {t.REF, t.INTERN}:
        (type,) = type.arguments
    return type


def is_ordered(type: Type) -> bool:
    """Tell whether codes of the type order like its values."""
    match referred(type):
        case t.Bool() | t.Float() | t.Double():
            return True
        case t.Bit(width) | t.Signed(width):
            return width <= 64
        case _:
            return False


class Pool:
    """Numbers distinct values as they are first seen. Never forgets: codes stay valid for ever.

    A value may stand at several places, if threads see it at the same time or an interrupt comes, but has one number.
    """

    __slots__ = ("_numbers", "values")

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[Any, int] = {}

    def number(self, value: Any) -> int:
        """Return the number of a value, a new one if it was never seen."""
        found = self._numbers.get(value)
        if found is None:
            place = len(self.values)
            self.values.append(value)  # before its number is known to other threads
            while self.values[place] is not value:  # others have appended theirs in between
                place += 1
            found = self._numbers.setdefault(value, place)
        return found

    def find(self, value: Any) -> int | None:
        """Return the number of a value if it was seen."""
        return self._numbers.get(value)

    def __len__(self) -> int:
        return len(self.values)


class Codec:
    """Codes values of all types of a program; holds the pools."""

    def __init__(self) -> None:
        self._pools: dict[Type, Pool] = {}

    def pool(self, type: Type) -> Pool:
        """Return the pool of an interned type."""
        found = self._pools.get(type)
        if found is None:
            # A reference shares the pool of what it refers to.
            found = self._pools[type] = Pool() if referred(type) == type else self.pool(referred(type))
        return found

    def code(self, value: Any, type: Type) -> int:
        """Return the code of a value."""
        match referred(type):
            case t.Bool():
                return int(value)
            case t.Bit(width) if width <= 64:
                return int(value)
            case t.Signed(width) if width <= 64:
                return int(value) + MIDDLE
            case t.Float() | t.Double():
                return int(code_floats(np.array([value], np.float64))[0])
            case t.BigInt() if -SMALL < value < SMALL:
                return int(value) + MIDDLE
            case t.BigInt():
                return FULL - self.pool(type).number(value)
            case _:
                return self.pool(type).number(value)

    def known(self, value: Any, type: Type) -> int | None:
        """Return the code of a value, or None if no relation can hold it because it was never interned."""
        match referred(type):
            case t.Bool() | t.Float() | t.Double():
                return self.code(value, type)
            case t.Bit(width) | t.Signed(width) if width <= 64:
                return self.code(value, type)
            case t.BigInt() if -SMALL < value < SMALL:
                return self.code(value, type)
            case t.BigInt():
                found = self.pool(type).find(value)
                return None if found is None else FULL - found
            case _:
                return self.pool(type).find(value)

    def codes(self, values: Sequence[Any], type: Type) -> Words:
        """Return the codes of many values."""
        match referred(type):
            case t.Bool():
                return np.fromiter(values, np.bool_, len(values)).astype(U)
            case t.Bit(width) if width <= 64:
                return np.fromiter(values, U, len(values))
            case t.Signed(width) if width <= 64:
                return code_signed(np.fromiter(values, np.int64, len(values)))
            case t.Float() | t.Double():
                return code_floats(np.fromiter(values, np.float64, len(values)))
            case t.BigInt():
                return np.fromiter((self.code(value, type) for value in values), U, len(values))
            case _:
                return np.fromiter(map(self.pool(type).number, values), U, len(values))

    def numbers(self, rows: Collection[Sequence[Any]], types: Sequence[Type]) -> list[Words] | None:
        """Return the codes of rows by column, read in one go, if all columns hold small numbers of one kind.

        It takes half as long as turning rows into columns first.
        """
        kinds = {_kind(type) for type in types}
        if hasattr(rows, "__array__") and None not in kinds:
            columns = zip(np.ascontiguousarray(rows.__array__().T), types, strict=True)
            return [column.view(U) if _kind(type) == U else code_signed(column) for column, type in columns]
        if len(kinds) > 1 or None in kinds:
            return None
        (kind,) = kinds
        read = np.fromiter(chain.from_iterable(rows), kind, len(types) * len(rows)).reshape(-1, len(types)).T
        return [np.ascontiguousarray(column) if kind == U else code_signed(column) for column in read]

    def value(self, code: int, type: Type) -> Any:
        """Return the value of a code."""
        return self.values(np.array([code], U), type)[0]

    def values(self, codes: Words, type: Type) -> list[Any]:
        """Return the values of many codes."""
        match referred(type):
            case t.Bool():
                return list(codes.astype(bool).tolist())
            case t.Bit(width) if width <= 64:
                return list(codes.tolist())
            case t.Signed(width) if width <= 64:
                return list(read_signed(codes).tolist())
            case t.Float() | t.Double():
                return [NAN if isnan(x) else x for x in read_floats(codes).tolist()]
            case t.BigInt():
                pool = self.pool(type).values
                top = MIDDLE + SMALL
                return [c - MIDDLE if c < top else pool[FULL - c] for c in codes.tolist()]
            case _:
                pool = self.pool(type).values
                return [pool[c] for c in codes.tolist()]

    def rows(self, columns: Iterable[tuple[Words, Type]], count: int) -> list[tuple[Any, ...]]:
        """Return tuples of values made of columns of codes."""
        decoded = [self.values(codes, type) for codes, type in columns]
        return list(zip(*decoded, strict=True)) if decoded else [()] * count


def _kind(type: Type) -> npt.DTypeLike | None:
    """Return how small numbers of a type are read; None if it has others."""
    match referred(type):
        case t.Bit(width) if width <= 64:
            return U
        case t.Signed(width) if width <= 64:
            return np.int64
        case _:
            return None


def code_signed(numbers: npt.NDArray[np.int64]) -> Words:
    """Return the codes of signed numbers."""
    return numbers.view(U) ^ U(MIDDLE)


def read_signed(codes: Words) -> npt.NDArray[np.int64]:
    """Return the signed numbers of codes."""
    return (codes ^ U(MIDDLE)).view(np.int64)


def code_floats(numbers: npt.NDArray[np.float64]) -> Words:
    """Return the codes of floating point numbers: both zeros have one, NaN the greatest.

    >>> codes = code_floats(np.array([-1.0, -0.0, 0.0, 2.5]))
    >>> bool((np.diff(codes.astype(object)) >= 0).all()), bool(codes[1] == codes[2])
    (True, True)
    """
    bits = (numbers + 0.0).view(U)
    codes = np.where(bits >> U(63), ~bits, bits | U(MIDDLE))
    codes[np.isnan(numbers)] = FULL
    return codes


def read_floats(codes: Words) -> npt.NDArray[np.float64]:
    """Return the floating point numbers of codes."""
    bits = np.where(codes >> U(63), codes & U(MIDDLE - 1), ~codes)
    numbers = bits.view(np.float64).copy()
    numbers[codes == U(FULL)] = NAN
    return numbers

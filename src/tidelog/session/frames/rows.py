"""Reading rows in every form a user may have them into tuples of `base.values`, checked.

A row is a tuple or list in column order, a mapping by column name, or an object with an attribute for each column. A
frame is anything that speaks Arrow's C stream: Arrow tables and batches, pandas, polars. An array of numpy has a row in
each line. A row that does not fit is a
`DataError` that names relation, row, column, the type expected and the value found.

Tuples of numbers, strings and truth values are checked a column at a time, in C, and taken as they are; only when that
finds something else are they read one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeGuard

from tidelog.base import types
from tidelog.base.arguments import brief
from tidelog.base.conform import bounds
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import Plain
from tidelog.base.plain.read import Read
from tidelog.base.record import record
from tidelog.base.tuning.files import Rows
from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Field, Type
from tidelog.base.values import Value, Variant
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from pyspark.sql import DataFrame as SparkFrame


class ArrowStream(Protocol):
    """A table of any library that speaks Arrow's C stream: Arrow, pandas, polars."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...


class ArrowArray(Protocol):
    """A record batch of any library that speaks Arrow's C arrays."""

    def __arrow_c_array__(self, requested_schema: object = None) -> object: ...


GivenRows: TypeAlias = "Iterable[object] | ArrowStream | ArrowArray | SparkFrame"
"""Rows in every form that is read; on Spark also a DataFrame, which stays there."""


def is_frame(rows: object) -> TypeGuard[ArrowStream | ArrowArray]:
    """Tell whether rows speak Arrow."""
    return hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__")


WIDEST = 63
"""Bits of the numbers that are checked as an array."""


class NumberRows(Collection[Row]):
    """Rows of integers, which are also there as an array, a row in a line. None can be added: both are the same."""

    __slots__ = ("_numbers", "_rows")

    def __init__(self, rows: Sequence[Row], numbers: npt.NDArray[np.int64]) -> None:
        self._rows, self._numbers = rows, numbers

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        found = self._numbers if dtype is None else self._numbers.astype(dtype)
        return found.copy() if copy else found


@record
class RowReader:
    """Reads rows of one relation."""

    relation: Relation
    readers: tuple[Read, ...]
    tuning: Rows = DEFAULT.rows

    @classmethod
    def of(cls, relation: Relation, plain: Plain, tuning: Rows = DEFAULT.rows) -> RowReader:
        """Return a reader for a relation of the program whose types `plain` knows."""
        return cls(relation, tuple(plain.read(column.type) for column in relation.columns), tuning)

    def read(self, rows: object) -> Collection[Row]:
        """Return the rows as tuples, or raise `DataError` for the first that does not fit."""
        if isinstance(rows, str | bytes | Mapping):
            raise DataError(f"{self.relation.name}: expected rows, found {brief(rows)}; one row is written [row]")
        try:
            given = _listed(rows)  # a copy: the user's list may change later
        except TypeError:
            raise DataError(f"{self.relation.name}: expected rows, found {brief(rows)}") from None
        numbers = self._numbers(given) if len(given) >= self.tuning.array_rows else None
        if numbers is not None:
            return numbers
        if self._fits(given):
            return given
        return [self._row(i, row) for i, row in enumerate(given)]

    def _fits(self, rows: Sequence[Any]) -> bool:
        """Tell whether all rows are tuples of proper values already; only columns of simple types can be seen to be."""
        width = len(self.relation.columns)
        if set(map(type, rows)) - {tuple} or set(map(len, rows)) - {width}:
            return False
        return all(map(_column_fits, zip(*rows, strict=True), [column.type for column in self.relation.columns]))

    def _numbers(self, rows: Sequence[Any]) -> NumberRows | None:
        """Return the rows with their numbers, if all are tuples of proper numbers of at most 63 bits."""
        wanted = [column.type for column in self.relation.columns]
        if not all(isinstance(type, types.Bit | types.Signed) and type.width <= WIDEST for type in wanted):
            return None
        if set(map(type, rows)) != {tuple} or set(map(len, rows)) != {len(wanted)} or not wanted:
            return None
        flat = list(chain.from_iterable(rows))
        if set(map(type, flat)) != {int}:
            return None
        import numpy as np  # noqa: PLC0415  (slow to load)

        try:
            numbers = np.fromiter(flat, np.int64, len(flat)).reshape(-1, len(wanted))
        except OverflowError:
            return None
        room = [bounds(type) for type in wanted if isinstance(type, types.Bit | types.Signed)]
        fit = (numbers.min(axis=0) >= [low for low, _ in room]) & (numbers.max(axis=0) <= [high for _, high in room])
        return NumberRows(rows, numbers) if fit.all() else None

    def _row(self, number: int, row: Any) -> Row:
        values = self.values(row, f"rows[{number}]")
        return tuple(
            self._value(f"rows[{number}]", column, read, value)
            for column, read, value in zip(self.relation.columns, self.readers, values, strict=True)
        )

    def values(self, row: Any, place: str) -> Sequence[Any]:
        """Return what a row has for each column, in order, not checked; `place` says which row it is."""
        columns = self.relation.columns
        match row:
            case tuple() | list():
                if len(row) == len(columns):
                    return row
            case Mapping():
                return self._by_name(row, place)
            case Variant() if self._is_element(row):
                return row.fields
            case str() | int() | float() | bytes() | None | Variant():
                pass
            case _ if columns and all(hasattr(row, column.name) for column in columns):
                return [getattr(row, column.name) for column in columns]
        raise DataError(f"{self.relation.name}, {place}: expected ({_shown(columns)}), found {brief(row)}")

    def _is_element(self, row: Variant) -> bool:
        element = self.relation.element
        return (
            isinstance(element, types.Named) and len(row.fields) == len(self.relation.columns) and len(row.fields) > 0
        )

    def _by_name(self, row: Mapping[str, Any], place: str) -> Sequence[Any]:
        names = [column.name for column in self.relation.columns]
        for name in names:
            if name not in row:
                raise DataError(f"{self.relation.name}, {place}: column `{name}` is missing in {brief(row)}")
        for key in row:
            if key not in names:
                hint = did_you_mean(str(key), names)
                raise DataError(
                    f"{self.relation.name}, {place}: there is no column `{key}` in ({_shown(self.relation.columns)})"
                    + (f"; {hint}" if hint else "")
                )
        return [row[name] for name in names]

    def _value(self, place: str, column: Field, read: Read, value: Any) -> Value:
        try:
            return read(value)
        except Misfit as misfit:
            raise DataError(f"{self.relation.name}, {place}, column `{column.name}`: {misfit}") from None
        except RecursionError:
            raise DataError(f"{self.relation.name}, {place}, column `{column.name}`: nested too deeply") from None


def _listed(rows: Any) -> list[Any]:
    """Return rows as a list; a line of a two-dimensional array is a tuple."""
    return [*map(tuple, rows.tolist())] if getattr(rows, "ndim", 0) == 2 else list(rows)


def _shown(columns: Sequence[Field]) -> str:
    return ", ".join(f"{column.name}: {types.show(column.type)}" for column in columns)


def _column_fits(values: Sequence[Any], wanted: Type) -> bool:
    python = _PYTHON.get(type(wanted))
    if python is None or set(map(type, values)) - {python}:
        return False
    match wanted:
        case types.String():
            return all(map(str.isascii, values))
        case types.Bit() | types.Signed():
            low, high = bounds(wanted)
            return not values or (low <= min(values) and max(values) <= high)
        case _:
            return True


# Reals are left out: each is to be rounded, and NaN replaced.
_PYTHON: dict[type, type] = {
    types.Bool: bool,
    types.String: str,
    types.BigInt: int,
    types.Bit: int,
    types.Signed: int,
}

"""Sets of rows in Arrow tables: a row becomes a number, the same for equal rows, and Arrow hashes numbers fast.

Its own joins and groups of several columns take many times as long. NaN is equal to itself here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

_MOST = 1 << 62


def distinct(table: Any) -> Any:
    """Return each row once."""
    if not table.num_rows:
        return table
    (numbers,) = numbered([table])
    order = np.asarray(pc.dictionary_encode(pa.array(numbers)).indices)  # in the order of their first occurrence
    latest = np.maximum.accumulate(order)
    first = np.ones(len(order), bool)
    first[1:] = latest[1:] > latest[:-1]
    return table if first.all() else table.filter(pa.array(first))


def without(table: Any, others: Any) -> Any:
    """Return the rows that are not among the others, of which there may be many more."""
    if others is None or not others.num_rows or not table.num_rows:
        return table
    mine, theirs = map(pa.array, numbered([table, others]))
    known = theirs.filter(pc.is_in(theirs, mine))
    return table.filter(pc.invert(pc.is_in(mine, known))) if len(known) else table


def among(table: Any, keys: Any) -> Any:
    """Tell for each row whether its cells in the columns of the keys are one of them."""
    mine, theirs = numbered([table.select(keys.column_names), keys])
    return np.isin(mine, theirs)


def numbered(tables: Sequence[Any]) -> list[Any]:
    """Return for each table the numbers of its rows: equal rows of any of them have equal numbers."""
    rows = np.zeros(sum(table.num_rows for table in tables), np.int64)
    count = 1
    for name in tables[0].column_names:
        column, values = _codes(pa.concat_tables([table.select([name]) for table in tables])[name])
        if count * values > _MOST:
            (rows, count), (column, values) = _dense(rows), _dense(column)
        rows = rows * values + column
        count *= values
    return np.split(rows, np.cumsum([table.num_rows for table in tables])[:-1])


def _codes(column: Any) -> tuple[Any, int]:
    """Return a column as numbers from 0 on, and how many there may be."""
    if pa.types.is_string(column.type):
        column = pc.dictionary_encode(column.combine_chunks())
        return np.asarray(column.indices).astype(np.int64), max(1, len(column.dictionary))
    numbers = integers(column)
    least, most = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    return _dense(numbers) if most - least >= _MOST else (numbers - least, most - least + 1)


def integers(column: Any) -> Any:
    """Return booleans, integers or floating point of an Arrow column as integers, equal ones for equal cells."""
    if pa.types.is_floating(column.type):
        numbers = np.asarray(column, np.float64)
        return np.where(np.isnan(numbers), np.nan, numbers + 0.0).view(np.int64)  # 0.0: there is no negative zero
    return np.asarray(pc.cast(column, pa.int64()))


def _dense(numbers: Any) -> tuple[Any, int]:
    distinct, places = np.unique(numbers, return_inverse=True)
    return places.astype(np.int64), max(1, len(distinct))

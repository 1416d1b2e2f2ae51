"""Rows as the tables of the state hold them: columns that Delta Lake, Spark and DuckDB know, and a weight.

| type | column |
| --- | --- |
| bool, string | bool, string |
| bit<N>, signed<N> up to 64 bits | int64; decimal(20, 0) for bit<64> |
| float, double | float64 |
| everything else | string: as the language writes the value |

Each row has a `#weight` as well: 1 in the files of a base; in files of changes -1 for a row that went.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base import types as t
from tidelog.base.plain.plain import Plain
from tidelog.base.text.read import read_value
from tidelog.base.text.write import show_value
from tidelog.base.types import Field, Type, is_simple
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row
from tidelog.session.frames.arrow import make_array, read_table, rows_table

WEIGHT = "#weight"
LARGE = pa.decimal128(20, 0)


def cell_type(type: Type) -> pa.DataType:
    """Return the Arrow type of a column.

    >>> cell_type(t.Bit(16)), cell_type(t.Bit(64)), cell_type(t.Named(t.VEC, (t.STRING,)))
    (DataType(int64), Decimal128Type(decimal128(20, 0)), DataType(string))
    """
    match type:
        case t.Bool():
            return pa.bool_()
        case t.Float() | t.Double():
            return pa.float64()
        case t.Bit(64):
            return LARGE
        case t.Bit(width) | t.Signed(width) if width <= 64:
            return pa.int64()
        case _:
            return pa.string()


def schema_of(columns: Sequence[Field]) -> pa.Schema:
    """Return the schema of a relation's table."""
    fields = [(column.name, cell_type(column.type)) for column in columns]
    return pa.schema([*fields, (WEIGHT, pa.int64())])


def cells(rows: Collection[Row], columns: Sequence[Field], plain: Plain, weight: int = 1) -> pa.Table:
    """Return rows as a table of the state."""
    schema = schema_of(columns)
    if all(is_simple(column.type) for column in columns):
        arrays = [
            _cast(array, schema.field(i).type) for i, array in enumerate(rows_table(rows, columns, plain).columns)
        ]
    else:
        given = list(rows)
        arrays = [_column([row[i] for row in given], column.type, plain) for i, column in enumerate(columns)]
    return pa.Table.from_arrays([*arrays, pa.array([weight] * len(rows), pa.int64())], schema=schema)


def _column(values: Sequence[Any], type: Type, plain: Plain) -> Any:
    if is_simple(type):
        return _cast(make_array(values, type, plain), cell_type(type))
    return pa.array([show_value(value, type, plain.definitions) for value in values], pa.string())


def _cast(array: Any, target: pa.DataType) -> Any:
    return array if array.type == target else array.cast(target)


def added_up(base: pa.Table, changes: pa.Table | None) -> pa.Table:
    """Return the rows of a base after its changes, without weights."""
    rows = base.drop_columns([WEIGHT])
    if changes is None:
        return rows
    sums = summed(changes)
    names = rows.column_names
    come = sums.filter(pc.greater(sums.column(WEIGHT), 0)).select(names)
    gone = sums.filter(pc.less(sums.column(WEIGHT), 0)).select(names)
    if gone.num_rows:
        keys = [f"#{name}" for name in names]
        there = _keyed(rows).rename_columns(keys).append_column("#at", pa.array(np.arange(rows.num_rows)))
        lost = there.join(_keyed(gone).rename_columns(keys), keys, join_type="left semi").column("#at").to_numpy()
        stays = np.ones(rows.num_rows, np.bool_)
        stays[lost] = False
        rows = rows.filter(pa.array(stays))
    return pa.concat_tables([rows, come])


def summed(changes: pa.Table) -> pa.Table:
    """Return signed rows added up: each row once, with a weight that is not 0."""
    names = [name for name in changes.column_names if name != WEIGHT]
    sums = _keyed(changes).group_by(names).aggregate([(WEIGHT, "sum")])
    rows = _unkeyed(sums.select([*names, f"{WEIGHT}_sum"]), changes.schema)
    return rows.filter(pc.not_equal(rows.column(WEIGHT), 0))


def _keyed(table: pa.Table) -> pa.Table:
    """Return columns that are equal where the language says so: reals as their bits, for NaN is itself."""
    columns = [
        pa.chunked_array([part.view(pa.int64()) for part in column.chunks], pa.int64())
        if pa.types.is_floating(column.type)
        else column
        for column in table.columns
    ]
    return pa.Table.from_arrays(columns, table.column_names)


def _unkeyed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    columns = [
        pa.chunked_array([part.view(pa.float64()) for part in column.chunks], pa.float64())
        if pa.types.is_floating(field.type)
        else column
        for column, field in zip(table.columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(columns, schema.names)


def rows_of(table: pa.Table, relation: Relation, plain: Plain) -> Collection[Row]:
    """Return the rows of a table of the state, without weights, as a database takes them."""
    if all(is_simple(column.type) for column in relation.columns):
        for place, column in enumerate(relation.columns):
            if column.type == t.Bit(64):  # what `read_table` takes at once
                table = table.set_column(place, column.name, table.column(column.name).cast(pa.uint64()))
        return read_table(table, relation, plain)
    columns = [_values(table.column(column.name), column.type, plain) for column in relation.columns]
    return list(zip(*columns, strict=True))


def _values(cells: Any, type: Type, plain: Plain) -> list[Any]:
    if is_simple(type):
        return list(map(plain.read(type), cells.to_pylist()))
    known = {text: read_value(text, type, plain.definitions) for text in cells.unique().to_pylist()}
    return [known[text] for text in cells.to_pylist()]

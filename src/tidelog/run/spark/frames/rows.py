"""Rows in and out: facts to DataFrames of cells, and a DataFrame as a lazy collection of values."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property, reduce
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidelog.base import types as t
from tidelog.base.types import Type
from tidelog.run.contract.engine import Row, Rows
from tidelog.run.spark.frames.checkpoint import collect
from tidelog.run.spark.frames.encode import Cells, arrow_type, content, spark_type
from tidelog.run.spark.frames.recovery import attempted
from tidelog.run.spark.frames.relation import column_name, columns_of

T = TypeVar("T")
_SAMPLE = 64
BATCH_ROWS = "spark.sql.execution.arrow.maxRecordsPerBatch"
BATCH_BYTES = 4 << 20
"""Bytes of an Arrow batch on its way to or from Spark: as many as of a parcel. Not measured."""


class SparkRows(Collection[Row]):
    """Rows in Spark seen as tuples of values; brought to the driver when iterated.

    The frame may be one that is made when it is asked for, as nobody may ever ask. `again` gives the same rows once
    more, if they were lost with an executor.
    """

    def __init__(
        self,
        frame: DataFrame | Callable[[], DataFrame],
        count: int,
        types: Sequence[Type],
        cells: Cells,
        again: Callable[[], DataFrame] | None = None,
    ) -> None:
        self._frame = frame
        self._again = again
        self.types = tuple(types)
        self._count = count
        self._cells = cells
        self.width = 8.0 * len(self.types)
        """Bytes of a row, on average, if somebody has measured them."""

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame of cells."""
        if not isinstance(self._frame, DataFrame):
            self._frame = self._frame()
        return self._frame

    def __len__(self) -> int:
        return self._count

    @cached_property
    def _rows(self) -> list[Row]:
        if not self._count:
            return []
        table = self._safely(lambda: collect(self.frame.select(*columns_of(len(self.types)))))
        return decoded(table, self.types, self._cells)

    def _safely(self, work: Callable[[], T]) -> T:
        return work() if self._again is None else attempted(work, self._recover)

    def _recover(self) -> None:
        assert self._again is not None
        self._frame = self._again()

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, tuple) or len(row) != len(self.types):
            return False
        return bool(self._count) and self._safely(lambda: contains(self.frame, row, self.types, self._cells))


class SimpleRows(SparkRows):
    """Rows whose cells are the values themselves, which may be taken as Arrow columns."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        table = collect(self.frame.select(*columns_of(len(self.types))))
        return unsigned(table, self.types).__arrow_c_stream__(requested_schema)


def unsigned(table: Any, types: Sequence[Type]) -> Any:
    """Return an Arrow table of simple cells as values: Spark has no unsigned numbers, the language has."""
    arrays = [
        pa.array(np.ascontiguousarray(table.column(number).to_numpy()).view(np.uint64))
        if isinstance(type, t.Bit)
        else table.column(number)
        for number, type in enumerate(types)
    ]
    return pa.Table.from_arrays(arrays, names=table.column_names[: len(types)])


def contains(frame: DataFrame, row: Row, types: Sequence[Type], cells: Cells) -> bool:
    """Tell whether a tuple is among the rows."""
    for number, (value, type) in enumerate(zip(row, types, strict=True)):
        frame = frame.where(f.col(column_name(number)) == f.lit(cells.cell(value, type)).cast(spark_type(type)))
    return not frame.isEmpty()


def decoded(table: Any, types: Sequence[Type], cells: Cells) -> list[Row]:
    """Return an Arrow table of cells as tuples of values."""
    if not types:
        return [()] * table.num_rows
    columns = [cells.values(table.column(number), type) for number, type in enumerate(types)]
    return list(zip(*columns, strict=True))


def frame_of(rows: Rows, types: Sequence[Type], cells: Cells, spark: SparkSession) -> DataFrame:
    """Return facts as a DataFrame of cells, with whatever repetitions they have."""
    if isinstance(rows, SparkRows):
        return rows.frame.select(*columns_of(len(types)))
    return arrow_frame(spark, table_of(rows, types, cells))


def size_given(rows: Rows) -> int:
    """Return about how many bytes facts have: of those in Python some are looked at."""
    if isinstance(rows, SparkRows):
        return int(len(rows) * rows.width)
    some = list(islice(rows, _SAMPLE))
    texts = sum(len(cell) for row in some for cell in row if isinstance(cell, str))
    return len(rows) * (8 * max(map(len, some), default=0) + texts // max(1, len(some)))


def arrow_frame(spark: SparkSession, table: Any) -> DataFrame:
    """Return an Arrow table as a DataFrame, sent in pieces that are not larger because rows are wide.

    Spark counts the rows of a piece, which is one cell to it, and not their bytes. What a task gets of a table is one
    message to an executor, which may have 128 MB: large tables become several.
    """
    if table.nbytes > 8 * BATCH_BYTES:
        step = max(1, 8 * BATCH_BYTES * table.num_rows // table.nbytes)
        some = [table.slice(start, step) for start in range(0, table.num_rows, step)]
        return reduce(DataFrame.union, [_sent(spark, one) for one in some])
    return _sent(spark, table)


def _sent(spark: SparkSession, table: Any) -> DataFrame:
    most = int(spark.conf.get(BATCH_ROWS) or 0)
    fitting = max(1, BATCH_BYTES * table.num_rows // max(1, table.nbytes))
    if not most or fitting >= min(most, table.num_rows):
        return spark.createDataFrame(table)
    spark.conf.set(BATCH_ROWS, fitting)
    try:
        return spark.createDataFrame(table)
    finally:
        spark.conf.set(BATCH_ROWS, most)


def table_of(rows: Rows, types: Sequence[Type], cells: Cells) -> Any:
    """Return facts as an Arrow table of cells; rows that offer Arrow columns are taken column by column."""
    names = columns_of(len(types))
    if types and hasattr(rows, "__arrow_c_stream__"):
        given = pa.table(rows)
        arrays = [_arrow_cells(given.column(number), type, cells) for number, type in enumerate(types)]
        return pa.Table.from_arrays(arrays, names=names)
    if not types:
        return pa.table({names[0]: pa.array([True] * len(rows), pa.bool_())})
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
    arrays = [cells.array(list(column), type) for column, type in zip(columns, types, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _arrow_cells(column: Any, type: Type, cells: Cells) -> Any:
    match content(type):
        case t.Bit(64):
            return pa.array(np.asarray(column.to_numpy(), np.uint64).view(np.int64))
        case t.Bool() | t.String() | t.Bit() | t.Signed() | t.Float() | t.Double():
            return column.combine_chunks().cast(arrow_type(type))
        case _:
            return cells.array(column.to_pylist(), type)

"""Tuples in parcels: many rows of a relation as one binary cell of a DataFrame, in Arrow's format.

Spark moves a parcel, or keeps it, without a look inside, and a Python worker opens it without copying: a row of its own
for every tuple costs more than all that the columnar engine does with it. `Packed` is a relation's tuples left so. A
parcel has a few megabytes: Spark holds several cells at a time, and can put aside only what is a cell of its own.

Tuples are *placed* by the cell in a column, the same in every process; a parcel's `place` is the number of a partition.
Of one place all tuples are there.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base.record import record
from tidelog.run.spark.frames.checkpoint import without_notes
from tidelog.run.spark.frames.named import integer
from tidelog.run.spark.frames.relation import RANK, SUPPORT
from tidelog.run.spark.frames.sets import integers

PLACE, RELATION, KIND, ROUNDS, ROWS, BODY = "place", "relation", "kind", "rounds", "rows", "body"
PARCELS = s.StructType(
    [
        s.StructField(PLACE, s.IntegerType()),
        s.StructField(RELATION, s.StringType()),
        s.StructField(KIND, s.StringType()),
        s.StructField(ROUNDS, s.LongType()),
        s.StructField(ROWS, s.LongType()),
        s.StructField(BODY, s.BinaryType()),
    ]
)
_SCHEMA = pa.schema(
    [
        (PLACE, pa.int32()),
        (RELATION, pa.string()),
        (KIND, pa.string()),
        (ROUNDS, pa.int64()),
        (ROWS, pa.int64()),
        (BODY, pa.binary()),
    ]
)
_MIX = np.uint64(0x9E3779B97F4A7C15)

Batches = Iterator[pa.RecordBatch]


@record
class Parcel:
    """Tuples of a relation, what they are for, where they belong, and how many rounds it took to derive them."""

    place: int
    relation: str
    kind: str
    rows: Any
    rounds: int = 1

    def batches(self, most: int) -> Batches:
        """Yield the rows of a DataFrame that hold the tuples, each of at most `most` bytes unless it has one tuple."""
        for part in _cut(self.rows, most):
            table = without_notes(part)
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, table.schema) as writer:
                writer.write_table(table)
            cells = [self.place, self.relation, self.kind, self.rounds, table.num_rows, sink.getvalue().to_pybytes()]
            arrays = [pa.array([cell], field.type) for cell, field in zip(cells, _SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=_SCHEMA)


def _cut(table: Any, most: int) -> Iterator[Any]:
    """Yield the rows of an Arrow table in tables of at most `most` bytes; half and half where rows differ in size."""
    if table.nbytes <= most or table.num_rows <= 1:
        if table.num_rows:
            yield table
        return
    half = table.num_rows // 2
    yield from _cut(table.slice(0, half), most)
    yield from _cut(table.slice(half), most)


def opened(batches: Iterable[pa.RecordBatch]) -> Iterator[Parcel]:
    """Yield the parcels of a partition."""
    for batch in batches:
        columns = [batch.column(name) for name in (PLACE, RELATION, KIND)]
        for number, body in enumerate(batch.column(BODY)):
            place, relation, kind = (column[number].as_py() for column in columns)
            yield Parcel(place, relation, kind, pa.ipc.open_stream(body.as_buffer()).read_all())


@dataclass(frozen=True, eq=False)
class Packed:
    """The tuples of a relation in the parcels of a kind; whoever reads them as rows opens the parcels.

    `schema` is that of the rows, with `rank` and support 1. Tuples are `placed` by the number of a column, if that is
    known, at one of `count` places. Where several will read them as rows, these are `unpacked` once.
    """

    parcels: DataFrame
    relation: str
    kind: str
    schema: s.StructType
    placed: tuple[int | None, int] = (None, 0)
    rank: int = 1
    unpacked: DataFrame | None = None

    @property
    def chosen(self) -> DataFrame:
        """The parcels that hold the tuples."""
        return self.parcels.where((f.col(RELATION) == self.relation) & (f.col(KIND) == self.kind))

    @cached_property
    def frame(self) -> DataFrame:
        """The tuples as rows; rank and support are added by Spark, which leaves them out where nobody reads them."""
        if self.unpacked is not None:
            return self.unpacked
        return self.tuples.select("*", integer(self.rank, RANK), integer(1, SUPPORT))

    @property
    def tuples(self) -> DataFrame:
        """The tuples as rows, without rank and support."""
        tuples = s.StructType([field for field in self.schema.fields if field.name not in (RANK, SUPPORT)])

        def rows(batches: Batches) -> Batches:
            for parcel in opened(batches):
                yield from parcel.rows.to_batches()

        return self.chosen.mapInArrow(rows, tuples)


def bytes_of(chosen: Column) -> Column:
    """Return the bytes of the tuples in the parcels chosen of a DataFrame."""
    return f.sum(f.when(chosen, f.octet_length(BODY)))


def places(column: Any, count: int) -> Any:
    """Return for each cell of an Arrow column one of `count` places: equal cells have equal places."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if count == 1:
        return np.zeros(len(column), np.int64)
    if pa.types.is_string(column.type):
        coded = pc.dictionary_encode(column)
        texts = np.array([zlib.crc32(text.encode()) for text in coded.dictionary.to_pylist()], np.uint64)
        codes = texts[np.asarray(coded.indices)] if len(texts) else np.zeros(0, np.uint64)
    else:
        codes = integers(column).view(np.uint64)
    return (((codes * _MIX) >> np.uint64(33)) % np.uint64(count)).astype(np.int64)


def sent(table: Any, relation: str, kind: str, columns: Sequence[str], count: int) -> Iterator[Parcel]:
    """Yield tuples in a parcel for each place that one of the columns gives them."""
    earlier: list[Any] = []
    for column in columns:
        where = places(table[column], count)
        rows = np.arange(table.num_rows)
        for other in earlier:
            rows = rows[where[rows] != other[rows]]
        earlier.append(where)
        rows = rows[np.argsort(where[rows], kind="stable")]
        bounds = np.searchsorted(where[rows], np.arange(count + 1))
        for place in range(count):
            chosen = rows[bounds[place] : bounds[place + 1]]
            if len(chosen):
                yield Parcel(place, relation, kind, table.take(pa.array(chosen)))


def scattered(relation: str, kind: str, columns: Sequence[str], count: int, most: int) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: rows to parcels of `most` bytes for the places that columns give them."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            for parcel in sent(pa.Table.from_batches([batch]), relation, kind, columns, count):
                yield from parcel.batches(most)

    return run

"""Rows in and out: values to packed rows of a relation, and a relation's rows as a lazy collection of values."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial, reduce
from importlib import import_module
from typing import Any

import numpy as np

from tidelog.base import types as t
from tidelog.base.tuning.columnar import Sorting
from tidelog.base.types import Type
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.dictionary import Codec, code_floats, code_signed, read_floats, read_signed
from tidelog.run.columnar.storage.layout import Layout, Range, range_of
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.columns import ValueColumns
from tidelog.run.contract.engine import Row, Rows
from tidelog.run.phases import CURRENT, GARBAGE

Block = Sequence[Words]


def pack_columns(parts: Sequence[Block], rows: Rows, relation: Relation) -> Words:
    """Return the columns of rows, sorted and distinct, packed in the relation's layout, which has room for them."""
    layout = relation.layout
    if len(parts) > 1 and layout.words > 1:
        parts = [[np.concatenate(pieces) for pieces in zip(*parts, strict=True)]]
    counts = [len(columns[0]) if columns else len(rows) for columns in parts]
    table = relation.arrays(sum(counts))
    packed = [
        partial(layout.pack, dict(enumerate(columns)), count) for columns, count in zip(parts, counts, strict=True)
    ]
    return table.unique(table.sort_parts(packed))


def ranges_of(parts: Sequence[Block]) -> list[Range]:
    """Return the range of each column."""
    return [reduce(Range.join, map(range_of, pieces)) for pieces in zip(*parts, strict=True)]


def code_parts(rows: Rows, types: Sequence[Type], codec: Codec, thresholds: Sorting) -> list[list[Words]]:
    """Return columns of codes, in one part or in the parts that Arrow has them in: joining those would copy them."""
    large = types and hasattr(rows, "__arrow_c_stream__") and len(rows) >= thresholds.arrow_from
    if large and all(map(_is_natural, types)):
        arrow = import_module("pyarrow")
        parts = [batch for batch in arrow.RecordBatchReader.from_stream(rows) if len(batch)]
        if parts and len(rows) >= thresholds.arrow_part * len(parts):
            tables = (arrow.Table.from_batches([part]) for part in parts)
            return [[_code_arrow(table.column(i), type, codec) for i, type in enumerate(types)] for table in tables]
    return [code_columns(rows, types, codec)]


def _is_natural(type: Type) -> bool:
    """Tell whether the codes of an Arrow column are made from its array, whole columns or parts of them."""
    return t.is_simple(type) and not isinstance(type, t.String)


def code_columns(rows: Rows, types: Sequence[Type], codec: Codec) -> list[Words]:
    """Return columns of codes; Arrow columns are taken as they are, in unsigned integers of their own width."""
    if isinstance(rows, ValueColumns) and types:
        coded = zip(rows.columns, types, strict=True)
        return [codec.codes(values, type)[places] for (values, places), type in coded]
    if types and hasattr(rows, "__arrow_c_stream__"):
        table = import_module("pyarrow").RecordBatchReader.from_stream(rows).read_all()  # `table` would load pandas
        return [_code_arrow(table.column(i), type, codec) for i, type in enumerate(types)]
    numbers = codec.numbers(rows, types) if types else None
    if numbers is not None:
        return numbers
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(types)
    return [codec.codes(column, type) for column, type in zip(columns, types, strict=True)]


def _code_arrow(column: Any, type: Type, codec: Codec) -> Words:
    """Return the codes of an Arrow column of a type with a natural array, or of strings."""
    match type:
        case t.String():
            encoded = column.combine_chunks().dictionary_encode()
            numbers = codec.codes(encoded.dictionary.to_pylist(), type)
            return numbers[encoded.indices.to_numpy(zero_copy_only=False)] if len(encoded) else np.empty(0, np.uint64)
        case t.Bool():
            return np.asarray(column.to_numpy(), np.uint8)
        case t.Bit():
            return _numbers(column, np.unsignedinteger)  # type: ignore[no-any-return]
        case t.Signed():
            return code_signed(_numbers(column, np.signedinteger).astype(np.int64, copy=False))
        case t.Float() | t.Double():
            return code_floats(_numbers(column, np.floating).astype(np.float64, copy=False))
        case _:
            return codec.codes(column.to_pylist(), type)


def _numbers(column: Any, kind: type[np.generic]) -> Any:
    """Return the numbers of an Arrow column without nulls, of a kind; its own memory if it is one piece.

    `to_numpy` would load pandas.
    """
    given = np.dtype(column.type.to_pandas_dtype())
    assert np.issubdtype(given, kind), f"expected {kind.__name__}, found {column.type}"
    parts = [
        np.frombuffer(chunk.buffers()[1], given, len(chunk), chunk.offset * given.itemsize)
        for chunk in column.chunks
        if len(chunk)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0, given), *parts])


class DecodedRows(Collection[Row]):
    """Packed rows of a batch seen as tuples of values; decoded when iterated."""

    def __init__(self, layout: Layout, batch: Batch, types: Sequence[Type], codec: Codec, arrays: Arrays) -> None:
        self._arrays = arrays
        self._layout = layout
        self._batch = batch
        self._types = types
        self._codec = codec

    def __len__(self) -> int:
        return self._batch.size

    def __iter__(self) -> Iterator[Row]:
        columns = [(self._layout.codes(self._batch.rows, c), type) for c, type in enumerate(self._types)]
        return iter(self._codec.rows(columns, len(self)))

    def __contains__(self, row: object) -> bool:
        if not isinstance(row, tuple):
            return False
        key = _packed(row, self._layout, self._types, self._codec)
        return key is not None and self._arrays().ranges(key, self._batch.rows, self._layout.words, 64)[2] > 0


class ArrowRows(DecodedRows):
    """Packed rows of columns that Arrow has natural types for, offered to whoever speaks Arrow."""

    names: Sequence[str] = ()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the columns, named like the relation's."""
        columns = {
            name: _arrow_column(self._layout.codes(self._batch.rows, column), type, self._codec)
            for column, (name, type) in enumerate(zip(self.names, self._types, strict=True))
        }
        table = import_module("pyarrow").Table.from_arrays(list(columns.values()), list(columns))
        return table.__arrow_c_stream__(requested_schema)


def decoded(relation: Relation, batch: Batch, names: Sequence[str], codec: Codec) -> DecodedRows:
    """Return a batch in the layout of a relation as a collection of tuples, with Arrow columns if there can be."""
    return _decoded(relation.layout, batch, relation.types, names, codec, relation.arrays)


def decoded_in(
    layout: Layout, rows: Words, types: Sequence[Type], names: Sequence[str], codec: Codec, arrays: Arrays
) -> DecodedRows:
    """Return packed rows in some layout as a collection of tuples, with Arrow columns if there can be."""
    return _decoded(layout, Batch(rows), types, names, codec, arrays)


def _decoded(
    layout: Layout, batch: Batch, types: Sequence[Type], names: Sequence[str], codec: Codec, arrays: Arrays
) -> DecodedRows:
    if types and all(t.is_simple(type) for type in types):
        found = ArrowRows(layout, batch, types, codec, arrays)
        found.names = names
        return found
    return DecodedRows(layout, batch, types, codec, arrays)


def _arrow_column(codes: Words, type: Type, codec: Codec) -> Any:
    """Return a column of codes as an Arrow array of the natural type."""
    arrow = import_module("pyarrow")
    match type:
        case t.Bool():
            return _wrapped(np.packbits(codes.astype(bool), bitorder="little"), arrow.bool_(), len(codes))
        case t.Bit(width):
            size = _bytes(width)
            return _wrapped(codes.astype(f"u{size}", copy=False), getattr(arrow, f"uint{8 * size}")(), len(codes))
        case t.Signed(width):
            size = _bytes(width)
            numbers = read_signed(codes).astype(f"i{size}", copy=False)
            return _wrapped(numbers, getattr(arrow, f"int{8 * size}")(), len(codes))
        case t.Float():
            return _wrapped(read_floats(codes).astype(np.float32), arrow.float32(), len(codes))
        case t.Double():
            return _wrapped(read_floats(codes), arrow.float64(), len(codes))
        case _:
            distinct, places = np.unique(codes, return_inverse=True)
            numbers = _wrapped(places.astype(np.int64, copy=False), arrow.int64(), len(codes))
            return arrow.array(codec.values(distinct, type), arrow.string()).take(numbers)


def _wrapped(values: np.ndarray, type: Any, count: int) -> Any:
    """Return an Arrow array over the memory of values; `pyarrow.array` would load pandas to ask what they are."""
    arrow = import_module("pyarrow")
    return arrow.Array.from_buffers(type, count, [None, arrow.py_buffer(np.ascontiguousarray(values))])


def _bytes(width: int) -> int:
    return next(size for size in (1, 2, 4, 8) if width <= 8 * size)


def find(row: Row, relation: Relation, codec: Codec) -> bool:
    """Tell whether a tuple of values is in a relation."""
    codes = _coded(row, relation.layout, relation.types, codec)
    return codes is not None and relation.contains(codes)


def look_up(relation: Relation, values: Mapping[int, Any], codec: Codec) -> list[Row]:
    """Return the tuples that have these values in some columns, from an order that begins with them.

    The order is made when it is first asked for, and from then on follows every update.
    """
    order = relation.order(frozenset(values))
    layout, count = order.layout, len(values)
    codes = {column: codec.known(value, relation.types[column]) for column, value in values.items()}
    known = {column: code for column, code in codes.items() if code is not None}
    if len(known) < count or not all(layout.fields[c].range.covers(Range(code, code)) for c, code in known.items()):
        return []
    (full, shift), key = layout.prefix(count), layout.key(count).constant(known)  # type: ignore[arg-type]
    found: list[Row] = []
    for batch, limit in relation.batches(order, CURRENT):
        low, high, total = relation.arrays(batch.size).ranges(
            key, batch.rows, full, shift, batch.fence(1, relation.arrays)
        )
        if total:
            rows = batch.rows[:, low[0] : high[0]]
            if batch.mark is not None and limit < GARBAGE:
                rows = rows[:, batch.mark[low[0] : high[0]] <= limit]
            columns = [(layout.codes(rows, column), type) for column, type in enumerate(relation.types)]
            found += codec.rows(columns, rows.shape[1])
    return found


def _packed(row: Row, layout: Layout, types: Sequence[Type], codec: Codec) -> Words | None:
    """Return a tuple of values as one packed row, or None if it cannot be in a relation of this layout."""
    codes = _coded(row, layout, types, codec)
    return None if codes is None else layout.constant(codes)  # type: ignore[arg-type]


def _coded(row: Row, layout: Layout, types: Sequence[Type], codec: Codec) -> dict[int, int] | None:
    """Return the codes of a tuple of values by column, or None if it cannot be in a relation of this layout."""
    if len(row) != len(types):
        return None
    codes: dict[int, int] = {}
    for column, (value, type) in enumerate(zip(row, types, strict=True)):
        code = codec.known(value, type)
        room = layout.fields[column].range
        if code is None or not room.low <= code <= room.high:
            return None
        codes[column] = code
    return codes

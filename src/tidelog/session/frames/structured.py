"""Structures in Spark DataFrames: what cells hold as text becomes structs, arrays and maps, in the executors.

A structure has the Arrow type of `session.frames.arrow`, with what Spark lacks replaced: unsigned integers by the next
wider signed ones (64 bits: decimal(20, 0)), float by double. Types with integers beyond 64 bits or without any field in
them, and recursive ones, stay text, as the language writes values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidelog.base.plain.plain import Plain
from tidelog.base.types import Field, Type, TypeDefinition
from tidelog.session.frames.arrow import arrow_type, is_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20),
    pa.float32(): pa.float64(),
}


class _Unsuited(Exception):  # noqa: N818  (never leaves this module)
    """Spark has no type for it."""


def structure_type(type: Type, plain: Plain) -> pa.DataType | None:
    """Return the Arrow type that a type's structures have in Spark; None for values that are none, or stay text."""
    if is_text(type, plain):
        return None
    found = arrow_type(type, plain, pa.null())
    try:
        return _for_spark(found) if pa.types.is_nested(found) else None
    except _Unsuited:
        return None


def _for_spark(type: pa.DataType) -> pa.DataType:
    if pa.types.is_null(type):
        raise _Unsuited
    if pa.types.is_struct(type):
        return pa.struct([(field.name, _for_spark(field.type)) for field in type])
    if pa.types.is_map(type):
        return pa.map_(_for_spark(type.key_type), _for_spark(type.item_type))
    if pa.types.is_list(type):
        return pa.list_(_for_spark(type.value_type))
    return _WIDER.get(type, type)


def structured(frame: DataFrame, columns: Sequence[Field], plain: Plain) -> DataFrame:
    """Return a relation's DataFrame with structures in place of their texts."""
    from pyspark.sql import types as s
    from pyspark.sql.pandas.types import from_arrow_type

    made = {column.name: structure_type(column.type, plain) for column in columns}
    nested = {column.name: (column.type, made[column.name]) for column in columns if made[column.name] is not None}
    if not nested:
        return frame
    fields = [
        s.StructField(field.name, from_arrow_type(nested[field.name][1]) if field.name in nested else field.dataType)
        for field in frame.schema.fields
    ]
    return frame.mapInArrow(_rewrite(nested, plain.definitions), s.StructType(fields))


def _rewrite(
    nested: Mapping[str, tuple[Type, Any]], definitions: Mapping[str, TypeDefinition]
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow`: cells of structures to the structures, other columns as they are."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from tidelog.run.spark.frames.encode import Cells  # noqa: PLC0415  (loads PySpark)

        plain, cells = Plain(definitions), Cells(definitions)
        for batch in batches:
            arrays = []
            for name, array in zip(batch.schema.names, batch.columns, strict=True):
                if name not in nested:
                    arrays.append(array)
                    continue
                type, target = nested[name]
                write = plain.write(type)
                values = cells.values(array, type)
                arrays.append(pa.array([write(value) for value in values] if write is not None else values, target))
            yield pa.RecordBatch.from_arrays(arrays, batch.schema.names)

    return run

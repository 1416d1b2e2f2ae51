"""Relations as the user's DataFrames, and the user's DataFrames as facts, without a detour by the driver.

| type | in a DataFrame given out | accepted |
| --- | --- | --- |
| bool, string, float, double | boolean, string, double | the same, float |
| bit<N>, signed<N> up to 63 and 64 bits | long | any integer type, decimals without fraction |
| bit<64> | decimal(20, 0) | any integer type, decimals without fraction |
| everything else | string, as the language writes values | by the driver only, but for `cells_of` |
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base import types as t
from tidelog.base.conform import bounds
from tidelog.base.errors import DataError
from tidelog.base.types import Field, Type, TypeDefinition
from tidelog.run.contract.engine import Rows
from tidelog.run.spark.cluster.session import start_session
from tidelog.run.spark.frames.checkpoint import collect
from tidelog.run.spark.frames.encode import WORD, Cells, content, spark_type
from tidelog.run.spark.frames.internals import internals_of
from tidelog.run.spark.frames.relation import column_name
from tidelog.run.spark.frames.rows import frame_of

_WIDE = s.DecimalType(20, 0)
CELLS = "tidelog.cells"
"""What the metadata of a column of cells have the type's name under."""


def adopt(frame: DataFrame, spark: SparkSession) -> DataFrame:
    """Return the same rows as a DataFrame of another session of the same cluster, so that its settings count."""
    if frame.sparkSession is spark:
        return frame
    internals = internals_of(spark)
    if internals is not None:
        return internals.adopted(frame, spark)
    view = f"tidelog_{uuid.uuid4().hex}"
    frame.createGlobalTempView(view)
    try:
        return spark.table(f"{spark.conf.get('spark.sql.globalTempDatabase') or 'global_temp'}.{view}")
    finally:
        spark.catalog.dropGlobalTempView(view)


def given_out(frame: DataFrame, columns: Sequence[Field]) -> DataFrame:
    """Return a relation's cells as a DataFrame with its columns."""
    return frame.select(*[_shown(f.col(column_name(i)), c.type).alias(c.name) for i, c in enumerate(columns)])


def signed_frame(
    inserted: Rows,
    deleted: Rows,
    columns: Sequence[Field],
    definitions: Mapping[str, TypeDefinition],
    weight: str,
    spark: SparkSession | None = None,
) -> DataFrame:
    """Return a change as a DataFrame with a column of +1 and -1."""
    types, cells, session = [column.type for column in columns], Cells(definitions), spark or start_session()
    parts = [
        given_out(frame_of(rows, types, cells, session), columns).withColumn(weight, f.lit(sign).cast("long"))
        for rows, sign in ((inserted, 1), (deleted, -1))
        if len(rows) or sign > 0
    ]
    return parts[0] if len(parts) == 1 else parts[0].unionByName(parts[1])


def _shown(cell: Column, type: Type) -> Column:
    if content(type) != t.Bit(64):
        return cell
    wide = cell.cast(_WIDE)
    return f.when(cell < 0, wide + f.lit(str(WORD)).cast(_WIDE)).otherwise(wide).cast(_WIDE)


def taken_in(frame: DataFrame, relation: str, columns: Sequence[Field]) -> tuple[DataFrame, int, float] | None:
    """Return a user's DataFrame as cells, its number of rows, and the bytes of one; None if it must go by the driver.

    Raises `DataError` for a missing column, a column of another type, a null, or a number out of range.
    """
    if not columns or not all(t.is_simple(content(column.type)) or _is_cell(frame, column) for column in columns):
        return None
    missing = [column.name for column in columns if column.name not in frame.columns]
    if missing:
        raise DataError(
            f"{relation}: the DataFrame has no column {', '.join(missing)}; it has {', '.join(frame.columns)}"
        )
    found = {field.name: field.dataType for field in frame.schema.fields}
    for column in columns:
        if not _accepts(column.type, found[column.name]):
            given = found[column.name].simpleString()
            raise DataError(
                f"{relation}.{column.name} has type {t.show(column.type)}; the DataFrame's column is {given}"
            )
    wrong = {
        (kind, column.name): test
        for column in columns
        for kind, test in _mistakes(f.col(f"`{column.name}`"), column.type, found[column.name])
    }
    texts = [f.octet_length(f"`{column.name}`") for column in columns if content(column.type) == t.String()]
    length = reduce(Column.__add__, texts, f.lit(0))
    mistaken = f.count_if(reduce(Column.__or__, wrong.values()))
    rows, mistakes, size = _counted(frame, [mistaken, f.sum(length)])
    if mistakes:
        for (kind, name), count in zip(wrong, _counted(frame, list(map(f.count_if, wrong.values())))[1:], strict=True):
            if count:
                raise DataError(f"{relation}.{name}: {count} rows are {'null' if kind == 'null' else 'out of range'}")
    cells = [_cell(f.col(f"`{c.name}`"), c.type).alias(column_name(i)) for i, c in enumerate(columns)]
    return frame.select(*cells), rows, (size + 8 * rows * (len(columns) - len(texts))) / max(1, rows)


def _counted(frame: DataFrame, others: Sequence[Column]) -> list[int]:
    """Return the number of rows, and what else is to be counted."""
    counts = [f.count(f.lit(1)), *others]
    (row,) = collect(frame.agg(*[count.alias(str(number)) for number, count in enumerate(counts)])).to_pylist()
    return [int(found or 0) for found in row.values()]


def are_simple(types: Sequence[Type]) -> bool:
    """Tell whether the cells of all types are the values themselves."""
    return all(t.is_simple(content(type)) for type in types)


def cells_of(column: Column, field: Field) -> Column:
    """Return a column of texts that are cells already, each the one text that its value has, under a field's name."""
    return column.alias(field.name, metadata={CELLS: t.show(field.type)})


def _is_cell(frame: DataFrame, field: Field) -> bool:
    return field.name in frame.columns and frame.schema[field.name].metadata.get(CELLS) == t.show(field.type)


def _accepts(type: Type, given: s.DataType) -> bool:
    match content(type):
        case t.Bool():
            return isinstance(given, s.BooleanType)
        case t.String() | t.Named():
            return isinstance(given, s.StringType)
        case t.Double() | t.Float():
            return isinstance(given, s.FloatType | s.DoubleType)
        case _:
            return isinstance(given, s.IntegralType) or (isinstance(given, s.DecimalType) and given.scale == 0)


def _mistakes(column: Column, type: Type, given: s.DataType) -> list[tuple[str, Column]]:
    tests = [("null", column.isNull())]
    kind = content(type)
    if isinstance(kind, t.Bit | t.Signed):
        low, high = bounds(kind)
        if isinstance(given, s.IntegralType):  # so it is a long at most
            low, high = max(low, -WORD // 2), min(high, WORD // 2 - 1)
            wide, least, most = column, f.lit(low), f.lit(high)
        else:
            wide = column.cast(wide_type())
            least, most = (f.lit(str(end)).cast(wide_type()) for end in (low, high))
        tests.append(("range", (wide < least) | (wide > most)))
    return tests


def wide_type() -> s.DecimalType:
    """Return a type that holds every integer of a DataFrame."""
    return s.DecimalType(38, 0)


def _cell(column: Column, type: Type) -> Column:
    kind = content(type)
    if kind == t.Bit(64):
        wide = column.cast(wide_type())
        wrapped = wide - f.lit(str(WORD)).cast(wide_type())
        return f.when(wide >= f.lit(str(WORD // 2)).cast(wide_type()), wrapped).otherwise(wide).cast("long")
    if isinstance(kind, t.Double | t.Float):
        value = column.cast("double")
        return f.when(value == 0.0, f.lit(0.0)).otherwise(value)  # there is no negative zero
    return column.cast(spark_type(type))

"""Sources as DataFrames whose columns are a relation's, checked value by value in Spark.

A value that does not fit is told with source, file, row and column, or its row goes to the quarantine table and the
others are taken. Columns of text, numbers and truth values are converted where they are; small tables, and relations
with other types, pass through the driver, where texts are read as the language writes values. Files of changes have a
column `op` (insert or delete) or `weight` (positive or negative) beside the relation's; their rows add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base import types as t
from tidelog.base.conform import bounds
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError
from tidelog.base.record import record
from tidelog.base.types import Field, Type
from tidelog.plan.nodes import Relation
from tidelog.session.frames.arrow import is_simple, read_table
from tidelog.session.frames.plain import Plain
from tidelog.session.pipeline.adding import Signed, may_stay
from tidelog.session.pipeline.addresses import address, is_local, local_path
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.paths import TABLE, WILD
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.state.cells import WEIGHT
from tidelog.session.pipeline.told import told

CORRUPT = "_corrupt_record"
FILE, NUMBER, REASON, WHOLE = "#file", "#number", "#reason", "#row"
TEXT_FORMATS = ("csv", "json")
_WIDE = s.DecimalType(38, 0)
_DEFAULTS = {
    # Without pruning every row is parsed whole, so that one with too few or too many cells is found.
    "csv": {"header": "true", "columnPruning": "false", "enforceSchema": "false", "columnNameOfCorruptRecord": CORRUPT},
    "json": {"primitivesAsString": "true", "columnNameOfCorruptRecord": CORRUPT},
}


@record
class Loaded:
    """What a source holds: a DataFrame of the relation's columns or rows on the driver, and the rows refused."""

    rows: Any
    refused: Output | None = None


def load(spark: SparkSession, source: SourceTable, relation: Relation, plain: Plain, most: int) -> Loaded:
    """Return the facts of a source, more than `most` in Spark if they may stay there.

    Raises `DataError` at the first that does not fit, unless they go to quarantine.
    """
    with told(source):
        good, refused, rows = _checked(spark, source, relation, signed=False)
        frame = good.select(*[f.col(f"`{column.name}`") for column in relation.columns])
        if rows > most and may_stay(relation):
            return Loaded(frame, refused)
        return Loaded(read_table(frame.toArrow(), relation, plain), refused)


def load_changes(spark: SparkSession, source: SourceTable, relation: Relation) -> Signed:
    """Return the signed rows of a file of changes, and what was refused."""
    with told(source):
        good, refused, rows = _checked(spark, source, relation, signed=True)
        frame = good.select(*[f.col(f"`{column.name}`") for column in relation.columns], WEIGHT)
        return Signed(source, rows, frame.toArrow, frame, refused)


def _checked(
    spark: SparkSession, source: SourceTable, relation: Relation, *, signed: bool
) -> tuple[DataFrame, Output | None, int]:
    """Return the good rows; for a source with a quarantine the others; the number of all rows."""
    converted = _converted(_raw(spark, source), source, relation, signed=signed)
    wrong = converted.where(f.col(REASON).isNotNull())
    counted = converted.agg(f.count(f.lit(1)), f.count_if(f.col(REASON).isNotNull())).first()
    rows, count = counted or (0, 0)
    if not count:
        return converted, None, rows
    if source.on_error == "fail":
        raise _first_mistake(spark, source, relation, wrong, count, signed=signed)
    refused = wrong.select(*[f.col(name).alias(name[1:]) for name in (FILE, REASON, WHOLE)])
    return converted.where(f.col(REASON).isNull()), Output(count, refused.toArrow, lambda: refused), rows


def _raw(spark: SparkSession, source: SourceTable) -> DataFrame:
    _check_path(source)
    if source.format == TABLE:
        return spark.read.table(str(source.path))
    options = {**_DEFAULTS.get(source.format, {}), **source.options}
    frame = _read(spark, source, options, None)
    if source.format != "csv" or source.options.get("mode"):
        return frame
    return _read(spark, source, options, s.StructType([*frame.schema.fields, s.StructField(CORRUPT, s.StringType())]))


def _read(spark: SparkSession, source: SourceTable, options: dict[str, str], schema: s.StructType | None) -> DataFrame:
    reader = spark.read.format(source.format).options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    return reader.load(address(source.path)) if source.path is not None else reader.load()


def _check_path(source: SourceTable) -> None:
    path = source.path
    local = path is not None and is_local(path) and source.format != TABLE and not set(path) & WILD
    if local and not Path(str(path)).exists():
        raise DataError(f"{source}: there is no such file or folder")


# --- converting ------------------------------------------------------------------------------------------------------


def _converted(raw: DataFrame, source: SourceTable, relation: Relation, *, signed: bool) -> DataFrame:
    """Return the relation's columns converted, with the file, the whole row, and what is wrong with it, if anything."""
    given = {field.name: field.dataType for field in raw.schema.fields}
    shown = [name for name in given if name not in (CORRUPT, NUMBER)]
    whole = f.to_json(f.struct(*[f.col(f"`{name}`") for name in shown]))
    values: list[Column] = []
    reasons: list[Column] = []
    if CORRUPT in given:
        broken = f.concat(f.lit(f"not a row of {source.format}: "), f.col(CORRUPT))
        # Spark refuses to look at this column alone, so another one takes part.
        other = f.length(f.coalesce(*[f.col(f"`{name}`").cast("string") for name in shown], f.lit(""))) >= 0
        reasons.append(f.when(f.col(CORRUPT).isNotNull() & other, broken))
    for column in relation.columns:
        name = _source_column(source, column, shown)
        found = f.col(f"`{name}`")
        if source.format == "csv" and column.type == t.STRING:
            found = f.coalesce(found, f.lit(""))  # Spark reads an empty cell as null
        value, expected = _value(found, given[name], column, source)
        values.append(value.alias(column.name))
        if expected:
            reasons.append(_reason(value.isNull(), column.name, expected, found))
    if signed:
        weight, reason = _weight(shown, source)
        values.append(weight.alias(WEIGHT))
        reasons.append(reason)
    number = [NUMBER] if NUMBER in given else []
    reason_column = f.coalesce(*reasons, f.lit(None)).cast("string")
    return raw.select(
        *values, f.input_file_name().alias(FILE), whole.alias(WHOLE), reason_column.alias(REASON), *number
    )


def _source_column(source: SourceTable, column: Field, given: Sequence[str]) -> str:
    name = source.columns.get(column.name, column.name)
    if name not in given:
        hint = did_you_mean(name, given)
        there = f"; it has {', '.join(given)}" + (f"; {hint}" if hint else "")
        raise DataError(f"{source}: there is no column `{name}`, needed for {source.relation}.{column.name}{there}")
    return name


def _value(found: Column, given: s.DataType, column: Field, source: SourceTable) -> tuple[Column, str]:
    """Return a column's value, null where it does not fit, and what was expected; nothing if the driver is to see."""
    expected = t.show(column.type)
    text = isinstance(given, s.StringType)
    integral = isinstance(given, s.IntegralType) or (isinstance(given, s.DecimalType) and given.scale == 0)
    match column.type:
        case t.Bool() if isinstance(given, s.BooleanType):
            return found, expected
        case t.Bool() if text:
            lower = f.lower(f.trim(found))
            return f.when(lower.isin("true", "false"), lower == "true"), f"{expected} (true or false)"
        case t.String() if text:
            return found, expected
        case t.Float() | t.Double() if integral or isinstance(given, s.FloatType | s.DoubleType | s.DecimalType):
            return found.cast("double"), expected
        case t.Float() | t.Double() if text:
            return f.trim(found).try_cast("double"), expected
        case t.Bit(width) | t.Signed(width) if width <= 64 and (integral or text):
            return _integer(found, column.type, text=text)
        case type if not is_simple(type):
            return found, ""
        case _:
            raise DataError(
                f"{source}: {source.relation}.{column.name} has type {expected}; the source's column is "
                f"{given.simpleString()}"
            )


def _integer(found: Column, type: Type, *, text: bool) -> tuple[Column, str]:
    assert isinstance(type, t.Bit | t.Signed)
    low, high = bounds(type)
    number = found.cast(_WIDE)
    if text:
        trimmed = f.trim(found)
        number = f.when(trimmed.rlike("^[+-]?[0-9]{1,38}$"), trimmed.try_cast(_WIDE))
    fits = (number >= f.lit(str(low)).cast(_WIDE)) & (number <= f.lit(str(high)).cast(_WIDE))
    target = s.DecimalType(20, 0) if type == t.Bit(64) else s.LongType()
    return f.when(fits, number.cast(target)), f"{t.show(type)} ({low} to {high})"


def _weight(given: Sequence[str], source: SourceTable) -> tuple[Column, Column]:
    """Return the sign of a row of changes, and what is wrong with it."""
    if "op" in given:
        op = f.lower(f.trim(f.col("op")))
        weight = f.when(op == "insert", f.lit(1)).when(op == "delete", f.lit(-1)).cast("long")
        return weight, _reason(weight.isNull(), "op", "insert or delete", f.col("op"))
    if "weight" in given:
        weight = f.col("weight").cast("string").try_cast("long")
        return weight, _reason(weight.isNull(), "weight", "a number", f.col("weight"))
    raise DataError(
        f"{source}: changes need a column `op` (insert or delete) or `weight` (a signed number); "
        f"there are {', '.join(given)}"
    )


def _reason(test: Column, name: str, expected: str, found: Column) -> Column:
    shown = f.coalesce(f.concat(f.lit("'"), found.cast("string"), f.lit("'")), f.lit("nothing"))
    return f.when(test, f.concat(f.lit(f"column `{name}`: expected {expected}, found "), shown))


# --- mistakes --------------------------------------------------------------------------------------------------------


def _first_mistake(
    spark: SparkSession, source: SourceTable, relation: Relation, wrong: DataFrame, count: int, *, signed: bool
) -> DataError:
    """Return the error for the first wrong row of a file, with its number there."""
    file, reason = wrong.select(FILE, REASON).sort(FILE).first() or ("", "")
    more = f" (and {count - 1} more)" if count > 1 else ""
    if not file:
        return DataError(f"{source}: {reason}{more}")
    path = local_path(file)
    raw = _raw(spark, replace(source, path=path)).coalesce(1)  # in one piece rows keep their order
    numbered = _converted(raw.withColumn(NUMBER, f.monotonically_increasing_id()), source, relation, signed=signed)
    first = numbered.where(f.col(REASON).isNotNull()).select(NUMBER, REASON).sort(NUMBER).first()
    row, reason = first or (-1, reason)
    return DataError(f"source {source.relation}, {path}, row {row + 1}: {reason}{more}")

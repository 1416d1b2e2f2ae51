"""Sources as DataFrames whose columns are a relation's, checked value by value in Spark.

A value that does not fit is reported with source, file, row and column, or its row goes to the quarantine table and the
others are taken. Columns of text, numbers and truth values are converted where they are; small tables, and relations
with other types, pass through the driver, where texts are read as the language writes values. Files of changes have a
column `op` (insert or delete) or `weight` (positive or negative) beside the relation's; their rows add up. A batch of a
stream is read like a file of changes.

A relation's column is a column of the source, or an expression of Spark over them. Spark's values are those of the
language where there is one: see `values`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base import types as t
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.record import record
from tidelog.base.types import Field
from tidelog.plan.nodes import Relation
from tidelog.run.spark.frames.frames import cells_of
from tidelog.session.formats.rdf.reading import LINES
from tidelog.session.frames.arrow import read_table
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.paths import DELTA, TABLE, WILD
from tidelog.session.pipeline.places.addresses import address, is_local, local_path
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sources.adding import Signed, is_for_spark
from tidelog.session.pipeline.sources.triples import triple_lines
from tidelog.session.pipeline.sources.triples_here import ending_of
from tidelog.session.pipeline.sources.values import value_of
from tidelog.session.pipeline.state.cells import WEIGHT
from tidelog.session.pipeline.state.structured import is_known
from tidelog.session.pipeline.told import told

CORRUPT = "_corrupt_record"
FILE, NUMBER, REASON, WHOLE = "#file", "#number", "#reason", "#row"
PLAIN = (".csv", ".tsv", ".txt", "")
"""What the names of files that are text as they are end in."""
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
        if rows > most and is_for_spark(frame, relation):
            return Loaded(frame, refused)
        return Loaded(read_table(frame.toArrow(), relation, plain), refused)


def load_changes(spark: SparkSession, source: SourceTable, relation: Relation) -> Signed:
    """Return the signed rows of a file of changes, and what was refused."""
    with told(source):
        good, refused, rows = _checked(spark, source, relation, signed=True)
        frame = good.select(*[f.col(f"`{column.name}`") for column in relation.columns], WEIGHT)
        return Signed(source, rows, frame.toArrow, frame, refused)


def load_batch(frame: DataFrame, source: SourceTable, relation: Relation) -> Signed:
    """Return the signed rows of a batch of a stream, and what was refused."""
    with told(source):
        rows = frame
        if source.weight:
            rows = frame.withColumn("weight", f.expr(source.weight))
        elif not {"op", "weight"} & set(frame.columns):
            rows = frame.withColumn("weight", f.lit(1))
        good, refused, count = _checked(frame.sparkSession, source, relation, signed=True, raw=rows)
        found = good.select(*[f.col(f"`{column.name}`") for column in relation.columns], WEIGHT)
        return Signed(source, count, found.toArrow, found, refused)


def _checked(
    spark: SparkSession, source: SourceTable, relation: Relation, *, signed: bool, raw: DataFrame | None = None
) -> tuple[DataFrame, Output | None, int]:
    """Return the good rows; for a source with a quarantine the others; the number of all rows."""
    converted = _converted(_raw(spark, source, relation) if raw is None else raw, source, relation, signed=signed)
    wrong = converted.where(f.col(REASON).isNotNull())
    counted = converted.agg(f.count(f.lit(1)), f.count_if(f.col(REASON).isNotNull())).first()
    rows, count = counted or (0, 0)
    if not count:
        return converted, None, rows
    if source.on_error == "fail":
        raise _first_mistake(spark, source, relation, wrong, count, signed=signed)
    refused = wrong.select(*[f.col(name).alias(name[1:]) for name in (FILE, REASON, WHOLE)])
    return converted.where(f.col(REASON).isNull()), Output(count, refused.toArrow, lambda: refused), rows


def _raw(spark: SparkSession, source: SourceTable, relation: Relation) -> DataFrame:
    _check_path(source)
    if ending_of(source) in LINES:
        return triple_lines(spark, source, relation, CORRUPT)
    if source.format == TABLE:
        return spark.read.table(str(source.path))
    lake = _lake(spark, source) if source.format == DELTA else None
    if lake is not None:
        return lake
    options = {**_DEFAULTS.get(source.format, {}), **source.options}
    groups = _by_header(source, options)
    if len(groups) > 1:
        frames = [_raw_alike(spark, replace(source, path=paths[0]), options, paths) for paths in groups]
        for paths, frame in zip(groups, frames, strict=True):
            _check_columns(replace(source, path=paths[0]), relation, frame.columns)
        return reduce(lambda one, two: one.unionByName(two, allowMissingColumns=True), frames)
    return _raw_alike(spark, source, options)


def _lake(spark: SparkSession, source: SourceTable) -> DataFrame | None:
    """Return a local table of Delta Lake by the files that its log lists; None if only the session's own Delta may."""
    from deltalake import DeltaTable  # noqa: PLC0415  (slow to load)
    from deltalake.exceptions import DeltaError  # noqa: PLC0415  (slow to load)

    path = source.path
    if path is None or not is_local(path) or set(source.options) - {"versionAsOf"}:
        return None
    version = source.options.get("versionAsOf")
    try:
        table = DeltaTable(path, None if version is None else int(version))
    except (DeltaError, ValueError) as error:
        raise DataError(f"{source}: {error}") from None
    if table.metadata().partition_columns or table.protocol().reader_features:
        return None  # values in the names of folders, rows that are gone although a file has them
    columns = pa.schema(table.schema())
    files = [address(local_path(one)) for one in table.file_uris()]
    if not files:
        return spark.createDataFrame(columns.empty_table())
    found = spark.read.option("mergeSchema", "true").parquet(*files)
    return found.select(*[f.col(f"`{name}`") for name in columns.names if name in found.columns])


def _by_header(source: SourceTable, options: Mapping[str, str]) -> list[list[str]]:
    """Return the local files of a folder of CSV, those with the same first line together; nothing to tell otherwise."""
    folder = Path(source.path or "")
    if source.format != "csv" or options["header"] != "true" or not is_local(str(folder)) or not folder.is_dir():
        return []
    heads: dict[bytes, list[str]] = {}
    for file in sorted(folder.iterdir()):
        if file.name.startswith((".", "_")):
            continue
        if not file.is_file() or file.suffix not in PLAIN:
            return []
        with file.open("rb") as opened:
            heads.setdefault(opened.readline().strip(), []).append(str(file))
    return [*heads.values()]


def _raw_alike(
    spark: SparkSession, source: SourceTable, options: dict[str, str], paths: Sequence[str] = ()
) -> DataFrame:
    """Return files whose columns are the same."""
    frame = _read(spark, source, options, None, paths)
    if source.format != "csv" or source.options.get("mode"):
        return frame
    schema = s.StructType([*frame.schema.fields, s.StructField(CORRUPT, s.StringType())])
    return _read(spark, source, options, schema, paths)


def _read(
    spark: SparkSession,
    source: SourceTable,
    options: dict[str, str],
    schema: s.StructType | None,
    paths: Sequence[str] = (),
) -> DataFrame:
    reader = spark.read.format(source.format).options(**options)
    if schema is not None:
        reader = reader.schema(schema)
    if paths:
        return reader.load([address(path) for path in paths])
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
    shown = [name for name in given if name not in (CORRUPT, NUMBER, FILE)]
    whole = f.to_json(f.struct(*[f.col(f"`{name}`") for name in shown]))
    values: list[Column] = []
    reasons: list[Column] = []
    triples = ending_of(source) in LINES  # whose terms are in their one text
    if CORRUPT in given:
        broken = f.concat(f.lit(f"not a row of {source.format}: "), f.col(CORRUPT))
        # Spark refuses to look at this column alone, so another one takes part.
        other = f.length(f.coalesce(*[f.col(f"`{name}`").cast("string") for name in shown], f.lit(""))) >= 0
        reasons.append(f.when(f.col(CORRUPT).isNotNull() & other, broken))
    for column in relation.columns:
        found, type = _source_column(raw, source, column, shown)
        if source.format == "csv" and column.type == t.STRING:
            found = f.coalesce(found, f.lit(""))  # Spark reads an empty cell as null
        value, expected = value_of(found, type, column, source)
        if is_known(column.type) and (triples or not isinstance(type, s.StringType)):
            values.append(cells_of(value, column))
        else:
            values.append(value.alias(column.name, metadata={}))  # what somebody else says of it does not count
        if expected:
            reasons.append(_reason(value.isNull(), column.name, expected, found))
    if signed:
        weight, reason = _weight(shown, source)
        values.append(weight.alias(WEIGHT))
        reasons.append(reason)
    number = [NUMBER] if NUMBER in given else []
    file = f.col(f"`{FILE}`") if FILE in given else f.input_file_name().alias(FILE)
    reason_column = f.coalesce(*reasons, f.lit(None)).cast("string")
    return raw.select(*values, file, whole.alias(WHOLE), reason_column.alias(REASON), *number)


def _source_column(
    raw: DataFrame, source: SourceTable, column: Field, given: Sequence[str]
) -> tuple[Column, s.DataType]:
    """Return the source's column for one of the relation, or the expression in its place, and its type."""
    name = source.columns.get(column.name, column.name)
    if name in given:
        return f.col(f"`{name}`"), raw.schema[name].dataType
    if not name.isidentifier():
        with told(f"{source}: `columns.{column.name}`"):
            return f.expr(name), raw.select(f.expr(name)).schema[0].dataType
    raise _no_column(source, given, column.name, name)


def _check_columns(source: SourceTable, relation: Relation, given: Sequence[str]) -> None:
    """Refuse one of several files that has not all columns."""
    for column in relation.columns:
        name = source.columns.get(column.name, column.name)
        if name not in given and name.isidentifier():
            raise _no_column(source, [one for one in given if one != CORRUPT], column.name, name)


def _no_column(source: SourceTable, given: Sequence[str], column: str, name: str) -> DataError:
    hint = did_you_mean(name, given)
    there = f"; it has {', '.join(given)}" + (f"; {hint}" if hint else "")
    return DataError(f"{source}: there is no column `{name}`, needed for {source.relation}.{column}{there}")


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
    if not file or source.is_stream:
        return DataError(f"{source}: {reason}{more}")
    path = local_path(file)
    if source.format == DELTA:
        source = replace(source, format="parquet", options={})
    raw = _raw(spark, replace(source, path=path), relation).coalesce(1)  # in one piece rows keep their order
    numbered = _converted(raw.withColumn(NUMBER, f.monotonically_increasing_id()), source, relation, signed=signed)
    first = numbered.where(f.col(REASON).isNotNull()).select(NUMBER, REASON).sort(NUMBER).first()
    row, reason = first or (-1, reason)
    return DataError(f"source {source.relation}, {path}, row {row + 1}: {reason}{more}")

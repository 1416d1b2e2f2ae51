"""Sinks: the rows of a relation, or the signed changes of each version, wherever Spark can write.

A full sink on a local path is written beside it and then takes its place, so that readers never see half of it. Changes
go to `PATH/version=N`, which Spark reads back as a column `version`; writing a version again replaces it, so a version
that was interrupted and is made again leaves its changes there once. A table or a database gets a column `version`, and
of a version that is made again the rows that are not there yet.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import DEFAULT
from tidelog.session.pipeline.config import Sink
from tidelog.session.pipeline.paths import TABLE
from tidelog.session.pipeline.reading import told

VERSION = "version"
_DEFAULTS = {"csv": {"header": "true"}}


def write_full(sink: Sink, frame: DataFrame, rows: int, tuning: Pipelines = DEFAULT.pipelines) -> None:
    """Let the sink hold exactly these rows."""
    with told(sink):
        pieces = _pieces(frame, rows, tuning)
        if not _is_local(sink):
            _write(sink, pieces, sink.path, "overwrite")
            return
        target = Path(str(sink.path))
        fresh, old = (target.with_name(f"{target.name}.{word}") for word in ("writing", "old"))
        _write(sink, pieces, str(fresh), "overwrite")
        remove(old)
        if target.exists():
            target.rename(old)
        fresh.rename(target)
        remove(old)


def write_changes(sink: Sink, frame: DataFrame, rows: int, version: int, tuning: Pipelines = DEFAULT.pipelines) -> None:
    """Add the changes of a version."""
    with told(sink):
        if sink.path is None or sink.format == TABLE:
            numbered = frame.withColumn(VERSION, f.lit(version))
            _write(sink, _pieces(_missing(sink, numbered, version), rows, tuning), sink.path, "append")
        else:
            _write(sink, _pieces(frame, rows, tuning), f"{sink.path}/version={version}", "overwrite")


def _missing(sink: Sink, frame: DataFrame, version: int) -> DataFrame:
    """Return the rows of a version that a table or a database does not have.

    One that is there but cannot be read is an error: rows that were written before a crash would be there twice.
    """
    spark = frame.sparkSession
    where = sink.path or sink.options.get("dbtable") or sink.format
    with told(f"{sink}: to write no row of version {version} twice, {where} has to be read"):
        if not _is_there(sink, spark):
            return frame
        if sink.format == TABLE:
            found = spark.read.table(str(sink.path))
        else:
            found = spark.read.format(sink.format).options(**sink.options).load()
        there = found.where(f.col(VERSION) == version).select(*frame.columns)
        return frame if there.isEmpty() else frame.subtract(there)


def _is_there(sink: Sink, spark: SparkSession) -> bool:
    """Tell whether a table or a database has been made; what is neither is said to be there."""
    if sink.format == TABLE:
        return spark.catalog.tableExists(str(sink.path))
    if sink.format != "jdbc":
        return True
    jvm: Any = spark._jvm  # noqa: SLF001
    jdbc = jvm.org.apache.spark.sql.execution.datasources.jdbc
    options = jdbc.JdbcOptionsInWrite(jvm.PythonUtils.toScalaMap(dict(sink.options)))
    dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(options.url())
    connection = dialect.createConnectionFactory(options).apply(-1)  # -1: the driver's own, not a partition's
    try:
        return bool(jdbc.JdbcUtils.tableExists(connection, options))
    finally:
        connection.close()


def forget_changes(sink: Sink, after: int) -> None:
    """Remove what was written for versions that were never committed."""
    if sink.mode == "changes" and _is_local(sink):
        for path in Path(str(sink.path)).glob("version=*"):
            number = path.name.removeprefix("version=")
            if number.isdigit() and int(number) > after:
                remove(path)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _write(sink: Sink, frame: DataFrame, path: str | None, mode: str) -> None:
    writer = frame.write.format(sink.format).options(**{**_DEFAULTS.get(sink.format, {}), **sink.options}).mode(mode)
    if sink.format == TABLE:
        frame.write.mode(mode).options(**sink.options).saveAsTable(str(path))
    elif path is None:
        writer.save()
    else:
        writer.save(path)


def _pieces(frame: DataFrame, rows: int, tuning: Pipelines) -> DataFrame:
    return frame.coalesce(1) if rows <= tuning.file_rows else frame


def _is_local(sink: Sink) -> bool:
    return sink.path is not None and sink.format != TABLE and "://" not in sink.path

"""Sinks that Spark writes: databases, tables of a catalogue, addresses elsewhere.

Rows wait in the state's folder until their version is committed. Changes go to `PATH/version=N`, which is replaced, or
to a table or a database with a column `version`: of a version that is published again, the rows that are not there yet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidelog.session.pipeline.addresses import address
from tidelog.session.pipeline.config import Sink
from tidelog.session.pipeline.paths import TABLE
from tidelog.session.pipeline.sinks.output import VERSION
from tidelog.session.pipeline.told import told

_DEFAULTS = {"csv": {"header": "true"}}


def publish(spark: SparkSession, sink: Sink, staged: Path, number: int) -> None:
    """Write what is staged to the sink."""
    frame = spark.read.parquet(address(staged))
    with told(sink):
        if sink.mode == "full":
            write_frame(sink, frame, sink.path, "overwrite")
        elif sink.path is None or sink.format == TABLE:
            numbered = frame.withColumn(VERSION, f.lit(number))
            write_frame(sink, _missing(sink, numbered, number), sink.path, "append")
        else:
            write_frame(sink, frame, f"{sink.path}/version={number}", "overwrite")


def write_frame(sink: Sink, frame: DataFrame, path: str | None, mode: str) -> None:
    """Write a frame as the sink says."""
    writer = frame.write.format(sink.format).options(**{**_DEFAULTS.get(sink.format, {}), **sink.options}).mode(mode)
    if sink.format == TABLE:
        frame.write.mode(mode).options(**sink.options).saveAsTable(str(path))
    elif path is None:
        writer.save()
    else:
        writer.save(path)


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

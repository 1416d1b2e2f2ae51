"""Sinks that Spark writes: databases, tables of a catalogue, addresses elsewhere.

Rows wait in the state until their version is committed. Changes go to `PATH/version=N`, which is replaced, or
to a table or a database with a column `version`: of a version that is published again, the rows that are not there yet.
Rows are put in and out of a database by their key in one transaction, from a table beside it that executors write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tidelog.session.pipeline.config import CHANGES, FULL, MERGE, Sink
from tidelog.session.pipeline.paths import TABLE
from tidelog.session.pipeline.sinks.shapes import COMMIT, SHOWN, VERSION
from tidelog.session.pipeline.told import told

_DEFAULTS = {"csv": {"header": "true"}}


def publish(frame: DataFrame, sink: Sink, number: int) -> None:
    """Write the rows of a version to the sink."""
    if sink.mode == FULL:
        write_frame(sink, frame, sink.path, "overwrite")
    elif sink.mode == MERGE:
        _merge(sink, frame, number)
    elif sink.path is None or sink.format == TABLE:
        own = VERSION if sink.mode == CHANGES else COMMIT
        numbered = frame.withColumn(own, f.lit(number).cast("int" if sink.mode == CHANGES else "long"))
        write_frame(sink, _missing(sink, numbered, number, own), sink.path, "append")
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


def _missing(sink: Sink, frame: DataFrame, version: int, own: str) -> DataFrame:
    """Return the rows of a version that a table or a database does not have.

    One that is there but cannot be read is an error: rows that were written before a crash would be there twice.
    """
    spark = frame.sparkSession
    where = sink.path or sink.options.get("dbtable") or sink.format
    with told(f"{sink}: to write no row of version {version} twice, {where} has to be read"):
        if not is_there(sink, spark):
            return frame
        if sink.format == TABLE:
            found = spark.read.table(str(sink.path))
        else:
            found = spark.read.format(sink.format).options(**sink.options).load()
        there = found.where(f.col(own) == version).select(*frame.columns)
        return frame if there.isEmpty() else frame.subtract(there)


def is_there(sink: Sink, spark: SparkSession) -> bool:
    """Tell whether a table or a database has been made; what is neither is said to be there."""
    if sink.format == TABLE:
        return spark.catalog.tableExists(str(sink.path))
    if sink.format != "jdbc":
        return True
    with _connected(sink, spark) as (jdbc, options, connection, _):
        return bool(jdbc.JdbcUtils.tableExists(connection, options))


def _merge(sink: Sink, frame: DataFrame, number: int) -> None:
    """Put rows in and out of a table of a database; to do it again changes nothing."""
    spark, target = frame.sparkSession, sink.options["dbtable"]
    if not is_there(sink, spark):
        write_frame(sink, frame.limit(0).drop(SHOWN), None, "append")
    beside = f"{target}_tidelog_{number}"
    write_frame(replace(sink, options={**sink.options, "dbtable": beside}), frame, None, "overwrite")
    with _connected(sink, spark) as (_, _, connection, dialect):  # names are quoted; the tables' are the file's own
        names = [dialect.quoteIdentifier(name) for name in frame.columns if name != SHOWN]
        same = " AND ".join(f"{target}.{one} = {beside}.{one}" for one in map(dialect.quoteIdentifier, sink.key))
        shown, columns = dialect.quoteIdentifier(SHOWN), ", ".join(names)
        connection.setAutoCommit(False)
        statement = connection.createStatement()
        gone = f"DELETE FROM {target} WHERE EXISTS (SELECT 1 FROM {beside} WHERE {same})"  # noqa: S608
        come = f"INSERT INTO {target} ({columns}) SELECT {columns} FROM {beside} WHERE {shown} > 0"  # noqa: S608
        for change in (gone, come):
            statement.executeUpdate(change)
        connection.commit()
        statement.executeUpdate(f"DROP TABLE {beside}")
        connection.commit()


@contextmanager
def _connected(sink: Sink, spark: SparkSession) -> Iterator[tuple[Any, Any, Any, Any]]:
    """Connect to a database: Spark's classes of JDBC, the options, the connection, and the dialect."""
    jvm: Any = spark._jvm  # noqa: SLF001
    jdbc = jvm.org.apache.spark.sql.execution.datasources.jdbc
    options = jdbc.JdbcOptionsInWrite(jvm.PythonUtils.toScalaMap(dict(sink.options)))
    dialect = jvm.org.apache.spark.sql.jdbc.JdbcDialects.get(options.url())
    connection = dialect.createConnectionFactory(options).apply(-1)  # -1: the driver's own, not a partition's
    try:
        yield jdbc, options, connection, dialect
    finally:
        connection.close()

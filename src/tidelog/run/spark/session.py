"""The Spark session to run on: the user's, or a local one with settings that suit many small jobs.

The engine never changes the user's session. It works in a session beside it, which shares the cluster and the data but
has settings of its own: adaptive execution is off, because a checkpoint taken under it forgets how its rows are
partitioned and the next join shuffles them again; the number of partitions is fixed for the same reason.
"""

from __future__ import annotations

import os
import sys
import tempfile
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidelog.run.limits import tell
from tidelog.run.spark.java import provide_java

ARROW_ROWS = 200_000
"""Rows in an Arrow batch; the default of 10,000 costs a round trip to Python too often."""

_START = {
    "spark.app.name": "tidelog",
    "spark.locality.wait": "0",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "tidelog.run.spark.daemon",
    "spark.cleaner.referenceTracking.cleanCheckpoints": "true",
}


def start_session(cores: int | str = "*", settings: dict[str, str] | None = None) -> SparkSession:
    """Return the running session, or start a local one."""
    running = SparkSession.getActiveSession()
    if running is not None:
        return running
    tell("starting Spark")
    provide_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    builder = SparkSession.builder.master(f"local[{cores}]")
    for name, value in {**_START, **(settings or {})}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    spark.sparkContext.setCheckpointDir(tempfile.mkdtemp(prefix="tidelog-spark-"))
    return spark


def engine_session(spark: SparkSession, partitions: int | None = None) -> SparkSession:
    """Return a session beside the user's, with the settings of the engine."""
    own = spark.newSession()
    count = partitions or max(2, 2 * spark.sparkContext.defaultParallelism)
    for name, value in {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": str(count),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_ROWS),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.autoBroadcastJoinThreshold": "-1",  # the engine knows the sizes, and says what to broadcast
        "spark.sql.crossJoin.enabled": "true",
    }.items():
        own.conf.set(name, value)
    return own


def adopt(frame: DataFrame, spark: SparkSession) -> DataFrame:
    """Return the same rows as a DataFrame of another session of the same cluster, so that its settings count."""
    if frame.sparkSession is spark:
        return frame
    jvm: Any = spark._jvm  # noqa: SLF001
    jsession = spark._jsparkSession  # noqa: SLF001
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(jsession, plan), spark)

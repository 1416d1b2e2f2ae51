"""The Spark session to run on: the user's, or a local one with settings that suit many small jobs.

The engine never changes the user's session. It works in a session beside it, which shares the cluster and the data but
has settings of its own: adaptive execution is off, because a checkpoint taken under it forgets how its rows are
partitioned and the next join shuffles them again; the number of partitions is fixed for the same reason.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import UserError
from tidelog.run.limits import tell
from tidelog.run.spark.java import provide_java

ARROW_ROWS = 200_000
"""Rows in an Arrow batch; the default of 10,000 costs a round trip to Python too often."""

PREFIX = "spark.tidelog."
SETTINGS = {"partitions": 1, "driverRows": 0, "broadcastRows": 0, "replicateRows": 0}
"""What a session can be told about the engine, after the prefix, and the least it may be."""

_START = {
    "spark.app.name": "tidelog",
    "spark.locality.wait": "0",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # or every DataFrame and Column made asks for its caller
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "tidelog.run.spark.daemon",
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
    return spark


def settings_of(spark: SparkSession | None) -> dict[str, int]:
    """Return what a session, or the running one, says about the engine; raise `UserError` if it makes no sense."""
    session = spark or SparkSession.getActiveSession()
    found: dict[str, int] = {}
    for name, value in session.conf.getAll.items() if session is not None else ():
        if not name.startswith(PREFIX):
            continue
        key = name.removeprefix(PREFIX)
        if key not in SETTINGS:
            hint = did_you_mean(key, SETTINGS)
            raise UserError(f"the engine has no setting `{name}`; " + (hint or f"there are {', '.join(SETTINGS)}"))
        if not value.isdecimal() or int(value) < SETTINGS[key]:
            raise UserError(f"`{name}`: expected a number of at least {SETTINGS[key]}, found {value!r}")
        found[key] = int(value)
    return found


def engine_session(spark: SparkSession, partitions: int | None = None) -> SparkSession:
    """Return a session beside the user's, with the settings of the engine."""
    own = spark.newSession()
    cores = spark.sparkContext.defaultParallelism
    # on one machine more pieces than cores only cost; on a cluster they even out executors of unequal speed
    count = partitions or max(2, cores if is_local(spark) else 2 * cores)
    for name, value in {
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.shuffle.partitions": str(count),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(ARROW_ROWS),
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.ui.explainMode": "simple",  # nobody reads the plan of every round, yet Spark writes it down
        "spark.sql.maxPlanStringLength": "1000",
        "spark.sql.constraintPropagation.enabled": "false",  # cells are never null, so there is little to infer
        "spark.sql.autoBroadcastJoinThreshold": "-1",  # the engine knows the sizes, and says what to broadcast
        "spark.sql.crossJoin.enabled": "true",
    }.items():
        own.conf.set(name, value)
    return own


def is_local(spark: SparkSession) -> bool:
    """Tell whether driver and executors are one process."""
    return (spark.sparkContext.master or "").startswith("local[")


def adopt(frame: DataFrame, spark: SparkSession) -> DataFrame:
    """Return the same rows as a DataFrame of another session of the same cluster, so that its settings count."""
    if frame.sparkSession is spark:
        return frame
    jvm: Any = spark._jvm  # noqa: SLF001
    jsession = spark._jsparkSession  # noqa: SLF001
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(jsession, plan), spark)

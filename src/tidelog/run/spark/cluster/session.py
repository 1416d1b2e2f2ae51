"""The Spark session to run on: the user's, or a local one with settings that suit many small jobs.

The engine never changes the user's session. It works in a session beside it, which shares the cluster and the data but
has settings of its own: adaptive execution is off, because a checkpoint taken under it forgets how its rows are
partitioned and the next join shuffles them again; the number of partitions is fixed for the same reason.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from typing import Any
from weakref import WeakSet

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import UserError
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.limits import tell
from tidelog.run.spark.cluster.explain import check_master, check_session
from tidelog.run.spark.cluster.java import provide_java

SHUFFLE = "spark.sql.shuffle.partitions"
PREFIX = "spark.tidelog."
SETTINGS = {"partitions": 1, "driverRows": 0, "broadcastRows": 0, "replicateRows": 0, "wholeRows": 0}
"""What a session can be told about the engine, after the prefix, and the least it may be."""
INTERNALS = "internals"
"""Whether Spark's private classes may be used (`frames.internals`): true or false."""
THRESHOLDS = {
    "driverRows": "driver_rows",
    "broadcastRows": "broadcast_rows",
    "replicateRows": "replicate_rows",
    "wholeRows": "whole_rows",
}
"""Which of them come before a threshold of the table."""

_FUNCTIONS = ("col", "lit", "broadcast", "sum", "max", "min", "count", "count_if")
_CLASSES = {
    "PythonUtils": ("toSeq",),
    "functions": _FUNCTIONS,
    "org.apache.spark.sql.functions": _FUNCTIONS,
    "org.apache.spark.sql.classic.SparkSession": ("getActiveSession", "setActiveSession"),
    "PythonSQLUtils": ("readArrowStreamFromFile", "toDataFrame"),
    "SimplePythonFunction": (),
    "org.apache.spark.sql.execution.python.UserDefinedPythonFunction": (),
    "org.apache.spark.storage.StorageLevel": (),
}
"""Java classes that PySpark calls, as it names them, and their static members."""

_START = {
    "spark.app.name": "tidelog",
    "spark.locality.wait": "0",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.python.sql.dataFrameDebugging.enabled": "false",  # or every DataFrame and Column made asks for its caller
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "tidelog.run.spark.cluster.daemon",
}


_started: WeakSet[SparkSession] = WeakSet()


def start_session(cores: int | str = "*", settings: Mapping[str, str] | None = None) -> SparkSession:
    """Return the running session, or start one: on the master that is configured, or a local one.

    A master is configured by `settings`, by spark-submit, or by PYSPARK_SUBMIT_ARGS; `cores` are those of a local one.
    """
    running = running_session()
    if running is not None:
        return running
    tell("starting Spark")
    provide_java()
    given = dict(settings or {})
    python = given.get("spark.pyspark.python", sys.executable)
    for name in ("PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        os.environ.setdefault(name, python)
    submitted: Mapping[str, str] = {}
    if "PYSPARK_GATEWAY_PORT" in os.environ:  # spark-submit has started Java, and told it what to set
        SparkContext._ensure_initialized()  # noqa: SLF001
        submitted = dict(SparkConf().getAll())
    master = given.get("spark.master") or _submitted_master(submitted, cores)
    check_master(master or "")
    start = {name: value for name, value in _START.items() if name not in submitted}
    builder = SparkSession.builder.config(map={**start, **given})
    spark = (builder.master(master) if master else builder).getOrCreate()
    check_session(spark)
    _started.add(spark)
    spark.sparkContext.setLogLevel("OFF")
    return spark


def stop_session(spark: SparkSession) -> None:
    """Stop a session that was started here; leave any other."""
    if spark in _started:
        _started.discard(spark)
        spark.stop()


def running_session() -> SparkSession | None:
    """Return the session that runs in this process, also where another thread has made it."""
    active = SparkSession.getActiveSession()
    if active is None and SparkContext._active_spark_context is not None:  # noqa: SLF001
        return SparkSession.builder.getOrCreate()
    return active


def _submitted_master(submitted: Mapping[str, str], cores: int | str) -> str | None:
    """Return the master that a program was submitted to, or a local one; None leaves it to Spark's own defaults."""
    arguments = os.environ.get("PYSPARK_SUBMIT_ARGS", "")
    named = re.search(r"--master[ =]+(\S+)", arguments) or re.search(r"spark\.master=(\S+)", arguments)
    found = submitted.get("spark.master") or (named[1].strip("'\"") if named else None)
    if found not in (None, "local[*]"):
        return found
    return found if cores == "*" else f"local[{cores}]"


def _use_this_python(spark: SparkSession) -> None:
    """Let workers on this machine be of this interpreter, where nobody has chosen one: `python3` may be any."""
    context: Any = spark.sparkContext
    if (context.master or "").startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable


def settings_of(spark: SparkSession | None) -> dict[str, int]:
    """Return what a session, or the running one, says about the engine; raise `UserError` if it makes no sense."""
    session = spark or running_session()
    if session is None:
        return {}
    check_session(session)
    found: dict[str, int] = {}
    for name in _names(session):
        if not name.startswith(PREFIX):
            continue
        key, value = name.removeprefix(PREFIX), str(session.conf.get(name))
        if key == INTERNALS:
            if value not in ("true", "false"):
                raise UserError(f"`{name}`: expected true or false, found {value!r}")
            continue
        if key not in SETTINGS:
            known = (*SETTINGS, INTERNALS)
            hint = did_you_mean(key, known)
            raise UserError(f"the engine has no setting `{name}`; " + (hint or f"there are {', '.join(known)}"))
        if not value.isdecimal() or int(value) < SETTINGS[key]:
            raise UserError(f"`{name}`: expected a number of at least {SETTINGS[key]}, found {value!r}")
        found[key] = int(value)
    return found


def _names(session: SparkSession) -> list[str]:
    """Return the names of a session's settings: by one call, where `conf.getAll` takes hundreds."""
    found: str = session._jsparkSession.conf().getAll().keySet().mkString("\n")  # noqa: SLF001
    return found.split("\n")


def engine_session(spark: SparkSession, partitions: int | None = None, tuning: Spark = DEFAULT.spark) -> SparkSession:
    """Return a session beside the user's, with the settings of the engine."""
    _keep_classes(spark)
    _use_this_python(spark)
    own = spark.newSession()
    cores = spark.sparkContext.defaultParallelism
    # on one machine more pieces than cores only cost; on a cluster they even out executors of unequal speed
    count = partitions or max(2, cores if is_local(spark) else 2 * cores)
    for name, value in {
        "spark.sql.adaptive.enabled": "false",
        SHUFFLE: str(count),
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(int(tuning.arrow_rows)),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(4 * int(tuning.parcel_bytes)),  # rows may be wide
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.ui.explainMode": "simple",  # nobody reads the plan of every round, yet Spark writes it down
        "spark.sql.maxPlanStringLength": "1000",
        "spark.sql.dataFrameQueryContext.enabled": "false",  # or every step of a query notes who called for it
        "spark.sql.constraintPropagation.enabled": "false",  # cells are never null, so there is little to infer
        "spark.sql.autoBroadcastJoinThreshold": "-1",  # the engine knows the sizes, and says what to broadcast
        "spark.sql.crossJoin.enabled": "true",
        PREFIX + INTERNALS: spark.conf.get(PREFIX + INTERNALS, "true") or "true",
    }.items():
        own.conf.set(name, value)
    return own


def _keep_classes(spark: SparkSession) -> None:
    """Let PySpark find the Java classes it calls all the time without asking Java again: a fifth of a round's calls.

    To find one by its short name Java looks into some hundred archives for each package that it might be in.
    """
    jvm: Any = spark._jvm  # noqa: SLF001
    for name, members in _CLASSES.items():
        if name not in vars(jvm):
            found = getattr(jvm, name)
            for member in members:
                setattr(found, member, getattr(found, member))
            setattr(jvm, name, found)


def is_local(spark: SparkSession) -> bool:
    """Tell whether driver and executors are one process."""
    return (spark.sparkContext.master or "").startswith("local[")

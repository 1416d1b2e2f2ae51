"""Computing a DataFrame once: the one place where jobs of the round loop start.

`settle` runs the query, keeps its rows in the executors (on disk when memory is short) and returns a DataFrame that
knows nothing of how they were computed, so that plans do not grow from round to round. On a cluster two executors keep
each row, since what is lost cannot be computed again. Counts are observed by the same job; a second one would cost as
much as many a round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as f

from tidelog.base.errors import EvaluationError
from tidelog.run.spark.worker import failure


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that are computed, their number, and whether they are where a shuffle by the tuple would put them."""

    frame: DataFrame
    count: int
    placed: bool = True


def settle(frame: DataFrame, **wanted: Column) -> tuple[Part, dict[str, int]]:
    """Compute a DataFrame; return it with its number of rows, and the other counts wanted (0 where there is none)."""
    observation = Observation()
    watched = frame.observe(observation, f.count(f.lit(1)).alias("rows"), *[c.alias(n) for n, c in wanted.items()])
    try:
        found = watched.localCheckpoint(eager=True, storageLevel=_level(frame))
    except Exception as error:
        raise told(error) from error
    found = _forgetful(found)
    counts = {name: int(count or 0) for name, count in observation.get.items()}
    return Part(found, counts["rows"]), counts


def _forgetful(frame: DataFrame) -> DataFrame:
    """Return checkpointed rows without Spark's guess of their size, keeping what it knows of their partitioning.

    Spark guesses that a join yields the product of its sides and a checkpoint remembers the guess, so that the number's
    digits double from round to round: after 25 rounds planning does nothing but multiply. It offers no setting for
    that, hence its own constructor is used; should a version of Spark have another one, the guess stays.
    """
    try:
        session = frame.sparkSession
        jvm: Any = session._jvm  # noqa: SLF001
        jsession = session._jsparkSession  # noqa: SLF001
        plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
        nothing = jvm.scala.Option.empty()
        arguments = [plan.output(), plan.rdd(), plan.outputPartitioning(), plan.outputOrdering(), False, nothing]
        spare = plan.getClass().getConstructors()[0].getParameterCount() - len(arguments) - 3
        arguments += [jsession, nothing, nothing, *[False] * spare]
        made = jvm.org.apache.spark.sql.execution.LogicalRDD(*arguments)
        return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(jsession, made), session)
    except (Py4JError, AttributeError):
        return frame


def _level(frame: DataFrame) -> StorageLevel:
    alone = (frame.sparkSession.sparkContext.master or "").startswith("local[")
    return StorageLevel.MEMORY_AND_DISK_DESER if alone else StorageLevel.MEMORY_AND_DISK_2


def collect(frame: DataFrame) -> Any:
    """Return the rows of a DataFrame as an Arrow table."""
    try:
        return frame.toArrow()
    except Exception as error:
        raise told(error) from error


def told(error: Exception) -> Exception:
    """Return the failure of an expression for what it was, and any other error as it is."""
    text = failure(error)
    return error if text is None else EvaluationError(text)

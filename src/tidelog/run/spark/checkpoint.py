"""Computing a DataFrame once: the one place where jobs of the round loop start.

`settle` runs the query, keeps its rows in the executors (on disk when memory is short) and returns a DataFrame that
knows nothing of how they were computed, so that plans do not grow from round to round. On a cluster two executors keep
each row, since what is lost cannot be computed again. Counts are observed by the same job; a second one would cost as
much as many a round.

`gathered` makes many such parts one scan: a union in the plan costs analysis and planning for each of its branches, in
every round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache, reduce
from typing import Any

from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as f

from tidelog.base.errors import EvaluationError
from tidelog.base.record import record
from tidelog.run.spark.worker import failure

_ATTRIBUTE_ID = re.compile(r"#\d+L?")


@record
class Kept:
    """How Spark holds computed rows: its RDD, their attributes, and their partitioning in words."""

    rdd: Any
    output: Any
    partitioning: Any
    place: str


@record
class Part:
    """Rows that are computed, their number, and whether they are where a shuffle by the tuple would put them."""

    frame: DataFrame
    count: int
    placed: bool = True
    kept: Kept | None = None


def settle(
    frame: DataFrame, shaped: Callable[[DataFrame], DataFrame] | None = None, **wanted: Column
) -> tuple[Part, dict[str, int]]:
    """Compute a DataFrame; return it with its number of rows, and the other counts wanted (0 where there is none).

    Where rows are `shaped` after they were counted, `rows` must be among the counts wanted.
    """
    observation = Observation()
    counted = {"rows": f.count(f.lit(1)), **wanted}
    watched = frame.observe(observation, *[count.alias(name) for name, count in counted.items()])
    if shaped is not None:
        watched = shaped(watched)
    try:
        found = watched.localCheckpoint(eager=True, storageLevel=_level(frame))
    except Exception as error:
        raise told(error) from error
    counts = {name: int(count or 0) for name, count in observation.get.items()}
    try:
        kept = _kept(found)
        return Part(_scan(kept, frame.sparkSession), counts["rows"], kept=kept), counts
    except (Py4JError, AttributeError):  # a version of Spark with other constructors: slower, but right
        return Part(found, counts["rows"]), counts


def united(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all DataFrames."""
    return reduce(DataFrame.union, frames)


def gathered(parts: Sequence[Part]) -> DataFrame:
    """Return the rows of all parts; those that are partitioned alike become one scan."""
    alike: list[Kept] = []
    others: list[DataFrame] = []
    for part in parts:
        if part.kept is None or not part.kept.place or (alike and part.kept.place != alike[0].place):
            others.append(part.frame)
        else:
            alike.append(part.kept)
    if len(alike) < 2:
        return united([part.frame for part in parts])
    session = parts[0].frame.sparkSession
    try:
        return united([_scan(_together(alike, session), session), *others])
    except (Py4JError, AttributeError):
        return united([part.frame for part in parts])


def _kept(frame: DataFrame) -> Kept:
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    partitioning = plan.outputPartitioning()
    told = _ATTRIBUTE_ID.sub("", partitioning.toString())
    return Kept(plan.rdd(), plan.output(), partitioning, told if told.startswith("hashpartitioning") else "")


def _together(parts: Sequence[Kept], session: SparkSession) -> Kept:
    """Return rows that are partitioned alike as one RDD, which is partitioned so, too."""
    jvm: Any = session._jvm  # noqa: SLF001
    rdds = jvm.java.util.ArrayList()
    for part in parts:
        rdds.add(part.rdd)
    context = session.sparkContext._jsc.sc()  # noqa: SLF001
    several = jvm.org.apache.spark.api.python.PythonUtils.toSeq(rdds)
    first = parts[0]
    rdd = jvm.org.apache.spark.rdd.SQLPartitioningAwareUnionRDD(
        context, several, first.rdd.getNumPartitions(), first.rdd.elementClassTag()
    )
    return Kept(rdd, first.output, first.partitioning, first.place)


def _scan(kept: Kept, session: SparkSession) -> DataFrame:
    """Return computed rows without Spark's guess of their size, keeping what it knows of their partitioning.

    Spark guesses that a join yields the product of its sides and a checkpoint remembers the guess, so that the number's
    digits double from round to round: after 25 rounds planning does nothing but multiply. It offers no setting for
    that, hence its own constructor is used.
    """
    jvm: Any = session._jvm  # noqa: SLF001
    jsession = session._jsparkSession  # noqa: SLF001
    nothing = jvm.scala.Option.empty()
    logical = jvm.org.apache.spark.sql.execution.LogicalRDD
    unordered = jvm.org.apache.spark.api.python.PythonUtils.toSeq(jvm.java.util.ArrayList())
    arguments = [kept.output, kept.rdd, kept.partitioning, unordered, False, nothing]
    arguments += [jsession, nothing, nothing]
    spare = _parameters(jvm) - len(arguments)
    made = logical(*arguments, *[False] * spare)
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(jsession, made), session)


@lru_cache(maxsize=4)
def _parameters(jvm: Any) -> int:
    """Return how many parameters the constructor of Spark's scan of an RDD has."""
    kind = jvm.java.lang.Class.forName("org.apache.spark.sql.execution.LogicalRDD")
    return int(kind.getConstructors()[0].getParameterCount())


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

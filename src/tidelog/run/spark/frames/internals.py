"""Spark's own classes: the one module that knows any of Catalyst's.

Each use has a way around it by public functions (`checkpoint`), which is taken where a version of Spark has other
classes, and in sessions with `spark.tidelog.internals` false. What they are for:

* `scan`: Spark guesses that a join yields the product of its sides and a checkpoint remembers the guess, so that the
  number's digits double from round to round: after 25 rounds planning does nothing but multiply.
* `together`: rows that are partitioned alike become one scan; a union in the plan costs analysis and planning for each
  of its branches, in every round.
* `compute`: several queries by one job, and the number of their rows as its result.
* `adopted`: the user's rows in the engine's session, without a view that has a name for a moment.
* `gone`: why executors ended; without it what fails is all there is to tell a want of memory by.
* `jobs`, `stage`: what tasks have read and spilled, for `accounts`.
* `observed`: counts are read from a plan; Spark's `Observation` waits for an event that comes later.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any
from weakref import WeakKeyDictionary

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

SETTING = "spark.tidelog.internals"
_ATTRIBUTE_ID = re.compile(r"#\d+L?")
_known: WeakKeyDictionary[SparkSession, Internals | None] = WeakKeyDictionary()


@dataclass(frozen=True)
class Kept:
    """How Spark holds computed rows: its RDD, their attributes, and their partitioning, also in words."""

    rdd: Any
    output: Any
    partitioning: Any
    place: str
    session: SparkSession
    internals: Internals

    @cached_property
    def frame(self) -> DataFrame:
        """The rows, made a DataFrame when one is asked for."""
        return self.internals.scan(self)


def internals_of(session: SparkSession) -> Internals | None:
    """Return Spark's own classes; None where they are others, or not to be used."""
    if session not in _known:
        wanted = session.conf.get(SETTING, "true") != "false"
        _known[session] = _internals(session._jvm, session) if wanted else None  # noqa: SLF001
    return _known[session]


@lru_cache(maxsize=4)
def _looked_up(jvm: Any) -> Internals:
    return Internals(jvm)


def _internals(jvm: Any, session: SparkSession) -> Internals | None:
    try:
        made = _looked_up(jvm)
        tried = made.kept(session.createDataFrame(session.sparkContext.emptyRDD(), "one long"))
        made.scan(made.together([tried, tried]))
    except (Py4JError, AttributeError, TypeError):
        return None
    return made


class Internals:
    """What is used of Spark's own classes, looked up once: to find a class by its name takes several calls."""

    def __init__(self, jvm: Any) -> None:
        self._jvm = jvm
        spark = jvm.org.apache.spark
        self._nothing = jvm.scala.Option.empty()
        self._logical = spark.sql.execution.LogicalRDD
        self._of_rows = spark.sql.classic.Dataset.ofRows
        self._union = spark.rdd.UnionRDD
        self._aligned_union = spark.rdd.SQLPartitioningAwareUnionRDD
        self._list = jvm.java.util.ArrayList
        self._to_sequence = spark.api.python.PythonUtils.toSeq
        self._unordered = self._sequence([])
        scan = jvm.java.lang.Class.forName("org.apache.spark.sql.execution.LogicalRDD")
        self._parameters = int(scan.getConstructors()[0].getParameterCount())
        """How many parameters the constructor of Spark's scan of an RDD has; it differs between versions."""

    def _sequence(self, things: Sequence[Any]) -> Any:
        several = self._list()
        for thing in things:
            several.add(thing)
        return self._to_sequence(several)

    def kept(self, frame: DataFrame) -> Kept:
        """Return the rows of a checkpoint as Spark holds them."""
        plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
        partitioning = plan.outputPartitioning()
        told = _ATTRIBUTE_ID.sub("", partitioning.toString())
        place = told if told.startswith("hashpartitioning") else ""
        return Kept(plan.rdd(), plan.output(), partitioning, place, frame.sparkSession, self)

    def together(self, parts: Sequence[Kept]) -> Kept:
        """Return rows that are partitioned alike as one RDD, which is partitioned so, too."""
        first = parts[0]
        context = first.session.sparkContext._jsc.sc()  # noqa: SLF001
        several = self._sequence([part.rdd for part in parts])
        rdd = self._aligned_union(context, several, first.rdd.getNumPartitions(), first.rdd.elementClassTag())
        return Kept(rdd, first.output, first.partitioning, first.place, first.session, self)

    def scan(self, kept: Kept) -> DataFrame:
        """Return computed rows without Spark's guess of their size, keeping what it knows of their partitioning."""
        jsession = kept.session._jsparkSession  # noqa: SLF001
        arguments = [kept.output, kept.rdd, kept.partitioning, self._unordered, False, self._nothing]
        arguments += [jsession, self._nothing, self._nothing]
        made = self._logical(*arguments, *[False] * (self._parameters - len(arguments)))
        return DataFrame(self._of_rows(jsession, made), kept.session)

    def adopted(self, frame: DataFrame, session: SparkSession) -> DataFrame:
        """Return the rows of a DataFrame as one of another session of the same cluster."""
        plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
        return DataFrame(self._of_rows(session._jsparkSession, plan), session)  # noqa: SLF001

    def compute(self, frames: Sequence[DataFrame]) -> int:
        """Compute what is to be checkpointed, all in one job; return how many rows there are."""
        rdds = [frame._jdf.queryExecution().analyzed().rdd() for frame in frames]  # noqa: SLF001
        if len(rdds) == 1:
            return int(rdds[0].count())
        context = frames[0].sparkSession.sparkContext._jsc.sc()  # noqa: SLF001
        return int(self._union(context, self._sequence(rdds), rdds[0].elementClassTag()).count())

    def gone(self) -> str:
        """Return why executors are gone, the earliest first: what fails later does not say."""
        listed = self._books().executorList(False)
        found = [listed.apply(number) for number in range(listed.size())]
        removed = [one for one in found if not one.isActive() and one.removeReason().isDefined()]
        removed.sort(key=lambda one: str(one.removeTime().get().getTime()))
        return "".join(f"{one.removeReason().get()}\n" for one in removed)

    def _books(self) -> Any:
        context = self._jvm.org.apache.spark.SparkContext.getOrCreate()
        context.listenerBus().waitUntilEmpty()
        return context.statusStore()

    def jobs(self) -> list[tuple[int, list[int]]]:
        """Return the jobs there were, each with its stages."""
        listed = self._books().jobsList(None)
        found = [listed.apply(number) for number in range(listed.size())]
        return [(int(job.jobId()), [int(one) for one in _numbers(job.stageIds())]) for job in found]

    def stage(self, number: int) -> tuple[int, int]:
        """Return how many records a stage has read, and the bytes that it spilled to disk; 0 if it was left out."""
        try:
            told = self._books().lastStageAttempt(number)
        except Py4JError:
            return 0, 0
        return int(told.inputRecords()) + int(told.shuffleReadRecords()), int(told.diskBytesSpilled())

    def observed(self, frame: DataFrame, name: str) -> list[int]:
        """Return what was counted under a name while a DataFrame was computed, 0 for null."""
        found = frame._jdf.queryExecution().observedMetrics().apply(name)  # noqa: SLF001
        return [0 if number == "null" else int(number) for number in found.mkString(",").split(",")]


def _numbers(sequence: Any) -> list[str]:
    text = str(sequence.mkString(","))
    return text.split(",") if text else []

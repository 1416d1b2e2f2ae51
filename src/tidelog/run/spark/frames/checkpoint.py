"""Computing a DataFrame once: the one place where jobs of the round loop start.

`settle` runs the query, keeps its rows in the executors (on disk when memory is short) and returns a DataFrame that
knows nothing of how they were computed, so that plans do not grow from round to round; `answers` does so for several
queries by one job. On a cluster two executors keep each row, since what is lost cannot be computed again. Counts are
observed by the same job, since a second one would cost as much as many a round, and read from its plan: Spark's
`Observation` waits for an event that comes later.

`gathered` makes many such parts one scan: a union in the plan costs analysis and planning for each of its branches, in
every round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, reduce
from typing import Any, Protocol

import pyarrow as pa
from py4j.protocol import Py4JError
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, SparkSession

from tidelog.base.errors import EvaluationError
from tidelog.base.record import record
from tidelog.run.spark.frames.named import rows_of
from tidelog.run.spark.frames.recovery import LostRowsError
from tidelog.run.spark.frames.worker import failure

_COUNTS = "counts"
_ATTRIBUTE_ID = re.compile(r"#\d+L?")


@dataclass(frozen=True)
class Kept:
    """How Spark holds computed rows: its RDD, their attributes, and their partitioning, also in words."""

    rdd: Any
    output: Any
    partitioning: Any
    place: str
    session: SparkSession

    @cached_property
    def frame(self) -> DataFrame:
        """The rows, made a DataFrame when one is asked for: rounds by a known plan need none."""
        return scan(self)


class Held(Protocol):
    """Computed rows in a form of their own."""

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""


@record
class Part:
    """Rows that are computed, their number, and whether they are where a shuffle by the tuple would put them."""

    rows: DataFrame | Held
    count: int
    placed: bool = True

    @property
    def frame(self) -> DataFrame:
        """The rows as a DataFrame."""
        return self.rows if isinstance(self.rows, DataFrame) else self.rows.frame

    @property
    def kept(self) -> Kept | None:
        """How Spark holds the rows, if that is known."""
        return self.rows if isinstance(self.rows, Kept) else None


@record
class Question:
    """Rows to be computed, and what is to be counted of them before they are `shaped`.

    The counts wanted are Columns named like them; where rows are shaped, `rows` must be among them.
    """

    frame: DataFrame
    wanted: Mapping[str, Column] = field(default_factory=dict)
    shaped: Callable[[DataFrame], DataFrame] | None = None


@record
class Asked:
    """A DataFrame to be computed, the names of its counts, and how to get these (a row of Spark's) afterwards."""

    frame: DataFrame
    names: tuple[str, ...]
    observed: Callable[[], Any]


Answer = tuple[Part, Mapping[str, int]]
"""Computed rows, and the counts wanted of them (0 where there is none)."""


def settle(frame: DataFrame, **wanted: Column) -> Answer:
    """Compute a DataFrame; return it with its number of rows, and the other counts wanted."""
    named = {name: count.alias(name) for name, count in wanted.items()}
    return answers([Question(frame, named)])[0]


def answers(questions: Sequence[Question]) -> list[Answer]:
    """Compute several DataFrames by one job."""
    return answered([ask(question) for question in questions])


def ask(question: Question) -> Asked:
    """Return a question as a DataFrame that Spark counts while it computes it."""
    wanted = question.wanted if "rows" in question.wanted else {"rows": rows_of("rows"), **question.wanted}
    watched = question.frame.observe(_COUNTS, *wanted.values())
    frame = watched if question.shaped is None else question.shaped(watched)
    return Asked(frame, tuple(wanted), lambda: frame._jdf.queryExecution().observedMetrics().apply(_COUNTS))  # noqa: SLF001


def answered(asked: Sequence[Asked]) -> list[Answer]:
    """Compute what is asked by one job."""
    alone = len(asked) == 1
    try:
        found = [_checkpoint(one.frame, eager=alone) for one in asked]
        rows = None if alone else _compute(found)
    except Exception as error:
        raise told(error) from error
    told_by_all = [_answer(*one) for one in zip(asked, found, strict=True)]
    counted = sum(part.count for part, _ in told_by_all)
    if rows is not None and rows != counted:
        # Spark computes pieces that were lost before the job's end once more after it, and observes them again
        raise LostRowsError(f"{counted} rows were observed and {rows} computed: some were lost and computed again")
    return told_by_all


def _checkpoint(frame: DataFrame, *, eager: bool) -> DataFrame:
    return frame.localCheckpoint(eager=eager, storageLevel=_level(frame))


def _compute(frames: Sequence[DataFrame]) -> int:
    """Compute what is to be checkpointed, all in one job; return how many rows there are."""
    session = frames[0].sparkSession
    java = java_of(session)
    rdds = [frame._jdf.queryExecution().analyzed().rdd() for frame in frames]  # noqa: SLF001
    context = session.sparkContext._jsc.sc()  # noqa: SLF001
    return int(java.union(context, java.sequence(rdds), rdds[0].elementClassTag()).count())


def _answer(asked: Asked, found: DataFrame) -> Answer:
    numbers = asked.observed().mkString(",").split(",")
    counts = {n: 0 if number == "null" else int(number) for n, number in zip(asked.names, numbers, strict=True)}
    return Part(_held(found), counts["rows"]), counts


def _held(found: DataFrame) -> DataFrame | Kept:
    """Return computed rows as Spark holds them; where its constructors are others as they are, which is slower."""
    java = java_of(found.sparkSession)
    if java.is_known is None:
        try:
            kept = _kept(found)
            scan(together([kept, kept]))
            java.is_known = True
        except (Py4JError, AttributeError):
            java.is_known = False
    return _kept(found) if java.is_known else found


def united(frames: Sequence[DataFrame]) -> DataFrame:
    """Return the rows of all DataFrames."""
    return reduce(DataFrame.union, frames)


def gathered(parts: Sequence[Part]) -> DataFrame:
    """Return the rows of all parts; those that are partitioned alike become one scan."""
    alike, others = _alike(parts)
    if len(alike) < 2:
        return united([part.frame for part in parts])
    return united([together(alike).frame, *others])


def _alike(parts: Sequence[Part]) -> tuple[list[Kept], list[DataFrame]]:
    alike: list[Kept] = []
    others: list[DataFrame] = []
    for part in parts:
        if part.kept is None or not part.kept.place or (alike and part.kept.place != alike[0].place):
            others.append(part.frame)
        else:
            alike.append(part.kept)
    return alike, others


def one_scan(parts: Sequence[Part]) -> Kept | None:
    """Return the rows of several parts as one RDD, if they are all partitioned alike."""
    alike, others = _alike(parts)
    if not alike or others:
        return None
    return together(alike) if len(alike) > 1 else alike[0]


def are_alike(parts: Sequence[Part]) -> bool:
    """Tell whether parts can be one RDD."""
    return not _alike(parts)[1]


def _kept(frame: DataFrame) -> Kept:
    plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001
    partitioning = plan.outputPartitioning()
    told = _ATTRIBUTE_ID.sub("", partitioning.toString())
    place = told if told.startswith("hashpartitioning") else ""
    return Kept(plan.rdd(), plan.output(), partitioning, place, frame.sparkSession)


def together(parts: Sequence[Kept]) -> Kept:
    """Return rows that are partitioned alike as one RDD, which is partitioned so, too."""
    session = parts[0].session
    java = java_of(session)
    context = session.sparkContext._jsc.sc()  # noqa: SLF001
    several = java.sequence([part.rdd for part in parts])
    first = parts[0]
    rdd = java.aligned_union(context, several, first.rdd.getNumPartitions(), first.rdd.elementClassTag())
    return Kept(rdd, first.output, first.partitioning, first.place, session)


def scan(kept: Kept) -> DataFrame:
    """Return computed rows without Spark's guess of their size, keeping what it knows of their partitioning.

    Spark guesses that a join yields the product of its sides and a checkpoint remembers the guess, so that the number's
    digits double from round to round: after 25 rounds planning does nothing but multiply. It offers no setting for
    that, hence its own constructor is used.
    """
    java = java_of(kept.session)
    jsession = kept.session._jsparkSession  # noqa: SLF001
    arguments = [kept.output, kept.rdd, kept.partitioning, java.unordered, False, java.nothing]
    arguments += [jsession, java.nothing, java.nothing]
    made = java.logical(*arguments, *[False] * (java.parameters - len(arguments)))
    return DataFrame(java.of_rows(jsession, made), kept.session)


class _Java:
    """What is used of Spark's own classes, looked up once: to find a class by its name takes several calls."""

    def __init__(self, jvm: Any) -> None:
        spark = jvm.org.apache.spark
        self.nothing = jvm.scala.Option.empty()
        self.logical = spark.sql.execution.LogicalRDD
        self.of_rows = spark.sql.classic.Dataset.ofRows
        self.union = spark.rdd.UnionRDD
        self.rdd_scan = spark.sql.execution.RDDScanExec
        self.reused = spark.sql.execution.exchange.ReusedExchangeExec
        self.sessions = spark.sql.classic.SparkSession
        self.aligned_union = spark.rdd.SQLPartitioningAwareUnionRDD
        self._list = jvm.java.util.ArrayList
        self._to_sequence = spark.api.python.PythonUtils.toSeq
        self.unordered = self.sequence([])
        scan = jvm.java.lang.Class.forName("org.apache.spark.sql.execution.LogicalRDD")
        self.parameters = int(scan.getConstructors()[0].getParameterCount())
        """How many parameters the constructor of Spark's scan of an RDD has; it differs between versions."""
        self.is_known: bool | None = None
        """Whether the constructors are those of this version of Spark; None before they were tried."""

    def sequence(self, things: Sequence[Any]) -> Any:
        """Return a Scala sequence of Java objects."""
        several = self._list()
        for thing in things:
            several.add(thing)
        return self._to_sequence(several)


@lru_cache(maxsize=4)
def _java(jvm: Any) -> _Java:
    return _Java(jvm)


def java_of(session: SparkSession) -> _Java:
    """Return what is used of Spark's own classes."""
    return _java(session._jvm)  # noqa: SLF001


def _level(frame: DataFrame) -> StorageLevel:
    alone = (frame.sparkSession.sparkContext.master or "").startswith("local[")
    return StorageLevel.MEMORY_AND_DISK_DESER if alone else StorageLevel.MEMORY_AND_DISK_2


def collect(frame: DataFrame) -> Any:
    """Return the rows of a DataFrame as an Arrow table."""
    try:
        return without_notes(frame.toArrow())
    except Exception as error:
        raise told(error) from error


def without_notes(table: Any) -> Any:
    """Return an Arrow table without Spark's notes on which columns cannot be null: no cell is.

    They depend on the rule that derived the rows, and Arrow does not put tables with different notes together.
    """
    return pa.Table.from_arrays(table.columns, names=table.column_names)


def told(error: Exception) -> Exception:
    """Return the failure of an expression for what it was, and any other error as it is."""
    text = failure(error)
    return error if text is None else EvaluationError(text)

"""Computing a DataFrame once: the one place where jobs of the round loop start.

`settle` runs the query, keeps its rows in the executors (on disk when memory is short) and returns a DataFrame that
knows nothing of how they were computed, so that plans do not grow from round to round; `answers` does so for several
queries by one job. On a cluster two executors keep each row, since what is lost cannot be computed again. Counts are
observed by the same job, since a second one would cost as much as many a round. What is observed comes with each task's
end, where Spark only logs what goes wrong; so the job counts rows a second way, by its result, and both must be equal.

`gathered` makes many such parts one scan. Where Spark's own classes are not used (`internals`) it is a union, counts
come with an event, each query is a job, and planning takes longer from round to round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from functools import reduce
from typing import Any, Protocol

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import Column, DataFrame, Observation

from tidelog.base.errors import EvaluationError
from tidelog.base.record import record
from tidelog.run.spark.cluster.explain import explained
from tidelog.run.spark.frames.internals import Internals, Kept, internals_of
from tidelog.run.spark.frames.named import rows_of
from tidelog.run.spark.frames.recovery import LostRowsError
from tidelog.run.spark.frames.worker import failure

_COUNTS = "counts"


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
    made: bool = True
    """Whether the rows are there: others are made of fewer when they are read."""

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


Answer = tuple[Part, Mapping[str, int]]
"""Computed rows, and the counts wanted of them (0 where there is none)."""


def settle(frame: DataFrame, **wanted: Column) -> Answer:
    """Compute a DataFrame; return it with its number of rows, and the other counts wanted."""
    named = {name: count.alias(name) for name, count in wanted.items()}
    return answers([Question(frame, named)])[0]


def answers(questions: Sequence[Question]) -> list[Answer]:
    """Compute several DataFrames by one job."""
    internals = internals_of(questions[0].frame.sparkSession)
    try:
        return list(map(_answer, questions)) if internals is None else _answers(questions, internals)
    except Exception as error:
        raise told(error) from error


def _wanted(question: Question) -> Mapping[str, Column]:
    return question.wanted if "rows" in question.wanted else {"rows": rows_of("rows"), **question.wanted}


def _answer(question: Question) -> Answer:
    """Compute a DataFrame by public functions."""
    observation, wanted = Observation(), _wanted(question)
    watched = question.frame.observe(observation, *wanted.values())
    found = _checkpoint(watched if question.shaped is None else question.shaped(watched), eager=True)
    observed = observation.get
    counts = {name: int(observed.get(name) or 0) for name in wanted}
    if "rows" not in observed or (not counts["rows"] and not found.isEmpty()):
        raise LostRowsError("rows were computed, and none was observed")
    return Part(found, counts["rows"]), counts


def _answers(questions: Sequence[Question], internals: Internals) -> list[Answer]:
    wanted = [_wanted(question) for question in questions]
    watched = [one.frame.observe(_COUNTS, *counts.values()) for one, counts in zip(questions, wanted, strict=True)]
    shaped = [frame if one.shaped is None else one.shaped(frame) for one, frame in zip(questions, watched, strict=True)]
    found = [_checkpoint(frame, eager=False) for frame in shaped]
    rows = internals.compute(found)
    made: list[Answer] = []
    for frame, kept, names in zip(shaped, found, wanted, strict=True):
        counts = dict(zip(names, internals.observed(frame, _COUNTS), strict=True))
        made.append((Part(internals.kept(kept), counts["rows"]), counts))
    counted = sum(part.count for part, _ in made)
    if rows != counted:
        # Spark computes pieces that were lost before the job's end once more after it, and observes them again
        raise LostRowsError(f"{counted} rows were observed and {rows} computed: some were lost and computed again")
    return made


def _checkpoint(frame: DataFrame, *, eager: bool) -> DataFrame:
    return frame.localCheckpoint(eager=eager, storageLevel=_level(frame))


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
    return united([alike[0].internals.together(alike).frame, *others])


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
    """Return the failure of an expression for what it was, what a setting cures in a sentence, other errors as is."""
    text = failure(error)
    return (explained(error) or error) if text is None else EvaluationError(text)

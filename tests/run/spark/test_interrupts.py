"""A commit that fails at one of its jobs leaves the database as it was: not locked, and ready for the same commit.

The jobs of a transaction are counted by a preview of it. Then it is tried with an exception at its first job, at its
last and at one between them, before the job is started or when it is done, and after each all relations are read; at
last it gets through. Which job is between differs from transaction to transaction; `TIDELOG_INTERRUPTS=all` tries all
of them, each in both ways, in several minutes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.classic.dataframe import DataFrame

from tests.run.spark.at_once import read_together
from tidelog import Database
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import Tuning
from tidelog.run.spark.frames.internals import Internals
from tidelog.run.spark.frames.rows import SparkRows
from tidelog.session.changes import Changes
from tidelog.session.transaction import Transaction

pytestmark = [pytest.mark.spark, pytest.mark.alone]

ALL = os.environ.get("TIDELOG_INTERRUPTS") == "all"
PROGRAM = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
output relation N(a: u32, n: u64)
output relation Lone(a: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), T(y, z), x != z.
N(x, n) :- T(x, y), var n = y.group_by(x).count().
Lone(x) :- E(_, x), not T(x, _).
"""
EDGES = [(1, 2), (2, 3), (3, 4), (4, 5)]
RULE = "Lone(x + 100) :- E(x, _), not E(_, x)."

WAYS = {
    "round by round": Spark(driver_rows=0, replicate_rows=0, whole_rows=0),
    "in pieces": Spark(driver_rows=0, whole_rows=0),
    "one partition": Spark(driver_rows=0),
    "handed over": Spark(alone_rows=30, whole_rows=0),
}


class Jobs:
    """Raises an error at one of the actions that start jobs; counts them all, and the jobs."""

    def __init__(self, patch: pytest.MonkeyPatch, spark: SparkSession) -> None:
        self._scheduler = spark.sparkContext._jsc.sc().dagScheduler()
        self._inside = self._done = False
        self._seen = self._fails_at = self.jobs = 0
        for name in ("localCheckpoint", "toArrow", "isEmpty", "collect", "count"):
            patch.setattr(DataFrame, name, self._around(getattr(DataFrame, name)))
        patch.setattr(Internals, "compute", self._around(Internals.compute))

    @contextmanager
    def counted(self) -> Iterator[list[int]]:
        """Count the actions within the block."""
        found, self._seen = [0], 0
        yield found
        found[0] = self._seen

    @contextmanager
    def failing(self, place: int, *, done: bool) -> Iterator[None]:
        """Let one of the actions within the block fail, before it is started or when it is done."""
        self._seen, self._fails_at, self._done = 0, place, done
        try:
            yield
        finally:
            self._fails_at = 0

    @property
    def total(self) -> int:
        """All jobs that were started, by whomever."""
        return int(self._scheduler.numTotalJobs())

    def _around(self, action: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if self._inside:
                return action(*given, **named)
            self._seen += 1
            fails = self._seen == self._fails_at
            if fails and not self._done:
                raise self._error()
            before, self._inside = self.total, True
            try:
                found = action(*given, **named)
            finally:
                self._inside = False
                self.jobs += self.total - before
            if fails:
                raise self._error()
            return found

        return call

    def _error(self) -> BaseException:
        return KeyboardInterrupt() if self._seen % 3 else RuntimeError("this job fails")


def steps() -> Iterator[Callable[[Transaction], None]]:
    """Load, delete, insert, add a rule, remove it while facts change."""
    yield lambda tx: tx.insert("E", EDGES)
    yield lambda tx: tx.delete("E", [(2, 3)])
    yield lambda tx: tx.insert("E", [(2, 3), (5, 1)])
    yield lambda tx: tx.add_rules(RULE)

    def both(tx: Transaction) -> None:
        tx.remove_rules(RULE)
        tx.delete("E", [(4, 5)])

    yield both


def held(db: Database) -> dict[str, list[Any]]:
    """What the engine holds: a database remembers what was read of a commit."""
    found = {view.name: db._store._engine.rows(view.name) for view in db.relations()}
    read_together(rows for rows in found.values() if isinstance(rows, SparkRows))
    assert {view.name: view.count() for view in db.relations()} == {name: len(rows) for name, rows in found.items()}
    return {name: sorted(rows) for name, rows in found.items()}


def told(changes: Changes) -> dict[str, tuple[list[Any], list[Any]]]:
    return {name: (sorted(change.inserted), sorted(change.deleted)) for name, change in changes.items()}


def previewed(db: Database, step: Callable[[Transaction], None]) -> Changes:
    with db.transaction() as tx:
        step(tx)
        found = tx.preview()
        tx.rollback()
    return found


def committed(db: Database, step: Callable[[Transaction], None]) -> Changes:
    with db.transaction() as tx:
        step(tx)
    return tx.result.changes


def places(count: int, number: int) -> list[tuple[int, bool]]:
    """Return which of the jobs of a transaction fail, and whether that is when they are done; none on the driver."""
    if ALL:
        return [(place, done) for place in range(1, count + 1) for done in (False, True)]
    return [(place, place % 2 == 0) for place in sorted({min(1, count), count * number // 7, count} - {0})]


@pytest.mark.timeout(3600 if ALL else 300)
@pytest.mark.parametrize("way", WAYS)
def test_a_job_may_fail(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    session = spark.newSession()
    session.conf.unset("spark.tidelog.wholeRows")
    session.conf.set("spark.tidelog.partitions", "2")
    db = Database(PROGRAM, engine="spark", spark=session, tuning=Tuning(spark=WAYS[way]))
    twin = Database(PROGRAM)
    with monkeypatch.context() as patch:
        jobs = Jobs(patch, spark)
        started, failures = jobs.total, 0
        for number, step in enumerate(steps(), 2):
            before, expected = held(twin), told(committed(twin, step))
            with jobs.counted() as count:
                found = previewed(db, step)
            assert told(found) == expected
            failures += count[0]
            for place, done in places(count[0], number):
                commit = previewed if place == 1 and number == 3 else committed
                with pytest.raises((KeyboardInterrupt, RuntimeError)), jobs.failing(place, done=done):
                    commit(db, step)
                assert held(db) == before, f"transaction {number}, job {place}"
            assert told(committed(db, step)) == expected
        assert held(db) == held(twin)
        assert failures, "no job could fail"
        assert jobs.jobs == jobs.total - started, "there are jobs at which nothing can be raised"

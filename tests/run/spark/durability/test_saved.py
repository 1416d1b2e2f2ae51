"""Commits in files: what is read back is what was held, with rank and support; and which failures are losses."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import Observation, SparkSession

from tests.generate.pipeline import plan_text
from tidelog.base.errors import EvaluationError, UserError
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import Tuning
from tidelog.run.contract.engine import Delta
from tidelog.run.phases import AFTER
from tidelog.run.spark.durability.saved import Archive
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames import checkpoint
from tidelog.run.spark.frames.checkpoint import Question
from tidelog.run.spark.frames.internals import Internals
from tidelog.run.spark.frames.recovery import ATTEMPTS, LostRowsError, attempted, is_loss
from tidelog.run.spark.frames.relation import Relation

CLOSURE = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
CHAIN = [(n, n + 1) for n in range(6)]
CHANGES = (
    Delta(CHAIN),
    Delta([(20, 21)]),
    Delta([(4, 6)]),  # support and rank change, too
    Delta([(21, 22)], [(5, 6)]),
    Delta([(5, 6), (22, 23)]),
)


def held(relation: Relation) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in relation.frame(AFTER).collect())


def saving(spark: SparkSession, folder: Path, replicate_rows: int = 0) -> tuple[SparkEngine, Archive]:
    """An engine that saves its commits, as on a cluster."""
    tuning = Tuning(spark=Spark(driver_rows=0, replicate_rows=replicate_rows, most_parts=3))
    engine = SparkEngine(plan_text(CLOSURE), spark=spark, tuning=tuning, partitions=2)
    archive = engine.__dict__["_archive"] = Archive(engine.spark, folder.as_uri())
    return engine, archive


@pytest.mark.spark
@pytest.mark.parametrize("replicate_rows", [0, 1000], ids=["ranked", "by key"])
def test_what_is_saved_is_what_is_held(spark: SparkSession, tmp_path: Path, replicate_rows: int) -> None:
    engine, archive = saving(spark, tmp_path, replicate_rows)
    tables = 0
    for change in CHANGES:
        engine.update({"E": change})
        for relation in engine._state.committed.relations.values():
            assert held(archive.read(relation)) == held(relation), relation.name
        tables = max(tables, len(engine._state.committed.relations["E"].saved))
    assert tables == 4, "a small change must not write a whole relation"
    assert len(engine._state.committed.relations["E"].saved) == 2, "many small tables become one"
    used = {Path(one.path).name for relation in engine._state.committed.relations.values() for one in relation.saved}
    archive._delete_unused()
    assert {path.name for path in tmp_path.iterdir()} == used


@pytest.mark.spark
def test_files_that_are_not_there_are_no_empty_relation(spark: SparkSession, tmp_path: Path) -> None:
    engine, _ = saving(spark, tmp_path)
    engine.update({"E": Delta(CHAIN[:2])})
    for part in tmp_path.glob("*/*.parquet"):
        part.unlink()
    engine._doubt()
    with pytest.raises(UserError, match=r"had \d rows, but 0 were saved in .*all machines of the cluster share"):
        engine.rows("E")


LOSSES = (
    "Lost task 0.3 in stage 9.0: [CHECKPOINT_RDD_BLOCK_ID_NOT_FOUND] Checkpoint block rdd_21_0 not found! Either the",
    "Most recent failure reason: org.apache.spark.shuffle.MetadataFetchFailedException: Missing an output location",
    "Task 1 in stage 2.0 failed 4 times, most recent failure: ExecutorLostFailure (executor 1 exited unrelated to it)",
)
MISTAKES = (
    "Lost task: org.apache.spark.api.python.PythonException: OSError: ExecutorLostFailure is what my function says",
    "Job aborted due to stage failure: Python worker exited unexpectedly (crashed)",
    "Job 4 cancelled part of cancelled job group tidelog",
    "[DIVIDE_BY_ZERO] Division by zero",
)


def test_losses_are_told_from_mistakes() -> None:
    assert [text for text in LOSSES if not is_loss(Py4JError(text))] == []
    assert [text for text in MISTAKES if is_loss(Py4JError(text))] == []
    assert not is_loss(EvaluationError(LOSSES[0]))


@pytest.mark.spark
def test_rows_observed_twice_are_a_loss(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark observes a piece again that was lost before its job's end; the job itself counts every piece once."""
    frames = [spark.range(n).repartition(2) for n in (3, 4)]
    assert [part.count for part, _ in checkpoint.answers([Question(frame) for frame in frames])] == [3, 4]
    computed = Internals.compute
    monkeypatch.setattr(Internals, "compute", lambda own, found: computed(own, found) - 1)
    with pytest.raises(LostRowsError, match="7 rows were observed and 6 computed") as told:
        checkpoint.answers([Question(frame) for frame in frames])
    assert is_loss(told.value)
    with pytest.raises(LostRowsError, match="3 rows were observed and 2 computed"):
        checkpoint.settle(frames[0])


@pytest.mark.spark
def test_rows_that_nobody_observed_are_a_loss(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without Spark's own classes what was counted comes with an event, and may say nothing."""
    monkeypatch.setattr(checkpoint, "internals_of", lambda _: None)
    assert [checkpoint.settle(spark.range(n))[0].count for n in (3, 0)] == [3, 0]
    for said in ({}, {"rows": 0}):
        monkeypatch.setattr(Observation, "get", said)
        with pytest.raises(LostRowsError, match="none was observed"):
            checkpoint.settle(spark.range(3))


def test_lost_work_is_done_again_but_not_for_ever() -> None:
    tries: list[str] = []

    def work(good: int, text: str) -> int:
        tries.append("work")
        if tries.count("work") < good:
            raise Py4JError(text)
        return tries.count("work")

    assert attempted(lambda: work(3, LOSSES[0]), lambda: tries.append("doubt")) == 3
    assert tries == ["work", "doubt", "work", "doubt", "work"]
    for text, expected in ((LOSSES[2], ATTEMPTS), (MISTAKES[0], 1)):
        tries.clear()
        with pytest.raises(Py4JError):
            attempted(lambda: work(100, text), lambda: None)  # noqa: B023
        assert len(tries) == expected

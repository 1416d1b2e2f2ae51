"""What a commit makes Spark read is counted, and is in proportion to the change where pieces are kept apart."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from benchmarks import commits
from benchmarks.batch import Settings
from benchmarks.measure import Bounds
from tests.generate.pipeline import plan_text
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.accounts import Account, opened_account
from tidelog.run.spark.frames.internals import SETTING

pytestmark = [pytest.mark.spark, pytest.mark.alone]

EDGES = [(n, n % 9) for n in range(40)]
COUNTED = """
input relation A(x: u32, y: u32)
output relation N(x: u32, n: u64)
N(x, n) :- A(x, y), var n = y.group_by(x).count().
"""


def test_jobs_and_records_are_counted(spark: SparkSession) -> None:
    account = opened_account(spark)
    assert account() == Account()
    rows = spark.range(1000, numPartitions=2).localCheckpoint()
    made = account()
    assert made is not None
    assert made.jobs == 1
    assert len(rows.toArrow()) == 1000
    read = account()
    assert read is not None
    assert (read.jobs, read.records - made.records) == (2, 1000)
    without = spark.newSession()
    without.conf.set(SETTING, "false")
    assert opened_account(without)() is None


def test_a_small_commit_reads_what_it_must(spark: SparkSession) -> None:
    """A load of 20,000 facts and ten more: the facts are looked through once for each side of what reads them."""
    engine = SparkEngine(plan_text(COUNTED), spark=spark, driver_rows=0, partitions=2)
    account = opened_account(engine.spark)
    engine.update({"A": Delta([(n % 100, n) for n in range(20_000)])})
    load = account()
    engine.update({"A": Delta([(n, 30_000 + n) for n in range(10)])})
    both = account()
    assert load is not None
    assert both is not None
    assert both.jobs - load.jobs <= 9
    assert both.records - load.records < 4 * 20_000


def test_small_commits_are_measured(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The benchmark still runs, and both ways end with the same tuples."""
    assert spark is not None
    few = commits.Load(commits.EDGE + "output relation Loop(a: u32)\nLoop(x) :- Edge(x, x).\n", {"Edge": EDGES}, "Edge")
    monkeypatch.setattr(commits, "loads", lambda *_, **__: {"few": lambda: few})
    monkeypatch.setattr(commits, "RULE", "output relation Both(a: u32)\nBoth(x) :- {0}(x, _).\n")
    monkeypatch.setattr(commits, "TIMES", 1)
    assert commits.run_commits(Settings(tmp_path, tmp_path, 2, (), Bounds(60.0, 1 << 30)), None, quick=True) == []
    told = capsys.readouterr().out
    assert "executors" in told
    assert re.search(r"^-10 .*\(\d+\.\d\d%\)", told, re.MULTILINE)

"""Equivalences that are read by groups only are kept as components: the answers and changes of the columnar engine."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from pyspark.sql import SparkSession

from tests.generate.pipeline import answers, plan_text
from tests.run.spark.at_once import AtOnce
from tests.run.spark.test_engine import alike
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import Tuning
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.durability.saved import Archive
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.grouped import grouped
from tidelog.run.spark.partitions.components import components

SAME = """
input relation E(a: NODE, b: NODE)
relation Same(a: NODE, b: NODE)
Same(x, y) :- E(x, y).
Same(y, x) :- Same(x, y).
Same(x, z) :- Same(x, y), Same(y, z).
output relation Component(a: NODE, least: NODE)
Component(x, l) :- Same(x, y), var l = y.group_by(x).min().
output relation Size(a: NODE, n: u64)
Size(x, n) :- Same(y, x), var n = y.group_by(x).count().
output relation All(a: NODE, all: string)
All(x, s) :- Same(x, y), var s = "${y}".group_by(x).to_vec().join("-").
"""
READ_AS_ROWS = "output relation Pair(a: NODE, b: NODE)\nPair(x, y) :- Same(x, y), x != y.\n"
PATHS = {
    "one job, 1": (1, Spark(driver_rows=0)),
    "one job, 7": (7, Spark(driver_rows=0)),
    "large stars and small stars, 2": (2, Spark(driver_rows=0, worker_bytes=100)),
}


def steps(seed: int, name: Any) -> list[Delta]:
    """Two chains and a cloud; a bridge comes; links go and come; everything goes."""
    random = Random(seed)
    links = [(n, n + 1) for n in range(8)] + [(n + 1, n) for n in range(20, 26)] + [(30, 30)]
    links += [(random.randrange(40, 60), random.randrange(40, 60)) for _ in range(10)]
    links = list(dict.fromkeys(links))
    gone = random.sample(links, 3)
    changes = [
        Delta(links),
        Delta([(3, 22), (70, 71)]),
        Delta([(9, 40)], gone),
        Delta((), [(70, 71), (30, 30)]),
        Delta(gone),
    ]
    return [
        Delta([(name(a), name(b)) for a, b in one.inserted], [(name(a), name(b)) for a, b in one.deleted])
        for one in changes
    ]


@pytest.mark.spark
@pytest.mark.parametrize(("path", "kind"), [*zip(PATHS, ["string", "u32", "u32"], strict=True)])
def test_answers_and_changes(spark: SparkSession, path: str, kind: str) -> None:
    partitions, thresholds = PATHS[path]
    plan = plan_text(SAME.replace("NODE", kind))
    engine = AtOnce(plan, spark=spark, partitions=partitions, tuning=Tuning(spark=thresholds))
    columnar = ColumnarEngine(plan)
    for change in steps(partitions, int if kind == "u32" else str):
        done, expected = engine.update({"E": change}), columnar.update({"E": change})
        for name in ("Same", "Component", "Size", "All"):
            assert alike(done.changes.get(name), expected.changes.get(name)), name
            assert engine.count(name) == columnar.count(name)
        assert answers(engine) == answers(columnar)
        (work,) = [work for work in done.work if work.relations == ("Same",)]
        assert work.strategy == "components"
        assert (work.rounds > 1) == (thresholds.worker_bytes == 100)
    assert engine.verify() == []
    assert engine.snapshot()[0].committed.relations["Same"].bytes == 0, "pairs are not kept"


@pytest.mark.spark
def test_rules_that_read_pairs_come_and_go(spark: SparkSession) -> None:
    few, more = (plan_text((SAME + extra).replace("NODE", "u32")) for extra in ("", READ_AS_ROWS))
    engine, columnar = AtOnce(few, spark=spark, driver_rows=0, partitions=2), ColumnarEngine(few)
    first, second, third, *_ = steps(5, int)
    for change, plan in (
        (first, None),
        (second, more),
        (third, None),
        (Delta([(1, 99)]), few),
        (Delta((), [(1, 99)]), None),
    ):
        done, expected = engine.update({"E": change}, plan), columnar.update({"E": change}, plan)
        assert answers(engine) == answers(columnar)
        for name in ("Same", "Component", "Pair"):
            assert alike(done.changes.get(name), expected.changes.get(name)), name


@pytest.mark.spark
def test_groups_are_saved_as_groups(spark: SparkSession, tmp_path: Path) -> None:
    plan = plan_text(SAME.replace("NODE", "u32"))
    engine, columnar = SparkEngine(plan, spark=spark, driver_rows=0, partitions=2), ColumnarEngine(plan)
    archive = engine.__dict__["_archive"] = Archive(engine.spark, tmp_path.as_uri())
    for change in steps(3, int)[:3]:
        engine.update({"E": change})
        columnar.update({"E": change})
        same = engine.snapshot()[0].committed.relations["Same"]
        read = archive.read(same)
        assert grouped(read.settled) is not None
        assert sum(one.count for one in same.saved) < 60, "nodes are saved, not pairs"
        engine._doubt()
        assert answers(engine) == answers(columnar)


def test_components_against_search() -> None:
    random = np.random.default_rng(3)
    for count in (1, 5, 40, 200):
        left, right = random.integers(0, count, (2, count // 2 + 1))
        label = list(range(count))
        while True:
            before = list(label)
            for a, b in zip(left, right, strict=True):
                label[a] = label[b] = min(label[a], label[b])
            if label == before:
                break
        assert components(count, left, right).tolist() == label

"""Tuples that go are kept beside the table that has them: right answers, and a table is not written for a few."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.generate.pipeline import plan_text
from tests.run.spark.at_once import AtOnce
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import Tuning
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.frames.accounts import opened_account
from tidelog.run.spark.frames.finish import Remaining

pytestmark = pytest.mark.spark

TEXT = "input relation E(a: u32, b: u32)\noutput relation Out(a: u32)\nOut(x) :- E(x, _).\n"
ROWS = [(n, 7 * n % 11) for n in range(40)]
STEPS = [
    ("two go", Delta((), ROWS[:2]), 1),
    ("one more goes", Delta((), ROWS[2:3]), 1),
    ("one comes back, beside a new one", Delta([ROWS[0], (99, 1)]), 1),
    ("it goes again, beside another", Delta((), [ROWS[0], ROWS[3]]), 2),
    ("both at once", Delta([ROWS[3]], [ROWS[4], (99, 1)]), 2),
    ("too often in turn", Delta((), ROWS[39:]), 0),
    ("more than a few", Delta((), ROWS[5:20]), 0),
]
"""Each step with how many layers there are after it; 0: the table was written anew."""


def test_tuples_that_go_and_come_back(spark: SparkSession) -> None:
    tuning = Tuning(spark=Spark(driver_rows=0, gone_rows=8, gone_layers=2, whole_rows=0))
    plan = plan_text(TEXT)
    engine, columnar = AtOnce(plan, spark=spark, partitions=2, tuning=tuning), ColumnarEngine(plan)
    for name, change, layers in [("all come", Delta(ROWS), 0), *STEPS]:
        done, expected = engine.update({"E": change}), columnar.update({"E": change})
        for relation, right in expected.changes.items():
            found = done.changes[relation]
            assert sorted(found.inserted) == sorted(right.inserted), name
            assert sorted(found.deleted) == sorted(right.deleted), name
        assert sorted(engine.rows("E")) == sorted(columnar.rows("E")), name
        assert engine.count("E") == columnar.count("E")
        parts = engine._state.committed.relations["E"].settled
        assert max([0, *(part.rows.layers for part in parts if isinstance(part.rows, Remaining))]) == layers, name
    assert engine.verify() == []


def test_a_few_tuples_that_go_are_looked_for_and_nothing_is_written_anew(spark: SparkSession) -> None:
    rows = [(n, n % 7) for n in range(30_000)]  # what tests beside this one read is counted, too, and little beside it
    tuning = Tuning(spark=Spark(driver_rows=0, replicate_rows=0, whole_rows=0))
    text = "input relation E(a: u32, b: u32)\noutput relation Out(a: u32)\nOut(x) :- E(x, 6).\n"
    engine = AtOnce(plan_text(text), spark=spark, partitions=2, tuning=tuning)
    engine.update({"E": Delta(rows)})
    account = opened_account(spark)
    super(AtOnce, engine).update({"E": Delta((), rows[:3])})
    read = account()
    assert read is None or read.records < 1.2 * len(rows), read

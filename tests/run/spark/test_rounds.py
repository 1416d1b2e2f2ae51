"""The round loop: a round is one job whatever came before it, and the driver takes long tails over.

TIDELOG_SPARK_ROUNDS sets the rounds of the long recursion; 1000 before a release.
"""

from __future__ import annotations

import os

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.generate.pipeline import answers, plan_text
from tests.run.spark.test_engine import alike
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.cluster.session import engine_session
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.checkpoint import gathered, settle
from tidelog.run.spark.frames.internals import SETTING, internals_of

pytestmark = pytest.mark.spark

ROUNDS = int(os.environ.get("TIDELOG_SPARK_ROUNDS", "40"))
REACH = """
input relation Start(x: u32)
input relation E(x: u32, y: u32)
output relation Even(x: u32)
output relation Odd(x: u32)
Even(x) :- Start(x).
Odd(y) :- Even(x), E(x, y).
Even(y) :- Odd(x), E(x, y).
"""
DOUBLES = """
input relation Start(x: u32)
output relation N(x: u32)
N(x) :- Start(x).
N(x + x) :- N(x), x < 150.
N(x + x + 1) :- N(x), x < 150.
"""
COUNTED = """
input relation E(x: u32, y: u32)
output relation Far(x: u32, y: u32, steps: u32)
Far(x, y, 1) :- E(x, y).
Far(x, z, n + 1) :- Far(x, y, n), E(y, z).
"""
KINDS = """
input relation E(x: u32, kind: u32, y: u32)
output relation T(x: u32, kind: u32, y: u32)
T(x, k, y) :- E(x, k, y).
T(x, k, z) :- T(x, k, y), T(y, 9, z).
T(x, 8, y) :- T(x, 9, y), E(z, 8, z), T(z, k, y).
"""
COUNT = "input relation Start(x: u32)\noutput relation N(x: u32)\nN(x) :- Start(x).\nN(x + 1) :- N(x), x < {}.\n"


BOTH_WAYS = """
input relation E(x: u32, y: u32)
output relation P(x: u32, y: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), E(y, z).
P(z, x) :- P(x, y), E(y, z), not E(z, y), x != z.
"""
NAMED = """
input relation E(x: u32, y: u32)
output relation P(x: u32, y: u32, name: string)
P(x, y, "${x}") :- E(x, y).
P(x, z, "${name}${y % 2}") :- P(x, y, name), E(y, z), y < z.
"""


@pytest.mark.parametrize("internals", ["true", "false"])
@pytest.mark.parametrize("text", [REACH, BOTH_WAYS, NAMED], ids=["two relations", "two rules", "in Python"])
def test_rounds_with_and_without_private_classes(spark: SparkSession, text: str, internals: str) -> None:
    plan, session = plan_text(text), spark.newSession()
    session.conf.set(SETTING, internals)
    edges = [(n, n + 1) for n in range(7)] + [(7, 2), (0, 3)]
    facts = {"E": Delta(edges)} | ({"Start": Delta([(0,)])} if "Start" in plan.relations else {})
    engine = SparkEngine(plan, spark=session, driver_rows=0, replicate_rows=0, partitions=2)
    columnar = ColumnarEngine(plan)
    for change in (facts, {"E": Delta([], [(2, 3)])}):
        done, expected = engine.update(change), columnar.update(change)
        assert all(alike(done.changes.get(name), expected.changes.get(name)) for name in plan.relations)
        assert answers(engine) == answers(columnar)
    assert engine.verify() == []
    assert (internals_of(engine.spark) is None) == (internals == "false")


@pytest.mark.timeout(3600)
def test_a_long_recursion_ends(spark: SparkSession) -> None:
    assert DEFAULT.spark.most_parts < ROUNDS, "parts must be merged on the way"
    engine = SparkEngine(
        plan_text(COUNT.format(ROUNDS - 2)), spark=spark, driver_rows=0, replicate_rows=0, partitions=2
    )
    update = engine.update({"Start": Delta([(0,)])})
    assert [work.rounds for work in update.work] == [ROUNDS]
    assert set(engine.rows("N")) == {(n,) for n in range(ROUNDS - 1)}
    assert engine.verify() == []


def test_many_parts_are_one_scan(spark: SparkSession) -> None:
    session = engine_session(spark, 3)
    rows = (session.range(n, n + 2).withColumn("count", f.lit(1)).repartition(3, "id") for n in (0, 5, 9))
    parts = [settle(frame)[0] for frame in rows]
    scan = gathered(parts)
    assert sorted(row.id for row in scan.collect()) == [0, 1, 5, 6, 9, 10]
    joined = scan.hint("shuffle_hash").join(gathered(parts).withColumnRenamed("count", "other"), "id")
    plan = joined._jdf.queryExecution().executedPlan().toString()
    assert "Union" not in plan
    assert "Exchange" not in plan, "the scan has forgotten how its rows are partitioned"
    assert joined.count() == 6


def test_the_driver_takes_the_tail(spark: SparkSession) -> None:
    """Few tuples a round beside many that are held: the last rounds are the driver's, ranks and support as ever."""
    edges = [(n, n + 1) for n in range(60)] + [(n, n + 2) for n in range(0, 60, 7)]
    facts = {"E": Delta(edges), "Start": Delta([(n,) for n in range(40, 55)])}
    engine = SparkEngine(plan_text(REACH), spark=spark, driver_rows=50, replicate_rows=0, partitions=2)
    columnar = ColumnarEngine(plan_text(REACH))
    update = engine.update(facts)
    columnar.update(facts)
    work = next(work for work in update.work if "Odd" in work.relations)
    assert work.strategy == "rounds, the last on the driver"
    assert answers(engine) == answers(columnar)
    for change in (Delta([], [(45, 46), (49, 51)]), Delta([(45, 46)], [(54, 55)])):
        done, expected = engine.update({"E": change}), columnar.update({"E": change})
        for name in ("Even", "Odd"):
            assert alike(done.changes.get(name), expected.changes.get(name)), name
        assert engine.verify() == []
    assert answers(engine) == answers(columnar)


def test_the_driver_takes_an_update_of_many_rounds(spark: SparkSession) -> None:
    """An edge at the beginning of a chain goes and comes back: as many rounds as the chain is long, or four."""
    facts = {"E": Delta([(n, n + 1) for n in range(40)]), "Start": Delta([(0,)])}
    engine = SparkEngine(plan_text(REACH), spark=spark, driver_rows=30, replicate_rows=0, partitions=2)
    columnar = ColumnarEngine(plan_text(REACH))
    engine.update(facts)
    columnar.update(facts)
    for change in (*(Delta([], [(3, 4)]), Delta([(3, 4)])) * 2, Delta([], [(38, 39)])):
        done, expected = engine.update({"E": change}), columnar.update({"E": change})
        (work,) = done.work
        near = (38, 39) in change.deleted
        assert work.strategy == ("ranked" if near else "on the driver")
        assert near or "more than 4 rounds" in work.reason
        for name in ("Even", "Odd"):
            assert alike(done.changes.get(name), expected.changes.get(name)), name
        assert engine.verify() == []
    assert answers(engine) == answers(columnar)


@pytest.mark.alone
def test_a_round_is_one_job_for_all_relations(spark: SparkSession) -> None:
    """Two relations have new tuples in every round, yet ten rounds more take ten jobs more."""
    scheduler = spark.sparkContext._jsc.sc().dagScheduler()
    jobs, plan = [], plan_text(REACH + "Odd(x) :- Start(x).\n")
    for length in (12, 22):
        engine = SparkEngine(plan, spark=spark, driver_rows=0, replicate_rows=0, partitions=2)
        before = scheduler.numTotalJobs()
        update = engine.update({"E": Delta([(n, n + 1) for n in range(length)]), "Start": Delta([(0,)])})
        assert [work.rounds for work in update.work] == [length + 2]
        jobs.append(scheduler.numTotalJobs() - before)
        assert engine.count("Even") == engine.count("Odd") == length + 1
    assert jobs[1] - jobs[0] == 10


def test_what_constants_leave_is_counted(spark: SparkSession) -> None:
    """Two large sides, one of which constants make small: nothing is shuffled for the join, and the answer is right."""
    engine = SparkEngine(plan_text(KINDS), spark=spark, driver_rows=0, broadcast_rows=5, partitions=2)
    columnar = ColumnarEngine(plan_text(KINDS))
    facts = {"E": Delta([(n, n % 7, n + 1) for n in range(20)] + [(3, 9, 4), (4, 9, 6), (1, 8, 1), (2, 8, 5)])}
    engine.update(facts)
    columnar.update(facts)
    assert answers(engine) == answers(columnar)


def test_rounds_inside_executors_are_told(spark: SparkSession) -> None:
    for strategy in ("auto", "recompute"):
        engine = SparkEngine(plan_text(COUNTED), spark=spark, driver_rows=0, partitions=2, strategy=strategy)
        update = engine.update({"E": Delta([(n, n + 1) for n in range(9)])})
        assert [(work.strategy, work.rounds) for work in update.work] == [("by key", 10)]


def test_a_tail_that_grows_goes_back_to_the_loop(spark: SparkSession) -> None:
    engine = SparkEngine(plan_text(DOUBLES), spark=spark, driver_rows=20, replicate_rows=0, partitions=2)
    columnar = ColumnarEngine(plan_text(DOUBLES))
    update = engine.update({"Start": Delta([(1,)])})
    columnar.update({"Start": Delta([(1,)])})
    assert [work.strategy for work in update.work] == ["recompute"]
    assert answers(engine) == answers(columnar)

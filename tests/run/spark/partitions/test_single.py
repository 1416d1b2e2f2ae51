"""All strata that an update reaches by one executor: the answers and changes of the columnar engine."""

from __future__ import annotations

from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tests.run.spark.at_once import AtOnce
from tests.run.spark.test_engine import alike
from tidelog.base.errors import EvaluationError, LimitError
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Limits
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.soak.histories import random_history

pytestmark = pytest.mark.spark

LABELS = """
input relation E(a: u32, b: u32)
input relation Name(a: u32, name: string, weight: double)
relation Link(a: u32, b: u32)
relation Near(a: u32, least: u32)
relation Less(a: u32, least: u32)
output relation Component(a: u32, least: u32)
output relation Named(name: string, weight: double, least: u32)
output relation Any()
Link(x, y) :- E(x, y).
Link(y, x) :- E(x, y).
Near(x, l) :- Link(x, y), var l = y.group_by(x).min().
Less(y, l) :- Near(x, l), Link(x, y), Near(y, m), l < m.
Less(y, l) :- Less(x, l), Link(x, y), Near(y, m), l < m.
Component(x, l) :- Near(x, l), not Less(x, _).
Component(x, l) :- Less(x, m), var l = m.group_by(x).min().
Named(n, w, l) :- Name(x, n, w), Component(x, l).
Any() :- Component(_, _).
"""
MORE = "Component(x, 0) :- E(x, x).\n"
COUNT = """
input relation S(x: u32)
output relation N(x: u32)
N(x) :- S(x).
N(x + 1) :- N(x), x < 30.
output relation M(x: u32)
M(x) :- N(x).
"""
ALONE = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""


@pytest.fixture
def session(spark: SparkSession) -> SparkSession:
    made = spark.newSession()
    made.conf.set("spark.tidelog.wholeRows", "1000")
    return made


def strategies(engine: SparkEngine, facts: dict[str, Delta], limits: Limits | None = None) -> set[str]:
    return {work.strategy for work in engine.update(facts, None, limits or Limits()).work}


@pytest.mark.parametrize("strategy", ["auto", "recompute"])
def test_answers_and_changes(session: SparkSession, strategy: str) -> None:
    """Through changes of facts and rules, also where tuples have cells that partitions do not compare."""
    plan, more = plan_text(LABELS), plan_text(LABELS + MORE)
    engine = SparkEngine(plan, spark=session, strategy=strategy, driver_rows=0, partitions=3)
    columnar = ColumnarEngine(plan)
    edges = [(n, n + 1) for n in range(1, 12) if n != 6] + [(8, 8)]
    names = [(n, f"n{n}", n / 2) for n in range(1, 13, 3)]
    for facts, rules in (
        ({"E": Delta(edges), "Name": Delta(names)}, None),
        ({"E": Delta([(6, 7)], [(2, 3)])}, None),
        ({"Name": Delta([(2, "two", 0.5)], names[:1])}, more),
        ({"E": Delta((), edges)}, None),
    ):
        done, expected = engine.update(facts, rules), columnar.update(facts, rules)
        for name in plan.relations:
            assert alike(done.changes.get(name), expected.changes.get(name)), name
        assert answers(engine) == answers(columnar)
        assert engine.verify() == []
        assert {work.strategy for work in done.work} <= {"one partition", "recompute"}
        assert (not columnar.count("E")) or "one partition" in {work.strategy for work in done.work}


@pytest.mark.parametrize("seed", range(2))
def test_histories(session: SparkSession, seed: int) -> None:
    made = {"strategy": ("auto", "recompute")[seed], "partitions": (7, 1)[seed]}
    follow(random_history(Random(200 + seed), 3), lambda plan: AtOnce(plan, spark=session, driver_rows=0, **made))  # type: ignore[arg-type]


def test_when_it_is_not_so(session: SparkSession) -> None:
    """Too many rows, too many tuples, ranks asked for, one stratum that decomposes: each stratum in its own way."""
    few, many = {"S": Delta([(1,)])}, {"S": Delta([(n,) for n in range(2, 1200)])}
    engine = SparkEngine(plan_text(COUNT), spark=session, driver_rows=0, partitions=2)
    assert strategies(engine, few) == {"one partition"}
    assert "one partition" not in strategies(engine, many)
    assert engine.count("M") == 1199
    engine = SparkEngine(plan_text(COUNT), spark=session, driver_rows=0, partitions=2, replicate_rows=10)
    assert "one partition" not in strategies(engine, few), (
        "30 tuples from one are too many for one who may have 10 more"
    )
    engine = SparkEngine(plan_text(COUNT), spark=session, driver_rows=0, partitions=2, strategy="ranked")
    assert "one partition" not in strategies(engine, few)
    engine = SparkEngine(plan_text(ALONE), spark=session, driver_rows=0, partitions=2)
    assert strategies(engine, {"E": Delta([(1, 2)])}) == {"by key"}


def test_limits_and_errors_are_told(session: SparkSession) -> None:
    engine = SparkEngine(plan_text(COUNT), spark=session, driver_rows=0, partitions=2)
    with pytest.raises(LimitError, match=r"\(N\) took more than 8 rounds"):
        engine.update({"S": Delta([(1,)])}, limits=Limits(rounds=8))
    divide = COUNT.replace("x + 1) :- N(x), x < 30", "100 / x - 1) :- N(x), x < 200")
    engine = SparkEngine(plan_text(divide), spark=session, driver_rows=0, partitions=2)
    with pytest.raises(EvaluationError, match="zero"):
        engine.update({"S": Delta([(50,)])})
    assert engine.count("N") == 0

"""Every case of tests/programs on Spark by the distributed paths: the round loop; the decomposed job where it applies.

With TIDELOG_SPARK_DELETE=1, as before a release, each loses every other one of its facts again.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.cases import case_name, externs_of, program_cases
from tests.run.spark.at_once import AtOnce
from tests.run.spark.conftest import Outcomes
from tests.run.spark.test_engine import alike
from tidelog import Database
from tidelog.plan.closures.decompose import decompose
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Row
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.database import plan_of
from tidelog.session.exchange import load_facts
from tidelog.session.facts.pending import copies
from tidelog.session.relation import RelationView

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]  # a test also waits for those beside it

DELETE = os.environ.get("TIDELOG_SPARK_DELETE") == "1"


def load(case: Path) -> Database:
    database = Database(case / "program.dl", engine="columnar", externs=externs_of(case))
    if (case / "facts").is_dir():
        load_facts(database, case / "facts")
    return database


def stored(view: RelationView, plan: Plan) -> list[Row]:
    """Return the facts of a relation as engines store them: a multiset's have their number among equal ones."""
    if plan.relations[view.name].kind == "multiset":
        return copies([row for row, weight in view.weights().items() for _ in range(weight)])
    return list(view.rows())


def check(database: Database, engine: SparkEngine, way: str) -> None:
    """Give an engine the facts of a database, perhaps take some of them again; expect its rows and its changes."""
    plan = plan_of(database)
    columnar = ColumnarEngine(plan)
    given = {view.name: stored(view, plan) for view in database.relations() if view.role == "input" and view.count()}
    steps = [{name: Delta(rows) for name, rows in given.items()}]
    if DELETE:
        steps.append({name: Delta((), rows[::2]) for name, rows in given.items()})
    for facts in steps:
        update, expected = engine.update(facts), columnar.update(facts)
        for view in database.relations():
            place = f"{view.name}, {way}"
            assert alike(update.changes.get(view.name), expected.changes.get(view.name)), place
            assert set(engine.rows(view.name)) == set(columnar.rows(view.name)), place
            assert engine.count(view.name) == columnar.count(view.name), place


def work(spark: SparkSession, case: Path) -> None:
    """Evaluate a case by the round loop, and decomposed where it can be."""
    database = load(case)
    plan = plan_of(database)
    loop = AtOnce(plan, spark=spark, partitions=2, driver_rows=0, replicate_rows=0)
    check(database, loop, "round by round")
    if any(decompose(stratum) for stratum in plan.strata if stratum.recursive):
        check(database, AtOnce(plan, spark=spark, partitions=2, driver_rows=0), "in one job")


@pytest.mark.parametrize("case", sorted(program_cases(), key=lambda case: "deep_chain" not in str(case)), ids=case_name)
def test_rows_and_changes(case: Path, outcomes: Outcomes) -> None:
    outcomes[case].result()

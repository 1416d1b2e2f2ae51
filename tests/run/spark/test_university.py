"""The 14 questions about universities on Spark: the answers of the engine in process, after changes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import tidelog
from benchmarks.university.generate import statements
from benchmarks.university.goals import goals
from benchmarks.university.run import program
from tidelog.base.tuning.table import DEFAULT

pytestmark = [pytest.mark.spark, pytest.mark.timeout(1800)]  # a test also waits for those beside it


def test_the_questions_after_deletions_and_insertions(spark: SparkSession) -> None:
    session = spark.newSession()
    session.conf.set("spark.tidelog.wholeRows", "1000000")  # as users have it: one executor evaluates so few rows
    jobs = replace(DEFAULT, spark=replace(DEFAULT.spark, driver_rows=0))
    settings: list[dict[str, Any]] = [{"engine": "spark", "spark": session, "tuning": jobs}, {"engine": "columnar"}]
    random = Random(5)
    rows = list(tidelog.read_rdf("".join(statements(1, departments=1, teachers=3)), "nt"))
    random.shuffle(rows)
    found, changes = [], []
    for chosen in settings:
        db = tidelog.Database(program(), facts={"Triple": rows[30:]}, **chosen)
        with db.transaction() as tx:
            tx.delete("Triple", rows[-30:])
            tx.insert("Triple", rows[:30])
        changes.append(set(tx.result.changes["Triple"]))
        found.append({number: db.query(goal).rows() for number, goal in goals("schema").items()})
    assert changes[0] == changes[1]
    assert found[0] == found[1]
    assert sum(map(bool, found[0].values())) >= 10

"""Random histories on Spark with its thresholds drawn: right after every step, on every path that there is.

The driver holds few tuples or none. TIDELOG_SPARK_STEPS sets how many steps a history has.
"""

import os
from dataclasses import replace
from itertools import product
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tests.run.spark.at_once import AtOnce
from tests.run.spark.conftest import Outcomes, compiled
from tidelog.base.tuning.spark import Spark
from tidelog.base.tuning.table import Tuning, all_paths
from tidelog.base.tuning.thresholds import Paths
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import Delta
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.internals import SETTING
from tidelog.session.soak.draw.closures import Closures
from tidelog.session.soak.histories import History, history_of, random_history

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]  # a test also waits for those beside it

HISTORIES = 25
CLOSURES = 12
STEPS = int(os.environ.get("TIDELOG_SPARK_STEPS", "2"))
PARTITIONS = (1, 2, 7)
STRATEGIES = ("auto", "auto", "auto", "recompute", "ranked")
DRIVER_ROWS = (0, 0, 3, 20)
COMPILED = {(5, 7), (9, 1)}
"""The histories, with these partitions, whose queries Spark compiles as it does by default."""

WITHOUT_INTERNALS = {*((seed, 2) for seed in range(0, HISTORIES, 6)), (HISTORIES, 1), (HISTORIES + 1, 2)}
"""The histories, with these partitions, that are followed by public functions of Spark alone."""

Played = tuple[int, int]


def work(spark: SparkSession, played: Played) -> None:
    """Follow a history on Spark."""
    seed, partitions = played
    random = Random(f"{seed} in {partitions}")
    tuning, strategy = drawn(random), random.choice(STRATEGIES)

    def engine(plan: Plan) -> SparkEngine:
        session = thresholds_only(spark)
        if played in WITHOUT_INTERNALS:
            session.conf.set(SETTING, "false")
        made = AtOnce(plan, spark=session, partitions=partitions, strategy=strategy, tuning=tuning)
        return compiled(made) if played in COMPILED else made

    follow(history(seed), engine)


def thresholds_only(spark: SparkSession) -> SparkSession:
    """Return a session whose settings do not come before thresholds."""
    session = spark.newSession()
    session.conf.unset("spark.tidelog.wholeRows")
    return session


def drawn(random: Random) -> Tuning:
    """Draw the thresholds of Spark; in others, executors are as they are in use."""
    table = Tuning.drawn(random, Paths()).spark
    few = random.choice(DRIVER_ROWS)
    return Tuning(spark=replace(table, driver_rows=few, alone_rows=few))


def history(seed: int) -> History:
    """Return a history of any program, or one with much recursion."""
    random = Random(seed)
    if seed < HISTORIES:
        return random_history(random, STEPS)
    return history_of(Closures(random, mixed=seed % 2 == 0).program(), random, STEPS)


PLAYED = [
    *product(range(HISTORIES), PARTITIONS),
    *((HISTORIES + number, PARTITIONS[number % 3]) for number in range(CLOSURES)),
]


@pytest.mark.parametrize("played", PLAYED, ids=lambda played: "{} in {}".format(*played))
def test_every_step_is_right(played: Played, outcomes: Outcomes) -> None:
    outcomes[played].result()


GROWN = """
input relation E(a: u32, b: u32)
output relation P(a: u32, b: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), P(y, z), x != z, not E(z, x).
"""


LOOP = {"alone_rows": 3, "whole_rows": 0, "replicate_rows": 0}
EVERY = (
    {"driver_rows": 0, "whole_rows": 2, "whole_growth": 0, "spread_growth": 0, "arrow_rows": 1, "parcel_bytes": 1},
    {"driver_rows": 0, "whole_rows": 0, "spread_growth": 1, "replicate_rows": 100, "arrow_rows": 3, "parcel_bytes": 40},
    LOOP | {"driver_rows": 3, "driver_share": 1, "driver_state": 10, "update_rounds": 1, "gone_rows": 0},
    LOOP | {"driver_rows": 3, "driver_share": 1, "driver_state": 1, "most_parts": 1, "replicate_rows": 2},
    LOOP | {"driver_rows": 0, "broadcast_rows": 3, "derivation": 1, "gone_rows": 5, "gone_layers": 1},
    LOOP | {"driver_rows": 0, "broadcast_rows": 0, "derivation": 1000, "gone_rows": 5, "gone_layers": 0},
    {"driver_rows": 0, "whole_rows": 50, "whole_growth": 1},
    LOOP | {"driver_rows": 50, "driver_bytes": 100},
    LOOP | {"driver_rows": 50, "driver_bytes": 0},
    {"alone_rows": 50, "alone_bytes": 100, "whole_rows": 50, "worker_bytes": 1 << 20},
)
"""Thresholds at which a relation that grows and shrinks takes every path."""
CLOSURE = """
input relation E(a: u32, b: u32)
output relation P(a: u32, b: u32)
P(x, y) :- E(x, y).
P(x, z) :- P(x, y), E(y, z).
"""
BY_KEY = (
    {"worker_bytes": 250, "worker_copies": 1, "more_partitions": 2, "most_partitions": 16, "partition_bytes": 100},
    {"worker_bytes": 200, "worker_copies": 8, "more_partitions": 4, "most_partitions": 4, "partition_bytes": 1000},
)
"""Others, at which one does that decomposes, and has as many partitions as its bytes ask for."""


def test_every_path_is_taken(spark: SparkSession) -> None:
    paths, edges = Paths(), [(n, n + 1) for n in range(6)]
    both: list[tuple[str, int | None, dict[str, int]]] = [(GROWN, 2, values) for values in EVERY]
    both += [(CLOSURE, None, {"driver_rows": 0, "whole_rows": 0, **values}) for values in BY_KEY]
    for text, partitions, values in both:
        drawn = Spark(**{name: paths.drawn(f"spark.{name}", value) for name, value in values.items()})
        tuning = Tuning(spark=drawn)
        engine = AtOnce(plan_text(text), spark=thresholds_only(spark), partitions=partitions, tuning=tuning)
        reference = ReferenceEngine(plan_text(text))
        for change in (Delta(edges), Delta((), edges[2:])):
            engine.update({"E": change})
            reference.update({"E": change})
            assert answers(engine) == answers(reference)
    assert {path for path in all_paths(elsewhere=True) if path[0].startswith("spark.")} <= paths.taken.keys()

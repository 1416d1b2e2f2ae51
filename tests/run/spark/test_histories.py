"""Random histories on Spark with the driver's path off: right after every step, each with 1, 2 and 7 partitions.

TIDELOG_SPARK_STEPS sets how many steps a history has.
"""

import os
from itertools import product
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generate.checking import follow
from tests.run.spark.at_once import AtOnce
from tests.run.spark.conftest import Outcomes, compiled
from tidelog.plan.nodes import Plan
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.soak.histories import random_history

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]  # a test also waits for those beside it

HISTORIES = 25
STEPS = int(os.environ.get("TIDELOG_SPARK_STEPS", "2"))
PARTITIONS = (1, 2, 7)
COMPILED = {(5, 7), (9, 1)}
"""The histories, with these partitions, whose queries Spark compiles as it does by default."""

Played = tuple[int, int]


def work(spark: SparkSession, played: Played) -> None:
    """Follow a history on Spark."""
    seed, partitions = played

    def engine(plan: Plan) -> SparkEngine:
        made = AtOnce(plan, spark=spark, partitions=partitions, driver_rows=0)
        return compiled(made) if played in COMPILED else made

    follow(random_history(Random(seed), STEPS), engine)


PLAYED = list(product(range(HISTORIES), PARTITIONS))


@pytest.mark.parametrize("played", PLAYED, ids=lambda played: "{} in {}".format(*played))
def test_every_step_is_right(played: Played, outcomes: Outcomes) -> None:
    outcomes[played].result()

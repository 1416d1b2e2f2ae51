"""Random histories on Spark with the driver's path off: right after every step, for 1, 2 and 7 partitions.

TIDELOG_SPARK_STEPS sets how many steps a history has.
"""

import os
from collections.abc import Iterator
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generate.checking import follow
from tests.run.spark.at_once import AtOnce
from tests.run.spark.conftest import Outcomes, side_by_side
from tidelog.session.soak.histories import random_history

pytestmark = [pytest.mark.spark, pytest.mark.timeout(900)]  # a test also waits for those beside it

HISTORIES = 25
STEPS = int(os.environ.get("TIDELOG_SPARK_STEPS", "2"))
PARTITIONS = (2, 1, 7)


@pytest.fixture(scope="module")
def followed(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Outcomes]:
    def work(seed: int) -> None:
        partitions = PARTITIONS[seed % len(PARTITIONS)]
        history = random_history(Random(seed), STEPS)
        follow(history, lambda plan: AtOnce(plan, spark=spark, partitions=partitions, driver_rows=0))

    yield from side_by_side(request, "test_every_step_is_right", work)


@pytest.mark.parametrize("seed", range(HISTORIES))
def test_every_step_is_right(seed: int, followed: Outcomes) -> None:
    followed[seed].result()

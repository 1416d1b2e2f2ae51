"""Random histories on Spark with the driver's path off: right after every step, for 1, 2 and 7 partitions.

TIDELOG_SPARK_HISTORIES sets their number; 25 before a release.
"""

import os
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.generate.checking import follow
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.soak.histories import random_history

pytestmark = pytest.mark.spark

HISTORIES = int(os.environ.get("TIDELOG_SPARK_HISTORIES", "4"))
PARTITIONS = (2, 1, 7)


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("seed", range(HISTORIES))
def test_every_step_is_right(seed: int, spark: SparkSession) -> None:
    partitions = PARTITIONS[seed % len(PARTITIONS)]
    history = random_history(Random(seed), 4)
    follow(history, lambda plan: SparkEngine(plan, spark=spark, partitions=partitions, driver_rows=0))

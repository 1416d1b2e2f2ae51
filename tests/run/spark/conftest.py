"""One session for all tests of the engine on Spark, with settings for many tiny jobs."""

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from tidelog.run.spark.session import start_session

TINY = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # most code runs a few times only
    "spark.sql.codegen.wholeStage": "false",  # compiling a query costs more than running it on ten rows
    "spark.sql.shuffle.partitions": "2",  # of the user's own queries; 200 of them cost more than the rows
}


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = start_session(2, TINY)
    yield session
    session.stop()

"""One session for all tests of the engine on Spark, with settings for many tiny jobs, and tests side by side in it.

Some queries are compiled, as users have it: those of the histories named in `test_histories.COMPILED`. The program that
`test_standalone` submits has no settings but those of docs/cluster.md.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.session import start_session

# Most code runs a few times only: no compiler for hot code. But there is much of it: without room for all that is
# compiled it would be compiled again and again, and without room for its classes Java would look for some to drop.
JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=256m -XX:MetaspaceSize=512m -XX:+UseSerialGC -Xmn400m"
TINY = {
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.sql.codegen.wholeStage": "false",  # compiling a query costs more than running it on ten rows
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",  # the same of its expressions
    "spark.buffer.pageSize": "1m",  # what every table in memory begins with; the default is made for large ones
    "spark.sql.shuffle.partitions": "2",  # of the user's own queries; 200 of them cost more than the rows
}
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
AT_ONCE = 4
"""Tests whose jobs run at the same time: the driver waits most of a tiny job's time."""

Outcomes = dict[Any, Future[None]]


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    session = start_session(2, TINY)
    yield session
    session.stop()


def compiled(engine: SparkEngine) -> SparkEngine:
    """Let Spark compile an engine's queries, as it does by default."""
    for name, value in COMPILED.items():
        engine.spark.conf.set(name, value)
    return engine


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Ask last for the outcome of what goes on beside all others."""
    items.sort(key=lambda item: isinstance(item, pytest.Function) and item.originalname == "test_right_after")


@pytest.fixture(scope="session", autouse=True)
def faults(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcomes]:
    """Faults have processes of their own, so one after the other goes on beside all other tests."""

    def work(fault: Callable[[Path], None]) -> None:
        fault(tmp_path_factory.mktemp(fault.__name__))

    yield from side_by_side(request, "test_right_after", work, at_once=1)


def side_by_side(
    request: pytest.FixtureRequest, test: str, work: Callable[[Any], None], at_once: int = AT_ONCE
) -> Iterator[Outcomes]:
    """Do the work of all chosen tests of a name, several at once; yield for the parameter of each what to wait for.

    For a fixture: the tests themselves only ask for their own outcome.
    """
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    chosen = [item for item in items if item.originalname == test and item.get_closest_marker("spark")]
    with ThreadPoolExecutor(at_once) as pool:
        try:
            yield {given: pool.submit(work, given) for item in chosen for given in item.callspec.params.values()}
        finally:
            pool.shutdown(cancel_futures=True)

"""One session for all tests of the engine on Spark, with settings for many tiny jobs, and tests side by side in it.

Some queries are compiled, as users have it: those of the histories named in `test_histories.COMPILED`. The program that
`test_standalone` submits has no settings but those of docs/cluster.md.
"""

import inspect
import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidelog.run.spark.cluster.session import start_session
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.internals import SETTING

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
    SETTING: os.environ.get("TIDELOG_SPARK_INTERNALS", "true"),
    "spark.tidelog.wholeRows": "0",  # all else would be evaluated so; `partitions.test_single` asks for it
}
COMPILED = {"spark.sql.codegen.wholeStage": "true", "spark.sql.codegen.factoryMode": "FALLBACK"}
AT_ONCE = 4
"""Tests whose jobs run at the same time, beside one more: the driver waits most of a tiny job's time."""

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
    """Put first what must be alone, and last the tests that only ask for the outcome of what goes on beside others."""

    def turn(item: pytest.Item) -> int:
        if not isinstance(item, pytest.Function) or item.get_closest_marker("spark") is None:
            return 1
        if asks_for(item, "outcomes") or asks_for(item, "faults"):
            return 2 + asks_for(item, "faults")
        return 0 if is_alone(item) else 1

    items.sort(key=turn)


def asks_for(item: pytest.Function, fixture: str) -> bool:
    """Tell whether a test itself has the outcomes of a fixture as an argument."""
    return fixture in inspect.signature(item.function).parameters


def is_alone(item: pytest.Function) -> bool:
    """Tell whether a test must have the process for itself: it counts what everybody does, or changes modules."""
    return item.get_closest_marker("alone") is not None or "monkeypatch" in item.fixturenames


@pytest.fixture(scope="session", autouse=True)
def faults(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Outcomes]:
    """Faults have processes of their own, so one after the other goes on beside all other tests."""

    def work(fault: Callable[[Path], None]) -> None:
        fault(tmp_path_factory.mktemp(fault.__name__))

    with ThreadPoolExecutor(1) as pool:
        yield from side_by_side(request, "faults", pool, lambda _: work)


@pytest.fixture(scope="session")
def outcomes(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[Outcomes]:
    """What tests that ask for their outcome do, the function `work` of their module, goes on beside other tests."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield from side_by_side(request, "outcomes", pool, lambda item: partial(item.module.work, spark))


@pytest.fixture(autouse=True)
def others_beside(request: pytest.FixtureRequest) -> None:
    """Let others begin with the first test on Spark that need not be alone."""
    if "spark" in request.fixturenames and not is_alone(request.node):
        request.getfixturevalue("outcomes")


def side_by_side(
    request: pytest.FixtureRequest,
    fixture: str,
    pool: ThreadPoolExecutor,
    work: Callable[[pytest.Function], Callable[[Any], None]],
) -> Iterator[Outcomes]:
    """Do the work of all tests chosen that ask for a fixture; yield for the parameter of each what to wait for."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    chosen = [item for item in items if asks_for(item, fixture)]
    try:
        yield {given: pool.submit(work(item), given) for item in chosen for given in item.callspec.params.values()}
    finally:
        pool.shutdown(cancel_futures=True)

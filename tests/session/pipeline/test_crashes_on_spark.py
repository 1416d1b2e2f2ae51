"""A pipeline on Spark that dies, with sinks that only Spark writes: tables and databases show each version once.

By default three points are tried, each continued in another way: before the version is committed, after that, and when
a sink has got its rows. TIDELOG_CRASHES=all tries every step of the commit in all three ways.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from tests.session.pipeline import scene
from tests.session.pipeline.crashing import Dead, Life, living
from tests.session.pipeline.scene import WAYS, history, reach, signed
from tidelog.base.tuning.table import Tuning
from tidelog.session.pipeline import run as running
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.run import Pipeline
from tidelog.session.pipeline.sinks import remote

pytestmark = [
    pytest.mark.spark,
    pytest.mark.long(reason="a pipeline on Spark for each point"),
    pytest.mark.timeout(1800),
]

IN_SPARK = Tuning().having({"pipelines.driver_rows": 0, "pipelines.file_rows": 100})
URL = "jdbc:derby:memory:crash;create=true"
SINKS = f"""
[[sink]]
relation = "Reach"
format = "table"
path = "tide_crash"
mode = "changes"
[[sink]]
relation = "Reach"
format = "jdbc"
mode = "merge"
key = ["a", "b"]
options = {{ url = "{URL}", dbtable = "merged", createTableColumnTypes = "a varchar(9), b varchar(9)" }}
[[sink]]
relation = "Reach"
format = "parquet"
path = "out/full"
[engine]
driver_rows = 0
partitions = 1
"""


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with neither the table nor the database."""
    yield spark
    forget(spark)


def forget(spark: SparkSession) -> None:
    spark.sql("DROP TABLE IF EXISTS tide_crash")
    spark._jvm.java.lang.System.setProperty("derby.stream.error.file", "/dev/null")  # type: ignore[union-attr]
    with suppress(Py4JError):  # Derby tells that it has dropped the database by an error
        address = URL.replace("create", "drop")
        spark._jvm.java.sql.DriverManager.getConnection(address)  # type: ignore[union-attr]


def pipeline(folder: Path, spark: SparkSession) -> Pipeline:
    return Pipeline(read_config(folder / "p.toml"), spark=spark, tuning=IN_SPARK)


def lives(folder: Path, spark: SparkSession, patch: pytest.MonkeyPatch, point: int) -> list[str]:
    """Apply a batch until the process dies; return its steps."""
    life = Life(point)
    with suppress(Dead), living(patch, life), patch.context() as context:
        for name in ("publish", "write_frame", "_merge"):
            real = getattr(remote, name)

            def noted(*args: object, real: object = real, name: str = name) -> None:
                life.step(name)
                real(*args)  # type: ignore[operator]

            context.setattr(remote, name, noted)
        with pipeline(folder, spark) as one:
            WAYS["same"](one)
    return life.names


def check(folder: Path, spark: SparkSession) -> None:
    with pipeline(folder, spark) as one:
        links, _ = history(one)
    rows = {number: reach(found) for number, found in links.items()}
    table: dict[int, list[tuple[str, str, int]]] = {}
    for row in spark.read.table("tide_crash").select("version", "a", "b", "weight").collect():
        table.setdefault(row[0], []).append((row[1], row[2], row[3]))
    changes = {number: signed(rows[number - 1], rows[number]) for number in rows if number}
    assert {number: sorted(found) for number, found in table.items()} == {n: one for n, one in changes.items() if one}
    merged = spark.read.format("jdbc").options(url=URL, dbtable="merged").load().collect()
    assert sorted(map(tuple, merged)) == sorted(rows[max(rows)])
    full = spark.read.parquet(f"file://{folder}/out/full").collect()
    assert sorted(map(tuple, full)) == sorted(rows[max(rows)])
    assert not list((folder / "state/pending").iterdir())


def test_wherever_it_dies(tmp_path: Path, session: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "fill_from_files", scene.fill)

    def start(name: str) -> Path:
        forget(session)
        folder = tmp_path / name
        scene.write_scene(folder, SINKS)
        with pipeline(folder, session) as one:
            one.run()
        return folder

    names = lives(start("whole"), session, monkeypatch, 0)
    check(tmp_path / "whole", session)
    commits = [place for place, name in enumerate(names, 1) if name == "create_write_transaction"]
    publishes = [place for place, name in enumerate(names, 1) if name == "publish"]
    assert len(publishes) == 2
    assert commits[-1] < publishes[0]
    chosen = list(zip((commits[-1], publishes[0], publishes[1]), WAYS, strict=True))
    if os.environ.get("TIDELOG_CRASHES") == "all":
        chosen = [(point, way) for point in range(1, len(names) + 1) for way in WAYS]
    for point, way in chosen:
        folder = start(f"{point}-{way}")
        assert lives(folder, session, monkeypatch, point) == names[:point]
        with pipeline(folder, session) as one:
            WAYS[way](one)
        try:
            check(folder, session)
        except AssertionError as error:
            raise AssertionError(f"died at {point} ({names[point - 1]}), went on by {way}: {error}") from error

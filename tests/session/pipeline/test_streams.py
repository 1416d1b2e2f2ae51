"""Streams of Spark: each batch a version, once; several streams and a folder beside each other."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tests.shell.conftest import Tidelog, tidelog
from tidelog import DataError, Pipeline, UserError
from tidelog.session.pipeline.run import Outcome

__all__ = ["tidelog"]

pytestmark = pytest.mark.spark

PROGRAM = """
input relation Sale(id: u32, shop: string)
input relation Tick(n: u32)
output relation Shop(shop: string)
Shop(s) :- Sale(_, s).
output relation Ticked(n: u32)
Ticked(n) :- Tick(n), n < 3.
"""
CONFIG = """
program = "p.dl"
state = "state"
[[stream]]
relation = "Sale"
format = "json"
path = "sales"
options = { schema = "number long, shop string, gone boolean", maxFilesPerTrigger = 1 }
columns = { id = "number", shop = "upper(shop)" }
weight = "if(gone, -1, 1)"
ON_ERROR
"""


def write(folder: Path, name: str, *rows: tuple[int, str, bool]) -> None:
    (folder / "sales").mkdir(exist_ok=True)
    lines = [f'{{"number": {n}, "shop": "{shop}", "gone": {str(gone).lower()}}}\n' for n, shop, gone in rows]
    (folder / "sales" / name).write_text("".join(lines))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "p.toml").write_text(CONFIG.replace("ON_ERROR", ""))
    return tmp_path


def watched(folder: Path, spark: SparkSession, **more: object) -> list[Outcome]:
    outcomes: list[Outcome] = []
    with Pipeline(folder / "p.toml", spark=spark) as one:
        one.watch(None, outcomes.append, once=True, **more)  # type: ignore[arg-type]
    return outcomes


def rows(folder: Path, relation: str) -> list[tuple[object, ...]]:
    with Pipeline(folder / "p.toml") as one:
        return one.show(relation).rows()


def test_a_stream_of_files(folder: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    write(folder, "1.json", (1, "north", False), (2, "south", False))
    first = watched(folder, spark)
    assert [(one.version.reason, one.version.changes) for one in first] == [
        ("run", {}),
        ("batch", {"Sale": (2, 0), "Shop": (2, 0)}),
    ]
    assert watched(folder, spark) == []  # nothing has arrived
    write(folder, "2.json", (1, "north", True))
    write(folder, "3.json", (3, "south", False))
    real = Pipeline._commit

    def dies(self: Pipeline, *args: object, **options: object) -> Outcome:
        real(self, *args, **options)  # type: ignore[arg-type]
        raise UserError("died when the version was there")

    with monkeypatch.context() as patch:
        patch.setattr(Pipeline, "_commit", dies)
        with pytest.raises(UserError, match="died when"):
            watched(folder, spark)
    again = watched(folder, spark)  # the batch is handed over once more
    assert [(one.fresh, one.version.number) for one in again] == [(False, 3), (True, 4)]
    assert rows(folder, "Sale") == [(2, "SOUTH"), (3, "SOUTH")]


def test_a_frame_beside_others(folder: Path, spark: SparkSession) -> None:
    write(folder, "1.json", (1, "north", False))
    rate = (
        spark.readStream.format("rate-micro-batch").option("rowsPerBatch", "4").option("startTimestamp", "1000").load()
    )
    ticks = rate.select(f.col("value").alias("n"))
    outcomes = watched(folder, spark, streams={"Tick": ticks})
    assert sum(one.version.changes.get("Tick", (0, 0))[0] for one in outcomes) == 4
    assert rows(folder, "Ticked") == [(0,), (1,), (2,)]
    assert rows(folder, "Shop") == [("NORTH",)]
    with pytest.raises(UserError, match="has no relation `Tack`; did you mean `Tick`"):
        watched(folder, spark, streams={"Tack": ticks})


def test_rows_that_do_not_fit(folder: Path, spark: SparkSession) -> None:
    write(folder, "1.json", (1, "north", False), (-1, "south", False))
    with pytest.raises(DataError, match=r"stream Sale \(.*sales\): column `id`: expected bit<32> .* found '-1'"):
        watched(folder, spark)
    (folder / "p.toml").write_text(CONFIG.replace("ON_ERROR", 'on_error = "quarantine"'))
    (outcome,) = watched(folder, spark)
    assert (outcome.quarantined, outcome.version.changes["Sale"]) == ({"Sale": 1}, (1, 0))
    (folder / "p.toml").write_text(CONFIG.replace("ON_ERROR", "").replace("gone, -1", "gon, -1"))
    write(folder, "2.json", (2, "north", False))
    with pytest.raises(DataError, match=r"stream Sale .*gon"):
        watched(folder, spark)


def test_nothing_to_follow(folder: Path, tidelog: Tidelog) -> None:
    (folder / "p.toml").write_text('program = "p.dl"\nstate = "state"\n')
    told = tidelog("pipeline", "watch", f"{folder}/p.toml")
    assert 'write changes = "folder", or [[stream]], or give --changes DIR' in told.err

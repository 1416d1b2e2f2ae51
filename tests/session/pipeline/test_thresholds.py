"""A pipeline makes the same versions whichever way its thresholds choose, also if they differ from start to start."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import Tuning, all_paths
from tidelog.base.tuning.thresholds import Paths
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.run import Pipeline

pytestmark = pytest.mark.spark

PROGRAM = """
input relation Item(n: u64, small: i8, text: string, sold: bool, weight: double)
input relation Tag(text: string, kinds: Vec<u8>)
output relation Heavy(n: u64, text: string, kinds: Vec<u8>)
Heavy(n, t, k) :- Item(n, _, t, sold, w), Tag(t, k), w > 1.0.
"""
CONFIG = """
program = "items.dl"
state = "state"
[engine]
driver_rows = 0
partitions = 2
[[source]]
relation = "Item"
format = "csv"
path = "items.csv"
[[source]]
relation = "Tag"
format = "csv"
path = "tags.csv"
[[sink]]
relation = "Heavy"
format = "csv"
path = "heavy"
[[sink]]
relation = "Heavy"
format = "json"
path = "changes"
mode = "changes"
"""
ITEMS = ["18446744073709551615,-128,é,true,2.5", "0,127,,false,-0.0", "7,0,a b,true,1e300"]
TAGS = ['é,"[1, 2]"', "a b,[]"]
CHANGES = "op,n,small,text,sold,weight\ndelete,7,0,a b,true,1e300\ninsert,9,1,é,false,3\n"


def played(folder: Path, spark: SparkSession | None, tables: list[Tuning], config: str = CONFIG) -> list[object]:
    """Run a pipeline, change its facts and go back, each time by a new start with other thresholds."""
    folder.mkdir()
    (folder / "items.dl").write_text(PROGRAM)
    (folder / "pipeline.toml").write_text(config)
    (folder / "items.csv").write_text("\n".join(("n,small,text,sold,weight", *ITEMS)) + "\n")
    (folder / "tags.csv").write_text("\n".join(("text,kinds", *TAGS)) + "\n")
    (folder / "day").mkdir()
    (folder / "day" / "Item.csv").write_text(CHANGES)
    told: list[object] = []
    for number, tuning in enumerate(tables):
        with Pipeline(read_config(folder / "pipeline.toml"), spark=spark, tuning=tuning) as pipeline:
            outcome = pipeline.rollback(1) if number == 2 else pipeline.run(folder / "day" if number else None)[-1]
        told += [outcome.version.changes, sorted(set(lines(folder / "heavy", "*.csv")))]
    return [*told, lines(folder / "changes", "*/*.json")]


def lines(folder: Path, files: str) -> list[str]:
    return sorted(line for path in folder.glob(files) for line in path.read_text().split("\n") if line)


def test_thresholds_that_differ_from_start_to_start(spark: SparkSession, tmp_path: Path) -> None:
    paths = Paths()

    def drawn(driver: int, here: int, file: int) -> Tuning:
        rows = {"driver_rows": driver, "here_rows": here, "here_bytes": 1000 * here, "file_rows": file}
        noted = {name: paths.drawn(f"pipelines.{name}", value) for name, value in rows.items()}
        return Tuning(pipelines=Pipelines(**noted))

    few, many, pieces = drawn(0, 0, 0), drawn(100_000, 100_000, 100_000), drawn(0, 0, 100_000)
    expected = played(tmp_path / "default", spark, [Tuning()] * 3)
    assert expected[0] == {"Item": (3, 0), "Tag": (2, 0), "Heavy": (2, 0)}
    assert played(tmp_path / "to and fro", spark, [few, many, pieces]) == expected
    no_rows = CONFIG.replace("driver_rows = 0\n", "")
    assert played(tmp_path / "here", None, [Tuning()] * 3, no_rows) == expected
    assert played(tmp_path / "here and there", spark, [few, many, few], no_rows) == expected
    assert played(tmp_path / "there and here", spark, [many, few, many], no_rows) == expected
    wanted = ("driver_rows", "here_rows", "here_bytes", "file_rows")
    all_ways = {path for path in all_paths(elsewhere=True) if path[0] in {f"pipelines.{name}" for name in wanted}}
    assert all_ways <= paths.taken.keys()

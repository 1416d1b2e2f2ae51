"""Paths mean the same whatever Spark's default file system is; what cannot be committed is refused by name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tidelog import UserError
from tidelog.base.tuning.table import Tuning
from tidelog.session.pipeline.config import read_config
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.run import Outcome, Pipeline
from tidelog.session.pipeline.state.versions import StateFolder

PROGRAM = "input relation Item(id: u32, kind: u32)\noutput relation Kind(kind: u32)\nKind(k) :- Item(_, k).\n"
CONFIG = """
program = "p.dl"
state = "STATE"
[engine]
driver_rows = 0
partitions = 2
[[source]]
relation = "Item"
format = "csv"
path = "items.csv"
[[sink]]
relation = "Kind"
format = "json"
path = "out"
[[sink]]
relation = "Kind"
format = "json"
path = "SINK"
mode = "changes"
"""


@pytest.mark.parametrize(
    "state", ["ftp://bucket/state", "abfss://c@account/state", "dbfs:/state", "viewfs:/state", "hdfs://head/state"]
)
def test_a_state_elsewhere_is_refused(tmp_path: Path, state: str) -> None:
    (tmp_path / "p.toml").write_text(CONFIG.replace("STATE", state).replace("SINK", "changes"))
    expected = rf"`state`: expected a local path or s3:// or s3a://, found '{state}': nothing there can"
    with pytest.raises(UserError, match=expected):
        read_config(tmp_path / "p.toml")
    assert not list(tmp_path.glob("*:*"))
    for key in ("program", "changes", "library"):
        value = f'["{state}"]' if key == "library" else f'"{state}"'
        text = CONFIG.replace('program = "p.dl"\n', "" if key == "program" else 'program = "p.dl"\n')
        (tmp_path / "p.toml").write_text(f"{key} = {value}\n{text}".replace("STATE", "state"))
        with pytest.raises(UserError, match=f"`{key}`: expected a local path"):
            read_config(tmp_path / "p.toml")


def test_a_second_root(tmp_path: Path) -> None:
    other = tmp_path / "other root"
    text = CONFIG.replace("STATE", f"file://{tmp_path}/other%20root/state").replace("SINK", f"file:{tmp_path}/x")
    (tmp_path / "p.toml").write_text(text.replace("driver_rows = 0\n", ""))
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "items.csv").write_text("id,kind\n1,2\n3,2\n")
    with Pipeline(read_config(tmp_path / "p.toml")) as one:
        one.run()
    assert StateFolder(Local(other / "state")).numbers() == [1]
    assert (tmp_path / "x" / "version=1").is_dir()


@pytest.fixture
def elsewhere(spark: SparkSession, tmp_path: Path) -> Iterator[None]:
    """Let paths without a scheme be in another file system, which has one folder."""
    spark.sql("SHOW TABLES")  # the catalogue, which stays, is not to begin there
    context: Any = spark.sparkContext
    hadoop = context._jsc.hadoopConfiguration()
    before = hadoop.get("fs.defaultFS")
    (tmp_path / "mounted").mkdir()
    hadoop.set("fs.viewfs.mounttable.c.link./data", f"file://{tmp_path}/mounted")
    hadoop.set("fs.defaultFS", "viewfs://c/")
    yield
    hadoop.set("fs.defaultFS", before)


@pytest.mark.spark
@pytest.mark.usefixtures("elsewhere")
def test_another_default_file_system(spark: SparkSession, tmp_path: Path) -> None:
    text = CONFIG.replace("STATE", "state").replace("SINK", "viewfs://c/data/kinds")
    (tmp_path / "p.toml").write_text(text)
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "items.csv").write_text("id,kind\n" + "".join(f"{n},{n % 7}\n" for n in range(300)))
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    (inbox / "Item.csv").write_text("op,id,kind\ninsert,1000,9\n")
    outcomes: list[Outcome] = []
    in_spark = Tuning().having({"pipelines.driver_rows": 0})
    with Pipeline(read_config(tmp_path / "p.toml"), spark=spark, tuning=in_spark) as one:
        one.watch(inbox, outcomes.append, once=True)
    assert [outcome.version.changes for outcome in outcomes] == [
        {"Item": (300, 0), "Kind": (7, 0)},
        {"Item": (1, 0), "Kind": (1, 0)},
    ]
    assert outcomes[1].version.engine == "spark"
    with Pipeline(read_config(tmp_path / "p.toml"), spark=spark, tuning=in_spark) as one:
        assert one.run(inbox)[0].fresh is False  # the facts are what they were
        database = one._open(outcomes[1].version)
        assert database.relation("Item").count() == 301
    assert spark.read.json(f"file://{tmp_path}/out").count() == 8
    assert sorted(path.name for path in (tmp_path / "mounted" / "kinds").iterdir()) == ["version=1", "version=2"]
    assert not (tmp_path / "mounted" / "state").exists()

"""The formats that a pipeline names, as sources and sinks; and changes that are too many for the driver."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession

from tidelog import DataError
from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import Tuning
from tidelog.session.pipeline.config import Sink, read_config
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.run import Pipeline
from tidelog.session.pipeline.sinks.ways import RemoteWay
from tidelog.session.pipeline.sources import reading

pytestmark = pytest.mark.spark

FORMATS = ("parquet", "json", "orc", "table", "jdbc")
SINKS = ("json", "orc", "table", "jdbc")
CHANGED = ("orc", "parquet")
DECLARED = "".join(f"input relation {kind}(x: u32, name: string)\n" for kind in map(str.capitalize, FORMATS))
RULES = "".join(f'All(x, name, "{kind}") :- {kind.capitalize()}(x, name).\n' for kind in FORMATS)
PROGRAM = f"{DECLARED}output relation All(x: u32, name: string, kind: string)\n{RULES}"
ROWS = [(1, "tide"), (2, 'a "b", c')]


@pytest.fixture
def database(spark: SparkSession) -> Iterator[str]:
    """An address of a database in memory: Derby, which Spark ships."""
    system = spark._jvm.java.lang.System  # type: ignore[union-attr]
    system.setProperty("derby.stream.error.file", "/dev/null")
    yield "jdbc:derby:memory:tide;create=true"
    with suppress(Py4JError):  # Derby tells that it has dropped the database by an error
        spark._jvm.java.sql.DriverManager.getConnection("jdbc:derby:memory:tide;drop=true")  # type: ignore[union-attr]


def described(kind: str, folder: Path, database: str, name: str) -> tuple[str, str]:
    """Return where a format's rows are, as a pipeline's file says it: its lines, and the path among them."""
    if kind == "jdbc":
        return f'format = "jdbc"\noptions = {{ url = "{database}", dbtable = "{name}" }}\n', ""
    path = f"tide_{name}" if kind == "table" else str(folder / f"{name}.{kind}")
    return f'format = "{kind}"\npath = "{path}"\n', path


def save(frame: DataFrame, kind: str, folder: Path, database: str) -> None:
    _, path = described(kind, folder, database, "given")
    if kind == "jdbc":
        frame.write.format("jdbc").options(url=database, dbtable="given").save()
    elif kind == "table":
        frame.write.option("path", str(folder / "warehouse")).saveAsTable(path)
    else:
        frame.write.format(kind).save(path)


def again_at(folder: Path, sink: Sink, rows: DataFrame) -> None:
    """Publish rows of the first version, as after a crash."""
    rows.write.mode("overwrite").parquet(str(folder))
    RemoteWay(Local(folder.parent), lambda: rows.sparkSession).publish(sink, Local(folder), 1)


def found(spark: SparkSession, kind: str, folder: Path, database: str) -> list[tuple[object, ...]]:
    _, path = described(kind, folder, database, "made")
    if kind == "jdbc":
        frame = spark.read.format("jdbc").options(url=database, dbtable="made").load()
    elif kind == "table":
        frame = spark.read.table(path)
    else:
        frame = spark.read.format(kind).load(path)
    rows = frame.selectExpr("int(version)", "int(weight)", "int(x)", "name", "kind").collect()
    return sorted(tuple(row) for row in rows)


def test_every_format_in_and_out(spark: SparkSession, tmp_path: Path, database: str) -> None:
    given = spark.createDataFrame(ROWS, "x int, name string").coalesce(1)
    ends = ['program = "all.dl"\nstate = "state"\n']
    for kind in FORMATS:
        save(given, kind, tmp_path, database)
        source, _ = described(kind, tmp_path, database, "given")
        ends.append(f'[[source]]\nrelation = "{kind.capitalize()}"\n{source}')
    for kind in SINKS:
        sink, _ = described(kind, tmp_path, database, "made")
        ends.append(f'[[sink]]\nrelation = "All"\nmode = "changes"\n{sink}')
    ends[-1] = ends[-1].replace("options = {", 'options = { createTableColumnTypes = "name varchar(99)",')
    (tmp_path / "all.dl").write_text(PROGRAM)
    (tmp_path / "pipeline.toml").write_text("".join(ends))
    day = tmp_path / "day"
    day.mkdir()
    signed = spark.createDataFrame([(1, "tide", -1), (3, "ebb", 1)], "x int, name string, weight int").coalesce(1)
    for kind in CHANGED:
        signed.write.format(kind).save(str(day / kind.capitalize()))
    try:
        with Pipeline(read_config(tmp_path / "pipeline.toml"), spark=spark) as pipeline:
            pipeline.run()
            pipeline.run(day)
        first = [(1, 1, *row, kind) for row in ROWS for kind in FORMATS]
        changed = [(2, sign, *row, kind) for kind in CHANGED for sign, row in SIGNED]
        for kind in SINKS:
            assert found(spark, kind, tmp_path, database) == sorted([*first, *changed]), kind
        # A version that is made again after a crash leaves its rows once, in tables and databases as well.
        for kind in ("table", "jdbc"):
            before = found(spark, kind, tmp_path, database)
            options = {"url": database, "dbtable": "made"} if kind == "jdbc" else {}
            sink_again = Sink("All", kind, None if kind == "jdbc" else "tide_made", options, "changes")
            again = spark.createDataFrame([(*ROWS[0], "new", 1), (*ROWS[1], "orc", 1)], SCHEMA)
            again_at(tmp_path / f"again-{kind}", sink_again, again)
            assert found(spark, kind, tmp_path, database) == sorted([*before, (1, 1, *ROWS[0], "new")]), kind
    finally:
        for name in ("tide_given", "tide_made"):
            spark.sql(f"DROP TABLE IF EXISTS {name}")


def test_a_sink_that_cannot_be_read_gets_no_rows(spark: SparkSession, tmp_path: Path, database: str) -> None:
    """Rows that are there already would be written twice, so that is an error, and tells what and where."""
    rows = spark.createDataFrame([(*ROWS[0], "new", 1)], SCHEMA)
    folder = tmp_path / "gone"
    rows.selectExpr("*", "1 AS version").write.option("path", str(folder)).saveAsTable("tide_gone")
    try:
        for part in folder.glob("*.parquet"):
            part.write_bytes(b"not a table any more")
        with pytest.raises(
            DataError, match=r"sink All \(tide_gone\): to write no row of version 1 twice, tide_gone has"
        ):
            again_at(tmp_path / "staged", Sink("All", "table", "tide_gone", {}, "changes"), rows)
    finally:
        spark.sql("DROP TABLE tide_gone")
    rows.select("x").write.format("jdbc").options(url=database, dbtable="odd").save()
    for options, reason in (
        ({"url": database, "dbtable": "odd"}, "odd has to be read: .*`version`"),
        ({"url": "jdbc:derby:memory:nowhere", "dbtable": "made"}, "made has to be read: .*nowhere"),
    ):
        with pytest.raises(DataError, match=f"sink All: to write no row of version 1 twice, {reason}"):
            again_at(tmp_path / "staged", Sink("All", "jdbc", None, options, "changes"), rows)


def test_rows_of_a_database_by_their_key(spark: SparkSession, tmp_path: Path, database: str) -> None:
    """What is merged twice is there once, other rows stay, and the table beside it is gone."""
    options = {"url": database, "dbtable": "stock", "createTableColumnTypes": "name varchar(99)"}
    sink = Sink("All", "jdbc", None, options, "merge", ("x",))

    def merge(number: int, *rows: tuple[int, str, int]) -> list[tuple[object, ...]]:
        staged = tmp_path / str(number)
        for _ in range(2):
            spark.createDataFrame(rows, "x int, name string, weight long").write.mode("overwrite").parquet(str(staged))
            RemoteWay(Local(tmp_path), lambda: spark).publish(sink, Local(staged), number)
        found = spark.read.format("jdbc").options(url=database, dbtable="stock").load()
        return sorted(tuple(row) for row in found.collect())

    assert merge(1, (1, "tide", 1), (2, "ebb", 1)) == [(1, "tide"), (2, "ebb")]
    assert merge(2, (1, "flow", 1), (2, "ebb", -1), (3, 'a "b"', 1)) == [(1, "flow"), (3, 'a "b"')]
    tables = spark.read.format("jdbc").options(
        url=database, query="SELECT tablename FROM sys.systables WHERE tablename LIKE 'STOCK%'"
    )
    assert [row[0] for row in tables.load().collect()] == ["STOCK"]


SCHEMA = "x long, name string, kind string, weight long"
SIGNED = ((-1, ROWS[0]), (1, (3, "ebb")))
CLOSURE = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
CONFIG = """
program = "closure.dl"
state = "state"
[engine]
driver_rows = 0
partitions = 2
[[source]]
relation = "E"
format = "csv"
path = "edges.csv"
owner = "source"
"""


def test_many_rows_stay_in_spark(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sources and files of changes that are not small never pass through the driver, whatever they add up to."""

    def refused(*_: object) -> None:
        raise AssertionError("rows came to the driver")

    (tmp_path / "closure.dl").write_text(CLOSURE)
    (tmp_path / "pipeline.toml").write_text(CONFIG)
    (tmp_path / "edges.csv").write_text("a,b\n1,2\n2,3\n3,4\n")
    day = tmp_path / "day"
    day.mkdir()
    (day / "E.1.csv").write_text("op,a,b\ninsert,4,5\ndelete,1,2\ninsert,8,9\n")
    (day / "E.2.csv").write_text("weight,a,b\n-1,8,9\n2,4,5\n1,7,1\n")
    monkeypatch.setattr(reading, "read_table", refused)
    few = Tuning(pipelines=Pipelines(driver_rows=2))
    with Pipeline(read_config(tmp_path / "pipeline.toml"), spark=spark, tuning=few) as pipeline:
        pipeline.run()
        (outcome,) = pipeline.run(day)
        assert outcome.version.changes == {"E": (2, 1), "T": (4, 3)}
        # The file again, with other rows: only the difference is applied.
        (tmp_path / "edges.csv").write_text("a,b\n1,2\n2,3\n4,5\n")
        (outcome,) = pipeline.run()
    assert outcome.version.changes == {"E": (1, 2), "T": (2, 5)}

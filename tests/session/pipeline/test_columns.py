"""Expressions in place of columns, times, decimals and nulls: alike in this process and in Spark."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from tidelog import Database, DataError, Pipeline
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.files import Pipelines
from tidelog.base.tuning.table import Tuning
from tidelog.run.spark.engine import SparkEngine
from tidelog.session.database import plan_of
from tidelog.session.frames.arrow import read_table
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.sources import reading
from tidelog.session.pipeline.sources.reading import load
from tidelog.session.pipeline.sources.reading_here import read_here

DATABASE = Database(
    "import time\ninput relation R(k: u8, d: time::Date, m: time::DateTime, n: Option<i16>, s: Option<string>,"
    " b: Option<bool>, od: Option<time::Date>)"
)
RELATION, PLAIN = plan_of(DATABASE).relations["R"], Plain(plan_of(DATABASE).types)


def _moment(*parts: int) -> dt.datetime:
    return dt.datetime(*parts)  # type: ignore[arg-type]  # noqa: DTZ001  (tables have times without a zone, too)


COLUMNS: dict[str, Any] = {
    "k": [1, 2],
    "d": [dt.date(2026, 1, 5), dt.date(1969, 12, 31)],
    "m": [_moment(2026, 1, 5, 23, 59, 58, 123456), _moment(1969, 7, 20, 20, 17, 40)],
    "n": [None, -7],
    "s": ["", None],
    "b": [True, None],
    "od": [None, dt.date(2024, 2, 29)],
}
HEAD = "k,d,m,n,s,b,od\n"
MOMENT = '"time::DateTime{time::Date{2026, 1, 5}, time::Time{1, 2, 3, 0}}"'


def taken(source: SourceTable) -> list[Any] | None:
    table = read_here(source, RELATION, Pipelines())
    return None if table is None else sorted(read_table(table, RELATION, PLAIN), key=repr)


def in_spark(spark: SparkSession, source: SourceTable) -> list[Any]:
    return sorted(load(spark, source, RELATION, PLAIN, 100).rows, key=repr)


@pytest.mark.spark
def test_times_and_nulls(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "R.parquet"
    pq.write_table(pa.table({**COLUMNS, "n": pa.array(COLUMNS["n"], pa.int16())}), path)
    source = SourceTable("R", "parquet", str(path))
    rows = in_spark(spark, source)
    moment = "time::DateTime{time::Date{2026, 1, 5}, time::Time{23, 59, 58, 123456000}}"
    landed = "time::DateTime{time::Date{1969, 7, 20}, time::Time{20, 17, 40, 0}}"
    leap = "std::Some{time::Date{2024, 2, 29}}"
    assert [str(row) for row in rows] == [
        f"(1, time::Date{{2026, 1, 5}}, {moment}, std::None, std::Some{{''}}, std::Some{{True}}, std::None)",
        f"(2, time::Date{{1969, 12, 31}}, {landed}, std::Some{{-7}}, std::None, std::None, {leap})",
    ]
    texts = pa.array(["None{}"] * 2)
    without = pa.table({**COLUMNS, "n": pa.array(COLUMNS["n"], pa.int16())}).set_column(6, "od", texts)
    pq.write_table(without, path)
    assert taken(source) == in_spark(spark, source)
    text = tmp_path / "R.csv"
    text.write_text(HEAD + f"1,2026-01-05,{MOMENT},,,,None{{}}\n2,1969-12-31,{MOMENT},-7,x,true,None{{}}\n")
    source = SourceTable("R", "csv", str(text))
    rows = in_spark(spark, source)
    assert [str(row[3:6]) for row in rows] == [
        "(std::None, std::None, std::None)",
        "(std::Some{-7}, std::Some{'x'}, std::Some{True})",
    ]
    text.write_text(text.read_text().replace(MOMENT, "time::DateTime{}"))
    assert read_here(source, RELATION, Pipelines()) is not None
    text.write_text(text.read_text().replace("time::DateTime{}", "x"))
    with pytest.raises(DataError, match=r"row 1: column `m`: expected time::DateTime \(a timestamp\), found 'x'"):
        in_spark(spark, source)
    text.write_text(HEAD + f"1,2026-13-05,{MOMENT},,,,None{{}}\n")
    with pytest.raises(DataError, match=r"row 1: column `d`: expected time::Date \(a date\), found '2026-13-05'"):
        in_spark(spark, source)
    text.write_text(HEAD + f"1,2026-11-05,{MOMENT},70000,,,None{{}}\n")
    with pytest.raises(DataError, match=r"row 1: column `n`: expected signed<16> or null, found '70000'"):
        in_spark(spark, source)


PROGRAM = """
import time
input relation Sale(id: u32, day: time::Date, price: double, shop: Option<string>, note: string)
output relation Day(day: time::Date, total: double)
Day(d, t) :- Sale(_, d, p, _, _), var t = p.group_by(d).sum().
"""
CONFIG = """
program = "p.dl"
state = "state"
[[source]]
relation = "Sale"
format = "parquet"
path = "sales"
columns = { id = "number", day = "cast(at as date)", price = "cents / 100", note = "amount" }
[[sink]]
relation = "Day"
format = "json"
path = "days"
"""


@pytest.mark.spark
def test_expressions(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "p.dl").write_text(PROGRAM)
    (tmp_path / "p.toml").write_text(CONFIG)
    (tmp_path / "sales").mkdir()
    table = pa.table(
        {
            "number": [1, 2],
            "at": [_moment(2026, 1, 5, 23, 59), _moment(2026, 1, 5, 0, 1)],
            "cents": [150, 225],
            "shop": ["North", None],
            "amount": [Decimal("1.50"), Decimal("2.25")],
        }
    )
    pq.write_table(table, tmp_path / "sales" / "one.parquet")
    with Pipeline(tmp_path / "p.toml", spark=spark) as one:
        one.run()
        assert [str(row) for row in one.show("Sale").rows()] == [
            "(1, time::Date{2026, 1, 5}, 1.5, std::Some{'North'}, '1.50')",
            "(2, time::Date{2026, 1, 5}, 2.25, std::None, '2.25')",
        ]
        assert [row[1] for row in one.show("Day").rows()] == [3.75]
    for old, new, told in (
        ("cents / 100", "cent / 100", r"source Sale .*: `columns.price`: .*cent.*"),
        ("cents / 100", "cents /", r"source Sale .*: `columns.price`: .*PARSE_SYNTAX_ERROR"),
        ("cents / 100", "cent", r"there is no column `cent`, needed for Sale.price; .*did you mean `cents`"),
    ):
        (tmp_path / "p.toml").write_text(CONFIG.replace(old, new))
        (tmp_path / "sales" / "one.parquet").touch()
        with Pipeline(tmp_path / "p.toml", spark=spark) as one, pytest.raises(DataError, match=told):
            one.run()


@pytest.mark.spark
def test_a_new_column_in_one_of_many_files(spark: SparkSession, tmp_path: Path) -> None:
    database = Database("input relation R(a: u8, b: string)")
    relation, plain = plan_of(database).relations["R"], Plain(plan_of(database).types)
    folder = tmp_path / "r"
    folder.mkdir()
    (folder / "1.csv").write_text('a,b\n1,"x"\n')
    (folder / "2.csv").write_text('b,more,a\n"y",5,2\n')
    source = SourceTable("R", "csv", str(folder))
    assert sorted(load(spark, source, relation, plain, 100).rows) == [(1, "x"), (2, "y")]
    (folder / "3.csv").write_text('a,more\n1,"x"\n')
    with pytest.raises(
        DataError, match=r"source R \(.*3.csv\): there is no column `b`, needed for R.b; it has a, more"
    ):
        load(spark, source, relation, plain, 100)
    (folder / "3.csv").write_text('b,a,c\n"z",900,1\n')
    with pytest.raises(DataError, match=r"source R, .*3.csv, row 1: column `a`: expected .*found '900'"):
        load(spark, source, relation, plain, 100)


@pytest.mark.spark
def test_tables_of_delta_lake(spark: SparkSession, tmp_path: Path) -> None:
    """Read here while all fits, and else by Spark, without a jar; as they were in a version of theirs, too."""
    database = Database("input relation R(a: u8, b: string)")
    relation, plain = plan_of(database).relations["R"], Plain(plan_of(database).types)
    path = str(tmp_path / "my table")
    source = SourceTable("R", "delta", path)
    write_deltalake(path, pa.table({"a": [1], "b": ["x"]}))
    write_deltalake(path, pa.table({"a": [2], "b": ["y"], "more": [5]}), mode="append", schema_mode="merge")
    here = read_here(source, relation, Pipelines())
    assert here is not None
    assert sorted(read_table(here, relation, plain)) == [(1, "x"), (2, "y")]
    assert read_here(source, relation, Pipelines(here_bytes=10)) is None
    assert sorted(load(spark, source, relation, plain, 100).rows) == [(1, "x"), (2, "y")]
    early = SourceTable("R", "delta", path, {"versionAsOf": "0"})
    here = read_here(early, relation, Pipelines())
    assert here is not None
    assert list(read_table(here, relation, plain)) == [(1, "x")]
    assert list(load(spark, early, relation, plain, 100).rows) == [(1, "x")]
    write_deltalake(path, pa.table({"a": [900], "b": ["z"], "more": [5]}), mode="append")
    assert read_here(source, relation, Pipelines()) is None
    with pytest.raises(DataError, match=r"my table/.*parquet, row 1: column `a`: expected bit<8> .*found '900'"):
        load(spark, source, relation, plain, 100)
    with pytest.raises(DataError, match=r"source R \(.*absent\): "):
        load(spark, SourceTable("R", "delta", str(tmp_path / "absent")), relation, plain, 100)


TYPED = """
import time
input relation R(k: u8, d: time::Date, m: time::DateTime, n: Option<i16>, b: Option<bool>, od: Option<time::Date>)
output relation Late(k: u8, d: time::Date)
Late(k, d) :- R(k, d, _, Some{n}, _, None), n < 0.
"""
TYPED_CONFIG = """
program = "p.dl"
state = "state"
[engine]
driver_rows = 0
partitions = 2
[[source]]
relation = "R"
format = "parquet"
path = "rows"
[[sink]]
relation = "R"
format = "delta"
path = "out"
"""


@pytest.mark.spark
def test_typed_columns_stay_in_spark(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through sources, the engine, the state, changes and restarts: rows are those of a pipeline in this process."""

    def write(folder: Path, *more: int) -> None:
        table = pa.table({name: column for name, column in COLUMNS.items() if name != "s"})
        table = table.set_column(3, "n", pa.array(COLUMNS["n"], pa.int16()))
        third = table.slice(1, 1).set_column(0, "k", pa.array([3])).set_column(5, "od", pa.array([None], pa.date32()))
        (folder / "rows").mkdir(exist_ok=True)
        pq.write_table(pa.concat_tables([*[table.slice(one, 1) for one in more], third]), folder / "rows/one.parquet")

    def played(folder: Path, session: SparkSession | None, config: str, tuning: Tuning) -> list[Any]:
        folder.mkdir()
        (folder / "p.dl").write_text(TYPED)
        (folder / "p.toml").write_text(config)
        told: list[Any] = []
        for rows in ((0, 1), (1,), (0,)):
            write(folder, *rows)
            with Pipeline(folder / "p.toml", spark=session, tuning=tuning) as one:
                (outcome,) = one.run()
                told += [outcome.version.changes, sorted(map(str, one.show("Late").rows()))]
                told.append(sorted(map(str, one.show("R").rows())))
        shown = DeltaTable(str(folder / "out")).to_pyarrow_table().to_pylist()
        return [*told, sorted(map(str, shown))]

    expected = played(tmp_path / "here", spark, TYPED_CONFIG.replace("driver_rows = 0\n", ""), Tuning())
    few = Tuning(pipelines=Pipelines(driver_rows=0))
    monkeypatch.setattr(reading, "read_table", lambda *_: pytest.fail("rows came to the driver"))
    real = SparkEngine.take_frame

    def taken_in_spark(self: SparkEngine, relation: str, rows: object, plan: Any = None) -> Any:
        found = real(self, relation, rows, plan)
        assert found is not None or not hasattr(rows, "sparkSession"), "rows came to the driver"
        return found

    monkeypatch.setattr(SparkEngine, "take_frame", taken_in_spark)
    assert played(tmp_path / "spark", spark, TYPED_CONFIG, few) == expected
    alone = Tuning(pipelines=Pipelines(driver_rows=0, here_rows=0))  # the engine has few rows on its driver
    assert played(tmp_path / "driver", spark, TYPED_CONFIG.replace("driver_rows = 0\n", ""), alone) == expected
    assert expected[0] == {"R": (3, 0), "Late": (1, 0)}

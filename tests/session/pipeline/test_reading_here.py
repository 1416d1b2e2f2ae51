"""What the driver reads by itself is what Spark reads; what it does not know for sure it leaves to Spark."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from tidelog import Database
from tidelog.base.plain.plain import Plain
from tidelog.base.tuning.files import Pipelines
from tidelog.session.database import plan_of
from tidelog.session.frames.arrow import read_table
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.sources.adding import Signed, add_up
from tidelog.session.pipeline.sources.reading import load, load_changes
from tidelog.session.pipeline.sources.reading_here import read_here

DATABASE = Database("input relation R(n: i16, big: u64, s: string, b: bool, x: double, v: Vec<u8>)")
RELATION, PLAIN = plan_of(DATABASE).relations["R"], Plain(plan_of(DATABASE).types)
NAMES = ("n", "big", "s", "b", "x", "v")
HEAD = "n,big,s,b,x,v\n"
TAKEN = {
    "plain": HEAD + "1,2,a,true,1.5,[]\n-3,4, é b ,FALSE,-0,[7]\n",
    "empty text": HEAD + "1,2,,true,1.25,[]\n",
    "no end": HEAD + "1,999999999999999999,NA,True,0.1,[]",
    "more columns": "z,v,x,b,s,big,n\nq,[1],2,false,null,3,4\n",
    "the same twice": HEAD + "1,2,a,true,1.5,[]\n1,2,a,true,1.5,[]\n",
}
LEFT = {
    "quoted": HEAD + '1,2,"a,b",true,1.5,[]\n',
    "escaped": HEAD + "1,2,a\\b,true,1.5,[]\n",
    "carriage returns": HEAD.replace("\n", "\r\n") + "1,2,a,true,1.5,[]\r\n",
    "an empty line": HEAD + "1,2,a,true,1.5,[]\n\n1,2,b,true,1.5,[]\n",
    "too few cells": HEAD + "1,2,a\n",
    "too many cells": HEAD + "1,2,a,true,1.5,[],8\n",
    "out of range": HEAD + "70000,2,a,true,1.5,[]\n",
    "blank around": HEAD + " 1,2,a,true,1.5,[]\n",
    "no number": HEAD + "x,2,a,true,1.5,[]\n",
    "no truth": HEAD + "1,2,a,yes,1.5,[]\n",
    "exponent": HEAD + "1,2,a,true,1e5,[]\n",
    "wide": HEAD + "1,18446744073709551615,a,true,1,[]\n",
    "no column": "n,big,s,b,x\n1,2,a,true,1\n",
    "a column twice": "n,n,big,s,b,x,v\n1,1,2,a,true,1,[]\n",
    "no rows": HEAD,
    "not UTF-8": HEAD + "1,2,\udcff,true,1,[]\n",
    "a mark": "\ufeff" + HEAD + "1,2,a,true,1,[]\n",
}
JSON_TAKEN = {
    "plain": '{"n":1,"big":2,"s":"a\\n\\"b\\"","b":true,"x":"1.5","v":"[]"}\n'
    '{"v":"[1]","n":"-3","big":4,"s":5,"b":"False","x":2}',
}
JSON_LEFT = {
    "missing": '{"n":1,"big":2,"s":"a","b":true,"x":1}',
    "null": '{"n":1,"big":2,"s":null,"b":true,"x":1,"v":"[]"}',
    "structure": '{"n":1,"big":2,"s":{"a":1},"b":true,"x":1,"v":"[]"}',
    "real": '{"n":1,"big":2,"s":"a","b":true,"x":1.5,"v":"[]"}',
    "not a row": "oops",
}


def source(folder: Path, kind: str, text: str) -> SourceTable:
    path = folder / f"R.{kind}"
    path.write_bytes(text.encode(errors="surrogateescape"))
    return SourceTable("R", kind, str(path))


def here(given: SourceTable, *, signed: bool = False, **tuning: Any) -> pa.Table | None:
    return read_here(given, RELATION, Pipelines(**tuning), signed=signed)


@pytest.mark.spark
def test_what_is_taken_is_what_spark_reads(spark: SparkSession, tmp_path: Path) -> None:
    for kind, texts in (("csv", TAKEN), ("json", JSON_TAKEN)):
        for name, text in texts.items():
            given = source(tmp_path, kind, text)
            table = here(given)
            assert table is not None, name
            rows = sorted(read_table(table, RELATION, PLAIN), key=repr)
            assert rows == sorted(load(spark, given, RELATION, PLAIN, 100).rows, key=repr), name
    changes = TAKEN["plain"].replace("\n", ",insert\n").replace(HEAD.strip() + ",insert", HEAD.strip() + ",op")
    given = source(tmp_path, "csv", changes + "1,2,a,true,1.5,[],delete\n-3,4, é b ,FALSE,-0,[7],insert\n")
    table = here(given, signed=True)
    assert table is not None
    mine = add_up([Signed(given, table.num_rows, lambda: table)], RELATION, PLAIN, 100)
    assert mine == add_up([load_changes(spark, given, RELATION)], RELATION, PLAIN, 100)
    assert [len(rows) for rows in mine] == [0, 1]


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_spark(tmp_path: Path, name: str) -> None:
    assert here(source(tmp_path, "csv", LEFT[name])) is None


@pytest.mark.parametrize("name", JSON_LEFT)
def test_lines_that_are_left_to_spark(tmp_path: Path, name: str) -> None:
    assert here(source(tmp_path, "json", JSON_LEFT[name])) is None


def test_what_else_is_left_to_spark(tmp_path: Path) -> None:
    given = source(tmp_path, "csv", TAKEN["plain"])
    assert here(given) is not None
    assert here(given, here_bytes=10) is None
    assert here(given, signed=True) is None
    for options in ({"header": "false"}, {"sep": "::"}, {"mode": "DROPMALFORMED"}):
        assert here(SourceTable("R", "csv", given.path, options)) is None
    for path in (str(tmp_path / "*.csv"), "s3a://bucket/R.csv", None, str(tmp_path / "absent.csv")):
        assert here(SourceTable("R", "csv", path)) is None
    for below in ("kind=a", "R.csv.gz"):
        folder = tmp_path / below.partition(".")[0]
        folder.mkdir()
        (folder / "x" if "=" in below else folder / below).mkdir()
        (folder / "x" / "R.csv" if "=" in below else folder / below / "R.csv").write_text(TAKEN["plain"])
        assert here(SourceTable("R", "csv", str(folder))) is None
    assert here(SourceTable("R", "orc", given.path)) is None


def test_tables_of_parquet(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"n": [1], "big": [2], "s": ["a"], "b": [True], "x": [0.5], "v": ["[1]"], "z": [None]}
    path = tmp_path / "R.parquet"
    given = SourceTable("R", "parquet", str(path))
    pq.write_table(pa.table(columns), path)
    table = here(given)
    assert table is not None
    assert list(read_table(table, RELATION, PLAIN)) == [(1, 2, "a", True, 0.5, (1,))]
    for change in ({"n": [None]}, {"n": [1.5]}, {"big": [-1]}, {"s": [5]}, {"v": [[1]]}):
        pq.write_table(pa.table(columns | change), path)
        assert here(given) is None, change

"""Rows that are put in and out of a table by their key, and feeds of changes: random histories and what they show."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tidelog import DataError, Pipeline, UserError
from tidelog.base.tuning.table import Tuning
from tidelog.session.pipeline.config import read_config

PROGRAM = """
input relation Item(id: u32, place: string, count: i32)
output relation Stock(id: u32, place: string, count: i32)
Stock(i, p, c) :- Item(i, p, c).
output relation Total(place: string, count: i32)
Total(p, t) :- Item(_, p, c), var t = c.group_by(p).sum().
"""
CONFIG = """
program = "p.dl"
state = "state"
[[source]]
relation = "Item"
format = "csv"
path = "items.csv"
[[sink]]
relation = "Stock"
format = "delta"
path = "stock"
mode = "merge"
key = ["id", "place"]
[[sink]]
relation = "Total"
format = "delta"
path = "total"
mode = "merge"
key = ["place"]
[[sink]]
relation = "Stock"
format = "KIND"
path = "feed"
mode = "feed"
"""


def write(folder: Path, items: dict[tuple[int, str], int], kind: str = "delta") -> None:
    (folder / "p.dl").write_text(PROGRAM)
    (folder / "p.toml").write_text(CONFIG.replace("KIND", kind))
    rows = [f"{number},{place},{count}" for (number, place), count in items.items()]
    (folder / "items.csv").write_text("\n".join(["id,place,count", *rows, ""]))


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return list(DeltaTable(str(folder / name)).to_pyarrow_table().to_pylist())


def test_random_histories(tmp_path: Path) -> None:
    rng = random.Random(3)
    items: dict[tuple[int, str], int] = {}
    before: dict[tuple[int, str], int] = {}
    feed: set[tuple[Any, ...]] = set()
    version = 0
    while version < 8:
        for _ in range(rng.randrange(1, 5)):
            items[rng.randrange(6), rng.choice("abc")] = rng.randrange(4)
        for one in rng.sample(sorted(items), min(len(items) - 1, rng.randrange(4))):
            del items[one]
        write(tmp_path, items)
        with Pipeline(tmp_path / "p.toml") as pipeline:
            (outcome,) = pipeline.run()
        if outcome.fresh:
            version += 1
            assert outcome.version.number == version
        feed |= {(*key, n, "insert", version) for key, n in items.items() if before.get(key) != n}
        feed |= {(*key, n, "delete", version) for key, n in before.items() if items.get(key) != n}
        before = dict(items)
        assert {(row["id"], row["place"]): row["count"] for row in rows(tmp_path, "stock")} == items
        assert len(rows(tmp_path, "stock")) == len(items)
        totals: dict[str, int] = {}
        for (_, place), count in items.items():
            totals[place] = totals.get(place, 0) + count
        assert {row["place"]: row["count"] for row in rows(tmp_path, "total")} == totals
    found = rows(tmp_path, "feed")
    assert {tuple(row.values())[:5] for row in found} == feed
    times = {row["_commit_timestamp"] for row in found}
    assert all(isinstance(time, datetime) and time <= datetime.now(UTC) for time in times)
    with Pipeline(tmp_path / "p.toml") as pipeline:
        at = {version.number: version.at for version in pipeline.state.history()}
    assert {(row["_commit_version"], row["_commit_timestamp"].isoformat()) for row in found} == set(at.items())


def test_a_table_that_others_have_begun(tmp_path: Path) -> None:
    """Rows of other keys stay, so do columns that the relation has not; a table of other columns is refused."""
    write(tmp_path, {(1, "a"): 5, (2, "b"): 6})
    given = {"id": [1, 9], "place": ["a", "z"], "count": [0, 0], "note": ["old", "other"]}
    write_deltalake(str(tmp_path / "stock"), pa.table(given).cast(stock_schema()))
    with Pipeline(tmp_path / "p.toml") as one:
        one.run()
    shown = pl.read_delta(str(tmp_path / "stock")).sort("id").rows()
    assert shown == [(1, "a", 5, "old"), (2, "b", 6, None), (9, "z", 0, "other")]
    write_deltalake(str(tmp_path / "total"), pa.table({"place": [1]}), mode="overwrite", schema_mode="overwrite")
    write(tmp_path, {(1, "a"): 7})
    with Pipeline(tmp_path / "p.toml") as one:
        with pytest.raises(UserError, match=r"sink Total .*: the table there has the columns \(place: int64\), and is"):
            one.run()
        assert one.state.numbers() == [1]


def stock_schema() -> pa.Schema:
    return pa.schema([("id", pa.int64()), ("place", pa.string()), ("count", pa.int64()), ("note", pa.string())])


def test_feeds_in_files(tmp_path: Path) -> None:
    write(tmp_path, {(1, "a"): 5}, "csv")
    with Pipeline(tmp_path / "p.toml") as one:
        (outcome,) = one.run()
    (file,) = (tmp_path / "feed/version=1").glob("part-*.csv")
    assert file.read_text() == (
        f"id,place,count,_change_type,_commit_version,_commit_timestamp\n1,a,5,insert,1,{outcome.version.at}\n"
    )


def test_mistakes(tmp_path: Path) -> None:
    write(tmp_path, {(1, "a"): 5, (1, "b"): 5})
    text = (tmp_path / "p.toml").read_text()
    for old, new, told in (
        ('key = ["place"]', "", r'`sink\[2\].key`: write key = \["..."\], the columns that say which row is which'),
        ('mode = "feed"', 'mode = "feed"\nkey = ["id"]', r"`sink\[3\].key`: only merge has one"),
    ):
        (tmp_path / "p.toml").write_text(text.replace(old, new))
        with pytest.raises(UserError, match=told):
            read_config(tmp_path / "p.toml")
    csv = text.replace('format = "delta"\npath = "stock"', 'format = "csv"\npath = "stock"')
    (tmp_path / "p.toml").write_text(csv)
    with pytest.raises(
        UserError, match=r"`sink\[1\].mode`: expected a format that .* \(delta or jdbc\) with this mode"
    ):
        read_config(tmp_path / "p.toml")
    for key, told in (
        ('["id", "plce"]', r"`key`: there is no column `plce`; Stock has the columns .*did you mean `place`"),
        ('["id"]', r"sink Stock .*: Stock has two rows with id = 1, so \(id\) is no key of it"),
    ):
        (tmp_path / "p.toml").write_text(text.replace('["id", "place"]', key))
        with Pipeline(tmp_path / "p.toml") as one, pytest.raises((UserError, DataError), match=told):
            one.run()
    assert not (tmp_path / "stock").exists()


@pytest.mark.parametrize("most", [0, 1000])
def test_a_key_that_an_older_row_has(tmp_path: Path, most: int) -> None:
    write(tmp_path, {(1, "a"): 5})
    (tmp_path / "p.toml").write_text((tmp_path / "p.toml").read_text().replace('["id", "place"]', '["id"]'))
    looked = Tuning().having({"pipelines.key_rows": most})
    with Pipeline(tmp_path / "p.toml", tuning=looked) as one:
        one.run()
        (tmp_path / "items.csv").write_text("id,place,count\n1,b,5\n")
        assert one.run()[0].version.number == 2
        (tmp_path / "items.csv").write_text("id,place,count\n1,b,5\n1,c,5\n")
        with pytest.raises(DataError, match=r"Stock has two rows with id = 1, so \(id\) is no key of it"):
            one.run()
        assert one.state.numbers() == [1, 2]
    assert rows(tmp_path, "stock") == [{"id": 1, "place": "b", "count": 5}]

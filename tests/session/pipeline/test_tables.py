"""Tables of Delta Lake as sinks: each version is there once, beside what others write to the same table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake

from tidelog import UserError
from tidelog.session.pipeline.config import Sink
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.sinks.tables import TableWay
from tidelog.session.pipeline.state.log import Log


def staged(way: TableWay, sink: Sink, number: int, *values: int) -> Place:
    place = way.waiting(sink, number, f"waiting-{number}-{len(values)}")
    place.write_table("part-0.parquet", pa.table({"a": pa.array(values, pa.int64())}))
    return place


def values(path: Path) -> list[int]:
    return sorted(DeltaTable(str(path)).to_pyarrow_table().column("a").to_pylist())


def test_what_others_add_while_a_version_is_published_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their commit came after the table was looked at, and before the version's own; it was taken for a crash's."""
    way, sink = TableWay(lambda _: "mine"), Sink("R", "delta", str(tmp_path), mode="changes")
    way.publish(sink, staged(way, sink, 1, 1), 1)
    really = Log.beside

    def others_write(log: Log, path: str) -> object:
        write_deltalake(str(tmp_path), pa.table({"a": pa.array([70], pa.int64())}), mode="append")
        return really(log, path)

    with monkeypatch.context() as patch:
        patch.setattr(Log, "beside", others_write)
        way.publish(sink, staged(way, sink, 2, 2), 2)
    assert values(tmp_path) == [1, 2, 70]
    way.publish(sink, staged(way, sink, 2, 2), 2)
    assert values(tmp_path) == [1, 2, 70]


def test_a_table_that_others_make_first_gets_what_was_to_be_in_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two writers began with no table: the second one ended with an error that named a table of its own."""
    way, sink = TableWay(lambda _: "mine"), Sink("R", "delta", str(tmp_path), mode="changes")
    place, really = staged(way, sink, 1, 1), Log._create

    def others_create(log: Log, *given: Any) -> None:
        if not (tmp_path / "_delta_log").exists():
            write_deltalake(str(tmp_path), pa.table({"a": pa.array([70], pa.int64())}))
        really(log, *given)

    monkeypatch.setattr(Log, "_create", others_create)
    way.publish(sink, place, 1)
    assert values(tmp_path) == [1, 70]


def test_a_full_table_gets_other_columns_and_no_older_version(tmp_path: Path) -> None:
    way, sink = TableWay(lambda _: "mine"), Sink("R", "delta", str(tmp_path))
    way.publish(sink, staged(way, sink, 1, 1), 1)
    way.publish(sink, staged(way, sink, 3, 3, 4), 3)
    way.publish(sink, staged(way, sink, 2, 2, 2, 2), 2)  # by a process that was overtaken
    assert values(tmp_path) == [3, 4]
    place = way.waiting(sink, 4, "other")
    place.write_table("part-0.parquet", pa.table({"b": ["x"]}))
    way.check(sink, place, pa.schema([("b", pa.string())]))
    way.publish(sink, place, 4)
    assert DeltaTable(str(tmp_path)).to_pyarrow_table().to_pylist() == [{"b": "x"}]
    changes = Sink("R", "delta", str(tmp_path), mode="changes")
    with pytest.raises(UserError, match=r"the table there has the columns \(b: string\), and is to get \(a: int64\)"):
        way.check(changes, staged(way, changes, 5, 1), pa.schema([("a", pa.int64())]))

"""What a sink gets of a relation's rows, by its mode.

| mode | columns |
| --- | --- |
| `full`, the quarantine | the relation's |
| `changes` | and `weight`, 1 or -1; in tables and databases also `version` |
| `feed` | and `_change_type` (insert or delete), `_commit_version`, `_commit_timestamp`, as in Delta Lake's own feeds |
| `merge` | and `weight`: of each key at most one row, 1 to be put in its place, or -1 to be taken out |
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base.errors import DataError
from tidelog.base.record import record
from tidelog.session.pipeline.config import CHANGES, FEED, MERGE, Sink
from tidelog.session.pipeline.state.cells import WEIGHT

SHOWN, VERSION = "weight", "version"
CHANGE, COMMIT, TIME = "_change_type", "_commit_version", "_commit_timestamp"
_TEXTS = ("csv", "json")
"""Formats in which times are texts."""

OWN: Mapping[str, tuple[str, ...]] = {CHANGES: (SHOWN, VERSION), FEED: (CHANGE, COMMIT, TIME), MERGE: (SHOWN,)}
"""The columns that a sink has beside the relation's, by its mode."""


@record
class Stamp:
    """The version that rows belong to, and its time."""

    number: int
    at: str


def shaped_table(table: pa.Table, sink: Sink, stamp: Stamp, *, numbered: bool = False) -> pa.Table:
    """Return signed rows on the driver as a sink gets them; `numbered` adds the version to changes."""
    if sink.mode not in OWN:
        return table.drop_columns([WEIGHT]) if WEIGHT in table.column_names else table
    if sink.mode == FEED:
        kinds = pc.if_else(pc.greater(table.column(WEIGHT), 0), "insert", "delete")
        at = datetime.fromisoformat(stamp.at)
        time = pa.scalar(at, pa.timestamp("us", "UTC")) if sink.format not in _TEXTS else pa.scalar(stamp.at)
        more = {CHANGE: kinds, COMMIT: _repeated(stamp.number, table), TIME: _repeated(time, table)}
        table = table.drop_columns([WEIGHT])
        for name, column in more.items():
            table = table.append_column(name, column)
        return table
    if sink.mode == MERGE:
        table = _by_key(table, sink)
    table = table.rename_columns([SHOWN if name == WEIGHT else name for name in table.column_names])
    return table.append_column(VERSION, _repeated(stamp.number, table)) if numbered else table


def _repeated(value: Any, table: pa.Table) -> Any:
    return pa.repeat(value, table.num_rows)


def _by_key(table: pa.Table, sink: Sink) -> pa.Table:
    """Return the rows that come, and those that go without another of their key in their place."""
    key = list(sink.key)
    come = table.filter(pc.greater(table.column(WEIGHT), 0))
    gone = table.filter(pc.less(table.column(WEIGHT), 0))
    refuse_twice(come, sink)
    kept = gone.join(come.select(key), key, join_type="left anti").select(table.column_names)
    return pa.concat_tables([come, kept])


def refuse_twice(table: pa.Table, sink: Sink) -> None:
    """Refuse rows of which two have the same key."""
    key = list(sink.key)
    counts = table.group_by(key).aggregate([([], "count_all")])
    twice = counts.filter(pc.greater(counts.column("count_all"), 1))
    if twice.num_rows:
        raise not_a_key(sink, twice.select(key).slice(0, 1).to_pylist()[0])


def refuse_twice_in_spark(frame: Any, sink: Sink) -> None:
    """Refuse rows in Spark of which two have the same key."""
    key = [f"`{name}`" for name in sink.key]
    twice: Sequence[Any] = frame.groupBy(*key).count().where("count > 1").select(*key).take(1)
    if twice:
        raise not_a_key(sink, twice[0].asDict())


def not_a_key(sink: Sink, values: Mapping[str, object]) -> DataError:
    """Return the error for a key that two rows have."""
    shown = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    return DataError(f"{sink}: {sink.relation} has two rows with {shown}, so ({', '.join(sink.key)}) is no key of it")


def shaped_frame(frame: Any, sink: Sink, stamp: Stamp, *, numbered: bool = False) -> Any:
    """Return signed rows in Spark as a sink gets them."""
    from pyspark.sql import functions as f

    if sink.mode not in OWN:
        return frame.drop(WEIGHT)
    if sink.mode == FEED:
        time = f.lit(stamp.at)
        return frame.select(
            *[f.col(f"`{name}`") for name in frame.columns if name != WEIGHT],
            f.when(f.col(f"`{WEIGHT}`") > 0, "insert").otherwise("delete").alias(CHANGE),
            f.lit(stamp.number).cast("long").alias(COMMIT),
            (time if sink.format in _TEXTS else time.cast("timestamp")).alias(TIME),
        )
    if sink.mode == MERGE:
        frame = _frame_by_key(frame, sink)
    frame = frame.withColumnRenamed(WEIGHT, SHOWN)
    return frame.withColumn(VERSION, f.lit(stamp.number).cast("long")) if numbered else frame


def _frame_by_key(frame: Any, sink: Sink) -> Any:
    from pyspark.sql import functions as f

    key = [f"`{name}`" for name in sink.key]
    weight = f.col(f"`{WEIGHT}`")
    come, gone = frame.where(weight > 0), frame.where(weight < 0)
    refuse_twice_in_spark(come, sink)
    return come.unionByName(gone.join(come.select(*key), list(sink.key), "left_anti").select(*frame.columns))

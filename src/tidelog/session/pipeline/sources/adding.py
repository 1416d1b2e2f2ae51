"""The signed rows of files of changes, which add up: what they delete and what they insert."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base.plain.plain import Plain
from tidelog.base.record import record
from tidelog.base.types import is_simple
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row
from tidelog.session.frames.arrow import TableRows, read_table
from tidelog.session.pipeline.config import SourceTable
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.state.cells import WEIGHT, summed
from tidelog.session.pipeline.state.structured import in_cells_of, stays
from tidelog.session.pipeline.told import told


@record
class Signed:
    """The rows of a file of changes with their weights, their number, and the rows refused."""

    source: SourceTable
    rows: int
    table: Callable[[], pa.Table]
    frame: Any = None
    """The rows in Spark, if they are there."""
    refused: Output | None = None


def add_up(files: Sequence[Signed], relation: Relation, plain: Plain, most: int) -> tuple[Any, Any]:
    """Return what files of changes delete and what they insert; more rows than `most` stay in Spark if they may."""
    frames = [file.frame for file in files if file.frame is not None and is_for_spark(file.frame, relation)]
    if sum(file.rows for file in files) > most and len(frames) == len(files):
        return _in_spark(frames, relation)
    tables = [_read(file, relation, plain) for file in files]
    if may_stay(relation):
        sums = summed(pa.concat_tables([rows.table.append_column(WEIGHT, weights) for rows, weights in tables]))
        weight = sums.column(WEIGHT)
        rows = sums.drop_columns([WEIGHT])
        return rows.filter(pc.less(weight, 0)), rows.filter(pc.greater(weight, 0))
    total: dict[Row, int] = {}
    for rows, weights in tables:
        for row, change in zip(rows, weights.to_pylist(), strict=True):
            total[row] = total.get(row, 0) + change
    return [row for row, weight in total.items() if weight < 0], [row for row, weight in total.items() if weight > 0]


def _read(file: Signed, relation: Relation, plain: Plain) -> tuple[Any, Any]:
    with told(file.source):
        table = file.table()
        rows = read_table(table.drop_columns([WEIGHT]), relation, plain)
    assert isinstance(rows, TableRows) or not may_stay(relation), "simple columns stay in Arrow"
    return rows, table.column(WEIGHT)


def _in_spark(frames: Sequence[Any], relation: Relation) -> tuple[Any, Any]:
    from pyspark.sql import functions as f

    columns = [f.col(f"`{column.name}`") for column in relation.columns]
    every = reduce(lambda one, two: one.unionByName(two), frames)
    weight = f.col(f"`{WEIGHT}`")
    sums = every.groupBy(*columns).agg(f.sum(weight).alias(WEIGHT))
    gone, come = sums.where(weight < 0), sums.where(weight > 0)
    return in_cells_of(gone, relation), in_cells_of(come, relation)


def is_for_spark(frame: Any, relation: Relation) -> bool:
    """Tell whether rows in Spark may stay there: all columns are what the engine takes."""
    known = (one.name for one in relation.columns if not is_simple(one.type))
    return stays(relation) and all(frame.schema[name].metadata for name in known)


def may_stay(relation: Relation) -> bool:
    """Tell whether rows need not be Python's: all columns are what Arrow has, too."""
    return bool(relation.columns) and all(is_simple(column.type) for column in relation.columns)

"""The columnar engine at work for this one: a stratum evaluated in one place, on the driver or inside a Python worker.

Cells go in and cells come out, as Arrow tables; results have rank and support, so that the round loop can go on from
them (`tracked`), or rank and support 1 where nothing will be updated.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog.base import types as t
from tidelog.base.tuning.table import Tuning
from tidelog.base.types import Type, TypeDefinition
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.kernels.ranks import number_of
from tidelog.run.columnar.storage.dictionary import Codec, read_floats, read_signed
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.engine import Delta, Limits, Row, Update
from tidelog.run.contract.phase import Support
from tidelog.run.spark.frames.encode import Cells, content
from tidelog.run.spark.frames.relation import RANK, SUPPORT, columns_of
from tidelog.run.spark.frames.rows import decoded, unsigned


class CellRows(Collection[Row]):
    """An Arrow table of cells as facts for the columnar engine."""

    def __init__(self, table: Any, types: Sequence[Type], cells: Cells) -> None:
        self._table = table
        self._types = types
        self._cells = cells

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(decoded(self._table, self._types, self._cells))

    def __contains__(self, row: object) -> bool:
        return row in list(self)


class NativeRows(CellRows):
    """Cells that are the values themselves: the columnar engine takes whole columns."""

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return unsigned(self._table, self._types).__arrow_c_stream__(requested_schema)


def facts_of(table: Any, types: Sequence[Type], cells: Cells) -> CellRows:
    """Return an Arrow table of cells as facts."""
    table = table.select(columns_of(len(types)))
    return NativeRows(table, types, cells) if types and all(map(_is_native, types)) else CellRows(table, types, cells)


def _is_native(type: Type) -> bool:
    match content(type):
        case t.Bool() | t.String() | t.Float() | t.Double():
            return type == content(type)
        case t.Bit(width) | t.Signed(width):
            return width <= 64 and type == content(type)
        case _:
            return False


def evaluate(
    plan: Plan,
    facts: Mapping[str, Any],
    wanted: Sequence[str],
    limits: Limits,
    tuning: Tuning,
    *,
    tracked: bool,
    threads: int | None = None,
) -> tuple[dict[str, Any], int]:
    """Return relations of a plan on the given facts (Arrow tables of cells), as tables with rank and support.

    Beside them is the number of rounds it took. In a Python worker one thread is enough: every core has a worker.
    """
    engine, update = evaluated(plan, facts, limits, tuning, tracked=tracked, threads=threads)
    rounds = max((work.rounds for work in update.work), default=1)
    found = {name: held(engine, name, plan.types) for name in wanted}
    return {name: _by_round(table) for name, table in found.items()} if tracked else found, rounds


def _by_round(table: Any) -> Any:
    """Return what was held after an evaluation from scratch, each tuple with its round as rank."""
    rounds = pa.array(number_of(table[RANK].to_numpy()))
    return table.set_column(table.schema.get_field_index(RANK), RANK, rounds)


def evaluated(
    plan: Plan, facts: Mapping[str, Any], limits: Limits, tuning: Tuning, *, tracked: bool, threads: int | None = None
) -> tuple[ColumnarEngine, Update]:
    """Return an engine that has evaluated a plan on the given facts, and what it did."""
    cells = Cells(plan.types)
    support = Support.RANKED if tracked else Support.NONE
    engine = ColumnarEngine(plan, strategy="recompute", support=support, threads=threads, limits=limits, tuning=tuning)
    given = {
        name: Delta(facts_of(table, [c.type for c in plan.relations[name].columns], cells))
        for name, table in facts.items()
    }
    return engine, engine.update(given, limits=limits)


def held(engine: ColumnarEngine, name: str, types: Mapping[str, TypeDefinition]) -> Any:
    """Return what a columnar engine holds of a relation, as a table of cells with rank and support."""
    found, codec = engine.holding(name)
    batch = found.gathered()
    arrays = _columns(found, batch.rows, codec, Cells(types))
    ones = np.ones(batch.size, np.int64)
    rank = ones if batch.rank is None else batch.ranks().astype(np.int64)
    support = ones if batch.counts is None or not found.counted else batch.counts[0]
    names = [*columns_of(found.arity), RANK, SUPPORT]
    return pa.Table.from_arrays([*arrays, pa.array(rank), pa.array(support)], names=names)


def _columns(relation: Relation, rows: Any, codec: Codec, cells: Cells) -> list[Any]:
    if not relation.types:
        return [pa.array([True] * rows.shape[1], pa.bool_())]
    return [
        _column(relation.layout.codes(rows, number), type, codec, cells) for number, type in enumerate(relation.types)
    ]


def _column(codes: Any, type: Type, codec: Codec, cells: Cells) -> Any:
    match type:
        case t.Bit(width) if width <= 64:
            return pa.array(np.ascontiguousarray(codes).view(np.int64))
        case t.Signed(width) if width <= 64:
            return pa.array(read_signed(np.ascontiguousarray(codes)))
        case t.Bool():
            return pa.array(codes.astype(bool))
        case t.Float() | t.Double():
            return pa.array(read_floats(np.ascontiguousarray(codes)))
        case _:
            distinct, inverse = np.unique(codes, return_inverse=True)
            return cells.array(codec.values(distinct, type), type).take(pa.array(inverse))

"""The columnar engine at work for this one: a stratum evaluated in one place, on the driver or inside a Python worker.

Cells go in and cells come out, as Arrow tables; results have rank and support, so that the round loop can go on from
them (`tracked`), or rank and support 1. A stratum may start from tuples given, not from its rules without recursion
(`seeded_plan`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from tidelog.base import types as t
from tidelog.base.expr import Var
from tidelog.base.tuning.table import Tuning
from tidelog.base.types import Type, TypeDefinition
from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.closures.decompose import relations_below
from tidelog.plan.closures.linearise import Linearised
from tidelog.plan.nodes import Origin, Plan, Project, Rule, Scan, Stratum, Variant, Version
from tidelog.plan.nodes import Relation as Declared
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.kernels.ranks import number_of
from tidelog.run.columnar.storage.dictionary import Codec, read_floats, read_signed
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.engine import Delta, Limits, Row
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
    tracked: bool = False,
    threads: int | None = None,
) -> tuple[dict[str, Any], Mapping[str, int]]:
    """Return relations of a plan on the given facts (Arrow tables of cells), as tables with rank and support.

    Beside them is the number of rounds that each took. In a Python worker one thread is enough: every core has one.
    """
    cells = Cells(plan.types)
    support = Support.RANKED if tracked else Support.NONE
    engine = ColumnarEngine(plan, strategy="recompute", support=support, threads=threads, limits=limits, tuning=tuning)
    given = {
        name: Delta(facts_of(table, [c.type for c in plan.relations[name].columns], cells))
        for name, table in facts.items()
    }
    update = engine.update(given, limits=limits)
    rounds = dict.fromkeys(wanted, 1) | {name: work.rounds for work in update.work for name in work.relations}
    found = {name: held(engine, name, plan.types) for name in wanted}
    return {name: _by_round(table) for name, table in found.items()} if tracked else found, rounds


def _by_round(table: Any) -> Any:
    """Return what was held after an evaluation from scratch, each tuple with its round as rank."""
    rounds = pa.array(number_of(table[RANK].to_numpy()))
    return table.set_column(table.schema.get_field_index(RANK), RANK, rounds)


def held(engine: ColumnarEngine, name: str, types: Mapping[str, TypeDefinition]) -> Any:
    """Return what a columnar engine holds of a relation, as a table of cells with rank and support."""
    found, codec = engine.coded(name)
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


# --- starting from tuples given ---------------------------------------------------------------------------------------


def seed_name(relation: str) -> str:
    """Return the name of the relation that holds the tuples a relation starts from."""
    return f"{relation}#seed"


def seeded_plan(plan: Plan, stratum: Stratum, closure: Linearised | None = None) -> Plan:
    """Return a program of just the recursive rules of a stratum of a plan, which starts from seeds."""
    own = [plan.relations[name] for name in stratum.relations]
    recursive = [rule for rule in stratum.rules if recursive_scans(rule, stratum)]
    rules = (*map(_seed_rule, own), *(replace(rule, source=None) for rule in recursive))
    relations: dict[str, Declared] = {below: plan.relations[below] for below in relations_below(stratum)}
    for relation in own:
        seeds = seed_name(relation.name)
        relations |= {relation.name: relation, seeds: replace(relation, name=seeds, role="input")}
        if closure is not None:
            relations[closure.step] = replace(relation, name=closure.step, role="input")
    strata = (Stratum(0, stratum.relations, recursive=True, rules=rules),)
    return Plan(plan.types, relations, plan.functions, strata, (), {})


def _seed_rule(relation: Declared) -> Rule:
    variables = tuple(Var(f"x{number}", column.type) for number, column in enumerate(relation.columns))
    scan = Scan(seed_name(relation.name), variables, Version.ALL, 0, variables)
    tree = Project(scan, relation.name, variables)
    full = Variant(None, negative=False, tree=tree)
    origin = Origin(f"{relation.name} from its seeds", None)
    return Rule(
        f"seeds of {relation.name}", relation.name, tree, full, (), (scan.relation,), (False,), (False,), origin
    )


def part_of(plan: Plan, strata: Sequence[Stratum]) -> Plan:
    """Return a program of just some strata of a plan."""
    names = {name for stratum in strata for name in (*stratum.relations, *(n for r in stratum.rules for n in r.reads))}
    numbered = tuple(replace(stratum, number=number) for number, stratum in enumerate(strata))
    relations = {name: plan.relations[name] for name in sorted(names)}
    return Plan(plan.types, relations, plan.functions, numbered, (), {})

"""The tuples of a relation as edges between nodes, looked up by nodes: what a module knows of facts."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

import numpy as np

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask, Places, Ranks
from tidelog.run.columnar.closures.closed import Shape
from tidelog.run.columnar.closures.nodes import Key
from tidelog.run.columnar.closures.paired import CodeColumns
from tidelog.run.columnar.rules.bindings import Table, unit
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.rules.join import Probe, match
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import place, range_of
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.phase import Support
from tidelog.run.phases import View


@record
class Edges:
    """What a view shows of a relation, as edges; `constants` are the columns that have the same value in all."""

    store: Deriving
    relation: Relation
    shape: Shape
    constants: Mapping[int, Const]
    view: View

    def all(self) -> CodeColumns:
        """Return all edges, as columns of codes."""
        return self._found((), unit())

    def leaving(self, nodes: Key) -> CodeColumns:
        """Return the edges that lead on from nodes."""
        return self.at(self.shape.sources, nodes)

    def entering(self, nodes: Key) -> CodeColumns:
        """Return the edges that lead to nodes."""
        return self.at(self.shape.targets, nodes)

    def held(self, edges: CodeColumns) -> Mask:
        """Tell which edges are there."""
        found = np.zeros(size_of(edges), bool)
        for _, places, _ in self.located(edges):
            found[places] = True
        return found

    def located(self, edges: CodeColumns) -> Iterator[tuple[Batch, Places, Places]]:
        """Yield batches that have some of the edges: places among the edges, and in the batch."""
        layout = self.relation.layout
        fits = np.ones(size_of(edges), bool)
        for column, codes in edges.items():
            room = layout.fields[column].range
            fits &= (codes >= np.uint64(room.low)) & (codes <= np.uint64(room.high))
        inside = np.flatnonzero(fits)
        if not len(inside):
            return
        table = self.store.arrays(len(inside))
        rows = layout.pack({column: codes[inside] for column, codes in edges.items()}, len(inside))
        order = table.order(rows)
        rows = np.ascontiguousarray(rows[:, order])
        self.store.spend_on_matches(0, len(inside))
        for batch, limit in self.relation.batches(self.relation.main, self.view):
            fence = batch.fence(len(inside), self.store.arrays)
            low, high, total = table.ranges(rows, batch.rows, rows.shape[0], 64, fence)
            if total:
                hit = np.flatnonzero(high > low)
                hit = hit if batch.mark is None else hit[batch.mark[low[hit]] <= limit]
                yield batch, inside[order[hit]], low[hit]

    def ranks(self, edges: CodeColumns) -> Ranks:
        """Return the ranks of edges, 0 where none are kept and for those that are not there."""
        found: Ranks = np.zeros(size_of(edges), np.int32)
        if self.relation.support is not Support.NONE:
            for batch, places, targets in self.located(edges):
                found[places] = batch.ranks()[targets]
        return found

    def at(self, columns: Sequence[int], nodes: Key) -> CodeColumns:
        """Return the edges that have some codes in columns."""
        bound = dict(zip(columns, nodes, strict=True))
        if not size_of(bound):
            return none_of(self.relation.arity)
        layout = place((_name(column), range_of(codes)) for column, codes in bound.items())
        rows = layout.pack({_name(column): codes for column, codes in bound.items()}, size_of(bound))
        functions = self.store.arrays(rows.shape[1])
        return self._found(columns, Table(layout, functions.unique(functions.sort(rows))))

    def _found(self, bound: Collection[int], table: Table) -> CodeColumns:
        columns = range(self.relation.arity)
        if self.relation.is_empty(self.view):
            return none_of(len(columns))
        types = self.relation.types
        terms = [self.constants.get(c) or Var(_name(c), types[c]) for c in columns]
        probe = Probe(terms, [_name(column) for column in bound], self.store.codec)
        matches = match(table, probe, probe.see(self.relation, self.view))
        if matches is None:
            return none_of(len(columns))
        self.store.spend_on_matches(matches.total)
        wanted = [column for column in columns if column not in self.constants]
        found = matches.table_of(probe, tuple(map(_name, wanted)))
        codes = {column: found.codes(_name(column)) for column in wanted}
        return codes | {c: np.full(found.count, code, np.uint64) for c, code in self.shape.constants}


def _name(column: int) -> str:
    return f"c{column}"


def none_of(arity: int) -> CodeColumns:
    """Return columns without edges."""
    return {column: np.empty(0, np.uint64) for column in range(arity)}


def size_of(edges: CodeColumns) -> int:
    """Return the number of edges."""
    return len(next(iter(edges.values())))


def joined(parts: Sequence[CodeColumns]) -> CodeColumns:
    """Return the edges of all parts."""
    return {column: np.concatenate([part[column] for part in parts]) for column in parts[0]}


def chosen_of(edges: CodeColumns, keep: Mask | Places) -> CodeColumns:
    """Return some of the edges."""
    return edges if keep.dtype == bool and keep.all() else {column: codes[keep] for column, codes in edges.items()}

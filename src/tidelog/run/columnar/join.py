"""Joining bindings with a relation: the inner loop of rule evaluation.

A `Probe` is a scan seen from bindings that are already there: its columns are *bound* (by a constant or a variable of
the bindings) or give a new variable. The relation is probed in an order whose first columns are the bound ones; the
bindings are sorted by their key, so that matching gallops through each batch.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tidelog.base.expr import Const, Var
from tidelog.run.columnar.arrays import Mask, Places, Words, arrays
from tidelog.run.columnar.batch import Batch
from tidelog.run.columnar.encode import Codec
from tidelog.run.columnar.layout import Layout, Range, moves, place
from tidelog.run.columnar.relation import Order, Relation, View
from tidelog.run.columnar.table import Source, Table, empty, joined, split_sources

SORT_FROM = 64
"""Fewer probes than this are searched as they come."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A scan of a relation by bindings: sources of its bound columns, and the columns of its new variables.

    `ranked` says that the ranks of its tuples count: the relation is of the stratum at work. `equal` lists pairs of
    columns that must agree (a new variable that occurs twice).
    """

    relation: Relation
    view: View
    ranked: bool
    bound: Mapping[int, Source]
    new: Mapping[str, int]
    equal: tuple[tuple[int, int], ...]

    def order(self) -> Order:
        """Return the order to probe."""
        return self.relation.order(frozenset(self.bound))

    def key_variables(self) -> list[str]:
        """Return the variables of the key in the order of the columns probed."""
        columns = self.order().columns[: len(self.bound)]
        return [source for c in columns if isinstance(source := self.bound[c], str)]

    def range(self, name: str, table: Table) -> Range:
        """Return a range that covers the codes of a variable after the join."""
        if name in self.new:
            return self.relation.observed[self.new[name]]
        found = table.range(name)
        for column, source in self.bound.items():
            if source == name:
                found = found.meet(self.relation.observed[column])
        return found


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of each batch that match each row of the bindings."""

    table: Table
    order: Order
    batches: list[tuple[Batch, int]]
    low: list[Places]
    high: list[Places]
    total: int

    def counts(self) -> Places:
        """Return the number of matches of each row."""
        counts = np.zeros(self.table.count, np.int64)
        for low, high in zip(self.low, self.high, strict=True):
            counts += high - low
        return counts

    def part(self, start: int, end: int) -> Matches:
        """Return the matches of some of the rows."""
        low = [places[start:end] for places in self.low]
        high = [places[start:end] for places in self.high]
        total = sum(int((end - begin).sum()) for begin, end in zip(low, high, strict=True))
        return Matches(self.table.part(start, end), self.order, self.batches, low, high, total)

    def chosen(self, keep: Mask) -> Matches:
        """Return the matches of the rows where the mask is true."""
        low = [places[keep] for places in self.low]
        high = [places[keep] for places in self.high]
        total = sum(int((end - begin).sum()) for begin, end in zip(low, high, strict=True))
        return Matches(self.table.filtered(keep), self.order, self.batches, low, high, total)

    def emit(self, probe: Probe, layout: Layout, sources: Mapping[Hashable, Source]) -> Table:
        """Return one row for each match; `sources` say where the fields of the new layout come from."""
        left = {name: origin for name, origin in sources.items() if origin not in probe.new}
        constants, pairs = split_sources(self.table.layout, layout, left)
        table = arrays(max(self.total, self.table.count))
        rows = table.move(self.table.rows, moves(pairs), layout.constant(constants))
        steps = moves(
            (self.order.layout.fields[probe.new[origin]], layout.fields[name])
            for name, origin in sources.items()
            if isinstance(origin, str) and origin in probe.new
        )
        if self.table.rank is None and all(batch.mark is None for batch, _ in self.batches):
            outs = [
                table.emit(low, high, rows, batch.rows, steps)
                for low, high, (batch, _) in zip(self.low, self.high, self.batches, strict=True)
            ]
            return Table(layout, np.concatenate(outs, axis=1) if len(outs) > 1 else outs[0])
        ranks = np.zeros(self.table.count, np.int32) if self.table.rank is None else self.table.rank
        pairs_made = [
            table.emit_ranked(
                low, high, rows, ranks, batch.rows, batch.ranks() if probe.ranked else None, batch.mark, limit, steps
            )
            for low, high, (batch, limit) in zip(self.low, self.high, self.batches, strict=True)
        ]
        made = np.concatenate([rows for rows, _ in pairs_made], axis=1)
        return Table(layout, made, None if self.table.rank is None else np.concatenate([r for _, r in pairs_made]))

    def table_of(self, probe: Probe, names: list[str]) -> Table:
        """Return one row for each match with these variables, where columns that must be equal are."""
        spare = {f"{probe.relation.name}.{column}": column for pair in probe.equal for column in pair}
        seen = replace(probe, new={**probe.new, **spare}, equal=())
        layout = place((name, seen.range(name, self.table)) for name in (*names, *spare))
        table = self.emit(seen, layout, {name: name for name in (*names, *spare)})
        for first, second in probe.equal:
            columns = (table.codes(f"{probe.relation.name}.{column}") for column in (first, second))
            table = table.filtered(np.equal(*columns))
        return table.keeping(names) if spare else table


def match(table: Table, probe: Probe) -> Matches | None:
    """Find the matches of bindings in a relation; None if there is none."""
    order = probe.order()
    batches = [seen for seen in probe.relation.batches(order, probe.view) if seen[0].size]
    key = order.layout.key(len(probe.bound))
    table = _in_range(table, probe, key)
    if not batches or table.count == 0:
        return None
    table, keys = _sorted_keys(table, probe, key)
    full, shift = order.layout.prefix(len(probe.bound))
    functions = arrays(max(table.count, *(batch.size for batch, _ in batches)))
    found: list[tuple[tuple[Batch, int], Places, Places]] = []
    total = 0
    for seen in batches:
        low, high, matches = functions.ranges(keys, seen[0].rows, full, shift)
        if matches:
            found.append((seen, low, high))
            total += matches
    if not total:
        return None
    return Matches(table, order, [f[0] for f in found], [f[1] for f in found], [f[2] for f in found], total)


def present(table: Table, probe: Probe) -> tuple[Table, Mask]:
    """Return the bindings in some order, and for each whether it has a match."""
    order = probe.order()
    batches = [seen for seen in probe.relation.batches(order, probe.view) if seen[0].size]
    key = order.layout.key(len(probe.bound))
    fitting = _range_mask(table, probe, key)
    if not batches or table.count == 0 or not fitting.any():
        return table, np.zeros(table.count, bool)
    if not fitting.all():
        inside, found = present(table.filtered(fitting), probe)
        outside = table.filtered(~fitting)
        return joined(inside, outside), np.concatenate((found, np.zeros(outside.count, bool)))
    table, keys = _sorted_keys(table, probe, key)
    full, shift = order.layout.prefix(len(probe.bound))
    functions = arrays(max(table.count, *(batch.size for batch, _ in batches)))
    found = np.zeros(table.count, bool)
    for batch, limit in batches:
        low, high, _ = functions.ranges(keys, batch.rows, full, shift)
        found |= (high > low) if batch.mark is None else functions.visible(low, high, batch.mark, limit) > 0
    return table, found


def _range_mask(table: Table, probe: Probe, key: Layout) -> Mask:
    """Tell which rows have key codes that the relation's columns can hold."""
    keep = np.ones(table.count, bool)
    for column, source in probe.bound.items():
        room = key.fields[column].range
        if isinstance(source, int):
            if not room.low <= source <= room.high:
                keep[:] = False
        elif not room.covers(table.range(source)):
            codes = table.codes(source)
            keep &= (codes >= np.uint64(room.low)) & (codes <= np.uint64(room.high))
    return keep


def _in_range(table: Table, probe: Probe, key: Layout) -> Table:
    keep = _range_mask(table, probe, key)
    return table if keep.all() else table.filtered(keep) if keep.any() else empty(table)


def _sorted_keys(table: Table, probe: Probe, key: Layout) -> tuple[Table, Words]:
    """Return the bindings sorted by key, and their keys."""
    functions = arrays(table.count)
    constants, pairs = split_sources(table.layout, key, probe.bound)  # type: ignore[arg-type]
    steps, constant = moves(pairs), key.constant(constants)
    keys = functions.move(table.rows, steps, constant)
    if table.count < SORT_FROM or _ascending(keys):
        return table, keys
    wanted = probe.key_variables()
    if table.rank is None and list(table.layout.fields)[: len(wanted)] == wanted:
        table = Table(table.layout, functions.sort(table.rows))
        return table, functions.move(table.rows, steps, constant)
    order = functions.order(keys)
    return table.taken(order), np.ascontiguousarray(keys[:, order])


def _ascending(keys: Words) -> bool:
    if keys.shape[0] == 0:
        return True
    if keys.shape[0] == 1:
        return bool((keys[0, 1:] >= keys[0, :-1]).all())
    return False


def make_probe(
    relation: Relation,
    view: View,
    terms: Sequence[Var | Const | None],
    table: Table,
    codec: Codec,
    *,
    ranked: bool = False,
) -> Probe:
    """See a scan from bindings: which columns are bound, which give new variables."""
    bound: dict[int, Source] = {}
    new: dict[str, int] = {}
    equal: list[tuple[int, int]] = []
    for column, term in enumerate(terms):
        if isinstance(term, Const):
            bound[column] = codec.code(term.value, term.type)
        elif term is None:
            continue
        elif term.name in table.layout.fields:
            bound[column] = term.name
        elif term.name in new:
            equal.append((new[term.name], column))
        else:
            new[term.name] = column
    return Probe(relation, view, ranked, bound, new, tuple(equal))


def match_in_place(table: Table, probe: Probe) -> Matches:
    """Find the matches of bindings without changing their order."""
    order = probe.order()
    key = order.layout.key(len(probe.bound))
    full, shift = order.layout.prefix(len(probe.bound))
    constants: dict[Hashable, int] = {c: s for c, s in probe.bound.items() if isinstance(s, int)}
    pairs = [(table.layout.fields[s], key.fields[c]) for c, s in probe.bound.items() if isinstance(s, str)]
    keys = arrays(table.count).move(table.rows, moves(pairs), key.constant(constants))
    places = arrays(table.count).order(keys)
    back = np.empty(len(places), np.int64)
    back[places] = np.arange(len(places))
    ordered = np.ascontiguousarray(keys[:, places])
    batches = [seen for seen in probe.relation.batches(order, probe.view) if seen[0].size]
    low: list[Places] = []
    high: list[Places] = []
    total = 0
    for batch, _ in batches:
        lo, hi, matches = arrays(table.count).ranges(ordered, batch.rows, full, shift)
        low.append(lo[back])
        high.append(hi[back])
        total += matches
    return Matches(table, order, batches, low, high, total)

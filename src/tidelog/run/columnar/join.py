"""Joining bindings with a relation: the inner loop of rule evaluation.

A `Probe` is a scan seen from bindings that are already there: its columns are *bound* (by a constant or a variable of
the bindings) or give a new variable. The relation is probed in an order whose first columns are the bound ones; the
bindings are sorted by their key, so that matching gallops through each batch.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np

from tidelog.plan.nodes import Version
from tidelog.run.columnar.arrays import Mask, Places, Words, arrays
from tidelog.run.columnar.layout import NOTHING, Layout, Range, moves, place
from tidelog.run.columnar.relation import Order, Relation
from tidelog.run.columnar.table import Source, Table, empty, split_sources

SORT_FROM = 64
"""Fewer probes than this are searched as they come."""


@dataclass(frozen=True, slots=True)
class Probe:
    """A scan of a relation by bindings: sources of its bound columns, and the columns of its new variables.

    `equal` lists pairs of columns that must agree (a new variable that occurs twice).
    """

    relation: Relation
    version: Version
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
    batches: list[Words]
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
        outs = [
            table.emit(low, high, rows, batch, steps)
            for low, high, batch in zip(self.low, self.high, self.batches, strict=True)
        ]
        return Table(layout, np.concatenate(outs, axis=1) if len(outs) > 1 else outs[0])

    def table_of(self, probe: Probe, names: list[str]) -> Table:
        """Return one row for each match with these variables."""
        layout = place((name, probe.range(name, self.table)) for name in names)
        return self.emit(probe, layout, {name: name for name in names})


def match(table: Table, probe: Probe) -> Matches | None:
    """Find the matches of bindings in a relation; None if there is none."""
    order = probe.order()
    batches = probe.relation.batches(order, probe.version)
    key = order.layout.key(len(probe.bound))
    table = _in_range(table, probe, key)
    if not batches or table.count == 0:
        return None
    table, keys = _sorted_keys(table, probe, key)
    full, shift = order.layout.prefix(len(probe.bound))
    functions = arrays(max(table.count, *(batch.shape[1] for batch in batches)))
    found: list[tuple[Words, Places, Places]] = []
    total = 0
    for batch in batches:
        low, high, matches = functions.ranges(keys, batch, full, shift)
        if matches:
            found.append((batch, low, high))
            total += matches
    if not total:
        return None
    return Matches(table, order, [f[0] for f in found], [f[1] for f in found], [f[2] for f in found], total)


def present(table: Table, probe: Probe) -> tuple[Table, Mask]:
    """Return the bindings in some order, and for each whether it has a match."""
    order = probe.order()
    batches = probe.relation.batches(order, probe.version)
    key = order.layout.key(len(probe.bound))
    fitting = _range_mask(table, probe, key)
    if not batches or table.count == 0 or not fitting.any():
        return table, np.zeros(table.count, bool)
    if not fitting.all():
        inside, found = present(table.filtered(fitting), probe)
        outside = table.filtered(~fitting)
        rows = np.concatenate((inside.rows, outside.rows), axis=1)
        return Table(table.layout, rows), np.concatenate((found, np.zeros(outside.count, bool)))
    table, keys = _sorted_keys(table, probe, key)
    full, shift = order.layout.prefix(len(probe.bound))
    functions = arrays(max(table.count, *(batch.shape[1] for batch in batches)))
    found = np.zeros(table.count, bool)
    for batch in batches:
        low, high, _ = functions.ranges(keys, batch, full, shift)
        found |= high > low
    return table, found


def _range_mask(table: Table, probe: Probe, key: Layout) -> Mask:
    """Tell which rows have key codes that the relation's columns can hold."""
    keep = np.ones(table.count, bool)
    for column, source in probe.bound.items():
        room = key.fields[column].range.meet(probe.relation.observed[column])
        if room.low > room.high:
            room = NOTHING
        if isinstance(source, int):
            if not room.low <= source <= room.high:
                keep[:] = False
        elif not room.covers(table.range(source)):
            codes = table.codes(source)
            keep &= (codes >= np.uint64(room.low)) & (codes <= np.uint64(room.high))
    return keep


def _in_range(table: Table, probe: Probe, key: Layout) -> Table:
    keep = _range_mask(table, probe, key)
    return table if keep.all() else table.filtered(keep) if keep.any() else empty(table.layout)


def _sorted_keys(table: Table, probe: Probe, key: Layout) -> tuple[Table, Words]:
    """Return the bindings sorted by key, and their keys."""
    functions = arrays(table.count)
    constants, pairs = split_sources(table.layout, key, probe.bound)  # type: ignore[arg-type]
    steps, constant = moves(pairs), key.constant(constants)
    keys = functions.move(table.rows, steps, constant)
    if table.count < SORT_FROM or _ascending(keys):
        return table, keys
    wanted = probe.key_variables()
    if list(table.layout.fields)[: len(wanted)] == wanted:
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

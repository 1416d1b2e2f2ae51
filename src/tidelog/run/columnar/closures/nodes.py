"""Numbering the values, or combinations of values, that are the nodes of a closure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.record import record
from tidelog.base.tuning.updates import Closures
from tidelog.run.closure.plain import Nodes
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.storage.layout import Layout, Range, place, range_of, roomy

Key = Sequence[Words]
"""Codes of nodes, column by column."""


@record
class Numbers:
    """The keys of nodes, packed and sorted, with the number of each; and their codes, by number."""

    layout: Layout
    rows: Words
    number: Nodes
    codes: tuple[Words, ...]
    arrays: Arrays
    ordered: bool = True
    """Whether nodes are numbered in the order of their keys."""

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.number)

    def find(self, key: Key) -> Nodes:
        """Return the numbers of nodes, -1 for those that have none."""
        count = len(key[0]) if key else self.count
        fits = np.ones(count, bool)
        for column, codes in enumerate(key):
            room = self.layout.fields[column].range
            fits &= (codes >= U(room.low)) & (codes <= U(room.high))
        found = np.full(count, -1, np.int32)
        rows = self.layout.pack({c: codes[fits] for c, codes in enumerate(key)}, int(fits.sum()))
        table = self.arrays(count)
        order = table.order(rows)
        low, high, _ = table.ranges(np.ascontiguousarray(rows[:, order]), self.rows, rows.shape[0], 64)
        inside = np.full(len(order), -1, np.int32)
        inside[order[high > low]] = self.number[low[high > low]]
        found[fits] = inside
        return found

    def with_nodes(self, key: Key) -> tuple[Numbers, Nodes]:
        """Return the numbers of nodes, after numbering those that had none."""
        found = self.find(key)
        new = found < 0
        if not new.any():
            return self, found
        more, (number,) = numbered([[codes[new] for codes in key]], self.arrays)
        found[new] = self.count + number
        codes = tuple(np.concatenate(parts) for parts in zip(self.codes, more.codes, strict=True))
        ranges = [range_of(column) for column in codes]
        fits = all(self.layout.fields[c].range.covers(codes) for c, codes in enumerate(ranges))
        layout = self.layout if fits else place(enumerate(roomy(ranges)))
        rows = layout.pack(dict(enumerate(codes)), len(codes[0]))
        order = self.arrays(rows.shape[1]).order(rows)
        rows = np.ascontiguousarray(rows[:, order])
        return Numbers(layout, rows, order.astype(np.int32), codes, self.arrays, ordered=False), found


def numbered(keys: Sequence[Key], arrays: Arrays) -> tuple[Numbers, list[Nodes]]:
    """Number the distinct nodes of several arrays of keys in order; return also the numbers of each array."""
    columns = [np.concatenate(parts) for parts in zip(*keys, strict=True)]
    ranges = [range_of(codes) for codes in columns]
    layout = place(enumerate(roomy(ranges)))
    count = sum(len(key[0]) for key in keys) if columns else 0
    codes: tuple[Words, ...]
    if len(columns) == 1 and count and _is_near(ranges[0], count, arrays.tuning.closures):
        one, number = _near(columns[0], ranges[0])
        distinct, codes = layout.pack({0: one}, len(one)), (one,)
    else:
        distinct, number = _distinct(layout.pack(dict(enumerate(columns)), count), arrays)
        codes = tuple(layout.codes(distinct, c) for c in range(len(columns)))
    ends = np.cumsum([len(key[0]) for key in keys])[:-1]
    known = Numbers(layout, distinct, np.arange(distinct.shape[1], dtype=np.int32), codes, arrays)
    return known, np.split(number, ends)


def _is_near(codes: Range, count: int, thresholds: Closures) -> bool:
    """Tell whether codes in this number are close to each other."""
    return codes.high - codes.low <= thresholds.node_spread * count + int(thresholds.node_room)


def _near(codes: Words, room: Range) -> tuple[Words, Nodes]:
    """Return the distinct codes in order, and which of them each is, where all are close to each other."""
    places = (codes - U(room.low)).view(np.int64)
    there = np.zeros(room.high - room.low + 1, bool)
    there[places] = True
    number = np.cumsum(there, dtype=np.int32)
    number -= 1
    return np.flatnonzero(there).view(U) + U(room.low), number.take(places)


def _distinct(rows: Words, arrays: Arrays) -> tuple[Words, Nodes]:
    """Return the distinct rows in order, and which of them each row is."""
    count = rows.shape[1]
    table = arrays(count)
    order = table.order(rows)
    ordered = np.ascontiguousarray(rows[:, order])
    firsts = table.firsts(ordered)
    number = np.empty(count, np.int32)
    number[order] = np.repeat(np.arange(len(firsts), dtype=np.int32), np.diff(np.append(firsts, count)))
    return np.ascontiguousarray(ordered[:, firsts]), number

"""The tuples of a head relation as bits, where its codes spread little: what is derived again is left out at once.

    Same(x, y) :- Edge(a, x), Same(a, b), Edge(b, y).       most tuples are derived many times, in round after round

In a bootstrap where only new tuples matter, matches go through a map with one bit for each tuple that can be: only new
tuples are written, and only they are sorted. If it does not matter how often they are derived each is written once, and
known from then on (`arrays.emit_fresh`); otherwise as often, and the round's are known at its end (`emit_unknown`). A
small map is made as soon as there is something to put into it. A large one must be filled well, and matches must come
to it in an order that stays within a few of its lines, the tuples that agree in their first column: it would miss the
cache where sorting does not. So the column that changes least from match to match goes first. Lines in which there is
no tuple take no memory.

A map is trusted only while each of its bits stands for a tuple of the relation: it counts them, and one whose count
differs from the relation's is forgotten (`HeadBitmaps.check`), as one is for which a tuple has no place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock

import numpy as np

from tidelog.base.process.meter import ask
from tidelog.base.tuning.columnar import Maps
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.storage.layout import Layout, Range, moves, place
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import CURRENT

Stretch = Callable[[], Sequence[int]]
"""How many values each column takes in a stretch of matches."""


def small_map(layout: Layout, rows: int, thresholds: Maps) -> Words | None:
    """Return a map without a bit set for rows of a layout; None if it is not small, or there are too few of them."""
    wide = _wide(layout)
    small = wide <= thresholds.small_bits and 1 << wide <= thresholds.spread * rows
    return _new_bits(wide) if rows >= thresholds.least and small else None


def large_map(relation: Relation, ranges: Sequence[Range], matches: int, stretch: Stretch) -> HeadBitmap | None:
    """Return a map for tuples of some ranges, the column that changes least first, if it is worth its memory."""
    wide, thresholds = _wide(place(enumerate(ranges))), relation.arrays.tuning.maps
    few = relation.count() + matches < thresholds.large_from or not relation.count()
    if not relation.arity or wide > thresholds.widest_bits or few:
        return None
    values = stretch()
    columns = sorted(range(relation.arity), key=lambda column: values[column])
    layout = place((column, ranges[column]) for column in columns)
    line = 1 << (wide - layout.fields[columns[0]].bits)
    if values[columns[0]] * line > thresholds.near:
        return None
    if _distinct(relation, columns[0]) * line > thresholds.dense * (relation.count() + matches):
        return None
    try:
        return HeadBitmap(layout, _new_bits(wide), relation.arrays)
    except MemoryError:  # a system that promises no memory it may not have: what is derived is sorted instead
        return None


def _wide(layout: Layout) -> int:
    return sum(field.bits for field in layout.fields.values())


def _new_bits(wide: int) -> Words:
    ask((1 << wide) >> 3)
    return np.zeros(max(1, (1 << wide) >> 6), np.uint64)


def _distinct(relation: Relation, column: int) -> int:
    """Return how many values there are in a column, whose codes spread little."""
    codes = relation.observed[column]
    there = np.zeros(codes.high - codes.low + 1, bool)
    for batch, _ in relation.batches(relation.main, CURRENT):
        there[relation.layout.codes(batch.rows, column) - np.uint64(codes.low)] = True
    return int(np.count_nonzero(there))


class HeadBitmap:
    """One bit for each tuple of a layout."""

    def __init__(self, layout: Layout, bits: Words, arrays: Arrays) -> None:
        self.layout = layout
        self._arrays = arrays
        self.bits = bits
        self.count = 0
        """How many bits are set."""
        self._counting = Lock()

    def note(self, count: int) -> None:
        """Note that `count` bits were set."""
        with self._counting:
            self.count += count

    def fresh(self, rows: Words, layout: Layout) -> Words | None:
        """Return the rows that are not known, in the layout of the map, and know them; None if some have no place."""
        placed = self._placed(rows, layout)
        if placed is None:
            return None
        new = self._arrays(rows.shape[1]).fresh(placed, self.bits)
        self.note(new.shape[1])
        return new

    def unknown(self, rows: Words, layout: Layout) -> Words | None:
        """Return the rows that are not known, in the layout of the map; None if some have no place."""
        placed = self._placed(rows, layout)
        return None if placed is None else self._arrays(rows.shape[1]).unknown(placed, self.bits)

    def _placed(self, rows: Words, layout: Layout) -> Words | None:
        if rows.shape[1]:
            found = layout.ranges(rows, self._arrays)
            pairs = zip(layout.fields, found, strict=True)
            if not all(self.layout.fields[column].range.covers(codes) for column, codes in pairs):
                return None
        steps = moves((field, self.layout.fields[column]) for column, field in layout.fields.items())
        return self._arrays(rows.shape[1]).move(rows, steps, self.layout.constant({}))

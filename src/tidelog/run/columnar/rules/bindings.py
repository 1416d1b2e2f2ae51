"""Bindings of a rule's variables while it is evaluated: packed rows and where each variable stands in them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask, Places, Ranks, Words, chosen, no_rows
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.storage.layout import Field, Layout, Range, moves, place, range_of

Source = str | int
"""Where a field's codes come from: a variable by name, or a constant code."""


@record
class Table:
    """A bag of bindings. Rows may repeat: each stands for a derivation."""

    layout: Layout
    rows: Words
    rank: Ranks | None = None
    """The greatest rank among the tuples of each binding, if ranks are followed."""

    @property
    def count(self) -> int:
        """The number of rows."""
        return int(self.rows.shape[1])

    def codes(self, name: Hashable) -> Words:
        """Return the codes of a variable."""
        return self.layout.codes(self.rows, name)

    def range(self, name: Hashable) -> Range:
        """Return a range that covers the codes of a variable."""
        return self.layout.fields[name].range

    def filtered(self, keep: Mask) -> Table:
        """Return the rows where the mask is true."""
        return self if keep.all() else self.taken(keep)

    def taken(self, places: Places | Mask | slice) -> Table:
        """Return the rows at these places, in this order."""
        rank = None if self.rank is None else self.rank[places]
        rows = np.ascontiguousarray(self.rows[:, places]) if isinstance(places, slice) else chosen(self.rows, places)
        return Table(self.layout, rows, rank)

    def part(self, start: int, end: int) -> Table:
        """Return the rows from one place to another."""
        if start == 0 and end == self.count:
            return self
        return self.taken(slice(start, end))

    def moved(self, layout: Layout, sources: Mapping[Hashable, Source], arrays: Arrays) -> Table:
        """Return the rows in another layout, each of its fields from a variable or a constant."""
        constants, pairs = split_sources(self.layout, layout, sources)
        return Table(layout, arrays(self.count).move(self.rows, moves(pairs), layout.constant(constants)), self.rank)

    def keeping(self, names: Iterable[Hashable], arrays: Arrays) -> Table:
        """Return the rows with only these variables."""
        kept = list(names)
        layout = place((name, self.range(name)) for name in kept)
        return self.moved(layout, {name: name for name in kept}, arrays)  # type: ignore[misc]

    def distinct(self, names: Iterable[Hashable], arrays: Arrays) -> Table:
        """Return the different values of these variables, without ranks; a unit table if there are none."""
        kept = self.keeping(names, arrays)
        if not kept.layout.fields:
            return unit()
        functions = arrays(kept.count)
        return Table(kept.layout, functions.unique(functions.sort(kept.rows)))

    def extended(self, name: Hashable, codes: Words, keep: Iterable[Hashable], arrays: Arrays) -> Table:
        """Return the rows with one more variable, and of the others only those to keep."""
        kept = [other for other in keep if other in self.layout.fields]
        layout = place([*((other, self.range(other)) for other in kept), (name, range_of(codes))])
        rows = self.moved(layout, {other: other for other in kept}, arrays).rows  # type: ignore[misc]
        field = layout.fields[name]
        if field.bits:
            rows[field.word] |= (codes - np.uint64(field.base)) << np.uint64(field.shift)
        return Table(layout, rows, self.rank)


def split_sources(
    source: Layout, target: Layout, sources: Mapping[Hashable, Source]
) -> tuple[dict[Hashable, int], list[tuple[Field, Field]]]:
    """Return the constant fields of the target, and the pairs of fields to move."""
    constants: dict[Hashable, int] = {}
    pairs: list[tuple[Field, Field]] = []
    for name, origin in sources.items():
        if isinstance(origin, int):
            constants[name] = origin
        else:
            pairs.append((source.fields[origin], target.fields[name]))
    return constants, pairs


def unit(*, ranked: bool = False) -> Table:
    """Return one row without variables."""
    return _UNIT_RANKED if ranked else _UNIT


_UNIT = Table(place(()), np.zeros((1, 1), np.uint64))
_UNIT_RANKED = Table(_UNIT.layout, _UNIT.rows, np.zeros(1, np.int32))


def empty(like: Table) -> Table:
    """Return a table without rows."""
    return Table(like.layout, no_rows(like.layout.words), None if like.rank is None else like.rank[:0])


def joined(a: Table, b: Table) -> Table:
    """Return the rows of two tables of one layout."""
    rank = None if a.rank is None or b.rank is None else np.concatenate((a.rank, b.rank))
    return Table(a.layout, np.concatenate((a.rows, b.rows), axis=1), rank)

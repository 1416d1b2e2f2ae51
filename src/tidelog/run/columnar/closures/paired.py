"""Pairs of numbered nodes as the tuples of a relation: counted, looked up, and written when somebody reads them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidelog.base.record import record
from tidelog.run.closure.pairs import Pairs
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.closures.nodes import Numbers
from tidelog.run.columnar.storage.layout import Layout, Range, range_of
from tidelog.run.columnar.storage.lazy import Codes, LazyBatch
from tidelog.run.threads import helpers

CodeColumns = Mapping[int, Words]
"""Codes of tuples by column."""


@record
class Side:
    """The columns that one side of the pairs has in a tuple, and its nodes."""

    columns: tuple[int, ...]
    numbers: Numbers


@record
class Paired:
    """Pairs of nodes, and which columns of a tuple they make; `constants` are the codes of all others."""

    sources: Side
    targets: Side
    constants: tuple[tuple[int, int], ...]
    pairs: Pairs

    def ranges(self, arity: int) -> list[Range]:
        """Return the range of the codes in each column."""
        found: dict[int, Range] = {column: Range(code, code) for column, code in self.constants}
        for side in (self.sources, self.targets):
            found.update({c: range_of(codes) for c, codes in zip(side.columns, side.numbers.codes, strict=True)})
        return [found[column] for column in range(arity)]

    def batch(self, layout: Layout) -> LazyBatch:
        """Return the tuples, packed in a layout that has room for them, to be written when they are read."""
        return LazyBatch(self.pairs.size, lambda: self.write(self.pairs, layout), self.has)

    def write(self, pairs: Pairs, layout: Layout) -> Words:
        """Write pairs of sources and targets as tuples in order."""
        left = _words(layout, self.sources, dict(self.constants))
        right = _words(layout, self.targets, {})
        rows = pairs.write(left, right, helpers.get())
        ordered = self.ordered and self.sources.numbers.ordered and self.targets.numbers.ordered
        return rows if ordered else self.sources.numbers.arrays(rows.shape[1]).sort(rows)

    @property
    def ordered(self) -> bool:
        """Whether pairs in the order of their nodes are tuples in the order of their columns."""
        others = [c for c in self.targets.columns if c not in self.sources.columns]
        return max(self.sources.columns) < min(others)

    def has(self, codes: Codes) -> bool:
        """Tell whether a tuple is among them."""
        if any(codes[column] != code for column, code in self.constants):
            return False
        source, target = (
            int(side.numbers.find([np.array([codes[c]], np.uint64) for c in side.columns])[0])
            for side in (self.sources, self.targets)
        )
        return source >= 0 and target >= 0 and self.pairs.has(source, target)


def _words(layout: Layout, side: Side, constants: Mapping[int, int]) -> Words:
    """Return the packed columns of nodes, in the order of their numbers, with constants."""
    rows: Words = np.repeat(layout.constant(constants), side.numbers.count, axis=1)  # type: ignore[arg-type]
    for column, codes in zip(side.columns, side.numbers.codes, strict=True):
        field = layout.fields[column]
        if field.bits:
            rows[field.word] |= (codes - np.uint64(field.base)) << np.uint64(field.shift)
    return rows

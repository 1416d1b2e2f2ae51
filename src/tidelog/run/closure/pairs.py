"""Pairs of nodes, held as rows and written out when somebody reads them.

A set of pairs is one row of positions for each source (see `reach`). Its size is known; the pairs themselves are
written as packed words: the word of the source united with the word of the position, sources in order and positions in
order within a row. Sources that share a row are written together, by as many threads as there are.
"""

from __future__ import annotations

from concurrent.futures import Executor
from itertools import pairwise

import numpy as np

from tidelog.base.process.meter import ask, in_pieces
from tidelog.base.record import record
from tidelog.run.closure.functions import PAIRS
from tidelog.run.closure.plain import Nodes, Places, Words
from tidelog.run.closure.reach import Rows
from tidelog.run.threads import share


@record
class Pairs:
    """The row of each source, with the number of positions in it."""

    rows: Rows
    row: Nodes
    counts: Places
    sources: Nodes | None = None
    """Which sources these are, in order; None: all of them."""

    @property
    def size(self) -> int:
        """The number of pairs."""
        return int(self.counts.sum())

    def has(self, source: int, position: int) -> bool:
        """Tell whether a pair is in the set, which must be of all sources."""
        assert self.sources is None
        row = self.row[source : source + 1]
        return bool(self.counts[source]) and self.rows.has(int(row[0]), position)

    def write(self, left: Words, right: Words, pool: Executor | None = None) -> Words:
        """Return all pairs: words of the sources (words, sources) united with words of the positions."""
        if self.sources is not None:
            left = np.ascontiguousarray(left[:, self.sources])
        ask(8 * left.shape[0] * self.size)
        out = np.empty((left.shape[0], self.size), np.uint64)
        if not out.shape[1]:
            return out
        starts = np.cumsum(self.counts) - self.counts
        used = np.flatnonzero(self.counts)
        has = np.zeros(int(self.row[used].max()) + 1, bool)
        has[self.row[used]] = True
        rows, number = np.flatnonzero(has).astype(np.int32), np.cumsum(has, dtype=np.int32) - 1
        functions = self.rows.functions
        functions.expect(self.size // PAIRS)
        firsts, members = functions(len(used)).linked(number[self.row[used]], used.astype(np.int32), len(rows))
        sizes = np.cumsum(self.counts[members])[firsts[1:] - 1]
        size, most = int(sizes[-1]), functions.tuning.closures.written
        cuts = np.searchsorted(sizes, np.arange(most, size, most) if most < size else ()) + 1
        ends = sorted({0, *cuts[cuts < len(rows)].tolist(), len(rows)})

        def fill(first: int, last: int) -> None:
            self.rows.fill(rows[first:last], firsts[first : last + 1], members, starts, left, right, out)

        share(pool, lambda first, last: in_pieces(first, last, fill), list(pairwise(ends)))
        return out

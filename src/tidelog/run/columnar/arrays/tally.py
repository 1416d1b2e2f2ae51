"""Counting derivations in one pass over their heads: `NumpyTally` defines it, `CompiledTally` has kernels for it."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tidelog.base.record import record
from tidelog.run.columnar.kernels import DOUBTFUL, HERE, LOST
from tidelog.run.columnar.kernels.ranks import above
from tidelog.run.compiling import load_kernels
from tidelog.run.phases import ALIVE

if TYPE_CHECKING:
    from types import ModuleType

    from tidelog.run.columnar.arrays.table import Marks, Places, Ranks

    Ranges = tuple[Places, Places]
    """Where the row of each head begins and ends in a batch: there is one, or none."""
    Held = tuple[Marks | None, Ranks | int | None, Places]
    """Marks, ranks and counts of a batch."""

NO_TIMES: npt.NDArray[np.int64] = np.empty(0, np.int64)
NO_RANKS: npt.NDArray[np.int32] = np.empty(0, np.int32)
NO_MARKS: npt.NDArray[np.uint8] = np.empty(0, np.uint8)


@record
class Heads:
    """Derivations in order of their heads, and what becomes of each head."""

    firsts: Places
    """Where the derivations of each head begin."""
    rank: Ranks
    times: Places | None
    """The rank of each derivation, and how often it occurs; None: once."""
    state: Marks
    """0 for a head that was found nowhere, else `HERE`, `LOST` or `DOUBTFUL`."""
    own: Ranks
    """The rank of each head that was found, 0 for the others."""

    @staticmethod
    def of(firsts: Places, count: int, rank: Ranks | None, times: Places | None) -> Heads:
        """Return the heads of `count` derivations, none of which was found so far; without ranks all are 0."""
        heads = len(firsts)
        of_all = np.zeros(count, np.int32) if rank is None else rank
        return Heads(firsts, of_all, times, np.zeros(heads, np.uint8), np.zeros(heads, np.int32))

    def counted(self) -> Places:
        """Return how often each derivation occurs."""
        return np.ones(len(self.rank), np.int64) if self.times is None else self.times


@record
class Overwritten:
    """Counts as they were: their places, and the values of each line; `size` says how many, and if one grew too far."""

    places: Places
    values: Places
    size: Places

    @staticmethod
    def of(lines: int, most: int) -> Overwritten:
        """Return room for `most` values in each line."""
        return Overwritten(np.empty(most, np.int64), np.empty((lines, most), np.int64), np.zeros(2, np.int64))


class NumpyTally:
    """The definitions."""

    def tally(self, ranges: Ranges, heads: Heads, held: Held, limit: int, sign: int, before: Overwritten) -> Places:
        """Add to (1) or take from (-1) the counts of the heads that a batch has in these ranges.

        Only of rows with a mark up to a limit. Notes what becomes of each head, and what was there before. Returns the
        places of rows that hold and have no support.
        """
        (low, high), (mark, rank, counts) = ranges, held
        found = np.flatnonzero(high > low)
        if mark is not None:
            found = found[mark[low[found]] <= limit]
        at = low[found]
        heads.own[found] = rank[at] if isinstance(rank, np.ndarray) else rank or 0
        above = np.repeat(heads.own, np.diff(np.append(heads.firsts, len(heads.rank))))
        times = heads.counted()
        supporting, every = (sums(some, heads.firsts)[found] for some in (times * (heads.rank < above), times))
        old = counts[:, at]
        before.places[: len(at)], before.values[:, : len(at)], before.size[0] = at, old, len(at)
        new = old + sign * np.stack((supporting, every))[: len(counts)]
        counts[:, at] = new
        before.size[1] |= sign > 0 and (new < old).any()
        gone = new[0] == 0
        if mark is not None:
            gone &= mark[at] == ALIVE
        heads.state[found] = np.where(gone, LOST, np.where((new[0] < 0) & (supporting > 0), DOUBTFUL, HERE))
        lost: Places = at[gone]
        return lost

    def summed(self, heads: Heads) -> tuple[Places, Places, Ranks]:
        """Return the heads found nowhere, how many derivations each has, and the level just above them."""
        new = np.flatnonzero(heads.state == 0)
        if not len(new):
            return new, new, NO_RANKS
        level = above(np.maximum.reduceat(heads.rank, heads.firsts)[new])
        return new, sums(heads.counted(), heads.firsts)[new], level.astype(np.int32)


class CompiledTally(NumpyTally):
    """The same functions as kernels."""

    @cached_property
    def _tallying(self) -> ModuleType:
        """The kernels; loaded when the first derivations are counted."""
        return load_kernels("tidelog.run.columnar.kernels.tallying")

    def tally(self, ranges: Ranges, heads: Heads, held: Held, limit: int, sign: int, before: Overwritten) -> Places:
        (low, high), (mark, rank, counts) = ranges, held
        line = counts.strides[0] if len(counts) > 1 else 0
        where = self._tallying.Counts(int(counts.ctypes.data), line, counts.strides[1])
        ranks, own = (rank, 0) if isinstance(rank, np.ndarray) else (NO_RANKS, rank or 0)
        lost = np.empty(len(before.places), np.int64)
        derivations = heads.firsts, heads.rank, NO_TIMES if heads.times is None else heads.times
        rows = NO_MARKS if mark is None else mark, limit, ranks, own, where, sign
        noted = heads.state, heads.own, before.places, before.values, before.size, lost
        return lost[: self._tallying.tally(low, high, *derivations, *rows, *noted)]

    def summed(self, heads: Heads) -> tuple[Places, Places, Ranks]:
        new = int(np.count_nonzero(heads.state == 0))
        places, every, above = np.empty(new, np.int64), np.empty(new, np.int64), np.empty(new, np.int32)
        times = NO_TIMES if heads.times is None else heads.times
        self._tallying.summed(heads.firsts, heads.rank, times, heads.state, places, every, above)
        return places, every, above


def sums(values: Places, firsts: Places) -> Places:
    """Return the sum of the values of each run."""
    if len(firsts) == len(values):
        return values
    return np.add.reduceat(values, firsts) if len(firsts) else np.empty(0, np.int64)

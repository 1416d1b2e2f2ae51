"""Sorted packed rows with what maintenance knows of each: its rank, whether it still holds, and its derivations.

A batch's rows never change. `rank` and `counts` (see `run.maintain.ranked`) and `mark` do, in place; what they were is
kept in a `Journal` until the update is final. A batch without marks holds entirely. A rank that all rows share is kept
as one number. Batches of an engine that never updates have no rank and no counts.
`counts` has two lines: the derivations that support each row, and all of its derivations.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.run.columnar.arrays.narrow import Directory
from tidelog.run.columnar.arrays.table import Mask, Places, Words, chosen
from tidelog.run.columnar.functions import Arrays
from tidelog.run.phases import ALIVE, GARBAGE

Ranks = npt.NDArray[np.int32]
Marks = npt.NDArray[np.uint8]


class Log:
    """Values that a kernel overwrote, by their addresses: what `put_back` takes, and how many they are so far.

    `kept` is what holds the values; `marked` are the batches of which some may be marks.
    """

    def __init__(
        self, entries: Places, count: Places, kept: Any, marked: list[Batch], put_back: Callable[[Places], None]
    ) -> None:
        self._entries, self._count, self._kept, self._put_back = entries, count, kept, put_back
        self.marked = marked

    def close(self, marked: list[Batch]) -> None:
        """Keep no more than what was overwritten: marks of these batches, and counts."""
        self._entries, self.marked = self._entries[: self._count[0]].copy(), marked

    def undo(self) -> None:
        """Put back everything overwritten."""
        self._put_back(self._entries[: self._count[0]])


class Journal:
    """The values that an update overwrote, to undo it."""

    def __init__(self) -> None:
        self._entries: list[tuple[npt.NDArray[Any], Places, npt.NDArray[Any]] | Log] = []
        self._marked: list[Batch] = []

    def write(self, array: npt.NDArray[Any], places: Places, values: Any) -> None:
        """Overwrite values at distinct places of an array."""
        self._entries.append((array, places, array[places]))
        array[places] = values

    def mark(self, batch: Batch, places: Places, mark: int) -> None:
        """Mark rows of a batch at distinct places, all of which hold or none of which does."""
        marks = batch.marks()
        change = len(places) * (int(mark != ALIVE) - int(bool(len(places)) and marks[places[0]] != ALIVE))
        self._marked.append(batch)
        self.write(marks, places, mark)
        batch.gone += change

    def log(self, log: Log) -> None:
        """Note what a kernel is about to overwrite, and logs."""
        self._entries.append(log)

    def undo(self) -> None:
        """Put back everything overwritten; only then forget it, so that after an interrupt it can begin again."""
        for entry in reversed(self._entries):
            if isinstance(entry, Log):
                entry.undo()
            else:
                array, places, values = entry
                array[places] = values
        logged = (batch for entry in self._entries if isinstance(entry, Log) for batch in entry.marked)
        for batch in (*self._marked, *logged):  # counted anew: an interrupt may have come between a mark and its count
            batch.gone = int(np.count_nonzero(batch.marks()))
        self._entries, self._marked = [], []


class Batch:
    """Distinct sorted rows."""

    __slots__ = (
        "_addresses",
        "_asked",
        "_directories",
        "_fence",
        "_listed",
        "_values",
        "counts",
        "gone",
        "mark",
        "rank",
        "reduced",
        "rows",
        "size",
    )

    def __init__(
        self, rows: Words, rank: Ranks | int | None = None, counts: Places | None = None, mark: Marks | None = None
    ) -> None:
        self.rows = rows
        self.size: int = rows.shape[1]
        """The number of rows, whether they hold or not."""
        self.rank = rank
        self.counts = counts
        self.mark = mark
        self._fence: Words | None = None
        self._directories: dict[int, Directory | None] | None = None
        self._addresses: tuple[tuple[Any, ...], tuple[int, ...]] | None = None
        self._listed: list[tuple[int, ...]] | None = None
        self._values: dict[tuple[int, int], frozenset[int]] | None = None
        self._asked = 0
        self.reduced: dict[Hashable, Batch] | None = None
        """What is left of it for uses that need few of its rows (see `semijoin`)."""
        self.gone = 0 if mark is None else int(np.count_nonzero(mark))
        """The number of rows that do not hold."""

    def fence(self, probes: int, arrays: Arrays) -> Words | None:
        """The first of every `fence_gap` rows, if this number of probes is found faster by it: few, in many rows."""
        thresholds = arrays.tuning.batches
        if self.size < thresholds.fence_from or thresholds.fence_gap * probes > self.size:
            return None
        if self._fence is None:
            self._fence = self.rows[:, :: thresholds.fence_gap].copy()
        return self._fence

    def listed(self) -> list[tuple[int, ...]]:
        """Return the words of each row: for batches of few rows."""
        if self._listed is None:
            self._listed = list(map(tuple, self.rows.T.tolist()))
        return self._listed

    def values(self, word: int, mask: int, asked: int) -> frozenset[int] | None:
        """Return what a mask leaves of a word in all rows; None until it was asked for often enough.

        That is when they look for `asked` rows together, the present time included.
        """
        known = self._values.get((word, mask)) if self._values is not None else None
        if known is None:
            self._asked += 1
            if asked * self._asked < self.size:
                return None
            known = frozenset((self.rows[word] & np.uint64(mask)).tolist())
            self._values = {**(self._values or {}), (word, mask): known}
        return known

    def directory(self, shift: int, probes: int, arrays: Arrays) -> Directory | None:
        """Where the runs of words, shifted right, begin, if this number of probes, in any order, is found faster."""
        thresholds, known = arrays.tuning.batches, self._directories
        if known is None:
            if thresholds.directory_probes * probes < self.size or not self.size or self.rows.shape[0] != 1:
                return None
            known = self._directories = {}
        if shift not in known:
            if thresholds.directory_probes * probes < self.size:
                return None
            span = (int(self.rows[0, -1]) >> shift) - (int(self.rows[0, 0]) >> shift) + 1
            # Runs far apart in memory should be long, or a cache miss for each costs as much as sorting the probes.
            near = self.size <= thresholds.directory_near or self.size >= thresholds.directory_run * span
            good = near and span <= min(thresholds.directory_widest, thresholds.directory_spread * self.size)
            known[shift] = arrays(self.size).directory(self.rows, shift) if good else None
        return known[shift]

    def addresses(self) -> tuple[int, ...]:
        """Where rows, marks, ranks and counts are, and bytes from word to word, from line to line, from count to count.

        0 for what there is not. Found once, as long as they stay where they are.
        """
        parts = self.rows, self.mark, self.rank, self.counts
        known = self._addresses
        if known is None or any(old is not new for old, new in zip(known[0], parts, strict=True)):
            rows, counts = self.rows, self.counts
            assert rows.strides[1] == rows.itemsize or self.size < 2, "rows stand side by side"
            line, after = (0, 0) if counts is None else counts.strides
            where = *map(address, parts), rows.strides[0], line if counts is not None and len(counts) > 1 else 0, after
            known = self._addresses = parts, where
        return known[1]

    def ranks(self) -> Ranks:
        """The rank of each row; from now on each may change by itself."""
        rank = self.rank
        if not isinstance(rank, np.ndarray):
            rank = self.rank = np.full(self.size, rank or 0, np.int32)
        return rank

    def highest(self) -> int:
        """The greatest rank of a row, 0 if there is none."""
        if isinstance(self.rank, np.ndarray):
            return int(self.rank.max()) if self.size else 0
        return self.rank or 0

    def marks(self) -> Marks:
        """The mark of each row; from now on each may change by itself."""
        if self.mark is None:
            self.mark = np.zeros(self.size, np.uint8)
        return self.mark

    def taken(self, which: Mask | Places) -> Batch:
        """Return the rows at ascending places, or where a mask is true."""
        places = np.flatnonzero(which) if which.dtype == bool else which
        rank = self.rank  # once: another thread may ask for the rank of each row meanwhile, and arrays are not shared
        return Batch(
            chosen(self.rows, places),
            rank[places] if isinstance(rank, np.ndarray) else rank,
            None if self.counts is None else self.counts.take(places, axis=1),
            None if self.mark is None else self.mark[places],
        )

    def without(self, rows: Words, arrays: Arrays) -> Batch:
        """Return the rows that are not among sorted ones."""
        low, high, total = arrays(self.size).ranges(rows, self.rows, rows.shape[0], 64)
        if not total:
            return self
        kept = np.ones(self.size, bool)
        kept[low[high > low]] = False
        return self.taken(kept)

    def unmarked(self, *, bare: bool = False) -> Batch:
        """Return the rows whatever becomes of them here; `bare` ones without ranks and counts."""
        return Batch(self.rows) if bare else Batch(self.rows, self.rank, self.counts)

    def seen(self, limit: int, *, bare: bool = False) -> Batch:
        """Return the rows with a mark up to a limit, whatever becomes of them here."""
        hidden = None if limit == GARBAGE else self.mark
        if hidden is None:
            return self.unmarked(bare=bare)
        return (self.unmarked(bare=True) if bare else self).taken(hidden <= limit).unmarked(bare=bare)

    def alive(self) -> Batch:
        """Return the rows that hold, without marks."""
        if self.mark is None:
            return self
        found = self.taken(self.mark == ALIVE)
        return Batch(found.rows, found.rank, found.counts)

    def compacted(self, arrays: Arrays) -> Batch:
        """Return the batch without garbage if that is a large part of it."""
        return self.alive() if arrays.tuning.batches.garbage * self.size < self.gone else self

    def moved(self, steps: Words, constant: Words, arrays: Arrays) -> Batch:
        """Return the rows in another layout that keeps their order; ranks, counts and marks are shared."""
        return Batch(arrays(self.size).move(self.rows, steps, constant), self.rank, self.counts, self.mark)

    def reordered(self, steps: Words, constant: Words, arrays: Arrays) -> Batch:
        """Return the rows in a layout of another order, sorted, with ranks and marks, without counts."""
        table = arrays(self.size)
        rows = table.move(self.rows, steps, constant)
        rank, mark = self.rank, self.mark  # once, as in `taken`
        if not isinstance(rank, np.ndarray) and mark is None:
            return Batch(table.sort(rows), rank)
        places = table.order(rows)
        return Batch(
            np.ascontiguousarray(rows[:, places]),
            rank[places] if isinstance(rank, np.ndarray) else rank,
            None,
            None if mark is None else mark[places],
        )


def address(array: npt.NDArray[Any] | int | None) -> int:
    """Return where an array is in memory; 0 for anything else."""
    if not isinstance(array, np.ndarray):
        return 0
    where: int = array.__array_interface__["data"][0]  # a third of what `ctypes.data` costs
    return where


def merge(a: Batch, b: Batch, arrays: Arrays) -> Batch:
    """Return the rows of two disjoint batches that hold, in order."""
    a, b = a.alive(), b.alive()
    table = arrays(a.size + b.size)
    plain = not isinstance(a.rank, np.ndarray) and not isinstance(b.rank, np.ndarray) and a.rank == b.rank
    if plain and a.counts is None:
        return Batch(table.merge(a.rows, b.rows), a.rank)
    places = table.merge_places(a.rows, b.rows)
    rows = table.scatter(a.rows, b.rows, places)
    rank = a.rank if plain else None if a.rank is None else table.scatter(a.ranks(), b.ranks(), places)
    counts = None if a.counts is None or b.counts is None else table.scatter(a.counts, b.counts, places)
    return Batch(rows, rank, counts)


def push(batches: list[Batch], batch: Batch, arrays: Arrays) -> None:
    """Add a batch to a geometric list: batches merge when they come near each other in size."""
    if not batch.size:
        return
    batches.append(batch)
    while len(batches) > 1 and _are_near(batches[-2].size, batches[-1].size, arrays):
        last = batches.pop()
        batches[-1] = merge(batches[-1], last, arrays)


def _are_near(size: int, last: int, arrays: Arrays) -> bool:
    """Tell whether a batch comes near the last one in size."""
    thresholds = arrays.tuning.batches
    ratio = thresholds.small_ratio if size < thresholds.small else thresholds.ratio
    return size < ratio * last


def condensed(batches: list[Batch], arrays: Arrays) -> list[Batch]:
    """Return batches of the same rows, each much smaller than the one before; small ones are merged first."""
    found: list[Batch] = []
    for batch in sorted(batches, key=lambda batch: batch.size):
        if found and batch.size < arrays.tuning.batches.lasting_ratio * found[-1].size:
            found[-1] = merge(batch, found[-1], arrays)
        else:
            found.append(batch)
    return found[::-1]

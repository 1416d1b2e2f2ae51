"""The table of array functions the columnar engine is built on.

`NumpyArrays` defines every function in numpy: slow twins, and all that tiny inputs need, so that they never load
numba. `CompiledArrays` replaces the hot ones by kernels. `functions` says which of them is used. A table for a GPU
would be a third subclass.

Packed rows are arrays of shape (words, rows) of unsigned 64-bit integers; row order is lexicographic by word. A prefix
of a row is its first `full` words and the bits above `shift` of the next (`shift` 64: no more).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tidelog.base.tuning.table import Tuning
from tidelog.run.columnar import kernels
from tidelog.run.columnar.arrays.narrow import CompiledNarrow, NumpyNarrow
from tidelog.run.columnar.arrays.tally import CompiledTally, NumpyTally
from tidelog.run.compiling import are_compiled, load_kernels
from tidelog.run.limits import tell
from tidelog.run.threads import helpers, parts_of, share

if TYPE_CHECKING:
    from types import ModuleType

Words = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Ranks = npt.NDArray[np.int32]
Part = Callable[[], Words]
"""Makes some rows, the same each time."""
Marks = npt.NDArray[np.uint8]

U = np.uint64
NO_WORDS: Words = np.empty((1, 0), U)
NO_RANKS: Ranks = np.empty(0, np.int32)
NO_MARKS: Marks = np.empty(0, np.uint8)


def no_rows(words: int) -> Words:
    """Return packed rows without a row."""
    return np.empty((words, 0), U)


def chosen(rows: Words, which: Mask | Places) -> Words:
    """Return the packed rows at some places, or where a mask is true."""
    # By `take`: to index two dimensions by a mask takes nine times as long.
    return rows.take(np.flatnonzero(which) if which.dtype == bool else which, axis=1)


class NumpyArrays(NumpyNarrow, NumpyTally):
    """The definition of each array function."""

    name = "numpy"

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning

    def sort(self, rows: Words) -> Words:
        """Return the rows in order; the same array if they are."""
        if rows.shape[0] == 1:
            return np.sort(rows, axis=1)
        return np.ascontiguousarray(rows[:, self.order(rows)])

    def sort_parts(self, parts: Sequence[Part]) -> Words:
        """Return the rows of all parts in order. Rows of several parts have one word."""
        return self.sort(parts[0]() if len(parts) == 1 else np.concatenate([part() for part in parts], axis=1))

    def order(self, rows: Words) -> Places:
        """Return the places of the rows in order; equal rows keep theirs."""
        if rows.shape[0] == 1:
            return np.argsort(rows[0], kind="stable")
        return np.lexsort(rows[::-1])

    def sort_with(self, rows: Words, values: Ranks) -> tuple[Words, Ranks]:
        """Return the rows in order, and a value of each in the same order; equal rows keep theirs."""
        places = self.order(rows)
        return np.ascontiguousarray(rows[:, places]), values[places]

    def firsts(self, rows: Words) -> Places:
        """Return the place of the first of each run of equal rows."""
        if rows.shape[1] == 0:
            return np.empty(0, np.int64)
        new = np.ones(rows.shape[1], bool)
        np.any(rows[:, 1:] != rows[:, :-1], axis=0, out=new[1:])
        return np.flatnonzero(new)

    def extents(self, rows: Words, lines: Words) -> tuple[Words, Words]:
        """Return the least and greatest code in each field of one row or more (`lines`: word, shift, mask, base)."""
        fields = [((rows[int(word)] >> shift) & mask) + base for word, shift, mask, base in lines]
        return np.array([codes.min() for codes in fields], U), np.array([codes.max() for codes in fields], U)

    def unique(self, rows: Words) -> Words:
        """Return the distinct rows of sorted rows. May reuse the memory of its argument."""
        places = self.firsts(rows)
        return rows if len(places) == rows.shape[1] else np.ascontiguousarray(rows[:, places])

    def ranges(
        self, keys: Words, batch: Words, full: int, shift: int, fence: Words | None = None
    ) -> tuple[Places, Places, int]:
        """Return, for each key, the range of rows of a sorted batch whose prefix equals it; and their total.

        `fence`, the first of every `fence_gap` rows of the batch, helps to find few keys in many rows.
        """
        if full == 0 and shift == 64:
            low = np.zeros(keys.shape[1], np.int64)
            return low, np.full(keys.shape[1], batch.shape[1], np.int64), keys.shape[1] * batch.shape[1]
        prefixes = prefix(batch, full, shift)
        if prefixes.shape[0] == 1:
            low = np.searchsorted(prefixes[0], keys[0], "left").astype(np.int64)
            high = np.searchsorted(prefixes[0], keys[0], "right").astype(np.int64)
        else:
            low, high = _ranges_by_rank(keys, prefixes)
        return low, high, int((high - low).sum())

    def emit_few_times(self, low: Places, high: Places, left: Words, batch: Words, moves: Words) -> Words:
        """As `emit`, with fewer repetitions; best where left rows that are equal stand together."""
        return self.emit(low, high, left, batch, moves)

    def move(self, rows: Words, moves: Words, constant: Words) -> Words:
        """Return rows that have the fields of `rows` at their new places and the fields of a `constant` row."""
        out = np.repeat(constant, rows.shape[1], axis=1)
        self._move_into(rows, slice(None), moves, out)
        return out

    def without(self, rows: Words, batch: Words) -> Words:
        """Return the sorted rows that are not in a sorted batch. May reuse the memory of its first argument."""
        if rows.shape[1] == 0 or batch.shape[1] == 0:
            return rows
        low, high, _ = self.ranges(rows, batch, rows.shape[0], 64)
        return np.ascontiguousarray(rows[:, low == high])

    def among(self, rows: Words, word: int, shift: int, mask: int, offset: int, there: Mask) -> Words:
        """Return the rows with a field whose value, plus an offset modulo 2**64, is a place where `there` is true."""
        values = ((rows[word] >> U(shift)) & U(mask)) + U(offset)
        keep = values < len(there)
        keep[keep] = there[values[keep]]
        return np.ascontiguousarray(rows[:, keep])

    def merge(self, a: Words, b: Words) -> Words:
        """Return the rows of two sorted arrays in order."""
        return self.sort(np.concatenate((a, b), axis=1))

    def merge_places(self, a: Words, b: Words) -> Places:
        """Return for each row of b the place of the first row of a that is not below it; both are sorted."""
        return self.ranges(b, a, a.shape[0], 64)[0]

    def scatter(self, a: npt.NDArray[Any], b: npt.NDArray[Any], places: Places) -> Any:
        """Return the values of a, and before that at each of these places one of b, along the last axis."""
        return np.insert(a, places, b, axis=-1)

    def emit_ranked(
        self,
        low: Places,
        high: Places,
        left: Words,
        left_rank: Ranks,
        batch: Words,
        rank: Ranks | None,
        mark: Marks | None,
        limit: int,
        moves: Words,
    ) -> tuple[Words, Ranks]:
        """As `emit`, of the batch rows with a mark up to the limit; and the greater rank of both sides of each."""
        of_left, of_right = self.expand(low, high)
        if mark is not None:
            seen = mark[of_right] <= limit
            of_left, of_right = of_left[seen], of_right[seen]
        out = np.ascontiguousarray(left[:, of_left])
        self._move_into(batch, of_right, moves, out)
        ranks = left_rank[of_left]
        return out, ranks if rank is None else np.maximum(ranks, rank[of_right])

    def join_few(
        self,
        rows: Words,
        rank: Ranks | None,
        key: tuple[Words, Words, int, int],
        batch: Words,
        fence: Words | None,
        batch_rank: Ranks | None,
        mark: Marks | None,
        limit: int,
        output: tuple[Words, Words, Words],
        most: int,
    ) -> tuple[Words, Ranks] | None:
        """Join rows with a sorted batch: make keys (moves, constant, prefix), match, emit (moves, constant, moves).

        Of the batch rows with a mark up to the limit. Ranks are followed if `rank` is given. None if there are more
        than `most` matches.
        """
        moves, constant, full, shift = key
        low, high, total = self.ranges(self.move(rows, moves, constant), batch, full, shift, fence)
        if total > most:
            return None
        left = self.move(rows, output[0], output[1])
        ranks = np.zeros(rows.shape[1], np.int32) if rank is None else rank
        return self.emit_ranked(low, high, left, ranks, batch, batch_rank, mark, limit, output[2])

    def visible(self, low: Places, high: Places, mark: Marks, limit: int) -> Places:
        """Return, for each range, the number of its rows with a mark up to the limit."""
        before = np.concatenate(([0], np.cumsum(mark <= limit)))
        return np.asarray(before[high] - before[low], np.int64)


def prefix(rows: Words, full: int, shift: int) -> Words:
    """Return the prefixes of packed rows as keys."""
    if shift == 64:
        return rows[:full]
    last = rows[full : full + 1] >> U(shift)
    return np.concatenate((rows[:full], last)) if full else last


def _ranges_by_rank(keys: Words, prefixes: Words) -> tuple[Places, Places]:
    """Search rows of several words: number the distinct prefixes and keys together, then search the numbers."""
    n = prefixes.shape[1]
    both = np.concatenate((prefixes, keys), axis=1)
    order = np.lexsort(both[::-1])
    new = np.zeros(both.shape[1], np.int64)
    new[1:] = np.any(both[:, order[1:]] != both[:, order[:-1]], axis=0)
    rank = np.empty(both.shape[1], np.int64)
    rank[order] = np.cumsum(new)
    ranks, wanted = rank[:n], rank[n:]
    return (
        np.searchsorted(ranks, wanted, "left").astype(np.int64),
        np.searchsorted(ranks, wanted, "right").astype(np.int64),
    )


class CompiledArrays(CompiledNarrow, CompiledTally, NumpyArrays):
    """The same functions with kernels for the hot ones."""

    name = "numba"

    def __init__(self, tuning: Tuning) -> None:
        super().__init__(tuning)
        if not are_compiled(Path(kernels.__file__).parent):
            tell("compiling kernels, once for this installation")
        self._kernels: ModuleType = load_kernels("tidelog.run.columnar.kernels.words")
        self._emitting: ModuleType = load_kernels("tidelog.run.columnar.kernels.emitting")
        self._sorting: ModuleType = load_kernels("tidelog.run.columnar.kernels.sorting")
        self._narrow = load_kernels("tidelog.run.columnar.kernels.narrow")

    @cached_property
    def gaining(self) -> ModuleType:
        """The kernel that absorbs in rounds of a few tuples; loaded when there is the first."""
        return load_kernels("tidelog.run.columnar.machine.kernels.gaining")

    @cached_property
    def losing(self) -> ModuleType:
        """The kernel that releases in rounds of a few tuples; loaded when there is the first."""
        return load_kernels("tidelog.run.columnar.machine.kernels.losing")

    def sort(self, rows: Words) -> Words:
        if rows.shape[0] != 1:
            return super().sort(rows)
        words = rows[0]
        bits, ordered = self._sorting.survey(words)
        if ordered:
            return rows
        return self._sort_bits(words.copy() if len(words) < self.tuning.sorting.apart else words, int(bits))

    def _sort_bits(self, words: Words, bits: int) -> Words:
        """Sort words that differ in these bits; few of them in place."""
        if len(words) < self.tuning.sorting.apart:
            # Unsigned: a kernel that has met smaller numbers takes them for signed ones, and the highest bit is none.
            return np.reshape(self._sorting.sort_one(words, np.empty_like(words), U(bits)), (1, -1))
        pieces = np.array_split(words.reshape(1, -1), 1 if helpers.get() is None else parts_of(self.tuning), axis=1)
        return self._sort_apart([partial(np.asarray, piece) for piece in pieces], bits)

    def sort_parts(self, parts: Sequence[Part]) -> Words:
        if len(parts) == 1:
            return self.sort(parts[0]())
        bits, ordered, last = 0, True, 0
        seen = share(helpers.get(), self._survey, [(part,) for part in parts])
        for differing, in_order, ends in seen:
            bits |= int(differing) | (ends[0] ^ seen[0][2][0])
            ordered &= in_order and last <= ends[0]
            last = ends[1]
        return super().sort_parts(parts) if ordered else self._sort_apart(parts, bits)

    def _survey(self, part: Part) -> tuple[int, bool, tuple[int, int]]:
        """Return the bits in which the words of a part differ, whether they are in order, the first and the last."""
        (words,) = part()
        return *self._sorting.survey(words), (int(words[0]), int(words[-1]))

    def _sort_apart(self, parts: Sequence[Part], bits: int) -> Words:
        """Sort many words that differ in these bits: cut them by their highest digit, then sort what lies between.

        A part is made each time it is looked at, in the cache: memory for all of them at once would cost more.
        """
        shift = max(0, bits.bit_length() - 8, (bits & -bits).bit_length() - 1)  # what stands below keeps its order
        pool = helpers.get()
        counts = np.zeros((len(parts), 256), np.int64)

        def count(i: int) -> None:
            self._sorting.count_digit(parts[i]()[0], shift, counts[i])

        share(pool, count, [(i,) for i in range(len(parts))])
        starts = np.zeros(257, np.int64)
        np.cumsum(counts.sum(axis=0), out=starts[1:])
        places = starts[:-1] + np.cumsum(counts, axis=0) - counts
        out = np.empty((1, int(starts[-1])), U)

        def put(i: int) -> None:
            self._sorting.place_digit(parts[i]()[0], shift, places[i], out[0])

        share(pool, put, [(i,) for i in range(len(parts))])
        cuts = 1 if pool is None else 4 * parts_of(self.tuning)
        ends = np.searchsorted(starts, np.linspace(0, starts[-1], cuts, endpoint=False))
        below, few = U(bits & ((1 << shift) - 1)), int(self.tuning.sorting.insertion)
        buckets = pairwise([*np.unique(ends).tolist(), 256])
        share(pool, self._sorting.sort_buckets, [(out[0], starts, a, b, below, few) for a, b in buckets])
        return out

    def order(self, rows: Words) -> Places:
        places = np.arange(rows.shape[1])
        for word in rows[::-1]:
            _, places = self._order(word if rows.shape[0] == 1 else word[places], places, len(places).bit_length())
        return places

    def _order(self, words: Words, values: npt.NDArray[Any], room: int) -> tuple[Words, Any]:
        """Return words in order, and values of `room` bits with them; values given may be overwritten."""
        bits, ordered = self._sorting.survey(words)
        if ordered:
            return words, values
        out, carried = np.empty_like(words), np.empty_like(values)
        if int(bits).bit_length() + room <= 64:
            packed = np.empty_like(words)
            self._sorting.pack(words, values, room, packed)
            (packed,) = self._sort_bits(packed, int(bits) << room)
            self._sorting.unpack(packed, room, words[0], out, carried)
            return out, carried
        return tuple(self._sorting.order_one(words.copy(), values, out, carried))

    def sort_with(self, rows: Words, values: Ranks) -> tuple[Words, Ranks]:
        if rows.shape[0] != 1:
            return super().sort_with(rows, values)
        bits = int(np.bitwise_or.reduce(values))
        down = max(0, (bits & -bits).bit_length() - 1)  # most ranks are far apart
        found, carried = self._order(rows[0], values >> down, (bits >> down).bit_length())
        return found.reshape(1, -1), carried << down

    def extents(self, rows: Words, lines: Words) -> tuple[Words, Words]:
        low, high = np.empty(len(lines), U), np.empty(len(lines), U)
        self._kernels.extents(rows, lines, low, high)
        return low, high

    def unique(self, rows: Words) -> Words:
        if rows.shape[0] == 1:
            return rows[:, : self._kernels.unique_one(rows[0])]
        return super().unique(rows)

    def firsts(self, rows: Words) -> Places:
        first = np.empty(rows.shape[1], np.int64)
        return first[: self._kernels.runs(rows, first)]

    def ranges(
        self, keys: Words, batch: Words, full: int, shift: int, fence: Words | None = None
    ) -> tuple[Places, Places, int]:
        if full == 0 and shift == 64:
            return super().ranges(keys, batch, full, shift)
        low = np.empty(keys.shape[1], np.int64)
        high = np.empty(keys.shape[1], np.int64)
        if batch.shape[0] == 1 and fence is not None:
            gap, together = int(self.tuning.batches.fence_gap), int(self.tuning.joins.together)
            given = keys[0], batch[0], fence[0], 0 if shift == 64 else shift, gap, together
            total = self._kernels.ranges_apart(*given, low, high)
        elif batch.shape[0] == 1:
            total = self._kernels.ranges_one(keys[0], batch[0], 0 if shift == 64 else shift, low, high)
        else:
            total = self._kernels.ranges_many(keys, batch, full, shift, low, high)
        return low, high, int(total)

    def emit(self, low: Places, high: Places, left: Words, batch: Words, moves: Words) -> Words:
        out = np.empty((left.shape[0], int((high - low).sum())), U)
        if left.shape[0] == 1 and batch.shape[0] == 1:
            self._emitting.emit_one(low, high, left[0], batch[0], moves, out[0])
        else:
            self._emitting.emit_many(low, high, left, batch, moves, out)
        return out

    def emit_few_times(self, low: Places, high: Places, left: Words, batch: Words, moves: Words) -> Words:
        if left.shape[0] != 1 or batch.shape[0] != 1:
            return self.emit(low, high, left, batch, moves)
        out, recent = np.empty(int((high - low).sum()) + 1, U), np.empty(int(self.tuning.joins.recent), U)
        made = self._emitting.emit_few_times(low, high, left[0], batch[0], moves, recent, out)
        return out[:made].copy().reshape(1, -1)

    def emit_ranked(
        self,
        low: Places,
        high: Places,
        left: Words,
        left_rank: Ranks,
        batch: Words,
        rank: Ranks | None,
        mark: Marks | None,
        limit: int,
        moves: Words,
    ) -> tuple[Words, Ranks]:
        total = int((high - low).sum())
        out, ranks = np.empty((left.shape[0], total), U), np.empty(total, np.int32)
        given = NO_RANKS if rank is None else rank
        marks = NO_MARKS if mark is None else mark
        made = self._emitting.emit_ranked(low, high, left, left_rank, batch, given, marks, limit, moves, out, ranks)
        return (out, ranks) if made == total else (np.ascontiguousarray(out[:, :made]), ranks[:made])

    def join_few(
        self,
        rows: Words,
        rank: Ranks | None,
        key: tuple[Words, Words, int, int],
        batch: Words,
        fence: Words | None,
        batch_rank: Ranks | None,
        mark: Marks | None,
        limit: int,
        output: tuple[Words, Words, Words],
        most: int,
    ) -> tuple[Words, Ranks] | None:
        ranks = NO_RANKS if rank is None else rank
        given = NO_RANKS if batch_rank is None else batch_rank
        marks = NO_MARKS if mark is None else mark
        posts = NO_WORDS if fence is None else fence
        gap = int(self.tuning.batches.fence_gap)
        arguments = (*key, batch, posts, gap, given, marks, limit, *output, int(most))
        made, made_ranks, total = self._kernels.join_few(rows, ranks, *arguments)
        return None if total > most else (made, made_ranks)

    def visible(self, low: Places, high: Places, mark: Marks, limit: int) -> Places:
        counts = np.empty(len(low), np.int64)
        self._emitting.visible(low, high, mark, limit, counts)
        return counts

    def move(self, rows: Words, moves: Words, constant: Words) -> Words:
        out = np.repeat(constant, rows.shape[1], axis=1)
        self._kernels.move(rows, moves, out)
        return out

    def without(self, rows: Words, batch: Words) -> Words:
        if rows.shape[0] == 1:
            return rows[:, : self._kernels.without_one(rows[0], rows.shape[1], batch[0])]
        return super().without(rows, batch)

    def among(self, rows: Words, word: int, shift: int, mask: int, offset: int, there: Mask) -> Words:
        if rows.shape[0] != 1:
            return super().among(rows, word, shift, mask, offset, there)
        out = np.empty(rows.shape[1] + 1, U)
        return out[: self._kernels.among(rows[0], shift, U(mask), U(offset), there, out)].copy().reshape(1, -1)

    def merge(self, a: Words, b: Words) -> Words:
        if a.shape[0] == 1:
            out = np.empty((1, a.shape[1] + b.shape[1]), U)
            self._kernels.merge_one(a[0], b[0], out[0])
            return out
        merged: Words = self.scatter(a, b, self.merge_places(a, b))
        return merged

    def scatter(self, a: npt.NDArray[Any], b: npt.NDArray[Any], places: Places) -> Any:
        out = np.empty((*a.shape[:-1], a.shape[-1] + len(places)), a.dtype)
        if a.ndim == 1:
            self._kernels.scatter(a, b, places, out)
        else:
            for word in range(a.shape[0]):
                self._kernels.scatter(a[word], b[word], places, out[word])
        return out

    def merge_places(self, a: Words, b: Words) -> Places:
        out = np.empty(b.shape[1], np.int64)
        self._kernels.merge_places(a, b, out)
        return out

"""Array functions for codes that spread little: `NumpyNarrow` defines them, `CompiledNarrow` has kernels for them.

* A *map of bits* has one bit for each word that can occur, set where a row is known. Rows go through it without being
  sorted, at about a nanosecond each while the map, or the part of it in use, is in the cache.
* A *directory* of a sorted batch has for each key the place where its run begins, so that keys in any order are found.
* Two sorted runs *meet* in the codes that both have: the step of a worst-case-optimal join that closes a cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tidelog.base.process.lock import Lock
from tidelog.base.record import record
from tidelog.base.tuning.table import Tuning

if TYPE_CHECKING:
    from types import ModuleType

    from tidelog.run.columnar.arrays.table import Places, Words

U = np.uint64
Starts = npt.NDArray[np.int32]
_setting = Lock()
"""Threads share maps, and only one of them may be the first to know a row."""


@record
class Directory:
    """Where the run of each key of a sorted batch begins: keys from `origin` on, and the end of the last one."""

    origin: int
    starts: Starts


@record
class Runs:
    """Ranges of rows of a sorted batch, and the field by whose codes the rows of each are in order.

    The code of a row is the field's word shifted right, masked, plus a number modulo 2**64.
    """

    low: Places
    high: Places
    batch: Words
    field: Words
    least: int
    greatest: int
    """A range that covers all codes."""


class NumpyNarrow:
    """The definitions; rows are of one word, except in `emit`."""

    tuning: Tuning

    def fresh(self, rows: Words, bits: Words) -> Words:
        """Return the rows whose bit is not set, each once, and set their bits."""
        found, firsts = np.unique(rows[0], return_index=True)
        with _setting.held():
            firsts = np.sort(firsts[(bits[found >> U(6)] >> (found & U(63))) & U(1) == 0])
            new = rows[:, firsts]
            np.bitwise_or.at(bits, new[0] >> U(6), U(1) << (new[0] & U(63)))
        return np.ascontiguousarray(new)

    def emit_fresh(self, low: Places, high: Places, left: Words, batch: Words, moves: Words, bits: Words) -> Words:
        """As `emit`, of rows whose bit is not set, each once, and set their bits."""
        return self.fresh(self.emit(low, high, left, batch, moves), bits)

    def unknown(self, rows: Words, bits: Words) -> Words:
        """Return the rows whose bit is not set, as often as they occur."""
        return np.ascontiguousarray(rows[:, (bits[rows[0] >> U(6)] >> (rows[0] & U(63))) & U(1) == 0])

    def emit_unknown(self, low: Places, high: Places, left: Words, batch: Words, moves: Words, bits: Words) -> Words:
        """As `emit`, of rows whose bit is not set."""
        return self.unknown(self.emit(low, high, left, batch, moves), bits)

    def directory(self, batch: Words, shift: int) -> Directory:
        """Return the directory of the words of a sorted batch, shifted right; there is at least one."""
        keys = batch[0] >> U(shift)
        origin, last = int(keys[0]), int(keys[-1])
        wanted = np.arange(last - origin + 2, dtype=U) + U(origin)
        starts = np.searchsorted(keys, wanted[:-1], "left")
        return Directory(origin, np.append(starts, batch.shape[1]).astype(np.int32))

    def find(self, keys: Words, directory: Directory) -> tuple[Places, Places, int]:
        """Return, for each key, the range of rows of a batch with a directory; and their total."""
        places = keys[0] - U(directory.origin)
        inside = places < U(len(directory.starts) - 1)
        places = np.where(inside, places, U(0)).astype(np.int64)
        low = np.where(inside, directory.starts[places], 0).astype(np.int64)
        high = np.where(inside, directory.starts[places + 1], 0).astype(np.int64)
        return low, high, int((high - low).sum())

    def emit_meeting(self, left: Words, first: Runs, second: Runs, moves: Words) -> Words:
        """As `emit` of the first ranges, of the rows whose code a row of the second range has, too."""
        rows = self.emit(first.low, first.high, left, first.batch, moves)
        of_left, of_right = self.expand(first.low, first.high)
        codes = [((runs.batch[0] >> runs.field[0]) & runs.field[1]) + runs.field[2] for runs in (first, second)]
        there = [
            codes[0][j] in codes[1][second.low[i] : second.high[i]] for i, j in zip(of_left, of_right, strict=True)
        ]
        return np.ascontiguousarray(rows[:, np.array(there, bool)])

    def expand(self, low: Places, high: Places) -> tuple[Places, Places]:
        """Return, for each row of each range, the place of the range and the row."""
        counts = high - low
        left = np.repeat(np.arange(len(low)), counts)
        right = np.arange(len(left)) + np.repeat(low - (np.cumsum(counts) - counts), counts)
        return left, right

    def emit(self, low: Places, high: Places, left: Words, batch: Words, moves: Words) -> Words:
        """Return each left row once for each batch row of its range, with fields moved in from the batch row."""
        of_left, of_right = self.expand(low, high)
        out = np.ascontiguousarray(left[:, of_left])
        self._move_into(batch, of_right, moves, out)
        return out

    def _move_into(self, rows: Words, chosen: Any, moves: Words, out: Words) -> None:
        for source, right, mask, add, target, up in moves:
            out[int(target)] |= (((rows[int(source)][chosen] >> right) & mask) + add) << up


class CompiledNarrow(NumpyNarrow):
    """The same functions as kernels."""

    _narrow: ModuleType

    def fresh(self, rows: Words, bits: Words) -> Words:
        out = np.empty(rows.shape[1], U)
        return out[: self._narrow.fresh(rows[0], bits, out)].copy().reshape(1, -1)

    def emit_fresh(self, low: Places, high: Places, left: Words, batch: Words, moves: Words, bits: Words) -> Words:
        out = np.empty(int((high - low).sum()), U)
        return out[: self._narrow.emit_fresh(low, high, left[0], batch[0], moves, bits, out)].copy().reshape(1, -1)

    def unknown(self, rows: Words, bits: Words) -> Words:
        out = np.empty(rows.shape[1], U)
        return out[: self._narrow.unknown(rows[0], bits, out)].copy().reshape(1, -1)

    def emit_unknown(self, low: Places, high: Places, left: Words, batch: Words, moves: Words, bits: Words) -> Words:
        out = np.empty(int((high - low).sum()), U)
        return out[: self._narrow.emit_unknown(low, high, left[0], batch[0], moves, bits, out)].copy().reshape(1, -1)

    def directory(self, batch: Words, shift: int) -> Directory:
        origin, last = int(batch[0, 0]) >> shift, int(batch[0, -1]) >> shift
        starts = np.empty(last - origin + 2, np.int32)
        self._narrow.fill_directory(batch[0], shift, U(origin), starts)
        return Directory(origin, starts)

    def find(self, keys: Words, directory: Directory) -> tuple[Places, Places, int]:
        low, high = np.empty(keys.shape[1], np.int64), np.empty(keys.shape[1], np.int64)
        return low, high, int(self._narrow.find(keys[0], U(directory.origin), directory.starts, low, high))

    def emit_meeting(self, left: Words, first: Runs, second: Runs, moves: Words) -> Words:
        out = np.empty(int(np.minimum(first.high - first.low, second.high - second.low).sum()) + 1, U)
        size = second.greatest - second.least + 1
        marks = np.zeros(size if size <= self.tuning.joins.marks else 0, bool)
        runs = (first.low, first.high, left[0], first.batch[0], first.field)
        others = (second.low, second.high, second.batch[0], second.field, U(second.least), marks)
        return (
            out[: self._narrow.emit_meeting(*runs, *others, moves, int(self.tuning.joins.gallop), out)]
            .copy()
            .reshape(1, -1)
        )

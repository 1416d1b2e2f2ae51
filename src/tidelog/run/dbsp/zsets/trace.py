"""Traces: all that a stream has brought so far, arranged for look-ups.

The rows of a trace have one more column, the last: the inner time at which they came (0 outside a loop). So a trace is
the nested stream itself, summed over the outer time, and not only its sum: `(row, inner time) -> weight`. It is kept
as a few sorted batches, each at least twice as large as the next. Batches never change, so that a snapshot of a trace
is its tuple of batches.

The columns are in the order in which they are looked up: a look-up gives values for the first ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tidelog.base.record import record
from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.arrays.table import Mask, Places, U, Words
from tidelog.run.columnar.functions import usual as arrays
from tidelog.run.dbsp.zsets.zset import Weights, ZSet, matches, matches_in_pieces, merged, narrowed


@record
class Found:
    """Pairs of a key and a row of a trace: places of the keys; the rows, their times and weights."""

    places: Places
    rows: Words
    times: Words
    weights: Weights


class Trace:
    """Sorted batches of timed rows of `columns` columns; `tuning` says how they are looked up."""

    __slots__ = ("batches", "columns", "tuning")

    def __init__(self, columns: int, batches: tuple[ZSet, ...] = (), tuning: Traces = DEFAULT.traces) -> None:
        self.columns = columns
        self.batches = batches
        self.tuning = tuning

    def add(self, change: ZSet, time: int) -> None:
        """Add rows that come at an inner time."""
        if len(change):
            self.push(timed(change, time))

    def push(self, batch: ZSet) -> None:
        """Add timed rows."""
        kept = list(self.batches)
        while kept and len(kept[-1]) < 2 * len(batch):
            batch = merged(kept.pop(), batch)
        if len(batch):
            kept.append(batch)
        self.batches = tuple(kept)

    def find(self, keys: Words, *, ordered: bool = False) -> Iterator[Found]:
        """Yield all rows that begin with a key, for each of the keys, in pieces of bounded size."""
        order = None
        if keys.shape[1] > self.tuning.ordered_keys and keys.shape[0] and not ordered:
            # Sorted keys are found one after another in memory.
            order = arrays(keys.shape[1]).order(narrowed(keys))
            keys = np.ascontiguousarray(keys[:, order])
        for batch in self.batches:
            for left, right in matches_in_pieces(keys, batch.rows, self.tuning.piece):
                rows = batch.rows[:, right]
                yield Found(left if order is None else order[left], rows[:-1], rows[-1], batch.weights[right])

    def among(self, keys: Words) -> ZSet:
        """Return the timed rows that begin with one of some distinct keys."""
        total = ZSet.zero(self.columns + 1)
        for batch in self.batches:
            _, right = matches(keys, batch.rows)
            if len(right):
                total += ZSet(np.ascontiguousarray(batch.rows[:, right]), batch.weights[right])
        return total

    def weights(self, rows: Words) -> Weights:
        """Return the weight of each of some rows, over all times."""
        total = np.zeros(rows.shape[1], np.int64)
        for found in self.find(rows):
            np.add.at(total, found.places, found.weights)
        return total

    def all(self) -> ZSet:
        """Return the sum over all times."""
        if not self.batches:
            return ZSet.zero(self.columns)
        rows = np.concatenate([batch.rows[:-1] for batch in self.batches], axis=1)
        return ZSet.made(rows, np.concatenate([batch.weights for batch in self.batches]))

    def __len__(self) -> int:
        return sum(map(len, self.batches))


def timed(change: ZSet, time: int) -> ZSet:
    """Return rows with a last column for the inner time."""
    return ZSet(np.concatenate((change.rows, np.full((1, len(change)), time, U))), change.weights)


def untimed(batch: ZSet, keep: Mask | None = None) -> ZSet:
    """Return timed rows summed over the inner time, all of them or those that a mask chooses."""
    chosen = batch if keep is None else batch.where(keep)
    if not len(chosen):
        return ZSet.zero(batch.columns - 1)
    return ZSet.made(chosen.rows[:-1], chosen.weights)


class Pending:
    """What operators have found for later inner times, to be given out when these come."""

    __slots__ = ("_waiting", "columns", "tuning")

    def __init__(self, columns: int, tuning: Traces = DEFAULT.traces) -> None:
        self.columns = columns
        self.tuning = tuning
        self._waiting: dict[int, list[ZSet]] = {}

    def put(self, rows: Words, weights: Weights, times: Words) -> None:
        """Keep rows for their times."""
        if not len(weights):
            return
        if (first := times[0]) == times[-1] and (times == first).all():
            self._keep(int(first), ZSet(rows, weights))
            return
        order = np.argsort(times, kind="stable")
        rows, weights, times = rows[:, order], weights[order], times[order]
        cuts = [0, *(np.flatnonzero(times[1:] != times[:-1]) + 1).tolist(), len(times)]
        for a, b in pairwise(cuts):
            self._keep(int(times[a]), ZSet(rows[:, a:b], weights[a:b]))

    def _keep(self, time: int, piece: ZSet) -> None:
        # Large pieces are reduced while they are in the cache.
        kept = piece if len(piece) < self.tuning.summed else ZSet.made(piece.rows, piece.weights)
        self._waiting.setdefault(time, []).append(kept)

    def take(self, time: int) -> ZSet:
        """Return all that was kept for a time, once."""
        pieces = self._waiting.pop(time, None)
        if not pieces:
            return ZSet.zero(self.columns)
        rows = np.concatenate([piece.rows for piece in pieces], axis=1) if len(pieces) > 1 else pieces[0].rows
        return ZSet.made(np.ascontiguousarray(rows), np.concatenate([piece.weights for piece in pieces]))

    def next(self) -> int | None:
        """Return the first time for which something is kept."""
        return min(self._waiting, default=None)

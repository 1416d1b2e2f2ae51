"""Rows by the values of some of their columns: one protocol, three structures (Shapiro paper, section 5).

| name | structure | to add or remove k of n rows | to find a key |
| --- | --- | --- | --- |
| `hash` | a dictionary of sets | k | one look-up |
| `sorted` | one sorted array, sorted again before it is searched | n | log n |
| `spine` | sorted batches that grow geometrically; a removal is a row of weight -1 | k log n | log n squared |

A key is the value of a single column, or the tuple of the values of several, in the order of the columns.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import field
from operator import itemgetter
from typing import Any, Protocol

from tidelog.base.record import record
from tidelog.run.contract.engine import Row

Key = Any
Columns = tuple[int, ...]
Ordering = Callable[[Key], Any]
"""From a key to an object whose `<` is a total order: keys of some types have none of their own."""


class Index(Protocol):
    """Distinct rows by key. What is added is not there, what is removed is."""

    def add(self, rows: Collection[Row]) -> None:
        """Take rows in."""

    def remove(self, rows: Collection[Row]) -> None:
        """Take rows out."""

    def find(self, key: Key) -> Collection[Row]:
        """Return the rows of a key. Safe for several threads at once, while nobody adds or removes."""


class HashIndex:
    """A dictionary of sets."""

    def __init__(self, columns: Columns, _ordering: Ordering) -> None:
        self._key = itemgetter(*columns)
        self._rows: dict[Key, set[Row]] = {}

    def add(self, rows: Collection[Row]) -> None:
        """Take rows in."""
        found, key = self._rows, self._key
        for row in rows:
            at = key(row)
            if at in found:
                found[at].add(row)
            else:
                found[at] = {row}

    def remove(self, rows: Collection[Row]) -> None:
        """Take rows out."""
        for row in rows:
            at = self._key(row)
            there = self._rows[at]
            there.remove(row)
            if not there:
                del self._rows[at]

    def find(self, key: Key) -> Collection[Row]:
        """Return the rows of a key."""
        return self._rows.get(key, ())


@record
class _Sorted:
    """Sorted keys and their rows, and what is still to be sorted in: rows to add, after that rows to take out."""

    keys: list[Any] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    loose: list[Row] = field(default_factory=list)
    gone: set[Row] = field(default_factory=set)


class SortedIndex:
    """One sorted array. Changes are collected and sorted in before the next search, which costs the whole array.

    The sorted array replaces the old one by one assignment: searches side by side may each sort, to the same result,
    and an interrupt finds the one or the other. A lock would stay taken when the interrupt comes as it is released.
    """

    def __init__(self, columns: Columns, ordering: Ordering) -> None:
        self._key = itemgetter(*columns)
        self._ordering = ordering
        self._array = _Sorted()

    def add(self, rows: Collection[Row]) -> None:
        """Take rows in."""
        array = self._sorted() if self._array.gone else self._array
        array.loose.extend(rows)

    def remove(self, rows: Collection[Row]) -> None:
        """Take rows out."""
        self._array.gone.update(rows)

    def find(self, key: Key) -> Collection[Row]:
        """Return the rows of a key."""
        array = self._sorted()
        wanted = self._ordering(key)
        low = bisect_left(array.keys, wanted)
        return array.rows[low : bisect_right(array.keys, wanted, low)]

    def _sorted(self) -> _Sorted:
        array = self._array
        if not array.loose and not array.gone:
            return array
        pairs = [*zip(array.keys, array.rows, strict=True), *_keyed(array.loose, self._key, self._ordering)]
        if array.gone:
            pairs = [pair for pair in pairs if pair[1] not in array.gone]
        pairs.sort(key=itemgetter(0))
        array = self._array = _Sorted([key for key, _ in pairs], [row for _, row in pairs])
        return array


@record
class _Batch:
    """Sorted keys, their rows, and whether each is there (1) or is taken from an earlier batch (-1)."""

    keys: list[Any]
    rows: list[Row]
    weights: list[int]


class SpineIndex:
    """Sorted batches, each at least twice as large as the next; a new one is merged with those near it in size."""

    def __init__(self, columns: Columns, ordering: Ordering) -> None:
        self._key = itemgetter(*columns)
        self._ordering = ordering
        self._batches: list[_Batch] = []
        self._negative = 0
        """The number of rows of weight -1."""

    def add(self, rows: Collection[Row]) -> None:
        """Take rows in."""
        self._push(rows, 1)

    def remove(self, rows: Collection[Row]) -> None:
        """Take rows out."""
        self._negative += len(rows)
        self._push(rows, -1)

    def find(self, key: Key) -> Collection[Row]:
        """Return the rows of a key."""
        wanted = self._ordering(key)
        found: list[Row] = []
        weights: list[int] = []
        for batch in self._batches:
            low = bisect_left(batch.keys, wanted)
            high = bisect_right(batch.keys, wanted, low)
            if high > low:
                found += batch.rows[low:high]
                if self._negative:
                    weights += batch.weights[low:high]
        return [row for row, weight in _summed(found, weights).items() if weight] if -1 in weights else found

    def _push(self, rows: Collection[Row], weight: int) -> None:
        if not rows:
            return
        pairs = sorted(_keyed(rows, self._key, self._ordering), key=itemgetter(0))
        batches = self._batches
        batches.append(_Batch([key for key, _ in pairs], [row for _, row in pairs], [weight] * len(pairs)))
        while len(batches) > 1 and len(batches[-2].rows) < 2 * len(batches[-1].rows):
            last = batches.pop()
            batches[-1] = self._merged(batches[-1], last)
        if not batches[-1].rows:
            batches.pop()

    def _merged(self, a: _Batch, b: _Batch) -> _Batch:
        entries = [*zip(a.keys, a.rows, a.weights, strict=True), *zip(b.keys, b.rows, b.weights, strict=True)]
        entries.sort(key=itemgetter(0))
        if self._negative:
            sums = _summed((row for _, row, _ in entries), (weight for _, _, weight in entries))
            before = sum(weight < 0 for _, _, weight in entries)
            # A row that went and came again has several entries and the weight of one.
            entries = [(key, row, left) for key, row, _ in entries if (left := sums.pop(row, 0))]
            self._negative += sum(weight < 0 for _, _, weight in entries) - before
        return _Batch([e[0] for e in entries], [e[1] for e in entries], [e[2] for e in entries])


def _keyed(rows: Iterable[Row], key: Callable[[Row], Key], ordering: Ordering) -> list[tuple[Any, Row]]:
    return [(ordering(key(row)), row) for row in rows]


def _summed(rows: Iterable[Row], weights: Iterable[int]) -> dict[Row, int]:
    sums: dict[Row, int] = {}
    for row, weight in zip(rows, weights, strict=True):
        sums[row] = sums.get(row, 0) + weight
    return sums


INDEXES: Mapping[str, Callable[[Columns, Ordering], Index]] = {
    "hash": HashIndex,
    "sorted": SortedIndex,
    "spine": SpineIndex,
}
"""The structures by the name that chooses them."""

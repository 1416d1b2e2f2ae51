"""What an open transaction would do to the facts of one relation: the last operation on a fact wins.

A relation with a primary key holds at most one row for each key. Inserting a row whose key another row has is refused
at once, naming both; an upsert replaces that row. A batch of operations is taken whole or not at all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tidelog.base.arguments import brief
from tidelog.base.errors import DataError
from tidelog.base.types import USIZE
from tidelog.base.values import AnyValue, Value
from tidelog.run.contract.engine import Delta, Row, Rows


class PendingFacts:
    """Operations on a relation without a primary key.

    Rows that go and then some that come are handed on as they came, so that columns stay columns all the way to an
    engine, and what is in a cluster stays there. A row in both comes.
    """

    def __init__(self) -> None:
        self._going: Rows = ()
        self._coming: Rows = ()
        self._present: dict[Row, bool] = {}

    def insert(self, rows: Rows) -> None:
        """Let the rows be true."""
        if not len(self._coming) and not self._present:
            self._coming = rows
        else:
            self._set(rows, present=True)

    def delete(self, rows: Rows) -> None:
        """Let the rows be false."""
        if not len(self._going) and not len(self._coming) and not self._present:
            self._going = rows
        else:
            self._set(rows, present=False)

    def clear(self, stored: Rows) -> None:
        """Let no stored row be true; `stored` are those of the last commit."""
        self._going, self._coming, self._present = stored, (), {}

    def _set(self, rows: Rows, *, present: bool) -> None:
        if not self._present:
            self._present = dict.fromkeys(self._going, False)
            self._present.update(dict.fromkeys(self._coming, True))
            self._going, self._coming = (), ()
        self._present.update(dict.fromkeys(rows, present))

    def change(self) -> Delta:
        """Return what is to be inserted and deleted."""
        if not self._present:
            return Delta(self._coming, self._going)
        inserted = [row for row, present in self._present.items() if present]
        deleted = [row for row, present in self._present.items() if not present]
        return Delta(inserted, deleted)


class PendingCopies:
    """Operations on a multiset, in which each insertion of a fact is one more, and each deletion one less.

    Copies of a fact are kept as rows with a number more, from 1; `count` tells how many are stored.
    """

    def __init__(self, count: Callable[[Row], int], show: Callable[[Row], str]) -> None:
        self._count = count
        self._show = show
        self._more: Counter[Row] = Counter()

    def insert(self, rows: Rows) -> None:
        """Let there be one more of each row."""
        self._more.update(rows)

    def delete(self, rows: Rows) -> None:
        """Let there be one less of each row."""
        self._more.subtract(Counter(rows))

    def clear(self, stored: Rows) -> None:
        """Let there be none of the stored rows, of which there is one for each copy, and nothing else."""
        self._more = Counter()
        self._more.subtract(Counter(stored))

    def change(self) -> Delta:
        """Return which copies are to be inserted and deleted."""
        inserted: list[Row] = []
        deleted: list[Row] = []
        for row, more in self._more.items():
            before = self._count(row) if more else 0
            after = before + more
            if after < 0:
                raise DataError(f"{self._show(row)} is deleted {-more} times, but it is there {before} times")
            inserted += [(*row, copy_number(n)) for n in range(before + 1, after + 1)]
            deleted += [(*row, copy_number(n)) for n in range(after + 1, before + 1)]
        return Delta(inserted, deleted)


def copies(rows: Rows) -> list[Row]:
    """Return facts of a multiset as they are stored, each with its number among equal ones."""
    return [(*row, copy_number(n)) for row, times in Counter(rows).items() for n in range(1, times + 1)]


def copy_number(number: int) -> AnyValue:
    """Return what tells a copy of a fact from the others."""
    return AnyValue(USIZE, number)


class PendingKeyed:
    """Operations on a relation with a primary key, over the rows it has by key."""

    def __init__(self, stored: Mapping[Value, Row], key: Callable[[Row], Value], show: Callable[[Row], str]) -> None:
        self._stored = stored
        self._key = key
        self._show = show
        self._over: dict[Value, Row | None] = {}

    def insert(self, rows: Rows) -> None:
        """Let the rows be true; refuse one whose key another row has."""
        batch: dict[Value, Row | None] = {}
        for row in rows:
            key = self._key(row)
            other = batch[key] if key in batch else self._current(key)
            if other is not None and other != row:
                raise DataError(
                    f"{self._show(row)} has the same primary key as {self._show(other)}; upsert replaces it"
                )
            batch[key] = row
        self._over.update(batch)

    def upsert(self, rows: Rows) -> None:
        """Let the rows be true in place of those with their keys."""
        self._over.update((self._key(row), row) for row in rows)

    def delete(self, rows: Rows) -> None:
        """Let the rows be false."""
        for row in rows:
            key = self._key(row)
            if self._current(key) == row:
                self._over[key] = None

    def delete_keys(self, keys: Iterable[Value]) -> None:
        """Let no row have one of the keys."""
        self._over.update(dict.fromkeys(keys))

    def modify(self, key: Value, change: Callable[[Row], Row]) -> None:
        """Let what a function makes of the row with a key be true in its place; refuse a key that no row has."""
        row = self._current(key)
        if row is None:
            raise DataError(f"no row has the primary key {brief(key)}; upsert would insert one")
        changed = change(row)
        if self._key(changed) != key:
            raise DataError(
                f"{self._show(changed)} has another primary key than {self._show(row)}: delete, then insert"
            )
        self._over[key] = changed

    def clear(self, stored: Rows) -> None:
        """Let no stored row be true; `stored` are those of the last commit."""
        self._over = dict.fromkeys(map(self._key, stored))

    def change(self) -> Delta:
        """Return what is to be inserted and deleted."""
        inserted: list[Row] = []
        deleted: list[Row] = []
        for key, row in self._over.items():
            stored = self._stored.get(key)
            if stored != row:
                if stored is not None:
                    deleted.append(stored)
                if row is not None:
                    inserted.append(row)
        return Delta(inserted, deleted)

    def _current(self, key: Value) -> Any:
        return self._over[key] if key in self._over else self._stored.get(key)


Pending = PendingFacts | PendingCopies | PendingKeyed

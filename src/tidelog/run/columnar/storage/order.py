"""The tuples of a relation in one order of its columns, and what an update at work does to them."""

from __future__ import annotations

from collections.abc import Callable

from tidelog.run.columnar.arrays.table import Places, Words
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import Layout, moves

Columns = tuple[int, ...]
Where = list[tuple[Batch, Places]]
"""Rows as places in batches."""


class Order:
    """The tuples of a relation sorted by its columns in one order."""

    __slots__ = ("_path", "columns", "deleted", "delta", "dying", "inserted", "layout", "removed", "settled")

    def __init__(self, columns: Columns, layout: Layout) -> None:
        self.columns = columns
        self.layout = layout
        self._path: tuple[Layout, Layout, Words] | None = None
        self.settled: list[Batch] = []
        self.inserted: list[Batch] = []
        self.delta: Batch | None = None
        self.deleted: Batch | None = None
        self.dying: Where = []
        self.removed: Where = []
        """Where the rows stand that the update at work removes in this round, and that it has removed."""

    def copy(self) -> Order:
        """Return an order whose lists can change on their own, before an update; batches are shared."""
        other = Order(self.columns, self.layout)
        other.settled, other.inserted = list(self.settled), list(self.inserted)
        other.delta, other.deleted, other._path = self.delta, self.deleted, self._path
        return other

    def path(self, main: Layout) -> Words:
        """Return the moves that make a row in this order of one in another layout; found once for two layouts."""
        known = self._path
        if known is None or known[0] is not main or known[1] is not self.layout:
            steps = moves((main.fields[column], self.layout.fields[column]) for column in self.columns)
            known = self._path = main, self.layout, steps
        return known[2]

    def change(self, by: Callable[[Batch], Batch]) -> None:
        """Replace every batch by one of the same rows."""
        made = {id(batch): by(batch) for batch in (*self.settled, *self.inserted)}
        self.settled = [made[id(batch)] for batch in self.settled]
        self.inserted = [made[id(batch)] for batch in self.inserted]
        self.dying = [(made[id(batch)], places) for batch, places in self.dying]
        self.removed = [(made[id(batch)], places) for batch, places in self.removed]
        self.delta = None if self.delta is None else by(self.delta)
        self.deleted = None if self.deleted is None else by(self.deleted)

"""A relation's tuples: sorted packed rows in geometric batches, once for each column order that is probed.

The first order, columns as declared, decides membership. `absorb` takes candidate tuples, keeps those that are new and
makes them the *delta*; the delta before it joins the batches, which merge when they come near each other in size, so
that n tuples stand in at most log n batches and each is copied log n times. Other orders are made when first asked
for, and follow.

Versions (see `plan.nodes`): `old` are the batches, `delta` the delta, `new` and `all` both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.types import Type
from tidelog.plan.nodes import Version
from tidelog.run.columnar.arrays import Words, arrays, no_rows
from tidelog.run.columnar.layout import NOTHING, Layout, Range, moves, place, range_of, roomy

Columns = tuple[int, ...]


class Order:
    """The tuples of a relation sorted by its columns in one order."""

    __slots__ = ("batches", "columns", "delta", "layout")

    def __init__(self, columns: Columns, layout: Layout) -> None:
        self.columns = columns
        self.layout = layout
        self.batches: list[Words] = []
        self.delta: Words | None = no_rows(layout.words)

    def copy(self) -> Order:
        """Return an order that can change on its own."""
        other = Order(self.columns, self.layout)
        other.batches, other.delta = list(self.batches), self.delta
        return other

    def push(self, rows: Words) -> None:
        """Add sorted rows that are not there yet."""
        if rows.shape[1] == 0:
            return
        batches = self.batches
        batches.append(rows)
        while len(batches) > 1 and batches[-2].shape[1] < 2 * batches[-1].shape[1]:
            last = batches.pop()
            batches[-1] = arrays(last.shape[1] + batches[-1].shape[1]).merge(batches[-1], last)


class Relation:
    """The tuples of one relation as codes."""

    def __init__(self, name: str, types: Sequence[Type]) -> None:
        self.name = name
        self.types = tuple(types)
        self.arity = len(self.types)
        self.observed = [NOTHING] * self.arity
        """The range of the codes in each column (never narrowed by deletions)."""
        self._room: list[Range] = roomy(self.observed)
        self._identity = tuple(range(self.arity))
        self._orders = {self._identity: Order(self._identity, self._layout(self._identity))}

    def copy(self) -> Relation:
        """Return a relation of the same tuples that can change on its own; rows are shared, they never change."""
        other = Relation(self.name, self.types)
        other.observed, other._room = list(self.observed), self._room
        other._orders = {columns: order.copy() for columns, order in self._orders.items()}
        return other

    # --- reading -----------------------------------------------------------------------------------------------------

    @property
    def main(self) -> Order:
        """The order that decides membership."""
        return self._orders[self._identity]

    @property
    def layout(self) -> Layout:
        """The layout of the rows that `absorb` takes."""
        return self.main.layout

    def count(self, version: Version = Version.ALL) -> int:
        """Return the number of tuples of a version."""
        return sum(batch.shape[1] for batch in self.batches(self.main, version))

    def order(self, bound: frozenset[int]) -> Order:
        """Return an order whose first columns are the bound ones, making one if there is none."""
        for order in self._orders.values():
            if frozenset(order.columns[: len(bound)]) == bound:
                return order
        rest = [c for c in range(self.arity) if c not in bound]
        return self.make_order((*sorted(bound), *rest))

    def make_order(self, columns: Columns) -> Order:
        """Return the order of these columns, building it from the tuples there are."""
        if columns in self._orders:
            return self._orders[columns]
        order = Order(columns, self._layout(columns))
        order.delta = None
        for batch in self.main.batches:
            order.push(self._reordered(batch, order))
        self._orders[columns] = order
        return order

    def batches(self, order: Order, version: Version) -> list[Words]:
        """Return the sorted batches that make up a version, empty ones left out."""
        found = [] if version is Version.DELTA else list(order.batches)
        if version is not Version.OLD:
            delta = order.delta
            if delta is None:
                assert self.main.delta is not None
                delta = order.delta = self._reordered(self.main.delta, order)
            if delta.shape[1]:
                found.append(delta)
        return found

    def rows(self, version: Version = Version.ALL) -> Words:
        """Return the packed rows of a version, sorted."""
        batches = self.batches(self.main, version)
        if len(batches) == 1:
            return batches[0]
        if not batches:
            return no_rows(self.layout.words)
        together = np.concatenate(batches, axis=1)
        return arrays(together.shape[1]).sort(together)

    # --- changing ----------------------------------------------------------------------------------------------------

    def admit(self, needed: Sequence[Range]) -> None:
        """Make room for codes of these ranges in each column; packed rows taken before are then void."""
        if all(room.covers(codes) for room, codes in zip(self._room, needed, strict=True)):
            return
        wanted = [o.join(n) for o, n in zip(self.observed, needed, strict=True)]
        self._room = roomy(wanted)
        for columns, order in self._orders.items():
            layout = self._layout(columns)
            steps = moves((order.layout.fields[c], layout.fields[c]) for c in columns)
            zero = layout.constant({})
            order.batches = [arrays(b.shape[1]).move(b, steps, zero) for b in order.batches]
            if order.delta is not None:
                order.delta = arrays().move(order.delta, steps, zero)
            order.layout = layout

    def absorb(self, bags: Sequence[Words]) -> int:
        """Let the last delta join the batches; make the tuples of the bags that are new the delta; count them."""
        self.settle()
        together = np.concatenate(bags, axis=1) if len(bags) > 1 else bags[0] if bags else no_rows(self.layout.words)
        table = arrays(together.shape[1])
        fresh = table.unique(table.sort(together))
        for batch in self.main.batches:
            fresh = table.without(fresh, batch)
        if fresh.shape[1] < together.shape[1]:
            fresh = fresh.copy()
        self._set_delta(fresh)
        return int(fresh.shape[1])

    def settle(self) -> None:
        """Let the delta join the batches; it is empty then."""
        delta = self.main.delta
        assert delta is not None
        if delta.shape[1] == 0:
            return
        for order in self._orders.values():
            order.push(self.batches(order, Version.DELTA)[0])
        self._set_delta(no_rows(self.layout.words))

    def replace(self, rows: Words) -> None:
        """Hold exactly these sorted distinct rows, all as batches."""
        for order in self._orders.values():
            order.batches = []
        self._set_delta(rows)
        self.settle()

    def _set_delta(self, rows: Words) -> None:
        for order in self._orders.values():
            order.delta = None
        self.main.delta = rows
        for column in self._identity:
            self.observed[column] = self.observed[column].join(range_of(self.layout.codes(rows, column)))

    def _layout(self, columns: Columns) -> Layout:
        return place((column, self._room[column]) for column in columns)

    def _reordered(self, rows: Words, order: Order) -> Words:
        table = arrays(rows.shape[1])
        steps = moves((self.layout.fields[c], order.layout.fields[c]) for c in order.columns)
        return table.sort(table.move(rows, steps, order.layout.constant({})))

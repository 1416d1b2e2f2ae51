"""A relation's tuples: sorted packed rows in geometric batches, once for each column order that is probed.

The first order, columns as declared, decides membership and holds the counts of derivations. Other orders are made when
first asked for, and follow. During an update a relation keeps apart what changes: rows that are removed keep their
place and are marked, rows that become true stand in `inserted`, those of the current round in the `delta`. A `View`
says which of these a scan sees. `finish` ends the update: removed rows are garbage, inserted rows join the batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from tidelog.base.process.lock import Lock
from tidelog.base.types import Type
from tidelog.run.columnar.arrays.table import Places, Words, chosen, no_rows
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.kernels.ranks import NONE_LIFTED
from tidelog.run.columnar.storage.batch import Batch, Journal, condensed, merge, push
from tidelog.run.columnar.storage.layout import NOTHING, Layout, Range, moves, place, roomy
from tidelog.run.columnar.storage.lazy import LazyBatch
from tidelog.run.columnar.storage.order import Columns, Order, Where
from tidelog.run.contract.phase import Support
from tidelog.run.phases import ALIVE, CURRENT, DYING, GARBAGE, REMOVED, View

LINES = {Support.NONE: 0, Support.RANKED: 2, Support.FIRST: 1, Support.COUNTED: 2}
"""How many counts a tuple has under each kind of support."""


class Relation:
    """The tuples of one relation as codes, with the support that is kept of each."""

    def __init__(self, name: str, types: Sequence[Type], arrays: Arrays, *, support: Support = Support.NONE) -> None:
        self.name = name
        self.arrays = arrays
        self.types = tuple(types)
        self.arity = len(self.types)
        self.support = support
        self.counted = True
        """Whether the derivations of all tuples are counted; otherwise the counts of some are `lines.UNCOUNTED`."""
        self.lines = LINES[support]
        """How many counts are kept of a tuple: its support, and perhaps all its derivations."""
        self.derived = 0
        """How many derivations its evaluation from scratch has found."""
        self.observed: tuple[Range, ...] = (NOTHING,) * self.arity
        """The range of the codes in each column (never narrowed by deletions); replaced only when it grows."""
        self._wanted = list(self.observed)
        self._room: list[Range] = roomy(self._wanted)
        identity = tuple(range(self.arity))
        self.main = Order(identity, self._layout(identity))
        """The order that decides membership."""
        self.main.delta = self.nothing()
        self.orders = {identity: self.main}
        self._serving: dict[frozenset[int], Columns] = {}
        """Which order serves probes of these columns; copies share it."""
        self.highest = 0
        """No tuple has a greater rank."""
        self.lowest = NONE_LIFTED
        """Which ranks between levels its tuples may have; replaced when that changes."""
        self._final: LazyBatch | None = None
        self._ordering = Lock()
        self.planned: Callable[[], Sequence[Columns]] = tuple
        """The orders that serve all probes of the program (`plan.join.choose_indexes`); each is made when first
        probed."""

    def copy(self) -> Relation:
        """Return a relation of the same tuples whose batches can be replaced on their own."""
        orders = {columns: order.copy() for columns, order in self.orders.items()}
        other = Relation.__new__(Relation)
        vars(other).update(vars(self), orders=orders, main=orders[self.main.columns])
        return other

    def apart(self, name: str) -> Relation:
        """Return a relation of another name that holds the same tuples now, and shares nothing that changes."""
        other = Relation(name, self.types, self.arrays, support=self.support)
        other.admit(self.observed)
        steps = moves((self.layout.fields[c], other.layout.fields[c]) for c in range(self.arity))
        held = self.gathered()
        rows = self.arrays(held.size).move(held.rows, steps, other.layout.constant({}))
        other.set_delta(other.stated(rows))
        other.settle()
        return other

    def divided(self, columns: Columns) -> Relation:
        """Return a relation whose deletions are this one's in some columns, each combination once; others are blank."""
        other = Relation(self.name, self.types, self.arrays)
        other.admit([codes if column in columns else NOTHING for column, codes in enumerate(self.observed)])
        steps = moves((self.layout.fields[c], other.layout.fields[c]) for c in columns)
        rows = self._deleted(self.main).rows
        table = self.arrays(rows.shape[1])
        other.set_deleted(table.unique(table.sort(table.move(rows, steps, other.layout.constant({})))).copy())
        return other

    # --- reading -----------------------------------------------------------------------------------------------------

    @property
    def layout(self) -> Layout:
        """The layout of rows in the order that decides membership."""
        return self.main.layout

    def nothing(self) -> Batch:
        """Return a batch without rows."""
        return self.stated(no_rows(self.layout.words))

    def stated(self, rows: Words) -> Batch:
        """Return sorted rows as stored facts, which stand by themselves: nothing is counted."""
        return Batch(rows, None if self.support is Support.NONE else 0)

    def counts(self, size: int, value: int) -> Places | None:
        """Return counts for `size` tuples, all the same; None if none are kept."""
        return np.full((self.lines, size), value, np.int64) if self.lines else None

    def order(self, bound: frozenset[int]) -> Order:
        """Return an order whose first columns are the bound ones, making one if there is none."""
        columns = self._serving.get(bound)
        found = None if columns is None else self.orders.get(columns)
        return self._find_order(bound) if found is None else found

    def _find_order(self, bound: frozenset[int]) -> Order:
        with self._ordering.held():
            rest = [c for c in range(self.arity) if c not in bound]
            candidates = (*self.orders, *self.planned(), (*sorted(bound), *rest))
            columns = next(columns for columns in candidates if frozenset(columns[: len(bound)]) == bound)
            order = self.make_order(columns)
            self._serving[bound] = columns
            return order

    def led_by(self, columns: Columns) -> Order | None:
        """Return an order that begins with these columns, if there is one."""
        return next((order for order in self.orders.values() if order.columns[: len(columns)] == columns), None)

    def make_order(self, columns: Columns) -> Order:
        """Return the order of these columns, building it from the tuples there are."""
        if columns in self.orders:
            return self.orders[columns]
        order = Order(columns, self._layout(columns))
        order.settled = [self._reordered(batch, order) for batch in self.main.settled]
        order.inserted = [self._reordered(batch, order) for batch in self.main.inserted]
        if self.main.dying or self.main.removed:
            marked = [batch for batch in order.settled if batch.mark is not None]
            order.dying = [(batch, np.flatnonzero(batch.marks() == DYING)) for batch in marked]
            order.removed = [(batch, np.flatnonzero(batch.marks() == REMOVED)) for batch in marked]
        self.orders[columns] = order
        return order

    def batches(self, order: Order, view: View) -> list[tuple[Batch, int]]:
        """Return the batches of a view that have rows, each with the greatest mark that is seen."""
        found: list[tuple[Batch, int]] = []
        if view.limit >= 0:
            found += [(batch, view.limit) for batch in order.settled]
        if view.inserted:
            found += [(batch, ALIVE) for batch in order.inserted]
        if view.delta and (delta := self._delta(order)).size:
            found.append((delta, GARBAGE))
        if view.deleted and (deleted := self._deleted(order)).size:
            found.append((deleted, GARBAGE))
        return found

    def count(self) -> int:
        """Return the number of tuples there are now."""
        delta = self._delta(self.main)
        count = delta.size - delta.gone
        for batch in (*self.main.settled, *self.main.inserted):
            count += batch.size - batch.gone
        return count

    def is_empty(self, view: View) -> bool:
        """Tell whether a view surely has no tuple."""
        main = self.main
        if (view.limit >= 0 and main.settled) or (view.inserted and main.inserted):
            return False
        if view.delta and main.delta is not None and main.delta.size:
            return False
        return not (view.deleted and main.deleted is not None and main.deleted.size)

    @property
    def is_still(self) -> bool:
        """Whether the update at work has done nothing to it so far."""
        main, delta = self.main, self.main.delta
        changed = main.inserted or main.removed or main.dying or main.deleted is not None
        return not changed and (delta is None or not delta.size)

    def rows(self, view: View = CURRENT) -> Words:
        """Return the packed rows of a view, sorted."""
        return self.gathered(view, bare=True).rows

    def gathered(self, view: View = CURRENT, *, bare: bool = False) -> Batch:
        """Return the tuples of a view as one batch without marks, perhaps without what is known of them either."""
        found: list[Batch] = []
        for batch, limit in self.batches(self.main, view):
            push(found, batch.seen(limit, bare=bare), self.arrays)
        while len(found) > 1:
            last = found.pop()
            found[-1] = merge(found[-1], last, self.arrays)
        return found[0] if found else self.nothing()

    def locate(self, order: Order, rows: Words, limit: int) -> Iterator[tuple[Batch, Places, Places]]:
        """Yield batches that hold some of the sorted rows with a mark up to a limit: places in rows, in the batch."""
        yield from self._located((*order.settled, *order.inserted), rows, limit)

    def _located(self, batches: Sequence[Batch], rows: Words, limit: int) -> Iterator[tuple[Batch, Places, Places]]:
        if not rows.shape[1]:
            return
        table = self.arrays(rows.shape[1])
        for batch in batches:
            low, high, total = table.ranges(
                rows, batch.rows, rows.shape[0], 64, batch.fence(rows.shape[1], self.arrays)
            )
            if not total:
                continue
            found = np.flatnonzero(high > low)
            if batch.mark is not None:
                found = found[batch.mark[low[found]] <= limit]
            if len(found):
                yield batch, found, low[found]

    # --- changing ----------------------------------------------------------------------------------------------------

    def has_room(self, needed: Sequence[Range]) -> bool:
        """Tell whether codes of these ranges fit in each column as it is."""
        return all(room.covers(codes) for room, codes in zip(self._room, needed, strict=True))

    def want(self, needed: Sequence[Range]) -> None:
        """Let every layout to come have room for codes of these ranges in each column."""
        self._wanted = [w.join(n) for w, n in zip(self._wanted, needed, strict=True)]

    def admit(self, needed: Sequence[Range]) -> None:
        """Make room for codes of these ranges in each column; packed rows taken before are then void."""
        self.want(needed)
        if self.has_room(needed):
            return
        # Neither what is here may get lost, nor rows on their way that were packed for ranges admitted before.
        self.want(self.observed)
        self._room = roomy(self._wanted)
        for columns, order in self.orders.items():
            layout = self._layout(columns)
            steps = moves((order.layout.fields[c], layout.fields[c]) for c in columns)
            zero = layout.constant({})
            order.change(lambda batch, steps=steps, zero=zero: batch.moved(steps, zero, self.arrays))  # type: ignore[misc]
            order.layout = layout

    def hold(self, batch: Batch, observed: Sequence[Range]) -> None:
        """Hold sorted distinct rows, in the layout of the relation, beside what it holds; codes are of these ranges."""
        if batch.size:
            self.main.settled.insert(0, batch)
            self.observed = tuple(mine.join(codes) for mine, codes in zip(self.observed, observed, strict=True))

    def contains(self, codes: Mapping[int, int]) -> bool:
        """Tell whether a tuple of codes is here now."""
        key = self.layout.constant(codes)  # type: ignore[arg-type]
        for batch in (*self.main.settled, *self.main.inserted):
            known = batch.has(codes) if isinstance(batch, LazyBatch) and batch.mark is None else None
            if known:
                return True
            if known is None and next(self._located((batch,), key, ALIVE), None) is not None:
                return True
        return False

    def set_delta(self, batch: Batch) -> None:
        """Make sorted distinct rows, in the layout of the relation, the delta."""
        if not batch.size and self.main.delta is not None and not self.main.delta.size:
            return  # most relations of a stratum have none in most rounds
        for order in self.orders.values():
            order.delta = None
        self.main.delta = batch
        self._observe(batch.rows)

    def settle(self) -> None:
        """Let the delta join the settled batches; it is empty then."""
        self._take_delta(lambda order: order.settled)

    def insert(self) -> None:
        """Let the delta join the rows inserted by this update; it is empty then."""
        self._take_delta(lambda order: order.inserted)

    def _take_delta(self, target: Callable[[Order], list[Batch]]) -> None:
        if self._delta(self.main).size == 0:
            return
        for order in self.orders.values():
            push(target(order), self._delta(order), self.arrays)
        self.set_delta(self.nothing())

    def take_away(self, rows: Words, to: int, journal: Journal, where: Where | None = None) -> None:
        """Mark sorted rows that hold as `DYING` or `REMOVED` in every order; `where` they stand in the main one."""
        if not rows.shape[1]:
            return
        for order in self.orders.values():
            if order is self.main and where is not None:
                found = where
            else:
                located = self.locate(order, self._translated(rows, order), ALIVE)
                found = [(batch, places) for batch, _, places in located]
            for batch, places in found:
                journal.mark(batch, places, to)
            (order.dying if to == DYING else order.removed).extend(found)

    def remove_dying(self, journal: Journal) -> None:
        """Let the rows that are dying be removed, in every order."""
        for order in self.orders.values():
            for batch, places in order.dying:
                journal.mark(batch, places, REMOVED)
            order.removed += order.dying
            order.dying = []

    def removed(self, *, derived: bool = False) -> Words:
        """Return the rows that this update has removed and that did not come back; those that can, if `derived`.

        Where derivations are counted, a row that has none left cannot.
        """
        found: list[Words] = []
        for batch, places in self.main.removed:
            gone = places[batch.marks()[places] == REMOVED]
            if derived and batch.counts is not None and len(batch.counts) > 1:
                gone = gone[batch.counts[1, gone] > 0]
            found.append(batch.rows[:, gone])
        if not found:
            return no_rows(self.layout.words)
        rows = np.concatenate(found, axis=1)
        table = self.arrays(rows.shape[1])
        return table.unique(table.sort(rows)).copy()

    def left_over(self) -> tuple[Words, Places]:
        """Return the rows that this update has removed and that have derivations left, and how many."""
        rows: list[Words] = [no_rows(self.layout.words)]
        times: list[Places] = [np.empty(0, np.int64)]
        for batch, places in self.main.removed:
            assert batch.counts is not None
            left = batch.counts[1, places]
            rows.append(batch.rows[:, places[left > 0]])
            times.append(left[left > 0])
        return np.concatenate(rows, axis=1), np.concatenate(times)

    def rerank(self, batch: Batch, journal: Journal) -> None:
        """Let removed rows hold again, with the rank and counts of a batch, in every order."""
        for order in self.orders.values():
            again = batch if order is self.main else self._reordered(batch, order)
            for found, places, targets in self.locate(order, again.rows, REMOVED):
                journal.mark(found, targets, ALIVE)
                if again.rank is not None:
                    journal.write(found.ranks(), targets, again.ranks()[places])
                if found.counts is not None and again.counts is not None:
                    for line, counts in enumerate(found.counts):
                        journal.write(counts, targets, again.counts[line, places])

    def set_deleted(self, rows: Words) -> None:
        """Make sorted rows that this update has removed the view `deleted`."""
        if not rows.shape[1] and self.main.deleted is None:
            return
        for order in self.orders.values():
            order.deleted = None
        self.main.deleted = Batch(rows)
        self._observe(rows)

    def _observe(self, rows: Words) -> None:
        if not rows.shape[1]:
            return
        low, high = self.arrays(rows.shape[1]).extents(rows, self.layout.lines)
        for known, least, greatest in zip(self.observed, low.tolist(), high.tolist(), strict=True):
            if least < known.low or greatest > known.high:
                found = (Range(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True))
                self.observed = tuple(known.join(codes) for known, codes in zip(self.observed, found, strict=True))
                return

    def differ(self, before: Words) -> None:
        """Let what is held be what an update has made of sorted rows: it inserted some tuples, and deleted others."""
        batch = self.gathered()
        low, high, _ = self.arrays(batch.size).ranges(before, batch.rows, before.shape[0], 64)
        new = np.ones(batch.size, bool)
        new[low[high > low]] = False
        inserted, deleted = batch.taken(new), chosen(before, high == low)
        counts = self.counts(deleted.shape[1], 0)
        gone = Batch(deleted, None if counts is None else 0, counts, np.full(deleted.shape[1], REMOVED, np.uint8))
        self.main.settled = [batch] if batch.size else []
        for order in self.orders.values():
            more, less = (part if order is self.main else self._reordered(part, order) for part in (inserted, gone))
            if more.size:
                order.settled = [kept for held in order.settled if (kept := held.without(more.rows, self.arrays)).size]
                order.inserted = [more]
            if less.size:
                order.settled.append(less)
                order.removed.append((less, np.arange(less.size)))
        self.set_deleted(deleted)

    def exchange(
        self, deleted: Batch, inserted: Batch, journal: Journal, whole: tuple[LazyBatch, Sequence[Range]] | None = None
    ) -> None:
        """Take sorted rows that hold away and add others.

        If nobody has read the rows so far, none are written: `whole` is all that there will be, with the ranges of its
        codes, and takes their place when the update ends, unless they were read until then.
        """
        main = self.main
        unread = all(isinstance(batch, LazyBatch) and not batch.written for batch in main.settled)
        if whole is None or not unread or len(self.orders) > 1 or len(main.settled) > 1:
            self.take_away(deleted.rows, REMOVED, journal)
            self.set_deleted(deleted.rows)
            self.set_delta(inserted)
            self.insert()
            return
        self.observed = tuple(mine.join(codes) for mine, codes in zip(self.observed, whole[1], strict=True))
        if deleted.size:
            (old,) = main.settled
            size = old.size - deleted.size
            kept = LazyBatch(size, lambda: self.arrays(old.size).without(old.rows.copy(), deleted.rows))
            gone = LazyBatch(deleted.size, lambda: deleted.rows, mark=np.full(deleted.size, REMOVED, np.uint8))
            main.settled = [kept, gone]
            main.removed = [(gone, np.arange(deleted.size))]
        main.deleted = deleted
        main.inserted = [inserted] if inserted.size else []
        self._final = whole[0]

    def _become_final(self) -> bool:
        """Hold what there will be instead of what there was and how it changed, if nobody has read that."""
        final, self._final = self._final, None
        read = len(self.orders) > 1 or any(isinstance(b, LazyBatch) and b.written for b in self.main.settled)
        if final is None or read:
            return False
        self.main.settled, self.main.inserted = [final] if final.size else [], []
        self.main.removed, self.main.deleted = [], None
        return True

    def all_is_new(self) -> None:
        """Let the tuples held be those that this update has inserted: there was none before."""
        for order in self.orders.values():
            order.settled, order.inserted = [], order.settled

    def finish(self, journal: Journal) -> None:
        """End an update: removed rows become garbage, inserted rows join the batches."""
        if self._become_final():
            return
        if self.is_still:
            for order in self.orders.values():
                for batch in order.settled:
                    batch.reduced = None
            return
        self.insert()
        for order in self.orders.values():
            for batch, places in order.removed:
                journal.mark(batch, places[batch.marks()[places] == REMOVED], GARBAGE)
            order.removed = []
            if self.support is not Support.NONE:
                order.settled = condensed([*order.settled, *order.inserted], self.arrays)
            else:
                for batch in order.inserted:
                    push(order.settled, batch, self.arrays)
            order.inserted = []
            order.deleted = None
            order.settled = [kept for batch in order.settled if (kept := batch.compacted(self.arrays)).size]
            for batch in order.settled:
                batch.reduced = None

    # --- orders ------------------------------------------------------------------------------------------------------

    def _delta(self, order: Order) -> Batch:
        found = order.delta
        if found is None:
            assert self.main.delta is not None
            # Rules evaluated side by side may each make it. That takes no longer than to wait for the other, and a lock
            # would take longer than most deltas do.
            found = order.delta = self._reordered(self.main.delta, order)
        return found

    def _deleted(self, order: Order) -> Batch:
        if self.main.deleted is None:
            return self.nothing()
        if order.deleted is None:
            order.deleted = self._reordered(self.main.deleted, order)
        return order.deleted

    def _layout(self, columns: Columns) -> Layout:
        return place((column, self._room[column]) for column in columns)

    def _reordered(self, batch: Batch, order: Order) -> Batch:
        return batch.reordered(order.path(self.layout), order.layout.constant({}), self.arrays)

    def _translated(self, rows: Words, order: Order) -> Words:
        return rows if order is self.main else self._reordered(Batch(rows), order).rows

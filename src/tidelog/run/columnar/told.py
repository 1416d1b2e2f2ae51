"""What `kernels.rounds` is told of a stratum: its variants, and the batches that their steps see, as lines of numbers.

The addresses hold as long as the relations are left alone. Marks of batches that have none are lent: where the kernel
has used them, the batch takes them over (`take_marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tidelog.plan.nodes import AntiJoin, Rule, Scan
from tidelog.run.columnar.arrays import Marks, Words
from tidelog.run.columnar.batch import Batch
from tidelog.run.columnar.forms import Forms, Line
from tidelog.run.columnar.kernels import lines
from tidelog.run.columnar.layout import moves
from tidelog.run.columnar.relation import Order, Relation, Where
from tidelog.run.contract import Phase
from tidelog.run.phases import ALIVE, REMOVED, View

if TYPE_CHECKING:
    from tidelog.run.columnar.store import Store

Numbers = npt.NDArray[np.int64]


class Told:
    """The lines of a stratum in a phase, and room for so many recent tuples of each of its relations."""

    def __init__(self, store: Store, rules: Sequence[Rule], room: int) -> None:
        self._store = store
        self._losing = store.phase is Phase.DELETE
        self.relations = [store.relation(name) for name in sorted(store.members)]
        self._places = {relation.name: place for place, relation in enumerate(self.relations)}
        self._variants: list[Line] = []
        self._steps: list[Line] = []
        self._fields: list[Line] = []
        self._batches: list[Line] = []
        self._seen: dict[tuple[int, View], tuple[int, int]] = {}
        self._recent: list[tuple[int, Order]] = []
        """The lines that are the recent tuples in an order."""
        self._held: dict[int, Batch] = {}
        """The batches in which tuples may die, by their lines."""
        self._lent: dict[int, Marks] = {}
        self._depth, self._wide = 0, 1
        blocked = {name for rule in rules for name in self._tell_rule(rule)}
        self.orders = [(place, order) for place, one in enumerate(self.relations) for order in one.orders.values()]
        """The orders of all relations, the main one of each first."""
        self.width = max(order.layout.words for _, order in self.orders)
        self.sorted = np.empty((len(self.orders), self.width + 1, room), np.uint64)
        """Recent tuples in each order, with their places behind them."""
        self.lines = self._tell_members(blocked)

    def shape(self, largest: int) -> tuple[int, int, int]:
        """Return how many steps a variant has at most, how many words a key, and how many rows a round looks at."""
        return self._depth, self._wide, 8 * largest

    def orders_of(self, place: int) -> list[tuple[int, Order]]:
        """Return the orders of a relation with their numbers, the main one first."""
        return [(number, order) for number, (owner, order) in enumerate(self.orders) if owner == place]

    @property
    def held(self) -> list[Batch]:
        """The batches in which tuples may die."""
        return list(self._held.values())

    @property
    def kept(self) -> list[Any]:
        """What must stay where it is while addresses are in use."""
        return [self._lent, *(batch.counts for batch in self.held)]

    def take_marks(self) -> list[Batch]:
        """Let batches have the marks that the kernel has made; return these batches."""
        gone = {line: count for line in self._held if (count := int(self.lines[3][line, lines.GONE]))}
        for line, count in gone.items():
            batch = self._held[line]
            batch.mark = self._marks(batch)
            batch.gone += count
        return [self._held[line] for line in gone]

    def _marks(self, batch: Batch) -> Marks:
        """Return the marks of a batch, or some that it may have."""
        if batch.mark is not None:
            return batch.mark
        return self._lent.setdefault(id(batch), np.zeros(batch.size, np.uint8))

    def places(self, where: Numbers) -> Where:
        """Return the rows that stand in some lines at some places."""
        found: Where = []
        for line in np.unique(where[:, 0]).tolist():
            found.append((self._held[line], where[where[:, 0] == line, 1]))
        return found

    # --- variants ----------------------------------------------------------------------------------------------------

    def _tell_rule(self, rule: Rule) -> list[str]:
        """Tell the variants of a rule; return the relations whose delta is read by variants that cannot be told."""
        blocked: list[str] = []
        for variant in rule.variants:
            if variant.delta is None or rule.reads[variant.delta] not in self._places:
                continue
            course = self._store.orders.best(rule, variant.tree, self._store.relation)
            if course.forms is None:
                blocked.append(rule.reads[variant.delta])
            else:
                self._tell_variant(rule, course.forms)
        return blocked

    def _tell_variant(self, rule: Rule, forms: Forms) -> None:
        first = len(self._steps)
        delta, *links = forms.links
        assert isinstance(delta.step, Scan)
        member, head = self._places[delta.step.relation], self._places[rule.head]
        for place, link in enumerate(links, 1):
            step = link.step
            scan = step.right if isinstance(step, AntiJoin) else step
            assert isinstance(scan, Scan)
            self._tell_step(rule, forms, place, scan, anti=scan is not step)
        self._depth = max(self._depth, len(links))
        bound = self._add(forms.form(0, self.relations[member].layout).new)
        given = self._add(forms.head(self.relations[head].layout))
        self._variants.append((member, first, len(self._steps), head, *bound, *given))

    def _tell_step(self, rule: Rule, forms: Forms, place: int, scan: Scan, *, anti: bool) -> None:
        store, own = self._store, scan.relation in self._places
        relation, view = store.relation(scan.relation), store.view(scan, rule, negated=anti)
        order = relation.order(forms.links[place].probe.columns)
        form = forms.form(place, order.layout)
        self._wide = max(self._wide, form.full + 1)
        batches = self._see(relation, order, View(view.limit, view.inserted) if own else view, own=own)
        key, new = self._add(form.key), self._add(form.new)
        old = own and not view.delta
        self._steps.append((anti, *batches, form.full, form.shift, *key, *new, old, own))

    def _see(self, relation: Relation, order: Order, view: View, *, own: bool) -> tuple[int, int]:
        """Tell the batches of a view, once; return the lines."""
        key = id(order), view
        found = self._seen.get(key)
        if found is None:
            start, dying = len(self._batches), own and self._losing
            for batch, limit in relation.batches(order, view):
                self._batches.append(_line(batch, self._marks(batch) if dying else batch.mark, limit))
            if own and not self._losing:
                self._recent.append((len(self._batches), order))
                self._batches.append((0,) * lines.BATCH)
            found = self._seen[key] = start, len(self._batches)
        return found

    def _add(self, fields: Sequence[Line]) -> tuple[int, int]:
        start = len(self._fields)
        self._fields += fields
        return start, len(self._fields)

    # --- members -----------------------------------------------------------------------------------------------------

    def _tell_members(self, blocked: set[str]) -> tuple[Numbers | Words, ...]:
        """Tell the relations of the stratum and their orders; return all lines."""
        orders: list[Line] = []
        paths: list[Words] = []
        for place, order in self.orders:
            relation, start, held = self.relations[place], sum(map(len, paths)), len(self._batches)
            paths.append(moves((relation.layout.fields[c], order.layout.fields[c]) for c in order.columns))
            if self._losing or order is relation.main:
                self._hold(order)
            orders.append((order.layout.words, start, start + len(paths[-1]), held, len(self._batches)))
        members: list[Line] = []
        for place, relation in enumerate(self.relations):
            numbers = [number for number, _ in self.orders_of(place)]
            members.append((relation.layout.words, numbers[0], numbers[-1] + 1, relation.name in blocked))
        for at, order in self._recent:
            self._batches[at] = self._recent_line(order)
        fields = np.array(self._fields, np.uint64).reshape(len(self._fields), 6)
        return (
            *(_numbers(self._variants, 8), _numbers(self._steps, 11), fields, _numbers(self._batches, lines.BATCH)),
            *(_numbers(members, 4), _numbers(orders, 5), np.concatenate(paths)),
        )

    def _hold(self, order: Order) -> None:
        """Tell the batches of an order, among which tuples are looked for by themselves."""
        for batch in (*order.settled, *order.inserted):
            if self._losing:
                self._held[len(self._batches)] = batch
                self._batches.append(_line(batch, self._marks(batch), REMOVED))
            else:
                self._batches.append(_line(batch, batch.mark, ALIVE))

    def _recent_line(self, order: Order) -> Line:
        """Return the line of the recent tuples in an order; behind each row stands its place in the table."""
        number, member = next((n, place) for n, (place, other) in enumerate(self.orders) if other is order)
        room = self.sorted[number]
        behind = order.layout.words * room.strides[0]
        return _address(room), room.strides[0], 0, 0, 0, 0, 0, member, 0, behind, 0, 0


def _line(batch: Batch, marks: Marks | None, limit: int) -> Line:
    """Return the line of a batch."""
    rows, counts = batch.rows, batch.counts
    assert rows.strides[1] == rows.itemsize or batch.size < 2, "rows stand side by side"
    ranks = (_address(batch.rank), 0) if isinstance(batch.rank, np.ndarray) else (0, batch.rank or 0)
    counted = (0, 0, 0)
    if counts is not None:
        counted = _address(counts), counts.strides[0] if len(counts) > 1 else 0, counts.strides[1]
    where = _address(rows), rows.strides[0], batch.size, 0 if marks is None else _address(marks)
    return *where, limit, *ranks, -1, *counted, 0


def _address(array: npt.NDArray[Any]) -> int:
    where: int = array.__array_interface__["data"][0]  # a third of what `ctypes.data` costs
    return where


def _numbers(found: Sequence[Line], width: int) -> Numbers:
    return np.array(found, np.int64).reshape(len(found), width)

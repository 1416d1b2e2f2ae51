"""Rounds of a few tuples by one call of the virtual machine: its inputs, and taking over what it did.

    Seen(c, n, e, k) :- Seen(d, m, e, k), Next(c, n, d, m), Remove(d, m).       14,000 rounds of some ten tuples

Evaluated by array functions a round costs what they cost around their kernels, however few the tuples are. While deltas
are small, the machine does rounds tuple at a time, as many as it has room for. It runs join plans that have
instructions, and stops before a delta that another variant reads. `Store.derive`, `absorb` and `release` are its slow
twin. Where a phase begins with few derivations it also absorbs or releases these, so that they are looked for once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import numpy as np

from tidelog.base.tuning.table import Tuning
from tidelog.plan.nodes import Rule
from tidelog.run.columnar.arrays.table import CompiledArrays, Mask, Words, chosen
from tidelog.run.columnar.cost import SHIFTED, SHORT
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.kernels.ranks import lowest_of
from tidelog.run.columnar.machine.inputs import Inputs
from tidelog.run.columnar.machine.instructions import Numbers
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.state import Bounds, Derivations, Log, Recent
from tidelog.run.columnar.machine.program import program_of
from tidelog.run.columnar.machine.workbench import give_back
from tidelog.run.columnar.rules.bag import Bags
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.batch import Log as Overwritten
from tidelog.run.columnar.storage.order import Order
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.store import Store
from tidelog.run.columnar.support.absorb import in_layout, make_room
from tidelog.run.columnar.support.lifting import lifts, settles
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.limits import analysis


class RecentTuples:
    """Tuples of each relation of a stratum as they came, with rank and support: those of the delta come last."""

    def __init__(self, inputs: Inputs, *, boot: bool) -> None:
        self._inputs, self._boot, self.arrays = inputs, boot, inputs.workbench.recent
        arrays = self.arrays
        arrays.begun[:] = 0
        for place, relation in enumerate(inputs.relations):
            delta = relation.main.delta
            assert delta is not None
            size = arrays.end[place] = delta.size
            if not size:
                continue
            arrays.rows[place, : delta.rows.shape[0], :size] = delta.rows
            arrays.ranks[place, :size] = 0 if delta.rank is None else delta.rank
            counts = (0, 0) if delta.counts is None else (delta.counts[0], delta.counts[-1])
            arrays.support[place, :size], arrays.every[place, :size] = counts

    def parts(self, place: int) -> tuple[list[tuple[Order, Batch]], Batch]:
        """Return those of a relation that were the delta of a round, in each order, and those that are it now."""
        relation, size, ordered = self._inputs.relations[place], self.arrays.end[place], self.arrays.sorted
        older: list[tuple[Order, Batch]] = []
        delta: Batch | None = None
        for number, order in self._inputs.orders_of(place):
            words, main = order.layout.words, order is relation.main
            rows, which = ordered[number, :words, :size], ordered[number, words, :size]
            old = which < self.arrays.begun[place]
            older.append((order, self._batch(place, rows, which, old, main=main)))
            delta = self._batch(place, rows, which, ~old, main=main) if main else delta
        assert delta is not None
        return older, delta

    def _batch(self, place: int, rows: Words, which: Words, picked: Mask, *, main: bool) -> Batch:
        relation, rows = self._inputs.relations[place], chosen(rows, picked)
        if relation.support is Support.NONE:
            return Batch(rows)
        these = which[picked].astype(np.int64)
        if self._boot and not relation.counted:
            return Batch(rows, self.arrays.ranks[place, these].astype(np.int32))
        kept = relation.counts(0, 0)
        both = (self.arrays.support[place, these], self.arrays.every[place, these])
        counts = None if kept is None or not main else np.stack(both[: len(kept)])
        return Batch(rows, self.arrays.ranks[place, these].astype(np.int32), counts)


def _given(inputs: Inputs, bags: Bags, arrays: Arrays) -> Derivations:
    """Return the derivations that a phase begins with, brought together."""
    those = [(place, bag) for place, one in enumerate(inputs.relations) for bag in bags.get(one.name, ())]
    size = sum(bag.rows.shape[1] for _, bag in those)
    given = Derivations(np.zeros((size, inputs.width), np.uint64), *np.empty((3, size), np.int64))
    start = 0
    for place, bag in those:
        layout = inputs.relations[place].layout
        end = start + bag.rows.shape[1]
        given.rows[start:end, : layout.words] = in_layout(bag, layout, arrays).T
        given.ranks[start:end] = 0 if bag.rank is None else bag.rank
        given.members[start:end] = place
        given.times[start:end] = 1 if bag.times is None else bag.times
        start = end
    return given


class SmallRounds(Store):
    """A store that does small rounds at once: it has `BatchedRounds`."""

    pause = delay = 0
    """Rounds that are not tried as small ones, and how many will not be if the next try is in vain."""

    @property
    def batched(self) -> SmallRounds:
        """The store itself."""
        return self

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work, of which rounds are tried as small ones."""
        between_rounds = Phase.COUNT in (phase, self.phase)
        super().enter(phase, members)
        if not between_rounds:
            self.pause, self.delay = 0, int(self.tuning.small_rounds.pause)

    def start(self, phase: Phase, rules: Sequence[Rule], bags: Bags, most: int) -> int | None:
        """Enter a phase, release or absorb bags in it and do rounds at once, if they are few: `most` at most.

        Return how many rounds were done; None, and nothing is done, if there are too many derivations or none at all,
        or if there will be no rounds: then to tell the kernel of the stratum costs more than it saves.
        """
        table, thresholds = self.arrays(), self.tuning.small_rounds
        if self.members.isdisjoint(name for rule in rules for name in rule.reads):
            return None
        size = sum(bag.rows.shape[1] for name in self.members for bag in bags.get(name, ()))
        few = 0 < size <= min(thresholds.delta, thresholds.derivations)
        if not few or not isinstance(table, CompiledArrays) or not _are_small(self, rules, phase):
            return None
        if any(self.has_delta(name) for name in self.members):
            return None
        self.enter(phase, self.members)
        for name in self.members.intersection(bags):
            make_room(self.relation(name), bags[name])
        inputs = Inputs(self, rules)
        return _do(self, inputs, _given(inputs, bags, self.arrays), table, most)

    def go_on(self, rules: Sequence[Rule], most: int) -> int:
        """Do rounds of a stratum at once while they are small, `most` at most; return how many were done."""
        table = self.arrays.after_round(sum(_delta(self.relation(name)) for name in self.members))
        if not isinstance(table, CompiledArrays) or not _are_small(self, rules, self.phase):
            return 0
        self.pause -= 1
        if self.pause >= 0:
            return 0
        inputs = Inputs(self, rules)
        rounds = _do(self, inputs, _given(inputs, {}, self.arrays), table, most)
        if not rounds:
            self.pause, self.delay = self.delay, 2 * self.delay
        return rounds or 0


def _do(store: SmallRounds, inputs: Inputs, given: Derivations, table: CompiledArrays, most: int) -> int | None:
    """Do rounds, `most` at most, from what is given or else the delta on; return how many were done.

    None, and nothing is done, if what is given turns out to be too much.
    """
    recent = RecentTuples(inputs, boot=store.phase is Phase.BOOT)
    before = int(recent.arrays.end.sum())
    does = _lose if store.phase is Phase.DELETE else _gain
    answer = does(store, inputs, recent, given, table, most)
    rounds, changed = int(answer[op.ROUNDS]), int(recent.arrays.end.sum()) - before
    give_back(inputs.workbench)
    if answer[op.STATUS] == op.NOTHING:
        return None
    if not rounds and not len(given.ranks):
        return 0
    pause = int(store.tuning.small_rounds.pause)
    store.pause, store.delay = pause if answer[op.STATUS] == op.TOO_MANY else 0, pause
    store.derivations += int(answer[op.DERIVATIONS])
    if store.phase is not Phase.DELETE:
        store.watch.add_tuples(changed)
    work = rounds * SHORT.round + int(answer[op.VISITS]) * SHORT.match + int(answer[op.SHIFTED]) * SHIFTED
    store.watch.spend(work + changed * SHORT.added)
    return rounds


def _are_small(store: Store, rules: Sequence[Rule], phase: Phase) -> bool:
    """Tell whether there are few tuples, of which nothing is kept that the kernel does not know."""
    if analysis.get() is not None or not store.members.isdisjoint(store.doors):
        return False
    relations = [store.relation(name) for name in store.members]
    kinds = {relation.support for relation in relations}
    if kinds != {Support.RANKED} and (kinds != {Support.NONE} or phase is Phase.DELETE):
        return False
    size, thresholds = sum(map(_delta, relations)), store.tuning.small_rounds
    if size > min(thresholds.delta, thresholds.room * thresholds.derivations):
        return False
    settling = phase is Phase.DELETE and any(map(settles, relations))
    return not settling or not program_of(store, rules, Phase.COUNT).blocked


def _delta(relation: Relation) -> int:
    """Return how many tuples the delta of a relation has."""
    return 0 if relation.main.delta is None else relation.main.delta.size


def _gain(
    store: Store, inputs: Inputs, recent: RecentTuples, given: Derivations, table: CompiledArrays, most: int
) -> Numbers:
    """Absorb in rounds, and let recent tuples join their relations; the last of them are the delta."""
    thresholds, answer = store.tuning.small_rounds, np.zeros(op.ANSWER, np.int64)
    log = _lent(int(thresholds.logged) * inputs.largest)
    logged = Overwritten(log, answer[op.LOGGED :], inputs.kept, [], table.gaining.undo)
    if store.phase is not Phase.BOOT:
        store.journal.log(logged)
    counting = any(map(store.counts, inputs.relations))
    how = table.gaining.Ranking(store.ranked, counting, store.watch.round, int(thresholds.places))
    bench, bounds = inputs.workbench.bench, _bounds(store.tuning, most)
    table.gaining.gain(inputs.code, recent.arrays, given, bench, Log(log, answer), how, bounds)
    logged.close([])
    _spare.append(log)
    if answer[op.ROUNDS] or len(given.ranks):
        for place, relation in enumerate(inputs.relations):
            if recent.arrays.end[place]:
                _join(store, relation, *recent.parts(place))
    return answer


def _bounds(tuning: Tuning, rounds: int) -> Bounds:
    """Return when to come back, and thresholds."""
    thresholds = tuning.small_rounds
    numbers = thresholds.look, thresholds.derivations, thresholds.alone, tuning.sorting.insertion
    return Bounds(rounds, *map(int, numbers))


_spare: deque[Numbers] = deque(maxlen=2)
"""Logs to be used again: new memory costs more, for each page, than most updates write there."""


def _lent(size: int) -> Numbers:
    """Return a log that has room for some entries."""
    try:
        found = _spare.pop()
    except IndexError:
        return np.empty((size, 3), np.int64)
    return found if len(found) >= size else np.empty((size, 3), np.int64)


def _join(store: Store, relation: Relation, older: Sequence[tuple[Order, Batch]], delta: Batch) -> None:
    """Let tuples join a relation, and others be its delta."""
    for order, batch in older:  # the main order comes first
        if order is relation.main:
            relation.set_delta(batch)
        order.delta = batch
        relation.highest = max(relation.highest, batch.highest())
    if store.phase is Phase.BOOT:
        relation.settle()
    else:
        store.insert_delta(relation)
    relation.set_delta(delta)
    relation.highest = max(relation.highest, delta.highest())


def _lose(
    store: Store, inputs: Inputs, recent: RecentTuples, given: Derivations, table: CompiledArrays, most: int
) -> Numbers:
    """Release in rounds; let the tuples that died be removed, and the last of them be the delta."""
    answer, bench = np.zeros(op.ANSWER, np.int64), inputs.workbench.bench
    log = _lent(4 * (len(inputs.orders) + 1) * inputs.room)
    logged = Overwritten(log, answer[op.LOGGED :], inputs.kept, inputs.held, table.losing.undo)
    store.journal.log(logged)
    lowest = lowest_of(relation.lowest for relation in inputs.relations)
    settling, bounds = table.losing.Settling(inputs.counting, lowest), _bounds(store.tuning, most)
    table.losing.lose(inputs.code, settling, recent.arrays, given, bench, Log(log, answer), bounds)
    logged.close(inputs.take_marks())
    _spare.append(log)
    if answer[op.ROUNDS] or len(given.ranks):
        for place, relation in enumerate(inputs.relations):
            relation.lowest = lowest
            relation.counted &= not (answer[op.PROVED] and lifts(relation))
            if recent.arrays.end[place]:
                _die(inputs, recent.arrays, place, relation, bench.where)
    return answer


def _die(inputs: Inputs, recent: Recent, place: int, relation: Relation, where: Numbers) -> None:
    """Note where the tuples stand that died, and that the last of them die in this round."""
    begun, count = int(recent.begun[place]), int(recent.end[place])
    for number, order in inputs.orders_of(place):
        order.removed += inputs.places(where[number, :begun])
        order.dying = inputs.places(where[number, begun:count])
    words = relation.layout.words
    rows = np.ascontiguousarray(recent.rows[place, :words, begun:count])
    table = relation.arrays(rows.shape[1])
    order_of = table.order(rows)
    rank = recent.ranks[place, begun:count].astype(np.int32)[order_of]
    dead = Batch(np.ascontiguousarray(rows[:, order_of]), rank, relation.counts(count - begun, 0))
    relation.set_delta(dead)

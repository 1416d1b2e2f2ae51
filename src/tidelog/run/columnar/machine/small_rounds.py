"""Rounds of a few tuples by one call of a kernel: telling it what to do, and taking over what it did.

    Seen(c, n, e, k) :- Seen(d, m, e, k), Next(c, n, d, m), Remove(d, m).       14,000 rounds of some ten tuples

Evaluated by array functions a round costs what they cost around their kernels, however few the tuples are. While deltas
are small, `kernels.rounds` does rounds tuple at a time, as many as it has room for. It takes variants with `forms`, and
stops before a delta that another variant reads. `Store.derive`, `absorb` and `release` are its slow twin. Where a phase
begins with few derivations it also absorbs or releases these, so that they are looked for once.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence

import numpy as np

from tidelog.plan.nodes import Rule
from tidelog.run.columnar.arrays.table import CompiledArrays, Mask, Words, chosen
from tidelog.run.columnar.cost import SHIFTED, SHORT
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.kernels.ranks import lowest_of
from tidelog.run.columnar.machine.inputs import Told
from tidelog.run.columnar.machine.instructions import Numbers
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.columnar.machine.program import script_of
from tidelog.run.columnar.machine.workbench import give_back
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.storage.batch import Batch, Log
from tidelog.run.columnar.storage.relation import Order, Relation
from tidelog.run.columnar.store import Store
from tidelog.run.columnar.support.absorb import in_layout, make_room
from tidelog.run.columnar.support.lifting import lifts, settles
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.limits import analysis

Bags = Mapping[str, Sequence[Bag]]


class Recent:
    """Tuples of each relation of a stratum as they came, with rank and support: those of the delta come last."""

    def __init__(self, told: Told, *, boot: bool) -> None:
        members, bench = len(told.relations), told.bench
        self._told, self._boot = told, boot
        self.rows, self.ranks, self.support, self.every = bench.rows, bench.ranks, bench.support, bench.every
        self.begun, self.count = np.zeros(members, np.int64), np.zeros(members, np.int64)
        """Where the delta begins, and how many there are."""
        for place, relation in enumerate(told.relations):
            delta = relation.main.delta
            assert delta is not None
            size = self.count[place] = delta.size
            self.rows[place, : delta.rows.shape[0], :size] = delta.rows
            self.ranks[place, :size] = 0 if delta.rank is None else delta.rank
            counts = (0, 0) if delta.counts is None else (delta.counts[0], delta.counts[-1])
            self.support[place, :size], self.every[place, :size] = counts

    @property
    def arrays(self) -> tuple[Words | Numbers, ...]:
        """What the kernel takes."""
        return self.rows, self.ranks, self.support, self.every, self._told.bench.sorted, self.begun, self.count

    def parts(self, place: int) -> tuple[list[tuple[Order, Batch]], Batch]:
        """Return those of a relation that were the delta of a round, in each order, and those that are it now."""
        relation, size = self._told.relations[place], self.count[place]
        older: list[tuple[Order, Batch]] = []
        delta: Batch | None = None
        for number, order in self._told.orders_of(place):
            words, main = order.layout.words, order is relation.main
            rows, which = self._told.bench.sorted[number, :words, :size], self._told.bench.sorted[number, words, :size]
            old = which < self.begun[place]
            older.append((order, self._batch(place, rows, which, old, main=main)))
            delta = self._batch(place, rows, which, ~old, main=main) if main else delta
        assert delta is not None
        return older, delta

    def _batch(self, place: int, rows: Words, which: Words, picked: Mask, *, main: bool) -> Batch:
        relation, rows = self._told.relations[place], chosen(rows, picked)
        if relation.support is Support.NONE:
            return Batch(rows)
        these = which[picked].astype(np.int64)
        if self._boot and not relation.counted:
            return Batch(rows, self.ranks[place, these].astype(np.int32))
        kept = relation.counts(0, 0)
        both = (self.support[place, these], self.every[place, these])
        counts = None if kept is None or not main else np.stack(both[: len(kept)])
        return Batch(rows, self.ranks[place, these].astype(np.int32), counts)


class Given:
    """Derivations that a phase begins with, brought together: rows, ranks, members, and how often each occurs."""

    def __init__(self, told: Told, bags: Bags, arrays: Arrays) -> None:
        those = [(place, bag) for place, one in enumerate(told.relations) for bag in bags.get(one.name, ())]
        size = sum(bag.rows.shape[1] for _, bag in those)
        self._rows = np.zeros((size, told.width), np.uint64)
        self._ranks, self._members, self._times = (np.empty(size, np.int64) for _ in range(3))
        start = 0
        for place, bag in those:
            layout = told.relations[place].layout
            end = start + bag.rows.shape[1]
            self._rows[start:end, : layout.words] = in_layout(bag, layout, arrays).T
            self._ranks[start:end] = 0 if bag.rank is None else bag.rank
            self._members[start:end] = place
            self._times[start:end] = 1 if bag.times is None else bag.times
            start = end

    def __bool__(self) -> bool:
        return len(self._ranks) > 0

    @property
    def arrays(self) -> tuple[Words | Numbers, ...]:
        """What the kernel takes."""
        return self._rows, self._ranks, self._members, self._times


def begin_small(store: Store, phase: Phase, rules: Sequence[Rule], bags: Bags, most: int) -> int | None:
    """Enter a phase, release or absorb bags in it and do up to so many rounds at once, if they are few.

    Return how many rounds were done; None, and nothing is done, if there are too many derivations or none at all, or
    if there will be no rounds: then to tell the kernel of the stratum costs more than it saves.
    """
    table, thresholds = store.arrays(), store.tuning.small_rounds
    if store.members.isdisjoint(name for rule in rules for name in rule.reads):
        return None
    size = sum(bag.rows.shape[1] for name in store.members for bag in bags.get(name, ()))
    few = 0 < size <= min(thresholds.delta, thresholds.derivations)
    if not few or not isinstance(table, CompiledArrays) or not _are_small(store, rules, phase):
        return None
    if any(store.has_delta(name) for name in store.members):
        return None
    store.enter(phase, store.members)
    for name in store.members:
        make_room(store.relation(name), bags.get(name, ()))
    told = Told(store, rules)
    return _do(store, told, Given(told, bags, store.arrays), table, most)


def small_rounds(store: Store, rules: Sequence[Rule], most: int) -> int:
    """Do up to so many rounds of a stratum at once while they are small; return how many were done."""
    table = store.arrays()
    if not isinstance(table, CompiledArrays) or not _are_small(store, rules, store.phase):
        return 0
    store.pause -= 1
    if store.pause >= 0:
        return 0
    told = Told(store, rules)
    rounds = _do(store, told, Given(told, {}, store.arrays), table, most)
    if not rounds:
        store.pause, store.delay = store.delay, 2 * store.delay
    return rounds or 0


def _do(store: Store, told: Told, given: Given, table: CompiledArrays, most: int) -> int | None:
    """Do up to so many rounds, from what is given or else the delta on; return how many were done.

    None, and nothing is done, if what is given turns out to be too much.
    """
    recent = Recent(told, boot=store.phase is Phase.BOOT)
    before = int(recent.count.sum())
    does = _lose if store.phase is Phase.DELETE else _gain
    answer = does(store, told, recent, given, table, most)
    give_back(told.bench)
    if answer[lines.STATUS] == lines.NOTHING:
        return None
    rounds, changed = int(answer[lines.ROUNDS]), int(recent.count.sum()) - before
    if not rounds and not given:
        return 0
    pause = int(store.tuning.small_rounds.pause)
    store.pause, store.delay = pause if answer[lines.STATUS] == lines.TOO_MANY else 0, pause
    store.derivations += int(answer[lines.DERIVATIONS])
    if store.phase is not Phase.DELETE:
        store.watch.add_tuples(changed)
    work = rounds * SHORT.round + int(answer[lines.VISITS]) * SHORT.match + int(answer[lines.SHIFTED]) * SHIFTED
    store.watch.spend(work + changed * SHORT.added)
    return rounds


def _are_small(store: Store, rules: Sequence[Rule], phase: Phase) -> bool:
    """Tell whether there are few tuples, of which nothing is kept that the kernel does not know."""
    if analysis.get() is not None:
        return False
    relations = [store.relation(name) for name in store.members]
    kinds = {relation.support for relation in relations}
    if kinds != {Support.RANKED} and (kinds != {Support.NONE} or phase is Phase.DELETE):
        return False
    size, thresholds = sum(one.main.delta.size for one in relations if one.main.delta), store.tuning.small_rounds
    if size > min(thresholds.delta, thresholds.room * thresholds.derivations):
        return False
    settling = phase is Phase.DELETE and any(map(settles, relations))
    return not settling or not script_of(store, rules, Phase.COUNT).blocked


def _gain(store: Store, told: Told, recent: Recent, given: Given, table: CompiledArrays, most: int) -> Numbers:
    """Absorb in rounds, and let recent tuples join their relations; the last of them are the delta."""
    thresholds, answer = store.tuning.small_rounds, np.zeros(lines.ANSWER, np.int64)
    log = _lent(int(thresholds.logged) * told.largest)
    logged = Log(log, answer[lines.LOGGED :], told.kept, [], table.gaining.undo)
    if store.phase is not Phase.BOOT:
        store.journal.log(logged)
    counting = any(map(store.counts, told.relations))
    what = store.ranked, counting, store.watch.round, most, int(thresholds.look), told.largest
    knobs = int(thresholds.alone), int(thresholds.places), int(store.tuning.sorting.insertion)
    table.gaining.gain(told.lines, recent.arrays, given.arrays, told.bench.arrays, log, answer, *what, knobs)
    logged.close([])
    _spare.append(log)
    if answer[lines.ROUNDS] or given:
        for place, relation in enumerate(told.relations):
            if recent.count[place]:
                _join(store, relation, *recent.parts(place))
    return answer


_spare: deque[Numbers] = deque(maxlen=2)
"""Logs to be used again: new memory costs more, for each page, than most updates write there."""


def _lent(size: int) -> Numbers:
    """Return a log of at least so many entries."""
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


def _lose(store: Store, told: Told, recent: Recent, given: Given, table: CompiledArrays, most: int) -> Numbers:
    """Release in rounds; let the tuples that died be removed, and the last of them be the delta."""
    answer = np.zeros(lines.ANSWER, np.int64)
    where = told.bench.where
    log = _lent(4 * (len(told.orders) + 1) * told.room)
    logged = Log(log, answer[lines.LOGGED :], told.kept, told.held, table.losing.undo)
    store.journal.log(logged)
    thresholds = store.tuning.small_rounds
    what = most, int(thresholds.look), told.largest, int(thresholds.alone)
    lowest = lowest_of(relation.lowest for relation in told.relations)
    known = told.lines, told.counting, recent.arrays, given.arrays, where, lowest, told.bench.arrays
    table.losing.lose(*known, log, answer, *what)
    logged.close(told.take_marks())
    _spare.append(log)
    if answer[lines.ROUNDS] or given:
        for place, relation in enumerate(told.relations):
            relation.lowest = lowest
            relation.counted &= not (answer[lines.PROVED] and lifts(relation))
            if recent.count[place]:
                _die(told, recent, place, relation, where)
    return answer


def _die(told: Told, recent: Recent, place: int, relation: Relation, where: Numbers) -> None:
    """Note where the tuples stand that died, and that the last of them die in this round."""
    begun, count = int(recent.begun[place]), int(recent.count[place])
    for number, order in told.orders_of(place):
        order.removed += told.places(where[number, :begun])
        order.dying = told.places(where[number, begun:count])
    words = relation.layout.words
    rows = np.ascontiguousarray(recent.rows[place, :words, begun:count])
    table = relation.arrays(rows.shape[1])
    order_of = table.order(rows)
    rank = recent.ranks[place, begun:count].astype(np.int32)[order_of]
    dead = Batch(np.ascontiguousarray(rows[:, order_of]), rank, relation.counts(count - begun, 0))
    relation.set_delta(dead)

"""Taking what a round derives: new tuples come, lost ones go, and support is counted, at once or when it is needed."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import numpy as np

from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.cost import COUNTED, SIFTED, SUPPORTED
from tidelog.run.columnar.kernels.ranks import level, lowest_of
from tidelog.run.columnar.rules.bag import Bag, Bags
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.storage.batch import Batch, merge
from tidelog.run.columnar.storage.order import Where
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.support.absorb import Gathered, absorbed, first_found, fresh, gather, released, settled
from tidelog.run.columnar.support.door import Door, absent
from tidelog.run.columnar.support.lifting import lift, lifts, note
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.limits import OverBudgetError
from tidelog.run.phases import DYING
from tidelog.run.threads import helpers, share


class Counting(Deriving):
    """A store that takes derivations; it has `LazySupport` and `Leftovers`."""

    def begin(self) -> None:
        """Remember this point of the update, at which no tuple is in doubt."""
        super().begin()
        self._doubts: dict[str, Words] = {}
        self._waiting: dict[str, Sequence[Bag]] = {}
        """Candidates for bounds of a bootstrap, whose turn will come."""

    def absorb(self, relations: Sequence[str], bags: Bags) -> None:
        """Let deltas become old; count support; make the new tuples the deltas. Much of it is done side by side."""
        self._side_by_side(self._absorb, relations, bags)

    def release(self, relations: Sequence[str], bags: Bags) -> None:
        """Let deltas be removed; take derivations away; make the tuples that this removes the deltas."""
        self._side_by_side(self._release, relations, bags)

    def _side_by_side(self, what: Callable[..., None], relations: Sequence[str], bags: Bags) -> None:
        least = self.tuning.threads.rules_from
        much = [name for name in relations if sum(bag.rows.shape[1] for bag in bags.get(name, ())) >= least]
        # In a bootstrap they share what is known of heads, and sorting is shared anyway.
        pool = helpers.get() if self.phase is not Phase.BOOT and len(much) > 1 else None
        share(pool, what, [(name, bags.get(name)) for name in relations])

    def _absorb(self, relation: str, bag: Sequence[Bag] | None) -> None:
        target = self.touch(relation)
        boot = self.phase is Phase.BOOT
        if boot:
            target.settle()
        else:
            self.insert_delta(target)
        door = self.door(relation)
        if door is not None:
            bag = [*(bag or ()), *self._waiting.pop(relation, ())]
        if not bag:
            return
        counted = self.counts(target)
        new = self.bitmaps.sifted(target, bag, counted=counted)
        found = gather(target, bag if new is None else new)
        if door is not None:
            found = self._let_in(target, door, found)
        if counted:
            if boot:
                delta = first_found(target, found, self.watch.round, all_new=new is not None)
            else:
                delta = absorbed(target, found, self.journal)
        else:
            rows = found.rows if new is not None else fresh(target, found)
            delta = Batch(rows) if target.support is Support.NONE else Batch(rows, level(self.watch.round))
        target.set_delta(delta)
        if boot and counted:
            self._judge(target, delta, bag)
        target.highest = max(target.highest, delta.highest())
        with self.counting:
            self.watch.add_tuples(delta.size)
            self.watch.spend(self.weights.round + delta.size * self.weights.added)

    def _let_in(self, target: Relation, door: Door, found: Gathered) -> Gathered:
        """Return the derivations that a door admits now; in a bootstrap good candidates come first, and others wait.

        That can be where the round is the rank: what waits has derivations of lower ranks only when it is admitted.
        """
        waits = self.phase is Phase.BOOT and target.support in (Support.RANKED, Support.NONE)
        admitted, left = door.sorted_out(found, self.tuning.doors if waits else None)
        if left is not None:
            self._waiting[target.name] = [Bag(target.layout, left.rows, left.rank, left.times)]
        return admitted

    def _judge(self, target: Relation, delta: Batch, bag: Sequence[Bag]) -> None:
        """After a round of a bootstrap, give counting all derivations up where they are many more than the tuples.

        Those of tuples that are there already need not be found then (`known`); there are up to fifty times as many as
        derivations that support a tuple. Tuples that are removed have to be looked for (`left_over`).
        """
        if target.lines < 2:
            self.bitmaps.learn(target, delta.rows)
            return
        target.derived += sum(one.rows.shape[1] if one.times is None else int(one.times.sum()) for one in bag)
        thresholds = self.tuning.counting
        if target.support is not Support.RANKED or target.derived <= thresholds.surveyed:
            return
        if target.derived > thresholds.often * target.count():
            target.lines, self.later = 1, SUPPORTED
            # Updates are held against what an evaluation takes that does not count: it would have left most out.
            self.watch.spend((target.count() - target.derived) * (COUNTED.match - SIFTED))
            for batch in (*target.main.settled, delta):
                assert batch.counts is not None
                batch.counts = batch.counts[:1].copy()

    def _release(self, relation: str, bag: Sequence[Bag] | None) -> None:
        target = self.touch(relation)
        self.remove_delta(target)
        if not bag:
            return
        lost, where, doubtful = released(target, gather(target, bag), self.journal)
        self._lose(target, lost, where)
        if doubtful.shape[1]:
            self._doubts[relation] = doubtful

    def _lose(self, target: Relation, lost: Batch, where: Where) -> None:
        target.take_away(lost.rows, DYING, self.journal, where)
        target.set_delta(lost)
        with self.counting:
            self.watch.spend(self.weights.round + lost.size * self.weights.removed)

    def removed(self, relation: str) -> int:
        """End the removal of tuples; those that may have derivations left are the view `deleted` then."""
        target = self.touch(relation)
        if target.is_still:
            return 0
        self.remove_delta(target)
        door = self.door(relation)
        rows = target.removed(derived=relation not in self.modules and door is None)
        target.set_deleted(rows if door is None else door.one_of_each_key(rows))
        return int(rows.shape[1])

    def door(self, relation: str) -> Door | None:
        """Return the door of a relation of bounds, None of any other."""
        bound = self.bound(relation)
        return None if bound is None else Door(self.relation(relation), bound, self.codec)

    @property
    def waits(self) -> bool:
        """Whether candidates for bounds wait for a later round."""
        return bool(self._waiting)

    def absent(self, bags: Bags) -> Bags:
        """Return the derivations whose heads are not there."""
        left: dict[str, list[Bag]] = {}
        for name, bag in bags.items():
            target = self.relation(name)
            found = absent(target, gather(target, bag))
            if found.rows.shape[1]:
                left[name] = [Bag(target.layout, found.rows, found.rank, found.times)]
        return left

    def conclude(self, relation: str) -> None:
        """Let the delta become old, and let what did not come back be deleted."""
        target = self.touch(relation)
        if not target.is_still:
            self.insert_delta(target)
            target.set_deleted(target.removed())

    @property
    def lazy(self) -> Counting:
        """The store itself."""
        return self

    def counted(self, relation: str) -> bool:
        """Tell whether the support of all tuples of a relation is known."""
        return self.relation(relation).counted

    def leave_uncounted(self, relation: str) -> None:
        """Let the bootstrap of a relation, just reset, give tuples their ranks only."""
        old, new = self._aside[relation], self.relations[relation]
        if new.support is Support.RANKED:
            new.counted, new.lines = False, old.lines

    def doubtful(self) -> Collection[str]:
        """Make tuples that may have lost their support the view `deleted`; return whose relations they are."""
        doubts, self._doubts = self._doubts, {}
        for relation, rows in doubts.items():
            self.relation(relation).set_deleted(rows)
        return doubts.keys()

    def settle(self, relations: Collection[str], bags: Bags) -> None:
        """Count what doubtful tuples have left; those without support join the delta."""
        for relation in relations:
            target, bag = self.relation(relation), bags.get(relation)
            lost, where, ranks = settled(target, gather(target, bag) if bag else None, self.journal)
            delta = target.main.delta
            assert delta is not None
            self._lose(target, lost, where)
            target.set_delta(merge(delta, lost, self.arrays))
            note(target, ranks)

    def lift(self) -> Collection[str]:
        """Let tuples of the deltas that may stand just above their rank hold again, and be the view `deleted`."""
        members = [self.relation(name) for name in self.members]
        lowest = lowest_of(member.lowest for member in members)
        return [member.name for member in members if lifts(member) and lift(member, lowest, self.journal)]

    @property
    def leftovers(self) -> Counting:
        """The store itself."""
        return self

    def left_over(self, relations: Collection[str]) -> Bags:
        """Return the derivations that removed tuples have left, all with the greatest rank there is."""
        relations = [n for n in relations if self.relation(n).lines > 1 and n not in self.modules]
        if not relations:
            return {}
        rank = max(self.relation(name).highest for name in self.members)
        if rank > self.tuning.counting.highest_rank:
            # tuples that come back do so above all others; from scratch ranks begin from 1
            raise OverBudgetError("ranks had become too great")
        return {name: [self._left_over(self.relation(name), rank)] for name in relations}

    def _left_over(self, target: Relation, rank: int) -> Bag:
        rows, times = target.left_over()
        return Bag(target.layout, rows, np.full(len(times), rank, np.int32), times)

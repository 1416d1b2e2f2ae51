"""Derivations scheduled for iterations, and what becomes of tuples in one of them: `contract.Iterations`.

What is scheduled is kept by relation and iteration as bags, in which a lost derivation counts below zero. To settle an
iteration is to add up what is due for each head:

| the head is | it |
| --- | --- |
| in an earlier iteration | stays: only the first iteration of a tuple is kept |
| in this iteration | wins or loses derivations in it, and leaves if none is left |
| in a later iteration | leaves it and comes here, if it has derivations here |
| absent | comes, if it has derivations |
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from tidelog.plan.nodes import Project, Rule
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.arrays.tally import sums
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.storage.batch import Batch, Journal
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.support.absorb import gather
from tidelog.run.maintain.rounds import rederivation
from tidelog.run.phases import ALIVE, DELETED, DYING


class Schedule:
    """What is due in each iteration of a stratum."""

    def __init__(self) -> None:
        self._due: dict[str, dict[int, list[Bag]]] = {}
        self._coming: dict[str, tuple[int, Bag]] = {}

    def add(self, relation: Relation, bags: Sequence[Bag], sign: int) -> None:
        """Schedule derivations, except those of a later iteration than their heads', which have no effect."""
        found = gather(relation, bags)
        count = found.rows.shape[1]
        iteration = np.ones(count, np.int32) if found.rank is None else found.rank + 1
        times = np.full(count, sign, np.int64) if found.times is None else found.times * sign
        keep = np.ones(count, bool)
        for batch, places, targets in relation.locate(relation.main, found.rows, DYING):
            keep[places] = iteration[places] <= batch.ranks()[targets]
        places = np.flatnonzero(keep)
        places = places[np.argsort(iteration[places], kind="stable")]
        starts = np.flatnonzero(np.diff(iteration[places], prepend=0))
        due = self._due.setdefault(relation.name, {})
        for start, end in pairwise([*starts.tolist(), len(places)]):
            part = places[start:end]
            bag = Bag(relation.layout, np.ascontiguousarray(found.rows[:, part]), None, times[part])
            due.setdefault(int(iteration[part[0]]), []).append(bag)

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which something is scheduled."""
        return min((first for name in relations for first in self._due.get(name, ())), default=None)

    def settle(self, relation: Relation, iteration: int, journal: Journal) -> Batch | None:
        """Count what is due, and keep what comes; return the tuples that leave, with the rank they had."""
        bags = self._due.get(relation.name, {}).pop(iteration, None)
        if bags is None:
            return None
        found = gather(relation, bags)
        assert found.times is not None, "what is scheduled is counted"
        firsts = relation.arrays(found.rows.shape[1]).firsts(found.rows)
        heads = np.ascontiguousarray(found.rows[:, firsts])
        net = sums(found.times, firsts)
        rank = np.full(len(firsts), np.iinfo(np.int32).max, np.int32)
        leaves = np.zeros(len(firsts), bool)
        for batch, places, targets in relation.locate(relation.main, heads, ALIVE):
            assert batch.counts is not None
            rank[places] = batch.ranks()[targets]
            here = rank[places] == iteration
            after = batch.counts[0, targets[here]] + net[places[here]]
            if (after < 0).any():
                raise OverflowError("a tuple has more than 2**63 derivations, more than can be counted")
            journal.write(batch.counts[0], targets[here], after)
            leaves[places[here]] = after == 0
            leaves[places] |= (rank[places] > iteration) & (net[places] > 0)
        comes = (rank > iteration) & (net > 0)
        assert (net[rank > iteration] >= 0).all(), "no derivation is lost that was not there"
        if comes.any():
            self._coming[relation.name] = iteration, Bag(relation.layout, _chosen(heads, comes), None, net[comes])
        if not leaves.any():
            return None
        return Batch(_chosen(heads, leaves), rank[leaves], relation.counts(int(leaves.sum()), 0))

    def coming(self, relation: Relation) -> Batch:
        """Return the tuples that come in the iteration settled last; from then on nothing comes."""
        iteration, bag = self._coming.pop(relation.name, (0, None))
        if bag is None:
            return relation.nothing()
        found = gather(relation, [bag])
        assert found.times is not None
        return Batch(found.rows, iteration, found.times[np.newaxis])


def _chosen(rows: Words, which: np.ndarray) -> Words:
    return np.ascontiguousarray(rows[:, which])


class Following(Deriving):
    """A store that follows a fixpoint iteration by iteration: it has `Iterations`."""

    def begin(self) -> None:
        """Remember this point of the update, for which nothing is scheduled."""
        super().begin()
        self._schedule = Schedule()

    @property
    def iterations(self) -> Following:
        """The store itself."""
        return self

    def schedule(self, relation: str, bag: Sequence[Bag] | None, sign: int) -> None:
        """Let derivations be lost or gained in the iterations they belong to."""
        if bag:
            self._schedule.add(self.touch(relation), bag, sign)

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which there is something."""
        return self._schedule.due(relations)

    def advance(self, relation: str, iteration: int) -> None:
        """Let the delta become old; count what is due; make the tuples that leave their iteration the delta."""
        target = self.touch(relation)
        self.insert_delta(target)
        leaving = self._schedule.settle(target, iteration, self.journal)
        if leaving is not None:
            target.take_away(leaving.rows, DYING, self.journal)
            target.set_delta(leaving)
            self.watch.spend(leaving.size * self.weights.removed)
        self.watch.spend(2 * self.weights.round)  # one for what leaves, one for what comes

    def turn(self, relation: str) -> int:
        """Remove the delta, and make what comes the delta; what is removed and does not come is the view `deleted`."""
        target = self.touch(relation)
        coming = self._schedule.coming(target)
        assert target.main.delta is not None
        gone = self.arrays(coming.size).without(target.main.delta.rows.copy(), coming.rows)
        self.remove_delta(target)
        target.set_deleted(gone)
        target.set_delta(coming)
        self.watch.add_tuples(coming.size)
        self.watch.spend(coming.size * self.weights.added)
        return int(gone.shape[1])

    def rediscovery(self, rule: Rule) -> Project:
        """Return the tree that finds tuples that left again: as the user wants it, or that expects less work."""
        whole = rederivation(rule)
        if self.divided is False:
            return whole
        thresholds = self.tuning.counting
        if self.divided is None and self._deletions(self.relation(rule.head)) < thresholds.divide_from:
            return whole
        divided = rederivation(rule, divided=True)
        worth = self.divided or thresholds.divide_worth * self._work(rule, divided) < self._work(rule, whole)
        return divided if worth else whole

    def _work(self, rule: Rule, tree: Project) -> float:
        join_plan = self.orders.best(rule, tree, self.relation)
        return self._deletions(self.scanned(join_plan.scans[0])) * self.orders.work(join_plan, self.relation)

    @staticmethod
    def _deletions(relation: Relation) -> int:
        return sum(batch.size for batch, _ in relation.batches(relation.main, DELETED))

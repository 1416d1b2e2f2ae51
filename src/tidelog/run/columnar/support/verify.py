"""Checking what is kept of tuples: counts are right, and every tuple has a supporting derivation.

If each tuple has a derivation from strictly lower ranks and no derivation has a head that is missing, the state is the
least model, so this shows the state right as well as the counts, by one evaluation of every rule. Under `Support.FIRST`
a tuple's rank must be just above its lowest derivation; by induction over ranks that is its first iteration. Under
`Support.COUNTED` the counts are shown right, and that each tuple has a derivation; not that it is well-founded. Tuples
that nobody has counted have no count that could be wrong; that they have support is shown of them, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import numpy as np

from tidelog.plan.nodes import Stratum
from tidelog.run.columnar.arrays.tally import sums
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.support.absorb import Gathered, gather
from tidelog.run.columnar.support.counting import Counting
from tidelog.run.columnar.support.door import Door
from tidelog.run.contract.phase import Phase, Support


def check_support(store: Counting) -> Iterator[str]:
    """Yield what is wrong with the counts of tuples."""
    for stratum in store.plan.strata:
        if all(store.relation(name).support is Support.NONE for name in stratum.relations):
            continue  # a closure
        yield from _check(stratum, store)


def _check(stratum: Stratum, store: Counting) -> Iterator[str]:
    store.enter(Phase.LOSE, frozenset(stratum.relations))
    tallies = {name: _Tally(store.relation(name), store.door(name)) for name in stratum.relations}
    for rule in stratum.rules:
        store.visit(rule, rule.full.tree, tallies[rule.head].add)
    for name, tally in tallies.items():
        problem = tally.problem()
        if problem:
            yield f"{name}: {problem}"


class _Tally:
    """The derivations of each tuple of a relation, counted as they are found, so that they need not all be kept."""

    def __init__(self, relation: Relation, door: Door | None) -> None:
        self._relation = relation
        self._door = door
        self._held, self._layout = relation.gathered(), relation.layout
        size = self._held.size
        self._supports, self._every = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._lowest = np.full(size, np.iinfo(np.int32).max, np.int32)
        self._others = 0
        """Derivations of tuples that are not held."""
        self._adding = Lock()

    def add(self, bag: Bag) -> None:
        """Count derivations."""
        with self._adding:
            found = gather(self._relation, [bag])
            if self._relation.layout is not self._layout:  # it made room: rows are packed in another way, in that order
                self._held, self._layout = self._relation.gathered(), self._relation.layout
            self._count(found if self._door is None else self._door.admitted(found))

    def _count(self, found: Gathered) -> None:
        count = found.rows.shape[1]
        if not count:
            return
        table = self._relation.arrays(count)
        firsts = table.firsts(found.rows)
        heads = np.ascontiguousarray(found.rows[:, firsts])
        low, high, _ = table.ranges(heads, self._held.rows, heads.shape[0], 64)
        weight = found.counted()
        times = sums(weight, firsts)
        known = high > low
        self._others += int(times[~known].sum())
        rank = np.zeros(count, np.int32) if found.rank is None else found.rank
        if not known.any():
            return
        held = np.zeros(len(firsts), np.int32)
        held[known] = self._held.ranks()[low[known]]
        above = np.repeat(held, np.diff(np.append(firsts, count)))
        supports = sums(weight * (rank < above), firsts)
        places = low[known]
        self._supports[places] += supports[known]
        self._every[places] += times[known]
        self._lowest[places] = np.minimum(self._lowest[places], np.minimum.reduceat(rank, firsts)[known])

    def problem(self) -> str:
        """Return what is wrong with the relation, if anything is."""
        held = self._held
        underived = int(np.count_nonzero(self._every == 0))
        if underived or self._others:
            return (
                f"{held.size} tuples are held, {underived} of them cannot be derived in one step, "
                f"and {self._others} derivations give others"
            )
        if not held.size:
            return ""
        assert held.counts is not None
        if self._relation.support is Support.FIRST:
            late = np.count_nonzero(self._lowest + 1 != held.ranks())
            if late:
                return f"{late} tuples of {held.size} are not in their first iteration"
        other = (self._supports != held.counts[0]) | (self._every != held.counts[1:]).any(axis=0)
        wrong = np.count_nonzero(other if self._relation.counted else other & (held.counts[0] >= 0))
        if wrong:
            return f"{wrong} tuples of {held.size} have a wrong count of derivations"
        stands = self._relation.support is Support.COUNTED or (self._supports > 0).all()
        return "" if stands else "a tuple has no support"

"""Checking what is kept of tuples: counts are right, and every tuple has a supporting derivation.

If each tuple has a derivation from strictly lower ranks and no derivation has a head that is missing, the state is the
least model, so this shows the state right as well as the counts, by one evaluation of every rule. Under `Support.FIRST`
a tuple's rank must be just above its lowest derivation; by induction over ranks that is its first iteration.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tidelog.plan.nodes import Stratum
from tidelog.run.columnar.absorb import Gathered, gather
from tidelog.run.columnar.arrays import arrays
from tidelog.run.columnar.relation import Relation
from tidelog.run.columnar.store import Store
from tidelog.run.contract import Phase, Support


def check_support(store: Store) -> Iterator[str]:
    """Yield what is wrong with the counts of tuples."""
    for stratum in store.plan.strata:
        yield from _check(stratum, store)


def _check(stratum: Stratum, store: Store) -> Iterator[str]:
    store.enter(Phase.LOSE, frozenset(stratum.relations))
    bags = store.derive([(rule, rule.full.tree) for rule in stratum.rules])
    for name in stratum.relations:
        relation = store.relation(name)
        problem = _compare(relation, gather(relation, bags.get(name, ())))
        if problem:
            yield f"{name}: {problem}"


def _compare(relation: Relation, found: Gathered) -> str:
    held = relation.gathered()
    firsts = arrays(found.rows.shape[1]).firsts(found.rows)
    heads = np.ascontiguousarray(found.rows[:, firsts])
    if heads.shape != held.rows.shape or (heads != held.rows).any():
        return f"{held.size} tuples are held, {heads.shape[1]} can be derived in one step"
    if not held.size:
        return ""
    assert held.counts is not None
    group = np.repeat(np.arange(len(firsts)), np.diff(np.append(firsts, found.rows.shape[1])))
    rank = np.zeros(found.rows.shape[1], np.int32) if found.rank is None else found.rank
    supports = np.bincount(group[rank < held.ranks()[group]], minlength=held.size)
    every = np.bincount(group, minlength=held.size)
    if relation.support is Support.FIRST:
        late = np.count_nonzero(np.minimum.reduceat(rank, firsts) + 1 != held.ranks())
        if late:
            return f"{late} tuples of {held.size} are not in their first iteration"
    wrong = np.count_nonzero((supports != held.counts[0]) | (every != held.counts[1:]).any(axis=0))
    if wrong:
        return f"{wrong} tuples of {held.size} have a wrong count of derivations"
    return "" if (supports > 0).all() else "a tuple has no support"

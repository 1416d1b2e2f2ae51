"""Checking what is kept of tuples: counts are right, and every tuple has a supporting derivation (as in `columnar`)."""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.plan.nodes import Stratum
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.tuples.absorb import Bag, below, by_head
from tidelog.run.tuples.door import admitted
from tidelog.run.tuples.relation import Relation
from tidelog.run.tuples.store import Store


def check_support(store: Store) -> Iterator[str]:
    """Yield what is wrong with the counts of tuples."""
    for stratum in store.plan.strata:
        yield from _check(stratum, store)


def _check(stratum: Stratum, store: Store) -> Iterator[str]:
    store.enter(Phase.LOSE, frozenset(stratum.relations))
    bags = store.derive([(rule, rule.full.tree) for rule in stratum.rules])
    for name in stratum.relations:
        relation, bag, bound = store.relation(name), bags.get(name, []), store.bound(name)
        if bound is not None:
            if any(row not in relation.settled.rows for row, _ in admitted(relation, bag, bound)):
                yield f"{name}: a bound is missing that is better than those of its key"
                continue
            bag = [one for one in bag if one[0] in relation.settled.rows]
        problem = _compare(relation, bag, store.support)
        if problem:
            yield f"{name}: {problem}"


def _compare(relation: Relation, bag: Bag, support: Support) -> str:
    found = by_head(bag)
    held = relation.settled.rows
    if found.keys() != held or relation.supports.keys() != held:
        return f"{len(held)} tuples are held, {len(found)} can be derived in one step"
    late = wrong = 0
    for row, ranks in found.items():
        rank, supporting, *every = relation.supports[row]
        wrong += supporting != below(ranks, rank) or every not in ([], [len(ranks)])
        late += support is Support.FIRST and min(ranks) + 1 != rank
        if not supporting and support is not Support.COUNTED:
            return "a tuple has no support"
    if late:
        return f"{late} tuples of {len(held)} are not in their first iteration"
    return f"{wrong} tuples of {len(held)} have a wrong count of derivations" if wrong else ""

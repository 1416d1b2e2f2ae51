"""Ranked support: the default update algorithm.

Every derived tuple has a rank, and a derivation *supports* its head if every body tuple of the same stratum has a lower
rank. The support count of a tuple is the number of its supporting derivations, and it is above zero. So every tuple
stands on strictly lower ground: a count that stays above zero needs no check even under recursion, and nothing is
removed that still stands. Unlike the elastic encoding (Zhao et al.) a rank need not be the first iteration: a later,
shorter derivation moves nothing.

    delete    take away the derivations that used what is gone; tuples left without support are gone
    rederive  removed tuples that have derivations from what is left come back, above their derivations
    insert    semi-naive from what came back and what is new; a derivation of a present tuple counts if it supports it

A backend may count all derivations of a tuple beside the supporting ones, also while it is removed: then it knows which
removed tuples can come back, and rules are evaluated backwards for those alone.

Each lost or gained derivation is enumerated exactly once (see `plan.nodes` on versions). In a stratum without recursion
all ranks are 1 and this is plain counting, with nothing to rederive.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.plan.nodes import Project, Rule, Stratum
from tidelog.plan.rederive import rederive
from tidelog.run.contract import Backend, Job, Phase
from tidelog.run.limits import Watch
from tidelog.run.maintain.seminaive import touched


def update(backend: Backend, stratum: Stratum, removed: Sequence[Rule], added: Sequence[Rule], watch: Watch) -> int:
    """Bring a stratum up to date with the changes below it and of its rules; return the number of rounds."""
    members = frozenset(stratum.relations)
    kept = tuple(rule for rule in stratum.rules if rule not in added)
    watch.begin_round(stratum, 1)
    backend.enter(Phase.LOSE, members)
    lost, gained = backend.regroup([rule for rule in kept if any(rule.aggregated) and reads_change(backend, rule)])
    bags = backend.derive([*full(removed), *changed_below(backend, kept, members, losing=True)])
    rounds = 1
    seeds = backend.unite([lost, bags])
    for relation in stratum.relations:
        backend.release(relation, seeds.get(relation))
    backend.enter(Phase.DELETE, members)
    while jobs := touched(backend, kept, members):
        rounds += 1
        watch.begin_round(stratum, rounds)
        bags = backend.derive(jobs)
        for relation in stratum.relations:
            backend.release(relation, bags.get(relation))

    gone = {relation for relation in stratum.relations if backend.removed(relation)}
    backend.enter(Phase.REDERIVE, members)
    # A derivation without a tuple of this stratum always supports its head, so removed tuples have none of those left.
    recursive = [rule for rule in kept if rule.head in gone and members.intersection(rule.reads)]
    again = backend.derive([(rule, rederivation(rule)) for rule in recursive])

    backend.enter(Phase.GAIN, members)
    bags = backend.derive([*full(added), *changed_below(backend, kept, members, losing=False)])
    seeds = backend.unite([again, gained, bags])
    for relation in stratum.relations:
        backend.absorb(relation, seeds.get(relation))
    backend.enter(Phase.INSERT, members)
    while jobs := touched(backend, stratum.rules, members):
        rounds += 1
        watch.begin_round(stratum, rounds)
        bags = backend.derive(jobs)
        for relation in stratum.relations:
            backend.absorb(relation, bags.get(relation))
    for relation in stratum.relations:
        backend.conclude(relation)
    return rounds


_rederivations: dict[int, tuple[Rule, Project]] = {}
_MOST_REDERIVATIONS = 10_000


def rederivation(rule: Rule) -> Project:
    """Return the tree that evaluates a rule backwards; made once for a rule, as long as not too many are kept."""
    known = _rederivations.get(id(rule))
    if known is None or known[0] is not rule:
        if len(_rederivations) >= _MOST_REDERIVATIONS:
            _rederivations.clear()
        known = _rederivations[id(rule)] = rule, rederive(rule.body)
    return known[1]


def full(rules: Sequence[Rule]) -> list[Job]:
    """Return the trees that find all derivations of rules."""
    return [(rule, rule.full.tree) for rule in rules]


def changed_below(backend: Backend, rules: Sequence[Rule], members: frozenset[str], *, losing: bool) -> list[Job]:
    """Return the variants whose delta atom, below the stratum, has changed so that derivations are lost or gained."""
    jobs: list[Job] = []
    for rule in rules:
        if not reads_change(backend, rule):
            continue
        for variant in rule.variants:
            if variant.delta is not None and rule.reads[variant.delta] not in members:
                deleted, inserted = backend.changed(rule.reads[variant.delta])
                if deleted if losing != variant.negative else inserted:
                    jobs.append((rule, variant.tree))
    return jobs


def reads_change(backend: Backend, rule: Rule) -> bool:
    """Tell whether a relation that a rule reads has changed."""
    return any(any(backend.changed(relation)) for relation in rule.reads)

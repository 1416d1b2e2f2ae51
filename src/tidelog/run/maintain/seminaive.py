"""Semi-naive evaluation of one stratum from scratch: the batch path, and the yardstick of the update algorithms.

In each round a rule is evaluated once for every body atom that has a delta, with that atom reading the delta, the
atoms before it the old and those after it the new tuples, so that no derivation is found twice:

    delta(0)   = stored facts, and the rules that read nothing of this stratum
    delta(k+1) = derivations that use a tuple of delta(k), minus what is known

Assumes that all strata below are complete and the stratum's relations hold their stored facts as delta, nothing else.
Promises that they then hold the least model.
"""

from __future__ import annotations

from tidelog.plan.nodes import Rule, Stratum, Version
from tidelog.run.contract import Backend, Job
from tidelog.run.limits import Watch


def bootstrap(backend: Backend, stratum: Stratum, watch: Watch) -> int:
    """Evaluate a stratum from scratch; return the number of rounds."""
    members = frozenset(stratum.relations)
    watch.begin_round(stratum, 1)
    _round(backend, stratum, [(rule, rule.full) for rule in stratum.rules if not _recursive(rule, members)], first=True)
    if not stratum.recursive:
        for relation in stratum.relations:
            backend.settle(relation)
        return 1
    rounds = 1
    while any(backend.count(relation, Version.DELTA) for relation in stratum.relations):
        rounds += 1
        watch.begin_round(stratum, rounds)
        _round(backend, stratum, _touched(backend, stratum, members), first=False)
    return rounds


def _round(backend: Backend, stratum: Stratum, jobs: list[Job], *, first: bool) -> None:
    """Derive with all jobs, then absorb; in the first round stored facts are in the delta already."""
    bags = backend.derive(jobs)
    for relation in stratum.relations:
        if relation in bags or not first:
            backend.absorb(relation, bags.get(relation))


def _recursive(rule: Rule, members: frozenset[str]) -> bool:
    return any(relation in members for relation in rule.reads)


def _touched(backend: Backend, stratum: Stratum, members: frozenset[str]) -> list[Job]:
    """Return the variants whose delta atom has a delta."""
    changed = {relation for relation in members if backend.count(relation, Version.DELTA)}
    return [
        (rule, variant)
        for rule in stratum.rules
        for variant in rule.variants
        if variant.delta is not None and rule.reads[variant.delta] in changed
    ]

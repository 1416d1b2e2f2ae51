"""What the update algorithms are made of: the trees that find lost and gained derivations, and rounds to a fixpoint.

An update of a stratum goes through the phases of `contract.Phase`: `lose` and `delete`, which counts the support of
tuples when they first lose some if nobody has before, and of those that are lifted, `backwards` or `left_over` to find
removed tuples again, `gain` and `insert`. Each lost or gained derivation is enumerated exactly once (see `plan.nodes`
on versions).
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from tidelog.plan.nodes import Project, Rule, Stratum
from tidelog.plan.rewrite.rederive import rederive
from tidelog.plan.rewrite.rediscover import rediscover
from tidelog.run.contract.backend import Backend
from tidelog.run.contract.phase import Job, Phase
from tidelog.run.limits import Watch

Bags = Mapping[str, Any]


def lose(backend: Backend, stratum: Stratum, kept: Sequence[Rule], removed: Sequence[Rule]) -> tuple[Bags, Bags]:
    """Return the derivations lost by changes below and with rules, and those gained by groups that have changed."""
    backend.enter(Phase.LOSE, stratum.members)
    jobs = [*full(removed), *changed_below(backend, stratum, kept, losing=True)]
    grouping = [rule for rule in kept if any(rule.aggregated) and reads_change(backend, rule)]
    if not grouping:
        return (backend.derive(jobs) if jobs else {}), {}
    lost, gained = backend.regroup(grouping)
    return backend.unite([lost, backend.derive(jobs)]), gained


def leads_nowhere(backend: Backend, stratum: Stratum) -> bool:
    """Tell whether what has changed below a stratum surely does nothing to it, where that can be told at once."""
    changed = sum(sum(backend.changed(name)) for name in stratum.below)
    if backend.sieving is None or stratum.aggregates or not backend.sieving.is_small(changed):
        return False
    for phase, losing in ((Phase.LOSE, True), (Phase.GAIN, False)):
        jobs = changed_below(backend, stratum, stratum.rules, losing=losing)
        backend.enter(phase, stratum.members)
        if backend.sieving.may_derive(jobs):
            return False
    return True


def some(*bags: Bags) -> bool:
    """Tell whether there may be derivations: a bag that has none is false; one that cannot tell is true."""
    return any(any(one.values()) for one in bags)


def delete(backend: Backend, stratum: Stratum, kept: Sequence[Rule], lost: Bags, watch: Watch, rounds: int) -> int:
    """Take lost derivations away, and those that use what this removes; return the number of rounds so far."""
    take = partial(_release, backend, stratum, kept)
    return _rounds(backend, stratum, Phase.DELETE, kept, lost, take, watch, rounds)


def _rounds(
    backend: Backend,
    stratum: Stratum,
    phase: Phase,
    rules: Sequence[Rule],
    bags: Bags,
    take: Callable[[Bags], None],
    watch: Watch,
    rounds: int,
) -> int:
    """Take derivations, and round by round those that use what this changes; return the number of rounds so far."""
    members, batched = stratum.members, backend.batched
    begun = batched.start(phase, rules, bags, watch.rounds_left() - 1) if batched else None
    if begun is None:
        take(bags)
        backend.enter(phase, members)
    rounds += begun or 0
    while jobs := touched(backend, rules, members):
        rounds += 1
        watch.begin_round(stratum, rounds)
        done = batched.go_on(rules, watch.rounds_left()) if batched else 0
        if done:
            rounds += done - 1
        else:
            take(backend.derive(jobs))
    return rounds


def _release(backend: Backend, stratum: Stratum, kept: Sequence[Rule], lost: Bags) -> None:
    """Take lost derivations away; where support was left uncounted, count what tuples in doubt have left."""
    backend.release(stratum.relations, lost)
    lazy, members = backend.lazy, stratum.members
    if lazy is None:
        return
    doubtful = lazy.doubtful()
    if doubtful:
        backend.enter(Phase.COUNT, members)
        lazy.settle(doubtful, _again(backend, kept, doubtful))
    lifted = lazy.lift() if stratum.recursive else ()
    if lifted:
        backend.enter(Phase.COUNT, members)
        lazy.settle(lifted, _again(backend, recursive(kept, members), lifted))
    if doubtful or lifted:
        backend.enter(Phase.DELETE, members)


def recursive(rules: Sequence[Rule], members: frozenset[str]) -> list[Rule]:
    """Return the rules that read the stratum: a tuple without support has no derivations by the others."""
    return [rule for rule in rules if not members.isdisjoint(rule.reads)]


def backwards(backend: Backend, stratum: Stratum, rules: Iterable[Rule]) -> Bags:
    """Return the derivations that removed tuples have from what is left, by these rules, and candidates for bounds."""
    gone = _removed(backend, stratum)
    bounded = {relation for relation in gone if backend.bound(relation) is not None}
    found = _again(backend, rules, gone - bounded)
    return backend.unite([found, _candidates(backend, rules, bounded)]) if bounded else found


def left_over(backend: Backend, stratum: Stratum, kept: Sequence[Rule]) -> Bags:
    """Return the derivations that removed tuples have left: read off where all were counted, else looked for.

    Of bounds, the keys that have lost some have candidates that were not admitted: these are looked for by all rules.
    """
    gone = _removed(backend, stratum)
    bounded = {relation for relation in gone if backend.bound(relation) is not None}
    counted = backend.leftovers.left_over(gone - bounded) if backend.leftovers else {}
    found = _again(backend, recursive(kept, stratum.members), gone - counted.keys() - bounded)
    candidates = _candidates(backend, kept, bounded) if bounded else {}
    return backend.unite([counted, found, candidates]) if counted or candidates else found


def _candidates(backend: Backend, rules: Iterable[Rule], bounded: Container[str]) -> Bags:
    """Return derivations of bounds that are not there, of the keys that have lost some, from what is left."""
    jobs: list[Job] = []
    for rule in rules:
        bound = backend.bound(rule.head)
        if rule.head in bounded and bound is not None:
            jobs.append((rule, rederivation(rule, free=bound.column)))
    return backend.absent(backend.derive(jobs))


def _removed(backend: Backend, stratum: Stratum) -> set[str]:
    """End the removal of tuples; return the relations in which some may have derivations left."""
    gone = {relation for relation in stratum.relations if backend.removed(relation)}
    backend.enter(Phase.REDERIVE, stratum.members)
    return gone


def _again(backend: Backend, rules: Iterable[Rule], gone: Container[str]) -> Bags:
    return backend.derive([(rule, rederivation(rule)) for rule in rules if rule.head in gone])


def gain(backend: Backend, stratum: Stratum, kept: Sequence[Rule], added: Sequence[Rule]) -> Bags:
    """Return the derivations gained by changes below and with rules."""
    backend.enter(Phase.GAIN, stratum.members)
    jobs = [*full(added), *changed_below(backend, stratum, kept, losing=False)]
    return backend.derive(jobs) if jobs else {}


def insert(backend: Backend, stratum: Stratum, gained: Bags, watch: Watch, rounds: int) -> int:
    """Absorb gained derivations, and semi-naive those that use what is new; return the number of rounds so far."""
    take = partial(backend.absorb, stratum.relations)
    rounds = _rounds(backend, stratum, Phase.INSERT, stratum.rules, gained, take, watch, rounds)
    for relation in stratum.relations:
        backend.conclude(relation)
    return rounds


def touched(backend: Backend, rules: Sequence[Rule], members: frozenset[str]) -> list[Job]:
    """Return the variants whose delta atom is of the stratum and has a delta."""
    changed = {relation for relation in members if backend.has_delta(relation)}
    return [
        (rule, variant.tree)
        for rule in rules
        if changed.intersection(rule.reads)
        for variant in rule.variants
        if variant.delta is not None and rule.reads[variant.delta] in changed
    ]


_rederivations: dict[tuple[int, bool, int | None], tuple[Rule, Project]] = {}
_MOST_REDERIVATIONS = 10_000


def rederivation(rule: Rule, *, divided: bool = False, free: int | None = None) -> Project:
    """Return the tree that evaluates a rule backwards, perhaps with a column of the head `free`.

    It is made once for a rule, as long as not too many are kept.
    """
    known = _rederivations.get((id(rule), divided, free))
    if known is None or known[0] is not rule:
        if len(_rederivations) >= _MOST_REDERIVATIONS:
            _rederivations.clear()
        made = rediscover(rule.body) if divided else rederive(rule.body, free=free)
        known = _rederivations[id(rule), divided, free] = rule, made
    return known[1]


def full(rules: Sequence[Rule]) -> list[Job]:
    """Return the trees that find all derivations of rules."""
    return [(rule, rule.full.tree) for rule in rules]


def changed_below(backend: Backend, stratum: Stratum, rules: Sequence[Rule], *, losing: bool) -> list[Job]:
    """Return the variants whose delta atom, below the stratum, has changed so that derivations are lost or gained."""
    changes = {relation: change for relation in stratum.below if any(change := backend.changed(relation))}
    jobs: list[Job] = []
    for rule in rules:
        if changes.keys().isdisjoint(rule.reads):
            continue
        for variant in rule.variants:
            if variant.delta is not None and rule.reads[variant.delta] in changes:
                deleted, inserted = changes[rule.reads[variant.delta]]
                if deleted if losing != variant.negative else inserted:
                    jobs.append((rule, variant.tree))
    return jobs


def reads_change(backend: Backend, rule: Rule) -> bool:
    """Tell whether a relation that a rule reads has changed."""
    return any(any(backend.changed(relation)) for relation in rule.reads)

"""Which algorithm brings a stratum up to date, and the way out when it was the wrong one.

A stratum that reads nothing changed and has the rules it had is left alone. One whose relations were not together in a
stratum before is evaluated from scratch. Otherwise an update algorithm runs, the user's choice or `ranked`. Unless the
user chose, it runs under a work budget, counted in derivations so that it is repeatable: a quarter of what the last
evaluation from scratch took. When it overruns, its partial work is dropped and the stratum is evaluated from scratch;
strata above see only the difference.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tidelog.plan.nodes import Plan, Rule, Stratum
from tidelog.run.contract import Backend, Support, Work
from tidelog.run.limits import OverBudgetError, Watch
from tidelog.run.maintain import dred, elastic, ranked
from tidelog.run.maintain.seminaive import bootstrap

BUDGET_SHARE = 0.25
LEAST_BUDGET = 10_000
"""Derivations that are always allowed: below this a bootstrap's fixed costs decide."""

Costs = MutableMapping[frozenset[str], int]
"""Derivations of the last bootstrap of each stratum, by its relations."""


@dataclass(frozen=True, slots=True)
class Algorithm:
    """One way to bring a stratum up to date: the support it needs, and the function that does it."""

    support: Support
    update: Callable[[Any, Stratum, Sequence[Rule], Sequence[Rule], Watch], int]


ALGORITHMS: Mapping[str, Algorithm] = {
    "ranked": Algorithm(Support.RANKED, ranked.update),
    "dred": Algorithm(Support.NONE, dred.update),
    "elastic": Algorithm(Support.FIRST, elastic.update),
}
"""The update algorithms by the name of their strategy."""
DEFAULT = "ranked"
"""What `auto` begins with."""


def support_of(strategy: str) -> Support:
    """Return what has to be kept of tuples for a strategy to follow changes."""
    return Support.NONE if strategy == "recompute" else ALGORITHMS[_named(strategy)].support


def _named(strategy: str) -> str:
    return DEFAULT if strategy == "auto" else strategy


Evaluate = Callable[[Any, Stratum, Watch], int]
"""How a stratum is evaluated from scratch: by a backend, under a watch, in so many rounds."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """The plan before this update: its rules by head relation, and which relations were a stratum together."""

    rules: dict[str, list[Rule]]
    strata: frozenset[tuple[frozenset[str], bool]]

    @staticmethod
    def of(plan: Plan) -> Earlier:
        """Return what must be known of an earlier plan."""
        rules: dict[str, list[Rule]] = {}
        for stratum in plan.strata:
            for rule in stratum.rules:
                rules.setdefault(rule.head, []).append(rule)
        return Earlier(rules, frozenset((frozenset(s.relations), s.recursive) for s in plan.strata))

    def changes(self, stratum: Stratum) -> tuple[list[Rule], list[Rule]]:
        """Return the rules a stratum has lost and gained."""
        before = {rule.identity: rule for relation in stratum.relations for rule in self.rules.get(relation, ())}
        after = {rule.identity: rule for rule in stratum.rules}
        return (
            [rule for name, rule in before.items() if not _same(rule, after.get(name))],
            [rule for name, rule in after.items() if not _same(rule, before.get(name))],
        )


def _same(rule: Rule, other: Rule | None) -> bool:
    return other is rule or (other is not None and rule.source is not None and rule.source == other.source)


def maintain(
    backend: Backend,
    stratum: Stratum,
    earlier: Earlier,
    costs: Costs,
    watch: Watch,
    strategy: str,
    evaluate: Evaluate = bootstrap,
) -> Work | None:
    """Bring a stratum up to date; None if there is nothing to do. `evaluate` is what does it from scratch."""
    removed, added = earlier.changes(stratum)
    members = frozenset(stratum.relations)
    together = (members, stratum.recursive) in earlier.strata
    reached = any(any(backend.changed(relation)) for rule in stratum.rules for relation in rule.reads)
    if together and not removed and not added and not reached:
        return None
    if strategy == "recompute":
        return _bootstrapped(backend, stratum, costs, watch, evaluate, "chosen by the user")
    if not together:
        return _bootstrapped(backend, stratum, costs, watch, evaluate, "its relations were not one stratum before")
    start = time.perf_counter()
    spent = backend.derivations
    if strategy == "auto":
        watch.budget = max(LEAST_BUDGET, BUDGET_SHARE * costs.get(members, 0))
    backend.begin()
    name = _named(strategy)
    try:
        rounds = ALGORITHMS[name].update(backend, stratum, removed, added, watch)
    except OverBudgetError:
        watch.budget = math.inf
        backend.drop()
        work = _bootstrapped(backend, stratum, costs, watch, evaluate, "the update overran its work budget")
        return replace(work, derivations=backend.derivations - spent, seconds=time.perf_counter() - start)
    finally:
        watch.budget = math.inf
    used = backend.derivations - spent
    return Work(stratum.number, stratum.relations, name, "", rounds, used, time.perf_counter() - start)


def _bootstrapped(
    backend: Backend, stratum: Stratum, costs: Costs, watch: Watch, evaluate: Evaluate, reason: str
) -> Work:
    """Evaluate a stratum from scratch in the middle of an update."""
    start = time.perf_counter()
    spent = backend.derivations
    for relation in stratum.relations:
        backend.reset(relation)
    rounds = evaluate(backend, stratum, watch)
    used = backend.derivations - spent
    costs[frozenset(stratum.relations)] = used
    for relation in stratum.relations:
        backend.compare(relation)
    return Work(stratum.number, stratum.relations, "recompute", reason, rounds, used, time.perf_counter() - start)

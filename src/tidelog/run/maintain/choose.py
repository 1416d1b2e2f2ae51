"""Which algorithm brings a stratum up to date, and the way out when it was the wrong one.

A stratum that reads nothing changed and has the rules it had is left alone. One whose relations were not together in a
stratum before is evaluated from scratch. Otherwise an update algorithm runs, the user's choice or `ranked`. It may have
a budget: a share of what an evaluation from scratch takes, in units of work, which are the same each time, or in
seconds (`Fallback`; Zhao et al. call the share the switching parameter). When it overruns, its partial work is dropped
and the stratum is evaluated from scratch; strata above see only the difference. With a share s an update costs at most
1 + s such evaluations, and one that is dropped at most (1 + s) / s times what it would have cost to go on. The default
keeps the first small: no commit should be felt as dearer than starting over. What strata before it in the commit have
saved is lent to a stratum, up to what evaluating it takes: the commit is no dearer for it. A deletion may leave much
less to evaluate than the last time: as tuples go, so does the budget.

To keep it small where support is dear, an evaluation that takes the place of an update does not count: each tuple has
its rank, and its support is found when it first loses some (`LazySupport`). So the 1 + s are of an evaluation that
keeps only ranks, the next small update goes the usual way, and nobody ever pays for all the counts in one update. What
is counted from the beginning are loads, which bring at least half of what a stratum reads, and strata with aggregates,
whose groups have no state between before and after in which one could count.

An update of an empty stratum that brings at least half of what it reads is not even tried. Where the last update was
given up, one with as great a change below, and a greater one than any that was not, gets half its budget, then a
quarter, an eighth, and the whole again. Changes that take something away and those that do not count separately.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from heapq import heappop, heappush
from typing import Any

from tidelog.base.record import record
from tidelog.base.tuning.updates import Budgets
from tidelog.plan.nodes import Plan, Rule, Stratum
from tidelog.run.contract.backend import Backend
from tidelog.run.contract.engine import Fallback, Work
from tidelog.run.contract.phase import Support
from tidelog.run.limits import OverBudgetError, Watch
from tidelog.run.maintain import dred, elastic, modular, ranked
from tidelog.run.maintain.cost import NOTHING, UNLIMITED, Budget, Cost, Costs, budget_of
from tidelog.run.maintain.rounds import leads_nowhere
from tidelog.run.maintain.seminaive import bootstrap


@record
class Algorithm:
    """One way to bring a stratum up to date: the support it needs, and the function that does it."""

    support: Support
    update: Callable[[Any, Stratum, Sequence[Rule], Sequence[Rule], Watch], int]


ALGORITHMS: Mapping[str, Algorithm] = {
    "ranked": Algorithm(Support.RANKED, ranked.update),
    "dred": Algorithm(Support.NONE, dred.update),
    "elastic": Algorithm(Support.FIRST, elastic.update),
    "dred-c": Algorithm(Support.COUNTED, modular.update),
    "modular": Algorithm(Support.COUNTED, modular.update),
}
"""The update algorithms by the name of their strategy."""
DEFAULT = "ranked"
"""What `auto` begins with."""


@record
class Strategy:
    """How strata follow changes: the name of a strategy, when it is given up (None: as it likes), and thresholds."""

    name: str
    fallback: Fallback | None
    budgets: Budgets

    @property
    def usual(self) -> Fallback:
        """When the strategy gives an update up, unless the user says otherwise."""
        shares = {"auto": self.budgets.share, "elastic": self.budgets.elastic_share}
        return Fallback(shares.get(self.name, math.inf))


def support_of(strategy: str) -> Support:
    """Return what has to be kept of tuples for a strategy to follow changes."""
    return Support.NONE if strategy == "recompute" else ALGORITHMS[_named(strategy)].support


def _named(strategy: str) -> str:
    return DEFAULT if strategy == "auto" else strategy


def strategy_of(stratum: Stratum, plan: Plan, strategy: str) -> str:
    """Return how a stratum follows changes: as the user chose, or `auto` unless one of its relations asks otherwise."""
    if strategy != "auto":
        return strategy
    asked = (plan.relations[name].strategy for name in stratum.relations)
    return next((name for name in asked if name is not None), strategy)


Evaluate = Callable[[Any, Stratum, Watch], int]
"""How a stratum is evaluated from scratch: by a backend, under a watch; returns the number of rounds."""


class Earlier:
    """The plan before this update: its rules by head relation, and which relations were a stratum together.

    What is known of it is found when somebody asks: many a plan is gone over to for one goal, and back.
    """

    def __init__(self, plan: Plan, kept: Sequence[Stratum] | None = None) -> None:
        self.plan = plan
        self._kept = plan.strata if kept is None else kept

    @cached_property
    def rules(self) -> dict[str, list[Rule]]:
        """Its rules, by the relation that they derive."""
        rules: dict[str, list[Rule]] = {}
        for rule in (rule for stratum in self.plan.strata for rule in stratum.rules):
            rules.setdefault(rule.head, []).append(rule)
        return rules

    @cached_property
    def readers(self) -> dict[str, list[int]]:
        """The places in the plan of the strata that read a relation."""
        readers: dict[str, list[int]] = {}
        for place, stratum in enumerate(self.plan.strata):
            for relation in stratum.below:
                readers.setdefault(relation, []).append(place)
        return readers

    @cached_property
    def strata(self) -> frozenset[tuple[frozenset[str], bool]]:
        """The relations of each stratum, and whether it is recursive."""
        return frozenset((stratum.members, stratum.recursive) for stratum in self._kept)

    @cached_property
    def known(self) -> frozenset[int]:
        """Its strata, by identity."""
        return frozenset(map(id, self._kept))

    def towards(self, plan: Plan) -> Earlier:
        """Return this without the strata that derive or read a relation with other columns in another plan.

        Under such a name there is another relation, of which an update could lose nothing.
        """
        if plan is self.plan:
            return self
        others = {
            name
            for name, relation in self.plan.relations.items()
            if (other := plan.relations.get(name, relation)) is not relation
            and [column.type for column in relation.columns] != [column.type for column in other.columns]
        }
        if not others:
            return self
        return Earlier(self.plan, [s for s in self.plan.strata if others.isdisjoint(s.members | s.below)])

    def has(self, stratum: Stratum) -> bool:
        """Tell whether a stratum is one of this plan, so that its rules are what they were."""
        return id(stratum) in self.known

    def orphans(self, plan: Plan, held: Container[str]) -> set[str]:
        """Return the relations held that another plan has, too, but no rules for them any more."""
        if plan is self.plan:
            return set()
        derived = {relation for stratum in plan.strata for relation in stratum.relations}
        return {name for name in self.rules if name in held and name in plan.relations} - derived

    def changes(self, stratum: Stratum) -> tuple[list[Rule], list[Rule]]:
        """Return the rules that a stratum of another plan has lost and gained."""
        before = {rule.identity: rule for relation in stratum.relations for rule in self.rules.get(relation, ())}
        after = {rule.identity: rule for rule in stratum.rules}
        return (
            [rule for name, rule in before.items() if not _same(rule, after.get(name))],
            [rule for name, rule in after.items() if not _same(rule, before.get(name))],
        )


def _same(rule: Rule, other: Rule | None) -> bool:
    return other is rule or (other is not None and rule.source is not None and rule.source == other.source)


def reached(backend: Backend, plan: Plan, earlier: Earlier, facts: Iterable[str]) -> Iterator[Stratum]:
    """Yield in order the strata that may have to change: those that the plan before did not have or that read a change.

    `facts` are the relations whose stored facts were changed. A stratum is to be maintained before the next is asked
    for; one that no change reaches costs nothing.
    """
    if earlier.plan is not plan:
        yield from _reached_in_another(backend, plan, earlier, facts)
        return
    waiting: list[int] = []
    known: set[int] = set()
    changed = [name for name in facts if any(backend.changed(name))]
    while changed or waiting:
        for name in changed:
            for place in earlier.readers.get(name, ()):
                if place not in known:
                    known.add(place)
                    heappush(waiting, place)
        if not waiting:
            return
        stratum = plan.strata[heappop(waiting)]
        yield stratum
        changed = [name for name in stratum.relations if any(backend.changed(name))]


def _reached_in_another(backend: Backend, plan: Plan, earlier: Earlier, facts: Iterable[str]) -> Iterator[Stratum]:
    """Yield the strata of a plan that the one before did not have, or that read a change."""
    changed = {name for name in facts if any(backend.changed(name))}
    for stratum in plan.strata:
        if not earlier.has(stratum) or not changed.isdisjoint(stratum.below):
            yield stratum
            changed.update(name for name in stratum.relations if any(backend.changed(name)))


def maintain(
    backend: Backend,
    stratum: Stratum,
    earlier: Earlier,
    costs: Costs,
    watch: Watch,
    strategy: Strategy,
    evaluate: Evaluate = bootstrap,
) -> Work | None:
    """Bring a stratum up to date; None if there is nothing to do. `evaluate` is what does it from scratch."""
    same, members = earlier.has(stratum), stratum.members
    removed, added = ([], []) if same else earlier.changes(stratum)
    together = same or (members, stratum.recursive) in earlier.strata
    if together and not removed and not added and not any(any(backend.changed(name)) for name in stratum.below):
        return None
    if same and strategy.name != "recompute" and leads_nowhere(backend, stratum):
        return None
    scratch = _Scratch(backend, stratum, costs, watch, evaluate)
    if strategy.name == "recompute":
        return scratch.evaluate("chosen by the user")
    if not together:
        return scratch.evaluate("its relations were not one stratum before")
    if strategy.name == "elastic" and any(backend.bound(relation) is not None for relation in members):
        return scratch.evaluate("`elastic` does not follow minima and maxima in recursion")
    lazy = backend.lazy
    if stratum.aggregates and lazy is not None and not all(map(lazy.counted, members)):
        return scratch.evaluate("its groups need counts that its tuples do not have")
    return _Attempt(scratch, strategy, removed, added).make()


@record
class _Attempt:
    """An update of a stratum by an algorithm, which may be given up, or not even tried."""

    scratch: _Scratch
    strategy: Strategy
    removed: Sequence[Rule]
    added: Sequence[Rule]

    def make(self) -> Work:
        """Bring the stratum up to date, or have it evaluated."""
        backend, stratum, watch = self.scratch.backend, self.scratch.stratum, self.scratch.watch
        start, derived, spent = time.perf_counter(), backend.derivations, watch.spent
        last, (deleted, inserted) = self.scratch.last, _size(backend, stratum)
        size, losing = deleted + inserted, deleted > 0
        past = last.past[losing]
        fallback, budgets = self.strategy.fallback, self._budgets
        lent = max(0.0, watch.saved) if self.strategy.name == "auto" and fallback is None else 0.0
        lent /= 1 + losing  # what others have saved is held against evaluations of what there was
        budget = budget_of(self._fallback if fallback is None else fallback, last, size, lent, budgets, losing=losing)
        hopeless = "" if budget == UNLIMITED else self._why_hopeless(size)
        if hopeless:
            return self.scratch.evaluate(hopeless, last, counted=not self._need_not_count)
        try:
            rounds = self._update(budget, budgets, start)
        except OverBudgetError as over:
            reason = str(over) or f"the update took more than {budget}"
            watch.unbind()
            watch.saved -= watch.spent - spent
            backend.drop()
            tried = last if self._changes_rules else last.after(past.giving_up(size), losing=losing)
            work = self.scratch.evaluate(reason, tried, counted=not self._need_not_count)
            if not self._changes_rules:
                self.scratch.note(self.scratch.last.in_place(losing=losing))
            return replace(work, derivations=backend.derivations - derived, seconds=time.perf_counter() - start)
        finally:
            watch.unbind()
        watch.saved += last.work - (watch.spent - spent)
        if size > past.done or past.in_a_row:
            self.scratch.note(last.after(past.doing(size), losing=losing))
        used, reason = (
            backend.derivations - derived,
            "chosen by the user" if budget == UNLIMITED else f"within {budget}",
        )
        name, seconds = _named(self.strategy.name), time.perf_counter() - start
        return Work(stratum.number, stratum.relations, name, reason, rounds, used, seconds)

    @property
    def _budgets(self) -> Budgets:
        """The thresholds of a budget; `auto` risks no more of a small stratum than a part of what it takes anew."""
        budgets, stratum = self.strategy.budgets, self.scratch.stratum
        if self.strategy.name != "auto" or self.strategy.fallback is not None:
            return budgets
        held = sum(map(self.scratch.backend.count, stratum.relations))
        anew = max(self.scratch.last.work, float(budgets.each) * held)
        least = budgets.least + float(budgets.risk) * anew
        return replace(budgets, work=least) if least < budgets.work else budgets

    @property
    def _fallback(self) -> Fallback:
        """When the update is given up: where a rule goes, half as late, since the last evaluation was with it."""
        usual, budgets = self.strategy.usual, self.strategy.budgets
        return replace(usual, share=usual.share * float(budgets.rule_share)) if self.removed else usual

    @property
    def _changes_rules(self) -> bool:
        return bool(self.removed or self.added)

    def _why_hopeless(self, size: int) -> str:
        """Tell why an update of a size is not even to be tried, if it is not."""
        backend, stratum = self.scratch.backend, self.scratch.stratum
        if _named(self.strategy.name) != DEFAULT or self._changes_rules:
            return ""
        if self._is_load and not any(map(backend.count, stratum.relations)):
            return "it was empty, and at least half of what it reads is new"
        # Without recursion a row that changes leads as far as one that does not, and costs some three times as much.
        budgets = self.strategy.budgets
        if stratum.recursive or size <= budgets.few:
            return ""
        much = size > budgets.most * sum(map(backend.count, stratum.below))
        return "much of what it reads has changed" if much else ""

    @property
    def _need_not_count(self) -> bool:
        """Whether the stratum, if it is evaluated in place of an update, may leave support to be counted later.

        A round of counting then costs as much as counting all of a small stratum now.
        """
        large = self.scratch.last.work >= self.strategy.budgets.counted
        return large and not self.scratch.stratum.aggregates and not self._is_load

    @property
    def _is_load(self) -> bool:
        """Whether a large part of what the stratum reads is new."""
        backend, below = self.scratch.backend, self.scratch.stratum.below
        new = sum(backend.changed(relation)[1] for relation in below)
        return new >= self.strategy.budgets.load * sum(map(backend.count, below))

    def _update(self, budget: Budget, budgets: Budgets, start: float) -> int:
        """Run the algorithm within a budget; return the number of rounds."""
        backend, watch = self.scratch.backend, self.scratch.watch
        watch.budget, watch.patience = budget.work, start + budget.seconds
        if budget.work < math.inf:
            stratum = self.scratch.stratum
            watch.less = partial(_less, backend, stratum, budget, budgets, *_counts(backend, stratum))
        backend.begin()
        watch.strategy = _named(self.strategy.name)
        algorithm = ALGORITHMS[watch.strategy]
        return algorithm.update(backend, self.scratch.stratum, self.removed, self.added, watch)


def _counts(backend: Backend, stratum: Stratum) -> tuple[int, float]:
    """Return how many tuples a stratum has, and how large a part of what it reads from below was there before."""
    below = stratum.below
    now = sum(map(backend.count, below))
    before = now + sum(deleted - inserted for deleted, inserted in map(backend.changed, below))
    return sum(map(backend.count, stratum.relations)), min(1.0, now / max(1, before))


def _less(backend: Backend, stratum: Stratum, budget: Budget, budgets: Budgets, before: int, below: float) -> float:
    """Return by how much a budget is less since there is less to evaluate: below, and so far in the stratum."""
    now = sum(map(backend.count, stratum.relations))
    return budget.less(min(below, now / max(1, before)), budgets)


def _size(backend: Backend, stratum: Stratum) -> tuple[int, int]:
    """Return how many tuples were deleted and inserted below a stratum."""
    changes = [backend.changed(relation) for relation in stratum.below]
    return sum(deleted for deleted, _ in changes), sum(inserted for _, inserted in changes)


@record
class _Scratch:
    """A stratum that may have to be evaluated from scratch in the middle of an update."""

    backend: Backend
    stratum: Stratum
    costs: Costs
    watch: Watch
    how: Evaluate

    @property
    def last(self) -> Cost:
        """What is known of the evaluations and updates so far."""
        return self.costs.get(self.stratum.members, NOTHING)

    def note(self, cost: Cost) -> None:
        """Keep what is known for the next update."""
        if self.stratum.members in self.costs:
            self.costs[self.stratum.members] = cost

    def evaluate(self, reason: str, past: Cost = NOTHING, *, counted: bool = True) -> Work:
        """Evaluate it, and find the difference; `past` is how updates have gone so far."""
        start, before = time.perf_counter(), self.watch.spent
        backend, stratum = self.backend, self.stratum
        spent = backend.derivations
        self.watch.strategy = "from scratch"
        for relation in stratum.relations:
            backend.reset(relation)
            if backend.lazy is not None and not counted:
                backend.lazy.leave_uncounted(relation)
        rounds = self.how(backend, stratum, self.watch)
        used = backend.derivations - spent
        for relation in stratum.relations:
            backend.compare(relation)
        took = replace(past, work=self.watch.spent - before, time=time.perf_counter() - start)
        self.costs[stratum.members] = took
        return Work(stratum.number, stratum.relations, "recompute", reason, rounds, used, time.perf_counter() - start)

"""Evaluating the rules of a round: one after the other, or side by side where there is much to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tidelog.plan.closures.split_modules import ClosureRule, told
from tidelog.plan.nodes import Project, Rule
from tidelog.run.columnar.rules.bag import Bag, Bags
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.evaluate import Pipeline
from tidelog.run.columnar.rules.join_plan import JoinPlan
from tidelog.run.columnar.store import Store
from tidelog.run.contract.module import turn
from tidelog.run.contract.phase import Job
from tidelog.run.limits import RuleRun, analysis
from tidelog.run.scalar.failure import ScalarError, failed
from tidelog.run.threads import helpers, share


class Deriving(Store):
    """A store whose rules can be evaluated."""

    def derive(self, jobs: Sequence[Job]) -> Bags:
        """Evaluate trees; return for each head relation its bags."""
        closing = {id(rule): rule for rule, _ in jobs if isinstance(rule, ClosureRule)}
        if not closing:
            return turn(SemiNaive(self), self.phase, jobs)
        others = [job for job in jobs if id(job[0]) not in closing]
        found = [turn(SemiNaive(self), self.phase, others)] if others else []
        those = ((rule, [job for job in jobs if job[0] is rule]) for rule in closing.values())
        return self.unite([*found, *(self._close(rule, own) for rule, own in those)])

    def _close(self, rule: ClosureRule, jobs: Sequence[Job]) -> Bags:
        """Let the module of a closure take its turn."""
        self.watch.rule = rule
        walked, spent, start = self.watch.walked, self.derivations, time.perf_counter()
        found: Bags = turn(self.closing(rule, self), self.phase, jobs)
        with self.counting:
            self.derivations += self.watch.walked - walked
        notes = analysis.get()
        if notes is not None:
            seconds = time.perf_counter() - start
            notes.append(RuleRun(told(rule), self.watch.round, 0.0, self.derivations - spent, seconds))
        return found

    def evaluate(self, jobs: Sequence[Job]) -> Bags:
        """Evaluate trees of rules, tuple by tuple or side by side; return for each head relation its bags."""
        self.bitmaps.check(self.relation)
        join_plans = [(rule, self.orders.best(rule, tree, self.relation)) for rule, tree in jobs]
        if analysis.get() is not None:
            bags = [self._analysed(rule, join_plan) for rule, join_plan in join_plans]
        elif self._are_large(jobs):
            bags = share(helpers.get(), lambda rule, join_plan: self.run(Pipeline(rule, join_plan, self)), join_plans)
        else:
            bags = [self.run(Pipeline(rule, join_plan, self)) for rule, join_plan in join_plans]
        found: dict[str, list[Bag]] = {}
        for (rule, _), made in zip(join_plans, bags, strict=True):
            found.setdefault(rule.head, []).extend(made)
        return found

    @property
    def sieving(self) -> Deriving:
        """The store itself."""
        return self

    def is_small(self, changed: int) -> bool:
        """Tell whether a change of this size may be held against what rules read."""
        return changed <= self.tuning.joins.tiny

    def may_derive(self, jobs: Sequence[Job]) -> bool:
        """Tell whether trees may have derivations, as far as that can be told at once."""
        plans = ((rule, self.orders.best(rule, tree, self.relation)) for rule, tree in jobs)
        return any(plan.sieve.may_pass(self, rule) for rule, plan in plans)

    def visit(self, rule: Rule, tree: Project, take: Callable[[Bag], None]) -> None:
        """Evaluate a tree and hand on its bags as they are made, perhaps by several threads."""
        if isinstance(rule, ClosureRule):
            for bag in self._close(rule, [(rule, tree)]).get(rule.head, ()):
                take(bag)
            return
        self.run(Pipeline(rule, self.orders.best(rule, tree, self.relation), self, take))

    def unite(self, bags: Sequence[Bags]) -> Bags:
        """Put bags of the same head relations together."""
        found: dict[str, list[Bag]] = {}
        for one in bags:
            for name, parts in one.items():
                found.setdefault(name, []).extend(parts)
        return found

    def run(self, pipeline: Pipeline, table: Table | None = None) -> list[Bag]:
        """Return the bags of a pipeline, perhaps only of its last step, on bindings that have passed the others."""
        self.watch.rule = pipeline.rule
        try:
            bags = pipeline.run() if table is None else pipeline.finish(table)
        except ScalarError as failure:
            raise failed(failure, pipeline.rule) from failure.error
        with self.counting:
            self.derivations += pipeline.derivations
        return bags

    def _are_large(self, jobs: Sequence[Job]) -> bool:
        """Tell whether it is worth to evaluate rules side by side: when a delta is large."""
        if len(jobs) == 1 or helpers.get() is None:
            return False
        deltas = (self.relation(name).main.delta for name in self.members)
        least = self.tuning.threads.rules_from
        return any(delta is not None and delta.size >= least for delta in deltas)

    def _analysed(self, rule: Rule, join_plan: JoinPlan) -> list[Bag]:
        """Evaluate a join plan and note its work."""
        estimated, notes = self.orders.estimate(join_plan, self.relation), analysis.get()
        start, before = time.perf_counter(), self.derivations
        made = self.run(Pipeline(rule, join_plan, self))
        found, seconds = self.derivations - before, time.perf_counter() - start
        assert notes is not None
        notes.append(RuleRun(told(rule), self.watch.round, estimated, found, seconds))
        return made


class SemiNaive:
    """The module of all rules that no other module has: each function is one step of semi-naive evaluation.

    The trees of a round read what the phase shows, so the same evaluation adds, deletes and rederives.
    """

    def __init__(self, store: Deriving) -> None:
        self._store = store

    def add(self, jobs: Sequence[Job]) -> Bags:
        """Return what follows in one step with a new fact."""
        return self._store.evaluate(jobs)

    def diff(self, jobs: Sequence[Job]) -> Bags:
        """Return the derivations that changes of strata below make or take."""
        return self._store.evaluate(jobs)

    def delete(self, jobs: Sequence[Job]) -> Bags:
        """Return the derivations that used a deleted fact."""
        return self._store.evaluate(jobs)

    def rederive(self, jobs: Sequence[Job]) -> Bags:
        """Return the derivations in one step that deleted facts have from those that are left."""
        return self._store.evaluate(jobs)

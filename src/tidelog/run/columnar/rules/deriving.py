"""Evaluating the rules of a round: one after the other, or side by side where there is much to do."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from tidelog.plan.nodes import Project, Rule
from tidelog.run.columnar.rules.bag import Bag, Bags
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.evaluate import Pipeline
from tidelog.run.columnar.rules.join_plan import JoinPlan
from tidelog.run.columnar.store import Store
from tidelog.run.contract.phase import Job
from tidelog.run.limits import RuleRun, analysis
from tidelog.run.scalar.failure import ScalarError, failed
from tidelog.run.threads import helpers, share


class Deriving(Store):
    """A store whose rules can be evaluated."""

    def derive(self, jobs: Sequence[Job]) -> Bags:
        """Evaluate trees; return for each head relation its bags."""
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

    def visit(self, rule: Rule, tree: Project, take: Callable[[Bag], None]) -> None:
        """Evaluate a tree and hand on its bags as they are made, perhaps by several threads."""
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
        notes.append(RuleRun(rule.identity, self.watch.round, estimated, found, seconds))
        return made

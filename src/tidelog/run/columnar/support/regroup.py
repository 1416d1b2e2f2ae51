"""What changes below do to aggregating rules: the groups they touch are evaluated before and after, and compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tidelog.plan.nodes import Aggregate, Project, Rule
from tidelog.run.columnar.arrays.table import no_rows
from tidelog.run.columnar.rules.aggregate import groups
from tidelog.run.columnar.rules.bag import Bag, Bags
from tidelog.run.columnar.rules.bindings import Table, unit
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.rules.evaluate import Pipeline
from tidelog.run.columnar.rules.join import Probe, match
from tidelog.run.columnar.storage.layout import place, range_of
from tidelog.run.columnar.support.absorb import exchanged
from tidelog.run.phases import AFTER, BEFORE, DELETED, INSERTED, View
from tidelog.run.scalar.failure import ScalarError, failed


class Regrouping(Deriving):
    """A store that brings aggregates up to date."""

    def regroup(self, rules: Sequence[Rule]) -> tuple[Bags, Bags]:
        """Evaluate the groups of aggregating rules that have changed, before and after; return the difference."""
        lost: dict[str, list[Bag]] = {}
        gained: dict[str, list[Bag]] = {}
        for rule in rules:
            tree = rule.full.tree
            step = tree.input
            assert isinstance(step, Aggregate), "plans keep aggregates in rules of their own"
            keys = self._changed_keys(step)
            self.spend_on_rule(6)  # for the keys, before and after: each sorts
            before = self._grouped(rule, tree, step, keys, BEFORE, lambda tuples: self.spend_on_groups(2 * tuples))
            after = self._grouped(rule, tree, step, keys, AFTER, lambda _: None)  # paid for already, before any is read
            down, up = exchanged(self.touch(rule.head), before, after)
            for bags, bag in ((lost, down), (gained, up)):
                if bag.rows.shape[1]:
                    bags.setdefault(rule.head, []).append(bag)
        return lost, gained

    def _changed_keys(self, step: Aggregate) -> Table:
        """Return the keys of the groups in which something was deleted or inserted."""
        names = tuple(key.name for key in step.keys)
        probe = Probe(step.input.terms, (), self.codec)
        found: list[Table] = []
        for view in (DELETED, INSERTED):
            matches = match(unit(), probe, probe.see(self.relation(step.input.relation), view))
            if matches is not None:
                found.append(matches.table_of(probe, names))
        if not found:
            return Table(place((name, range_of(np.empty(0, np.uint64))) for name in names), no_rows(1))
        layout = place((name, found[0].range(name).join(found[-1].range(name))) for name in names)
        rows = np.concatenate(
            [part.moved(layout, {name: name for name in names}, self.arrays).rows for part in found], axis=1
        )
        return Table(layout, rows).distinct(names, self.arrays)

    def _grouped(
        self, rule: Rule, tree: Project, step: Aggregate, keys: Table, view: View, spend: Callable[[int], None]
    ) -> list[Bag]:
        try:
            result = groups(step, keys, self.relation(step.input.relation), view, self.scalars, spend)
        except ScalarError as failure:
            raise failed(failure, rule) from failure.error
        return [] if result is None else self.run(Pipeline(rule, self.orders.join_plan(tree), self), result)

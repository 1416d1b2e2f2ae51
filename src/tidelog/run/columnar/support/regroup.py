"""What changes below do to aggregating rules: the groups they touch are evaluated before and after, and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tidelog.plan.nodes import Aggregate, Project, Rule
from tidelog.run.columnar.arrays.table import no_rows
from tidelog.run.columnar.rules.bindings import Table, unit
from tidelog.run.columnar.rules.evaluate import Bag, Pipeline
from tidelog.run.columnar.rules.groups import groups
from tidelog.run.columnar.rules.join import Probe, match
from tidelog.run.columnar.storage.layout import place, range_of
from tidelog.run.columnar.support.absorb import exchanged
from tidelog.run.phases import AFTER, BEFORE, DELETED, INSERTED, View
from tidelog.run.scalar.failure import ScalarError, failed

if TYPE_CHECKING:
    from tidelog.run.columnar.store import Store

Bags = Mapping[str, Sequence[Bag]]


def regroup(store: Store, rules: Sequence[Rule]) -> tuple[Bags, Bags]:
    """Evaluate the groups of aggregating rules that have changed, before and after; return the difference."""
    lost: dict[str, list[Bag]] = {}
    gained: dict[str, list[Bag]] = {}
    for rule in rules:
        tree = rule.full.tree
        step = tree.input
        assert isinstance(step, Aggregate), "plans keep aggregates in rules of their own"
        keys = _changed_keys(store, step)
        before, after = (_grouped(store, rule, tree, step, keys, view) for view in (BEFORE, AFTER))
        down, up = exchanged(store.relation(rule.head), before, after)
        lost.setdefault(rule.head, []).append(down)
        gained.setdefault(rule.head, []).append(up)
    return lost, gained


def _changed_keys(store: Store, step: Aggregate) -> Table:
    """Return the keys of the groups in which something was deleted or inserted."""
    names = tuple(key.name for key in step.keys)
    probe = Probe(step.input.terms, (), store.codec)
    found: list[Table] = []
    for view in (DELETED, INSERTED):
        matches = match(unit(), probe, probe.see(store.relation(step.input.relation), view))
        if matches is not None:
            found.append(matches.table_of(probe, names))
    if not found:
        return Table(place((name, range_of(np.empty(0, np.uint64))) for name in names), no_rows(1))
    layout = place((name, found[0].range(name).join(found[-1].range(name))) for name in names)
    rows = np.concatenate(
        [part.moved(layout, {name: name for name in names}, store.arrays).rows for part in found], axis=1
    )
    return Table(layout, rows).distinct(names, store.arrays)


def _grouped(store: Store, rule: Rule, tree: Project, step: Aggregate, keys: Table, view: View) -> list[Bag]:
    try:
        result = groups(step, keys, store.relation(step.input.relation), view, store.scalars)
    except ScalarError as failure:
        raise failed(failure, rule) from failure.error
    return [] if result is None else store.run(Pipeline(rule, store.orders.course(tree), store), result)

"""The groups of an aggregate that have given keys, each with its result."""

from __future__ import annotations

from tidelog.base.process.meter import ask
from tidelog.plan.nodes import Aggregate
from tidelog.run.columnar.rules.aggregate import group, reduce_groups
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.join import Probe, match
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import View


def groups(step: Aggregate, keys: Table, relation: Relation, view: View, scalars: Scalars) -> Table | None:
    """Return keys and results of the groups with the given keys (a unit table: all groups) in a view of a relation."""
    arrays = relation.arrays
    probe = Probe(step.input.terms, keys.layout.fields, scalars.codec)
    matches = match(keys, probe, probe.see(relation, view)) if keys.count else None
    if matches is None:
        return None
    ask(3 * matches.total * 8)
    grouped = group(step, matches.table_of(probe, tuple(v.name for v in step.input.columns)), scalars)
    if not len(grouped.groups):
        return None
    names = [key.name for key in step.keys]
    codes = reduce_groups(step, grouped, scalars, scalars.codec)
    found = grouped.table.taken(grouped.groups).keeping(names, arrays)
    return found.extended(step.result.name, codes, names, arrays)

"""The state of a program in the columnar engine, and the leaf operations on it (`run.contract.Backend`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tidelog.base.errors import EvaluationError
from tidelog.base.show import show_value
from tidelog.plan.nodes import Aggregate, Plan, Rule, Version
from tidelog.run.columnar.aggregate import group, reduce_groups
from tidelog.run.columnar.arrays import Words, arrays
from tidelog.run.columnar.encode import Codec
from tidelog.run.columnar.join import match
from tidelog.run.columnar.layout import Layout, moves, range_of
from tidelog.run.columnar.pipeline import Bag, Pipeline, make_probe
from tidelog.run.columnar.relation import Relation
from tidelog.run.columnar.scalars import ScalarError, Scalars
from tidelog.run.columnar.table import UNIT
from tidelog.run.contract import Job
from tidelog.run.limits import Watch


class Store:
    """Relations by name; codes and expressions of one plan. Relations are replaced, not changed, across updates."""

    def __init__(self, plan: Plan, codec: Codec, relations: dict[str, Relation], watch: Watch) -> None:
        self.plan = plan
        self.codec = codec
        self.relations = relations
        self.scalars = Scalars(codec, plan.functions, plan.types)
        self.watch = watch
        self.derivations = 0

    def relation(self, name: str) -> Relation:
        """Return a relation of the plan, empty if it was never filled."""
        found = self.relations.get(name)
        if found is None:
            found = self.relations[name] = self.fresh(name)
        return found

    def fresh(self, name: str) -> Relation:
        """Return an empty relation with the columns of the plan."""
        return Relation(name, [column.type for column in self.plan.relations[name].columns])

    # --- the backend's operations ------------------------------------------------------------------------------------

    def derive(self, jobs: Sequence[Job]) -> Mapping[str, list[Bag]]:
        """Evaluate rule variants; return for each head relation its bags."""
        found: dict[str, list[Bag]] = {}
        for rule, variant in jobs:
            self.watch.rule = rule
            pipeline = Pipeline(variant.tree, self)
            try:
                bags = pipeline.run()
            except ScalarError as failure:
                raise _failure(failure, rule) from failure.error
            self.derivations += pipeline.derivations
            found.setdefault(rule.head, []).extend(bags)
        return found

    def absorb(self, relation: str, bag: Sequence[Bag] | None) -> int:
        """Make the new tuples of the bags the delta."""
        target = self.relation(relation)
        rows = [one.rows if one.layout == target.layout else _moved(one, target.layout) for one in bag or ()]
        count = target.absorb(rows)
        self.watch.add_tuples(count)
        return count

    def settle(self, relation: str) -> None:
        """Let the delta become old."""
        self.relation(relation).settle()

    def count(self, relation: str, version: Version) -> int:
        """Return the number of tuples of a version."""
        return self.relation(relation).count(version)

    def aggregate(self, step: Aggregate) -> Relation:
        """Return the keys and results of an aggregate as a relation."""
        result = Relation("", [*(key.type for key in step.keys), step.result.type])
        scan = step.input
        probe = make_probe(self.relation(scan.relation), scan.version, scan.terms, UNIT, self)
        matches = match(UNIT, probe)
        if matches is None:
            return result
        table = matches.table_of(probe, [variable.name for variable in scan.columns])
        grouped = group(step, table, self.scalars)
        codes = [
            *(grouped.table.codes(key.name)[grouped.groups] for key in step.keys),
            reduce_groups(step, grouped, self.scalars, self.codec),
        ]
        result.admit([range_of(column) for column in codes])
        rows = result.layout.pack(dict(enumerate(codes)), len(grouped.groups))
        result.absorb([rows])
        return result


def _moved(bag: Bag, layout: Layout) -> Words:
    steps = moves((field, layout.fields[column]) for column, field in bag.layout.fields.items())
    return arrays(bag.rows.shape[1]).move(bag.rows, steps, layout.constant({}))


def _failure(failure: ScalarError, rule: Rule) -> EvaluationError:
    bindings = ", ".join(f"{name} = {show_value(value)}" for name, value in failure.bindings.items())
    where = f" where {bindings}" if bindings else ""
    return EvaluationError(f"{failure.error}{where}\n  in the rule `{rule.origin.text}` ({rule.origin.span})")


def difference(before: Relation, after: Relation) -> tuple[Words, Words]:
    """Return the sorted rows only in `after`, and those only in `before`, in the layout of `after`."""
    after.admit(before.observed)
    old, new = before.rows(), after.rows()
    if before.layout != after.layout:
        old = _moved(Bag(before.layout, old), after.layout)
    table = arrays(max(old.shape[1], new.shape[1]))
    return table.without(new.copy(), old), table.without(old.copy(), new)

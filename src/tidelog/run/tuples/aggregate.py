"""Aggregates: facts into groups, each group to its result. A value weighs as much as there are facts that have it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import itemgetter
from typing import Any

from tidelog.base.values import Group
from tidelog.plan.nodes import Aggregate
from tidelog.run.contract.engine import Row
from tidelog.run.scalar.failure import ScalarError
from tidelog.run.tuples.evaluator import stepping
from tidelog.run.tuples.index import Columns
from tidelog.run.tuples.probe import make_probe
from tidelog.run.tuples.relation import Find
from tidelog.run.tuples.scalars import Scalars


def aggregate(
    step: Aggregate, names: Sequence[str], keys: Collection[Row], finder: Callable[[Columns], Find], scalars: Scalars
) -> list[Row]:
    """Return the keys and the result of each group that has given values in some of its key variables."""
    probe = make_probe(step.input.terms, names)
    find, key, agrees = stepping(finder(probe.columns)), probe.key(itemgetter), probe.agrees
    value = scalars.compile(step.value)
    groups: dict[Row, dict[Any, int]] = {}
    for known in keys:
        asked = dict(zip(names, known, strict=True))
        for fact in find(key(asked)):
            if agrees is None or agrees(fact):
                values = asked | {name: fact[column] for name, column in probe.new}
                weights = groups.setdefault(tuple([values[each.name] for each in step.keys]), {})
                member = value.value(*[values[name] for name in value.names])
                weights[member] = weights.get(member, 0) + 1
    reduce = scalars.compile(step.reduce)
    return [(*known, _result(step, known, weights, reduce.names, reduce.value)) for known, weights in groups.items()]


def _result(
    step: Aggregate, key: Row, weights: dict[Any, int], names: Sequence[str], reduce: Callable[..., Any]
) -> Any:
    values = {variable.name: value for variable, value in zip(step.keys, key, strict=True)}
    group = Group(key[0] if len(key) == 1 else key, weights)
    try:
        return reduce(*[group if name == step.group.name else values[name] for name in names])
    except ScalarError as failure:
        raise ScalarError(failure.error, step.reduce, values) from failure.error

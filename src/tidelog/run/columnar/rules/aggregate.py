"""Aggregates: sort bindings by group key and value, then reduce each group.

The reductions of the library that are common are done on whole columns (`_FAST`); any other expression over the group
is evaluated group by group on a `base.values.Group`. A binding counts once for each derivation.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tidelog.base import expr as e
from tidelog.base import types as t
from tidelog.base.errors import LimitError
from tidelog.base.process.growth import counted
from tidelog.base.process.meter import ask
from tidelog.base.record import record
from tidelog.base.types import Type
from tidelog.base.values import Group
from tidelog.plan.nodes import Aggregate
from tidelog.run.columnar.arrays.table import Places, U, Words
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.join import Probe, match
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.rules.vectors import fit, read, write
from tidelog.run.columnar.storage.dictionary import Codec, is_ordered
from tidelog.run.columnar.storage.layout import place, range_of
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import View
from tidelog.run.scalar.failure import ScalarError

VALUE = "value of the group"
MEMBER = 200
"""Bytes that a value in a group takes, about."""


@record
class Grouped:
    """Bindings sorted by key and value: where each group starts, and each distinct value within a group."""

    table: Table
    groups: Places
    values: Places

    @property
    def sizes(self) -> Places:
        """The number of derivations in each group."""
        return np.diff(np.append(self.groups, self.table.count))

    @property
    def weights(self) -> Places:
        """The number of derivations of each distinct value."""
        return np.diff(np.append(self.values, self.table.count))

    @property
    def value_starts(self) -> Places:
        """The place in `values` of each group's first value."""
        return np.searchsorted(self.values, self.groups)


def group(step: Aggregate, table: Table, scalars: Scalars) -> Grouped:
    """Sort bindings by the keys and the value of an aggregate, and find the groups."""
    ask(3 * table.rows.nbytes)
    names = [key.name for key in step.keys]
    codes = scalars.codes(step.value, table)
    layout = place([*((name, table.range(name)) for name in names), (VALUE, range_of(codes))])
    columns = {name: table.codes(name) for name in names} | {VALUE: codes}
    functions = scalars.arrays(table.count)
    rows = functions.sort(layout.pack(columns, table.count))  # type: ignore[arg-type]
    made = Table(layout, rows)
    groups = functions.firsts(made.keeping(names, scalars.arrays).rows) if table.count else np.empty(0, np.int64)
    return Grouped(made, groups, functions.firsts(rows))


def reduce_groups(step: Aggregate, grouped: Grouped, scalars: Scalars, codec: Codec) -> Words:
    """Return the code of the aggregate's result for each group."""
    fast = _fast(step)
    if fast is not None:
        found = fast(step, grouped, codec)
        if found is not None:
            return found
    return codec.codes([_slow(step, one, scalars) for one in _each(step, grouped, codec)], step.result.type)


def _slow(step: Aggregate, one: tuple[dict[str, Any], Group], scalars: Scalars) -> Any:
    keys, members = one
    try:
        return scalars.value(step.reduce, {**keys, step.group.name: members})
    except LimitError:
        raise
    except Exception as error:
        raise ScalarError(error, step.reduce, keys) from error


def _each(step: Aggregate, grouped: Grouped, codec: Codec) -> list[tuple[dict[str, Any], Group]]:
    """Return the keys and the Group of each group as values."""
    ask(MEMBER * len(grouped.values))
    keys = [codec.values(grouped.table.codes(k.name)[grouped.groups], k.type) for k in step.keys]
    values = codec.values(grouped.table.codes(VALUE)[grouped.values], step.value.type)
    weights = grouped.weights.tolist()
    starts = [*grouped.value_starts.tolist(), len(values)]
    made: list[tuple[dict[str, Any], Group]] = []
    for number in counted(range(len(grouped.groups))):
        span = slice(starts[number], starts[number + 1])
        key = tuple(column[number] for column in keys)
        members = dict(zip(values[span], weights[span], strict=True))
        names = {k.name: value for k, value in zip(step.keys, key, strict=True)}
        made.append((names, Group(key[0] if len(key) == 1 else key, members)))
    return made


Fast = Callable[[Aggregate, Grouped, Codec], Words | None]


def _fast(step: Aggregate) -> Fast | None:
    """Return the whole-column form of a library reduction of just the group."""
    match step.reduce:
        case e.Call(name, (e.Var(group),)) if group == step.group.name:
            return _FAST.get(name.partition("<")[0].partition("(")[0])
        case _:
            return None


def _count(step: Aggregate, grouped: Grouped, codec: Codec) -> Words:
    return _written(grouped.sizes, step.result.type, codec)


def _count_distinct(step: Aggregate, grouped: Grouped, codec: Codec) -> Words:
    return _written(np.diff(np.append(grouped.value_starts, len(grouped.values))), step.result.type, codec)


def _least(step: Aggregate, grouped: Grouped, _codec: Codec) -> Words | None:
    return grouped.table.codes(VALUE)[grouped.groups] if _codes_order(step.value.type, grouped) else None


def _greatest(step: Aggregate, grouped: Grouped, _codec: Codec) -> Words | None:
    ends = np.append(grouped.groups[1:], grouped.table.count) - 1
    return grouped.table.codes(VALUE)[ends] if _codes_order(step.value.type, grouped) else None


def _sum(step: Aggregate, grouped: Grouped, codec: Codec) -> Words | None:
    type = step.result.type
    if type != step.value.type or not isinstance(type, t.Bit | t.Signed) or type.width > 64:
        return None
    numbers = read(grouped.table.codes(VALUE), type)
    if numbers is None or not len(grouped.groups):
        return None
    with np.errstate(all="ignore"):
        return write(fit(np.add.reduceat(numbers, grouped.groups), type), type, codec)


def _codes_order(type: Type, grouped: Grouped) -> bool:
    if isinstance(type, t.BigInt):
        return read(grouped.table.codes(VALUE), type) is not None
    return is_ordered(type)


def _written(numbers: Places, type: Type, codec: Codec) -> Words:
    return write(numbers.astype(U) if isinstance(type, t.Bit) else numbers, type, codec)


_FAST: dict[str, Fast] = {
    "std::count": _count,
    "std::count_distinct": _count_distinct,
    "std::min": _least,
    "std::max": _greatest,
    "std::sum": _sum,
}


def groups(
    step: Aggregate, keys: Table, relation: Relation, view: View, scalars: Scalars, spend: Callable[[int], None]
) -> Table | None:
    """Return keys and results of the groups with the given keys (a unit table: all groups) in a view of a relation.

    `spend` is called with the number of their tuples before they are sorted.
    """
    arrays = relation.arrays
    probe = Probe(step.input.terms, keys.layout.fields, scalars.codec)
    matches = match(keys, probe, probe.see(relation, view)) if keys.count else None
    if matches is None:
        return None
    spend(matches.total)
    ask(3 * matches.total * 8)
    grouped = group(step, matches.table_of(probe, tuple(v.name for v in step.input.columns)), scalars)
    if not len(grouped.groups):
        return None
    names = [key.name for key in step.keys]
    codes = reduce_groups(step, grouped, scalars, scalars.codec)
    found = grouped.table.taken(grouped.groups).keeping(names, arrays)
    return found.extended(step.result.name, codes, names, arrays)

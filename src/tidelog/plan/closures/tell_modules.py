"""What an engine that has modules makes of a stratum, in words: which relations are one, and which are modules.

Narrower is Broader with columns exchanged
module T: symmetric-transitive closure of what other rules derive
module of all other rules: semi-naive
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.base.text.show import show_value
from tidelog.plan.closures.merge_equals import merge_equals, read_off
from tidelog.plan.closures.recognise import closure_of, closures
from tidelog.plan.closures.split_modules import is_module
from tidelog.plan.closures.split_parts import Part, parts, replaced
from tidelog.plan.nodes import Plan, Stratum, of_bounds


def tell_modules(plan: Plan) -> dict[int, list[str]]:
    """Return what is to be said of each stratum, by its place in the plan; of most there is nothing."""
    merged = merge_equals(plan, lambda *_: True)
    said: dict[int, list[str]] = {}
    for place, stratum in enumerate(plan.strata):
        parts = [one for one in merged.strata if set(one.relations) <= set(stratum.relations)]
        lines = [line for one in parts for line in _said(one, parted=len(parts) > 1)]
        if lines:
            said[place] = lines
    return said


def _said(stratum: Stratum, *, parted: bool) -> Iterator[str]:
    equal = read_off(stratum)
    if equal is not None:
        name, other, same = equal
        yield f"{name} is {other}" + ("" if same else " with columns exchanged")
    if of_bounds(stratum):
        return  # no closure, whatever its rules look like
    alone = closure_of(stratum)
    if alone is not None and parted:
        yield f"{alone.relation}: {alone.kind.value} closure"
    modules = [closure for closure in closures(stratum) if is_module(closure)]
    yield from (f"module {one.relation}: {one.kind.value} closure of what other rules derive" for one in modules)
    some = parts(stratum)
    yield from (f"module of a part of {one.rule.head}: {one.kind.value} closure, {_where(one)}" for one in some)
    for part in some:
        columns = sorted({one.column for one in replaced(stratum, part) if one.alone})
        if columns:
            places = " and ".join(map(str, columns))
            yield f"module of {part.rule.head}: equals in place of each other in column {places}, {_where(part)}"
    if modules or some:
        yield "module of all other rules: semi-naive"


def _where(part: Part) -> str:
    """Say which tuples a part has."""
    constants = [f"column {column} is {show_value(constant.value)}" for column, constant in part.place[3]]
    asked = ["as its rule asks"] if part.others else []
    return " and ".join([*constants, *asked])

"""Aggregates of the prelude. `Group.members` has the distinct values in order, each with its number of derivations.

Sums of floating point numbers are exact before they are rounded, so that no order of evaluation can show.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import chain
from typing import Any

from tidelog.base.conform import wrapped
from tidelog.base.extern import Signature
from tidelog.base.process.growth import POINTER, counted
from tidelog.base.process.meter import ask
from tidelog.base.types import BigInt, Bit, Double, Float, Named, Signed, is_integer, show
from tidelog.base.values import FrozenMap, Group, Value, order_key, real, single
from tidelog.logic.std.containers import Set, Vec, nth, vec_unzip


def values(g: Group) -> Vec:
    """Return the distinct values, in order."""
    return tuple(value for value, _ in g.members)


def count(g: Group) -> int:
    """Return the number of derivations."""
    return sum(weight for _, weight in g.members)


def collect(g: Group) -> Vec:
    """Return every value as often as it was derived."""
    ask(POINTER * count(g))
    return tuple(value for value, weight in g.members for _ in range(weight))


def derivations(g: Group) -> Group:
    """Return a group of the first components, each with the weight of its pair."""
    return Group.of(g.key, tuple([(pair[0], weight) for pair, weight in g.members]))


def group_sum(signature: Signature, g: Group) -> Value:
    """Add up numbers, each as often as it was derived."""
    match signature.result:
        case Double():
            return real(_exact_sum(g, 1))
        case Float():
            return single(_exact_sum(g, 1))
        case BigInt() | Bit() | Signed() as type:
            return wrapped(_whole_sum(g), type)
        case type:
            raise TypeError(f"sum needs numbers, not values of type {show(type)}")


def sum_of(signature: Signature, g: Group, f: Callable[[Value], Value]) -> Value:
    """Add up what `f` gives for the values, each as often as it was derived."""
    weights: dict[Value, int] = {}
    for value, weight in g.members:
        number = f(value)
        weights[number] = weights.get(number, 0) + weight
    return group_sum(signature, Group(g.key, weights))


def group_mean(signature: Signature, g: Group) -> float:
    """Return the mean of numbers, each as often as it was derived."""
    match signature.parameters[0]:
        case Named(_, (_, Float() | Double())):
            return real(_exact_sum(g, count(g)))
        case Named(_, (_, type)) if is_integer(type):
            return real(_ratio(_whole_sum(g), count(g)))
        case type:
            raise TypeError(f"mean needs numbers, not a {show(type)}")


def _whole_sum(g: Group) -> int:
    return sum(value * weight for value, weight in g.members)


def _exact_sum(g: Group, divisor: int) -> float:
    """Return the sum of floating point numbers divided by an integer, rounded once."""
    special = [value for value in values(g) if not math.isfinite(value)]
    if special:
        return float(sum(special))
    total = 0
    for value, weight in g.members:
        numerator, denominator = value.as_integer_ratio()
        total += numerator * weight * (_UNIT // denominator)
    return _ratio(total, _UNIT * divisor)


def _ratio(numerator: int, denominator: int) -> float:
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


_UNIT = 1 << 1074
"""Every finite binary64 number is a multiple of 1 / _UNIT."""


def arg_min(g: Group, f: Callable[[Value], Value]) -> Value:
    """Return the first value for which `f` is least."""
    return min(values(g), key=lambda value: order_key(f(value)))


def arg_max(g: Group, f: Callable[[Value], Value]) -> Value:
    """Return the first value for which `f` is greatest."""
    return max(values(g), key=lambda value: order_key(f(value)))


def to_setmap(g: Group) -> FrozenMap:
    """Return all second components of each first component."""
    sets: dict[Value, set[Value]] = {}
    for (key, value), _ in g.members:
        sets.setdefault(key, set()).add(value)
    return FrozenMap({key: frozenset(found) for key, found in sets.items()})


def unions(g: Group) -> Set:
    """Return the union of sets."""
    return frozenset(chain.from_iterable(counted(values(g))))


TYPED: dict[str, Callable[..., Any]] = {"group_sum": group_sum, "group_mean": group_mean}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "group_key": lambda g: g.key,
    "group_derivations": derivations,
    "group_count": count,
    "group_count_distinct": lambda g: len(g.members),
    "group_collect": collect,
    "group_min": lambda g: g.members[0][0],
    "group_max": lambda g: g.members[-1][0],
    "group_nth": lambda g, n: nth(values(g), n),
    "group_arg_min": arg_min,
    "group_arg_max": arg_max,
    "group_to_vec": values,
    "group_to_set": lambda g: frozenset(values(g)),
    "group_to_map": lambda g: FrozenMap(values(g)),
    "group_to_setmap": to_setmap,
    "group_unzip": lambda g: vec_unzip(values(g)),
    "group_set_unions": unions,
    "group_setref_unions": unions,
}

GROUP_TYPED: dict[str, Callable[..., Any]] = {"sum_of": sum_of}

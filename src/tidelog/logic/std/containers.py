"""Vec, Set and Map of the prelude: Python tuples, frozensets and `FrozenMap`s.

A function with `mut` parameters returns its result and the new value of each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain
from typing import Any

from tidelog.base.process.growth import POINTER, counted
from tidelog.base.process.meter import ask
from tidelog.base.values import LONGEST, NONE, FrozenMap, Value, Variant, in_order, order_key, some

Vec = tuple[Value, ...]
Set = frozenset[Value]
Unit = tuple[()]
Function = Callable[[Value], Value]
_NOTHING = object()


def nth(values: Any, n: int) -> Variant:
    """Return the element at a position of a sequence, if there is one."""
    return some(values[n]) if n < len(values) else NONE


def vec_pop(v: Vec) -> tuple[Variant, Vec]:
    """Take the last element away."""
    return (some(v[-1]), v[:-1]) if v else (NONE, v)


def vec_resize(v: Vec, length: int, value: Value) -> tuple[Unit, Vec]:
    """Cut or fill up to a length."""
    return (), v[:length] + vec_with_length(max(0, length - len(v)), value)


def vec_with_length(length: int, value: Value) -> Vec:
    """Repeat a value."""
    if length > LONGEST:
        raise ValueError(f"more than {LONGEST} elements")
    ask(POINTER * length)
    return (value,) * length


def vec_swap_nth(v: Vec, n: int, value: Value) -> tuple[bool, Vec, Value]:
    """Exchange an element with a value."""
    if n >= len(v):
        return False, v, value
    return True, (*v[:n], value, *v[n + 1 :]), v[n]


def vec_update_nth(v: Vec, n: int, value: Value) -> tuple[bool, Vec]:
    """Replace an element."""
    found, changed, _ = vec_swap_nth(v, n, value)
    return found, changed


def vec_unzip(v: tuple[tuple[Value, Value], ...]) -> tuple[Vec, Vec]:
    """Split pairs."""
    return tuple(x for x, _ in v), tuple(y for _, y in v)


def vec_sort(v: Vec) -> Vec:
    """Return the elements in the language's order."""
    return tuple(in_order(v))


def arg_min(values: Iterable[Value], f: Function) -> Variant:
    """Return the first value for which `f` is least, if there is one."""
    found = min(values, key=lambda value: order_key(f(value)), default=_NOTHING)
    return NONE if found is _NOTHING else some(found)


def arg_max(values: Iterable[Value], f: Function) -> Variant:
    """Return the first value for which `f` is greatest, if there is one."""
    found = max(values, key=lambda value: order_key(f(value)), default=_NOTHING)
    return NONE if found is _NOTHING else some(found)


def sort_by(v: Vec, f: Function) -> tuple[Unit, Vec]:
    """Order by `f`."""
    return (), tuple(sorted(v, key=lambda value: order_key(f(value))))


def map_insert(m: FrozenMap, key: Value, value: Value) -> FrozenMap:
    """Return the map with one more pair."""
    return FrozenMap({**m, key: value})


def map_get(m: FrozenMap, key: Value) -> Variant:
    """Return the value of a key, if it has one."""
    return some(m[key]) if key in m else NONE


def map_remove(m: FrozenMap, key: Value) -> tuple[Variant, FrozenMap]:
    """Take a key away."""
    return map_get(m, key), FrozenMap({k: v for k, v in m.items() if k != key})


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "vec_empty": lambda: (),
    "vec_with_length": vec_with_length,
    "vec_len": len,
    "vec_is_empty": lambda v: not v,
    "vec_contains": lambda v, x: x in v,
    "vec_nth": nth,
    "vec_push": lambda v, x: ((), (*v, x)),
    "vec_push_imm": lambda v, x: (*v, x),
    "vec_pop": vec_pop,
    "vec_append": lambda v, other: ((), v + other),
    "vec_sort": lambda v: ((), vec_sort(v)),
    "vec_sort_imm": vec_sort,
    "vec_reverse": lambda v: ((), v[::-1]),
    "vec_resize": vec_resize,
    "vec_truncate": lambda v, length: ((), v[:length]),
    "vec_swap_nth": vec_swap_nth,
    "vec_update_nth": vec_update_nth,
    "vec_zip": lambda v, w: tuple(zip(v, w, strict=False)),
    "vec_unzip": vec_unzip,
    "vec_to_set": frozenset,
    "vec_to_map": FrozenMap,
    "set_empty": frozenset,
    "set_singleton": lambda x: frozenset((x,)),
    "set_size": len,
    "set_is_empty": lambda s: not s,
    "set_contains": lambda s, x: x in s,
    "set_nth": lambda s, n: nth(in_order(s), n),
    "set_insert": lambda s, x: ((), s | {x}),
    "set_insert_imm": lambda s, x: s | {x},
    "set_union": lambda s, t: s | t,
    "set_unions": lambda sets: frozenset(chain.from_iterable(counted(sets))),
    "set_intersection": lambda s, t: s & t,
    "set_difference": lambda s, t: s - t,
    "set_to_vec": vec_sort,
    "map_empty": FrozenMap,
    "map_size": len,
    "map_is_empty": lambda m: not m,
    "map_get": map_get,
    "map_contains_key": lambda m, key: key in m,
    "map_insert": lambda m, key, value: ((), map_insert(m, key, value)),
    "map_insert_imm": map_insert,
    "map_remove": map_remove,
    "map_union": lambda m, other: FrozenMap({**m, **other}),
    "map_keys": tuple,
    "map_values": lambda m: tuple(m.values()),
    "map_nth_key": lambda m, n: nth(tuple(m), n),
    "map_nth_value": lambda m, n: nth(tuple(m.values()), n),
}

VEC_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "vec_arg_min": arg_min,
    "vec_arg_max": arg_max,
    "vec_sort_by": sort_by,
}
SET_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "set_arg_min": lambda s, f: arg_min(in_order(s), f),
    "set_arg_max": lambda s, f: arg_max(in_order(s), f),
}

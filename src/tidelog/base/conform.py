"""Whether a Python object represents a value of a type of the language, and if not, why not.

Needed where values come from outside: rows given to a session, results of Python functions. `base.values` has the
representation of each type.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import assert_never

from tidelog.base import types as t
from tidelog.base.arguments import brief
from tidelog.base.values import NAN, AnyValue, FrozenMap, Group, Value, Variant, single

Types = Mapping[str, t.TypeDefinition]


def conforms(value: Value, type: t.Type, types: Types) -> str | None:
    """Return None if the object is a value of the type, else the reason why it is not.

    >>> conforms(7, t.Bit(8), {}), conforms(300, t.Bit(8), {})
    (None, '300 is not between 0 and 255 (bit<8>)')
    """
    match type:
        case t.Bool():
            return None if isinstance(value, bool) else _misfit(value, "a bool (Python bool)")
        case t.String():
            return _string(value)
        case t.BigInt():
            return None if _is_whole(value) else _misfit(value, "a bigint (Python int)")
        case t.Bit() | t.Signed():
            return _sized(value, type)
        case t.Float() | t.Double():
            return _real(value, type)
        case t.Tuple(items):
            if not isinstance(value, tuple) or len(value) != len(items):
                return _misfit(value, f"a {t.show(type)} (Python tuple of {len(items)})")
            return _first(_within(f"component {i}", value[i], item, types) for i, item in enumerate(items))
        case t.Named():
            return _named(value, type, types)
        case t.Function():
            return None if callable(value) else _misfit(value, f"a {t.show(type)}")
        case t.TypeVariable():
            return None
        case _:
            assert_never(type)


def fields_of(type: t.Named, constructor: t.Constructor, types: Types) -> tuple[t.Type, ...]:
    """Return the types of a constructor's fields, for a type with these arguments."""
    return t.field_types(constructor, types[type.name], type.arguments)


def _named(value: Value, type: t.Named, types: Types) -> str | None:
    match type:
        case t.Named(name, (item,)) if name == t.VEC:
            if not isinstance(value, tuple):
                return _misfit(value, f"a {t.show(type)} (Python tuple)")
            return _first(_within(f"element {i}", x, item, types) for i, x in enumerate(value))
        case t.Named(name, (item,)) if name == t.SET:
            if not isinstance(value, frozenset):
                return _misfit(value, f"a {t.show(type)} (Python frozenset)")
            return _first(_within("an element", x, item, types) for x in value)
        case t.Named(name, (key, item)) if name == t.MAP:
            if not isinstance(value, FrozenMap):
                return _misfit(value, f"a {t.show(type)} (FrozenMap)")
            pairs = value.items()
            return _first(_within("a key", k, key, types) or _within("a value", x, item, types) for k, x in pairs)
        case t.Named(name, (key, item)) if name == t.GROUP:
            if not isinstance(value, Group):
                return _misfit(value, f"a {t.show(type)} (Group)")
            members = (_within("a value", x, item, types) for x, _ in value.members)
            return _within("the key", value.key, key, types) or _first(members)
        case t.Named(name, (inner,)) if name in {t.REF, t.INTERN}:
            return conforms(value, inner, types)
        case _:
            return _constructed(value, type, types)


def _constructed(value: Value, type: t.Named, types: Types) -> str | None:
    constructors = types[type.name].constructors
    if type.name == t.ANY:
        return None if isinstance(value, AnyValue) else _misfit(value, "an Any (AnyValue)")
    if not constructors:
        return None if isinstance(value, Hashable) else _misfit(value, f"a {t.show(type)}, which must be hashable")
    if not isinstance(value, Variant) or value.position >= len(constructors):
        return _misfit(value, f"a {t.show(type)} (Variant)")
    constructor = constructors[value.position]
    if value.name != constructor.name or len(value.fields) != len(constructor.fields):
        return _misfit(value, f"a {t.show(type)}: constructor {value.position} is {constructor.name}")
    named = zip(constructor.fields, value.fields, fields_of(type, constructor, types), strict=True)
    return _first(_within(f"field {field.name}", x, inner, types) for field, x, inner in named)


def _sized(value: Value, type: t.Bit | t.Signed) -> str | None:
    low, high = bounds(type)
    if not _is_whole(value):
        return _misfit(value, f"a {t.show(type)} (Python int)")
    return None if low <= value <= high else f"{value} is not between {low} and {high} ({t.show(type)})"


def bounds(type: t.Bit | t.Signed) -> tuple[int, int]:
    """Return the least and the greatest value of an integer type with a width.

    >>> bounds(t.Signed(8))
    (-128, 127)
    """
    if isinstance(type, t.Bit):
        return 0, (1 << type.width) - 1
    return -(1 << (type.width - 1)), (1 << (type.width - 1)) - 1


def wrapped(number: int, type: t.Type) -> int:
    """Return what an integer type has for a number: the one of its range that is equal modulo 2**width.

    >>> wrapped(300, t.Bit(8)), wrapped(200, t.Signed(8)), wrapped(300, t.BIGINT)
    (44, -56, 300)
    """
    if not isinstance(type, t.Bit | t.Signed):
        return number
    low, _ = bounds(type)
    return (number - low) % (1 << type.width) + low


def _string(value: Value) -> str | None:
    if not isinstance(value, str):
        return _misfit(value, "a string (Python str)")
    if value.isascii() or not any("\ud800" <= c <= "\udfff" for c in value):
        return None
    return _misfit(value, "Unicode text, as it has surrogates")


def _real(value: Value, type: t.Float | t.Double) -> str | None:
    if not isinstance(value, float):
        return _misfit(value, f"a {t.show(type)} (Python float)")
    if math.isnan(value):
        return None if value is NAN else "NaN must be tidelog.base.values.NAN"
    if isinstance(type, t.Float) and single(value) != value:
        return _misfit(value, "a float (a multiple of a 24-bit number)")
    return None


def _is_whole(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _within(place: str, value: Value, type: t.Type, types: Types) -> str | None:
    reason = conforms(value, type, types)
    return reason and f"{place}: {reason}"


def _first(reasons: Iterable[str | None]) -> str | None:
    return next((reason for reason in reasons if reason), None)


def _misfit(value: Value, wanted: str) -> str:
    return f"{brief(value)} is not {wanted}"

"""Some value of a type: the one that `default()` gives, or one that merely fills a column."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidelog.base import types as t
from tidelog.base.values import FrozenMap, Value, Variant

_EMPTY: dict[str, Value] = {t.VEC: (), t.SET: frozenset(), t.MAP: FrozenMap()}


def some_value(
    type: t.Type,
    definition: Callable[[str], t.TypeDefinition | None],
    choose: Callable[[Sequence[t.Constructor]], t.Constructor],
    otherwise: Callable[[t.Type], Value],
    outer: tuple[t.Type, ...] = (),
) -> Value:
    """Return zero, an empty text or collection, or a value of the constructor chosen, always the same.

    For a type that has no such value, as functions and types that contain themselves, it is what `otherwise` gives.

    >>> some_value(t.Tuple((t.Bit(8), t.STRING)), {}.get, min, repr)
    (0, '')
    """
    match t.content(type):
        case t.Bool():
            return False
        case t.String():
            return ""
        case t.BigInt() | t.Bit() | t.Signed():
            return 0
        case t.Float() | t.Double():
            return 0.0
        case t.Tuple(items):
            return tuple([some_value(item, definition, choose, otherwise, outer) for item in items])
        case t.Named(name) if name in _EMPTY:
            return _EMPTY[name]
        case t.Named(name, arguments) as named:
            found = definition(name)
            if found is not None and found.constructors and named not in outer:
                chosen = choose(found.constructors)
                inner = t.field_types(chosen, found, arguments)
                fields = [some_value(field, definition, choose, otherwise, (*outer, named)) for field in inner]
                return Variant(chosen.name, chosen.position, tuple(fields))
        case _:
            pass
    return otherwise(type)

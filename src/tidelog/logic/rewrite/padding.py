"""Some value of a type, for a column that has none: the alternatives of a grouped body have different variables."""

from __future__ import annotations

from tidelog.base import types
from tidelog.base.types import BigInt, Bit, Bool, Double, Float, Named, Signed, String, Tuple, Type, content, substitute
from tidelog.base.values import FrozenMap, Value, Variant
from tidelog.logic.rewrite.rows import Definitions

_DEEP = 8


def padding(type: Type, definition: Definitions, depth: int = 0) -> Value:
    """Return a value of the type that is always the same; None for functions and opaque types.

    >>> padding(Tuple((Bit(8), types.STRING)), lambda name: types.TypeDefinition(name, (), ()))
    (0, '')
    """
    match content(type):
        case Bool():
            return False
        case String():
            return ""
        case BigInt() | Bit() | Signed():
            return 0
        case Float() | Double():
            return 0.0
        case Tuple(items):
            return tuple(padding(item, definition, depth + 1) for item in items)
        case Named(types.VEC):
            return ()
        case Named(types.SET):
            return frozenset()
        case Named(types.MAP):
            return FrozenMap()
        case Named(name, arguments):
            constructors = definition(name).constructors
            if not constructors or depth > _DEEP:
                return None
            smallest = min(constructors, key=lambda c: len(c.fields))
            by = dict(zip(definition(name).parameters, arguments, strict=True))
            fields = (padding(substitute(f.type, by), definition, depth + 1) for f in smallest.fields)
            return Variant(smallest.name, smallest.position, tuple(fields))
        case _:
            return None

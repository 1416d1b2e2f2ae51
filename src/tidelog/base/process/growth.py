"""Values that grow ask before they are built: text, collections, integers without bound.

All functions here cost next to nothing where no limit is set, and for small values. A value may hold another one many
times, so that few bytes of memory stand for a huge value: `bounded` measures what a walk through it would see.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import getsizeof
from typing import Any, TypeVar

from tidelog.base import types as t
from tidelog.base.process.meter import LARGE, Meter, ask, current
from tidelog.base.values import FrozenMap, Group, Value, Variant

Element = TypeVar("Element")

POINTER = 8
"""Bytes of an element in a vector, beside the element itself."""
NUMBER = 40
"""Bytes of an integer in a vector."""
TEXT = 60
"""Bytes of a short text in a vector."""
PER_BYTE = 12
"""Nanoseconds that a function of the library may take for each byte of its arguments."""
PER_PART = 20
"""Nanoseconds that it takes to hash or compare a part of a value."""
WIDE = 1 << 15
"""Integers of more bits are weighed before they are multiplied, divided or written."""


def joined(a: str, b: str) -> str:
    """Return two texts as one."""
    if len(a) + len(b) > LARGE:
        ask(getsizeof(a) + getsizeof(b))
    return a + b


def counted(elements: Iterable[Element]) -> Iterable[Element]:
    """Return the elements of a loop; each counts as a step."""
    meter = current.get()
    return elements if meter is None else _counted(meter, elements)


def _counted(meter: Meter, elements: Iterable[Element]) -> Iterator[Element]:
    for element in elements:
        meter.step()
        yield element


def before_call(arguments: Iterable[Value]) -> None:
    """Count the call of a function of the library, which reads its arguments and may copy them."""
    meter = current.get()
    if meter is None:
        return
    meter.step()
    size = sum([_size(argument) for argument in arguments])
    if size > LARGE:
        meter.ask(size)
        meter.work(size * PER_BYTE)


def _size(value: Value) -> int:
    match value:
        case FrozenMap():
            return len(value) * 2 * NUMBER
        case Group():
            return len(value.members) * 2 * NUMBER
        case Variant():
            return sum([getsizeof(part) for part in value.fields])
        case _:
            return getsizeof(value)


def before_integers(operator: str, a: int, b: int = 0) -> None:
    """Ask before an operation on two integers without bound, or on one."""
    if a.bit_length() + b.bit_length() > WIDE:
        meter = current.get()
        if meter is not None:
            few, many = sorted((a.bit_length() // 30 + 1, b.bit_length() // 30 + 1))
            match operator:
                case "*":  # Karatsuba's way
                    meter.work(1.5 * many * few**0.6)
                case "/" | "%":
                    meter.work(0.5 * few * (many - few))
                case "string":  # by halves, each of which is a division
                    meter.work(0.3 * many * many)
                case _:
                    pass
            meter.ask(4 * (many + few))


def nested(type: t.Type) -> bool:
    """Tell whether values of a type hold collections in collections, or in tuples: hashing walks through all of them.

    >>> nested(t.Named(t.VEC, (t.Named(t.VEC, (t.BOOL,)),))), nested(t.Named(t.VEC, (t.BOOL,)))
    (True, False)
    """
    match type:
        case t.Named(t.VEC | t.SET | t.MAP | t.GROUP | t.REF | t.INTERN, inner) | t.Tuple(inner):
            return any(_is_collection(one) or nested(one) for one in inner)
        case _:
            return False


def _is_collection(type: t.Type) -> bool:
    return isinstance(type, t.Named) and type.name in (t.VEC, t.SET, t.MAP, t.GROUP)


def bounded(value: Value) -> Value:
    """Return a value of a nested type, if there is time to walk through it."""
    meter = current.get()
    if meter is not None:
        meter.work(PER_PART * _parts(value, {}))
    return value


def _parts(value: Any, known: dict[int, int]) -> int:
    """Return how many parts a value has, counted as often as they occur; each is looked at once."""
    match value:
        case str():
            return 1 + len(value) // 64
        case tuple() | frozenset():
            inner: Iterable[Any] = value
        case FrozenMap():
            inner = (part for pair in value.items() for part in pair)
        case Group():
            inner = (part for part, _ in value.members)
        case _:
            return 1  # a variant knows its hash
    found = known.get(id(value))
    if found is None:
        found = known[id(value)] = 1 + sum([_parts(part, known) for part in inner])
    return found

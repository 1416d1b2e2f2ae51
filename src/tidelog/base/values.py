"""How values of the language are represented in Python, and their total order.

| type | Python value |
| --- | --- |
| bool, string, integers | `bool`, `str`, `int` |
| float, double | `float`, made by `single` and `real`: NaN always is `NAN`, so that it equals itself |
| tuple, Vec | `tuple` |
| struct, tagged union | `Variant` |
| Set | `frozenset` |
| Map | `FrozenMap` |
| Group | `Group` |
| Ref, Intern | the value itself: equal by content |
| function | `Closure`; any Python callable serves as an argument |
| Any | `AnyValue` |

Programs are typed before they run, so a value never needs to say its type: two values are compared only if their
types are equal. All are hashable. `order_key` gives the language's total order (`<`), in which unions compare by
constructor position then fields, collections lexicographically by their sorted elements, NaN last.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final

from tidelog.base.arguments import brief
from tidelog.base.process.meter import current, step

Value = Any
NAN: Final = float("nan")
LONGEST: Final = 1 << 26
"""A vector is not made with more elements, nor a bigint by shifts and powers with more bits, in one step: a slip in a
program must not take all memory."""
SORTING: Final = 1000
"""Nanoseconds that it takes to sort a value among others, about."""
_SINGLE: Final = struct.Struct("<f")


def real(number: float) -> float:
    """Return the number as the language has it: one NaN, and no negative zero, so that equal means the same.

    >>> real(-0.0)
    0.0
    """
    return NAN if math.isnan(number) else number + 0.0


def single(number: float) -> float:
    """Return the nearest number of type `float` (IEEE 754 binary32).

    >>> single(0.1), single(1e300)
    (0.10000000149011612, inf)
    """
    try:
        return real(_SINGLE.unpack(_SINGLE.pack(number))[0])
    except OverflowError:
        return math.copysign(math.inf, number)


class Variant:
    """A value of a struct or tagged union: a constructor applied to its fields, in order."""

    __slots__ = ("_hash", "fields", "name", "position")

    def __init__(self, name: str, position: int, fields: tuple[Value, ...]) -> None:
        self.name = name
        self.position = position
        self.fields = fields
        self._hash = hash((position, fields))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        if self is other:
            return True
        if self._hash != other._hash or self.position != other.position or self.name != other.name:
            return False  # of one type a position has one name, until another type takes its name
        step()  # a value may hold another one many times: to compare two takes far longer than to make them
        return self.fields == other.fields

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Variant, (self.name, self.position, self.fields)

    def __repr__(self) -> str:
        return f"{self.name}{{{', '.join(map(repr, self.fields))}}}" if self.fields else self.name


NONE: Final = Variant("std::None", 0, ())


def some(value: Value) -> Variant:
    """Return `Some{value}` of the library's Option; its `None` is `NONE`."""
    return Variant("std::Some", 1, (value,))


def ok(value: Value) -> Variant:
    """Return `Ok{value}` of the library's Result."""
    return Variant("std::Ok", 0, (value,))


def err(value: Value) -> Variant:
    """Return `Err{value}` of the library's Result."""
    return Variant("std::Err", 1, (value,))


class FrozenMap(Mapping[Value, Value]):
    """An immutable, hashable map; iterates over its keys in the language's order."""

    __slots__ = ("_hash", "_items")

    def __init__(self, items: Mapping[Value, Value] | Iterable[tuple[Value, Value]] = ()) -> None:
        try:
            given = dict(items)
        except (TypeError, ValueError):
            raise TypeError(f"expected a mapping, or pairs of a key and a value, found {brief(items)}") from None
        self._items = {key: given[key] for key in in_order(given)}
        self._hash: int | None = None

    def __getitem__(self, key: Value) -> Value:
        return self._items[key]

    def __iter__(self) -> Iterator[Value]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FrozenMap) and self._items == other._items

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(tuple(self._items.items()))
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return FrozenMap, (self._items,)

    def __repr__(self) -> str:
        return f"FrozenMap({self._items!r})"


class Group:
    """What `group_by` makes: a key, and values in order, each with its number of derivations.

    Values are distinct, except in the dialect `ddlog`, where each way to bind the variables gives a member.
    """

    __slots__ = ("_hash", "key", "members")

    def __init__(self, key: Value, weights: Mapping[Value, int]) -> None:
        self.key = key
        self.members: tuple[tuple[Value, int], ...] = tuple((value, weights[value]) for value in in_order(weights))
        self._hash = hash((key, self.members))

    @staticmethod
    def of(key: Value, members: tuple[tuple[Value, int], ...]) -> Group:
        """Return a group with these members, which are in order."""
        made = Group(key, {})
        made.members = members
        made._hash = hash((key, members))
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Group) and (self.key, self.members) == (other.key, other.members)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return Group.of, (self.key, self.members)

    def __repr__(self) -> str:
        return f"Group({self.key!r}, {dict(self.members)!r})"


class Closure:
    """A function value: code, and the values it captured; equal to another if both are, so that relations can hold it.

    `code` is a text that stands for the function's expression or name. With `mut` parameters a call returns the result
    and their final values. `recipe` tells who wants to send it elsewhere how to make it again: a function and its
    arguments, which equal function values of one program have in common.
    """

    __slots__ = ("_call", "captured", "code", "recipe")

    def __init__(
        self,
        code: str,
        captured: tuple[Value, ...],
        call: Callable[..., Value],
        recipe: Callable[[], tuple[Callable[..., Value], tuple[Any, ...]]] | None = None,
    ) -> None:
        self.code = code
        self.captured = captured
        self._call = call
        self.recipe = recipe

    def __call__(self, *arguments: Value) -> Value:
        return self._call(*arguments)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Closure) and (self.code, self.captured) == (other.code, other.captured)

    def __hash__(self) -> int:
        return hash((self.code, self.captured))

    def __repr__(self) -> str:
        return f"<function with {', '.join(map(repr, self.captured))}>" if self.captured else "<function>"


class AnyValue:
    """A value of the library's type Any: a value together with its type (a `base.types.Type`)."""

    __slots__ = ("_hash", "type", "value")

    def __init__(self, type: Any, value: Value) -> None:
        self.type = type
        self.value = value
        self._hash = hash((type, value))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, AnyValue) and (self.type, self.value) == (other.type, other.value)

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> tuple[Any, ...]:
        return AnyValue, (self.type, self.value)

    def __repr__(self) -> str:
        return f"{self.value!r} of {self.type}"


def order_key(value: Value) -> Any:
    """Return a Python object whose `<` is the language's order among values of one type.

    >>> sorted([NAN, 1.0, -1.0], key=order_key)[:2]
    [-1.0, 1.0]
    """
    match value:
        case bool() | int() | str():
            return value
        case float():
            return (1, 0.0) if math.isnan(value) else (0, value)
        case tuple():
            step()
            return tuple(map(order_key, value))
        case Variant():
            step()
            return (value.position, tuple(map(order_key, value.fields)))
        case frozenset():
            return sorted(map(order_key, value))
        case FrozenMap():
            return [(order_key(k), order_key(v)) for k, v in value.items()]
        case Closure():
            return (value.code, tuple(map(order_key, value.captured)))
        case Group():
            return (order_key(value.key), [(order_key(v), w) for v, w in value.members])
        case AnyValue():
            return (str(value.type), order_key(value.value))
        case _:
            return repr(value)


def in_order(values: Collection[Value]) -> list[Value]:
    """Sort values of one type in the language's order."""
    meter = current.get()
    if meter is not None:
        meter.step(len(values) >> 4)
        meter.work(SORTING * len(values))
    return sorted(values, key=order_key)

"""Module `allocate`: numbers for things, each its own, in a range that is gone through in a circle."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from itertools import chain
from typing import Any

from tidelog.base.process.growth import counted
from tidelog.base.values import NONE, FrozenMap, Value, some

Pairs = tuple[tuple[Value, Value], ...]


def allocate(taken: Collection[int], wanting: tuple[Value, ...], least: int, most: int) -> Pairs:
    """Give each thing a free number, as long as there are any."""
    return tuple(zip(wanting, _free(taken, least, most), strict=False))


def allocate_opt(taken: Collection[int], wanting: tuple[Value, ...], least: int, most: int) -> Pairs:
    """Give each thing a free number or, when there are no more, nothing."""
    free = _free(taken, least, most)
    return tuple([(thing, some(number) if (number := next(free, None)) is not None else NONE) for thing in wanting])


def allocate_with_hint(taken: Collection[int], wanting: tuple[Any, ...], least: int, most: int) -> Pairs:
    """Give each thing the first free number from its hint on, or behind the number before."""
    _check(least, most)
    given: dict[int, Value] = {}
    last = max(taken, default=least)
    following = last if least <= last <= most else least
    for thing, hint in counted(wanting):
        start = hint.fields[0] if hint.position else following
        free = (n for n in _circle(least, most, start) if n not in taken and n not in given)
        number = next(free, None)
        if number is None:
            break
        given[number] = thing
        following = least if number == most else number + 1
    return tuple([(thing, number) for number, thing in given.items()])


def adjust_allocation(allocated: FrozenMap, wanting: tuple[Value, ...], least: int, most: int) -> Pairs:
    """Let things keep their numbers, and give each other one a free number, as long as there are any."""
    free = _free(frozenset(allocated.values()), least, most)
    pairs = ((thing, allocated[thing] if thing in allocated else next(free, None)) for thing in wanting)
    return tuple([(thing, number) for thing, number in pairs if number is not None])


def _free(taken: Collection[int], least: int, most: int) -> Iterator[int]:
    """Yield the free numbers of a range, from behind the greatest that is taken."""
    _check(least, most)
    last = max(taken, default=most)
    start = last + 1 if least <= last < most else least
    return (number for number in counted(_circle(least, most, start)) if number not in taken)


def _circle(least: int, most: int, start: int) -> Iterator[int]:
    """Yield the numbers of a range from a start on, and then those before; all in order, if the start is outside."""
    start = start if least <= start <= most else least
    return chain(range(start, most + 1), range(least, start))


def _check(least: int, most: int) -> None:
    if most < least:
        raise ValueError(f"there is no number from {least} to {most}")


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "allocate": allocate,
    "allocate_opt": allocate_opt,
    "allocate_with_hint": allocate_with_hint,
    "adjust_allocation": adjust_allocation,
}

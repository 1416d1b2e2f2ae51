"""Thresholds that can be drawn at random, and say which way each comparison with them went.

An engine chooses among many ways to compute the same thing by comparing a size with a constant. Tests are small, so the
ways meant for much data are seldom taken there. FoundationDB's remedy is to draw such constants ("knobs") at random in
tests, small enough that every way is common. `tuning` has the table; this module has what a field of it is.

In use a threshold is a plain number and costs nothing. Drawn for a test it is a `DrawnInt` or a `DrawnFloat`: a number
whose comparisons are noted in `Paths`, and so is each time it is handed to a kernel, by `int(...)` or `float(...)`. A
product or a sum with a drawn number is drawn, too, so that `2 * few < rows` is noted as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

Number = int | float
Path = tuple[str, str]
"""A threshold, and the way taken: something was `under` or `over` it, or a kernel was given `= 3`."""


def threshold(default: Any, draws: tuple[Number, ...], reason: str, fitted: str, *, kernel: bool = False) -> Any:
    """Return a field of the table.

    `draws` are the values that tests choose from beside the default; on tiny data some of them lead one way and some
    the other. `reason` says what the threshold chooses and why it has this value, and `fitted` the benchmark on which
    it was found. A `kernel` compares with it where nobody can note it: tests see that each value was given to one.
    """
    metadata = {"draws": draws, "reason": reason, "fitted": fitted, "kernel": kernel}
    return field(default=default, metadata=metadata)


class Paths:
    """Which ways were taken, and how often.

    >>> paths = Paths()
    >>> few = paths.drawn("few", 3)
    >>> 2 < few, 2 * few <= 7
    (True, True)
    >>> sorted(paths.taken)
    [('few', 'over'), ('few', 'under')]
    """

    def __init__(self) -> None:
        self.taken: Counter[Path] = Counter()

    def drawn(self, name: str, value: Number) -> Any:
        """Return a number whose comparisons are noted here."""
        return DrawnInt.of(value, name, self) if isinstance(value, int) else DrawnFloat.of(value, name, self)

    def note(self, name: str, ways: Iterable[str]) -> None:
        """Note which ways were taken."""
        for way in ways:
            self.taken[name, way] += 1


class DrawnInt(int):
    """An integer threshold drawn at random."""

    name: str
    paths: Paths

    @staticmethod
    def of(value: int, name: str, paths: Paths) -> DrawnInt:
        """Return a number that notes what it is compared with."""
        made = DrawnInt(value)
        made.name, made.paths = name, paths
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return int, (int.__int__(self),)  # what another process does with it is not seen here

    def __int__(self) -> int:
        value = int.__int__(self)
        self.paths.note(self.name, (f"= {value}",))
        return value


class DrawnFloat(float):
    """A threshold drawn at random that is not an integer."""

    name: str
    paths: Paths

    @staticmethod
    def of(value: float, name: str, paths: Paths) -> DrawnFloat:
        """Return a number that notes what it is compared with."""
        made = DrawnFloat(value)
        made.name, made.paths = name, paths
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return float, (float.__float__(self),)

    def __float__(self) -> float:
        value = float.__float__(self)
        self.paths.note(self.name, (f"= {value}",))
        return value


def _compared(plain: Any, operator: str) -> Callable[[Any, Any], Any]:
    """Return a comparison that is noted: `3 < few` asks `few.__gt__(3)`, and if so 3 is under it."""
    mirrored = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}[operator]
    way, other_way = ("over", "under") if operator in {"__lt__", "__le__"} else ("under", "over")

    def method(self: Any, other: Any) -> Any:
        found = getattr(plain, operator)(self, other)
        if found is NotImplemented:  # a float or an array
            found = getattr(other, mirrored)(plain.__pos__(self))
        results = {bool(one) for one in found.flat} if hasattr(found, "flat") else {found}
        self.paths.note(self.name, [way if result else other_way for result in results])
        return found

    return method


def _calculated(plain: Any, operator: str) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        found = getattr(plain, operator)(self, other)
        if found is NotImplemented and isinstance(other, float):
            found = getattr(float, operator)(float(plain.__pos__(self)), other)
        return found if found is NotImplemented else self.paths.drawn(self.name, found)

    return method


for _drawn, _plain in ((DrawnInt, int), (DrawnFloat, float)):
    for _operator in ("__lt__", "__le__", "__gt__", "__ge__"):
        setattr(_drawn, _operator, _compared(_plain, _operator))
    for _operator in ("__mul__", "__rmul__", "__add__", "__radd__", "__sub__", "__rsub__", "__floordiv__"):
        setattr(_drawn, _operator, _calculated(_plain, _operator))

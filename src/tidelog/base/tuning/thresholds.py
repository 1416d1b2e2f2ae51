"""Thresholds that can be drawn at random, and say which way each comparison with them went.

An engine chooses among many ways to compute the same thing by comparing a size with a constant. Tests are small, so the
ways meant for much data are seldom taken there. FoundationDB's remedy is to draw such constants ("knobs") at random in
tests, small enough that every way is common. `table` has all of them; here is what one is.

In use a threshold is a plain number and costs nothing. Drawn for a test it is a number whose comparisons are noted in
`Paths`, and so is each time it is handed to a kernel, by `int(...)` or `float(...)`. A product or a sum with a drawn
number is drawn, too, so that `2 * few < rows` is noted as well.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import field
from typing import Any

Number = int | float
Path = tuple[str, str]
"""A threshold, and the way taken: something was `under` or `over` it, or a kernel was given `= 3`."""


def threshold(default: Any, *, draws: tuple[Number, ...], fitted: str, kernel: bool = False) -> Any:
    """Return a field of the table; the docstring below it says what it chooses, and why it has this value.

    `draws` are the values that tests choose from beside the default; on tiny data some of them lead one way and some
    the other. `fitted` is the benchmark on which the value was found. A `kernel` compares with it where no comparison
    can be noted: tests see that each value was given to one.
    """
    return field(default=default, metadata={"draws": draws, "fitted": fitted, "kernel": kernel})


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
        made = _DRAWN[int if isinstance(value, int) else float](value)
        made.name, made.paths = name, self
        return made

    def note(self, name: str, ways: Iterable[str]) -> None:
        """Note which ways were taken."""
        for way in ways:
            self.taken[name, way] += 1


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
    """Return an operator whose result is drawn, too."""

    def method(self: Any, other: Any) -> Any:
        found = getattr(plain, operator)(self, other)
        if found is NotImplemented and isinstance(other, float):
            found = getattr(float, operator)(float(plain.__pos__(self)), other)
        return found if found is NotImplemented else self.paths.drawn(self.name, found)

    return method


def _drawn_class(plain: type[Number]) -> type[Any]:
    """Return a subclass of `int` or `float` whose numbers have a name, and `paths` in which comparisons are noted."""

    def given(self: Any) -> Number:
        value: Number = plain.__pos__(self)
        self.paths.note(self.name, (f"= {value}",))
        return value

    def reduce(self: Any) -> tuple[Any, ...]:
        return plain, (plain.__pos__(self),)  # what another process does with it is not seen here

    methods: dict[str, Any] = {"__reduce__": reduce, f"__{plain.__name__}__": given}
    for operator in ("__lt__", "__le__", "__gt__", "__ge__"):
        methods[operator] = _compared(plain, operator)
    for operator in ("__mul__", "__rmul__", "__add__", "__radd__", "__sub__", "__rsub__", "__floordiv__"):
        methods[operator] = _calculated(plain, operator)
    return type(f"Drawn{plain.__name__.capitalize()}", (plain,), methods)


_DRAWN = {plain: _drawn_class(plain) for plain in (int, float)}

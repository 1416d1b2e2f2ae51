"""Groups made of groups: Z-sets of several kinds on one wire, and Z-sets of a few Python objects.

A `Tagged` has a Z-set for each of some tags, each of its own number of columns: the facts of every relation, the
rewrites of every provenance. A `Weighted` is a Z-set of hashable objects, for what is few: rules, directions, signals.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import Any

from tidelog.run.dbsp.circuits.operators import Operator, Stateless
from tidelog.run.dbsp.zsets.zset import ZSet


class Tagged:
    """Z-sets by tag; an absent one is zero."""

    __slots__ = ("parts",)

    def __init__(self, parts: Mapping[Any, ZSet] | None = None) -> None:
        self.parts = {tag: part for tag, part in parts.items() if len(part)} if parts else {}

    def __add__(self, other: Tagged) -> Tagged:
        if not other.parts:
            return self
        if not self.parts:
            return other
        both = dict(self.parts)
        for tag, part in other.parts.items():
            both[tag] = both[tag] + part if tag in both else part
        return Tagged(both)

    def __len__(self) -> int:
        return len(self.parts)

    def __iter__(self) -> Iterator[tuple[Any, ZSet]]:
        return iter(self.parts.items())


class Weighted:
    """Weights of objects; an absent one has 0."""

    __slots__ = ("weights",)

    def __init__(self, weights: Mapping[Any, int] | None = None) -> None:
        self.weights = {thing: weight for thing, weight in weights.items() if weight} if weights else {}

    def __add__(self, other: Weighted) -> Weighted:
        both = dict(self.weights)
        for thing, weight in other.weights.items():
            both[thing] = both.get(thing, 0) + weight
        return Weighted(both)

    def __eq__(self, other: object) -> bool:
        return self.weights == other.weights if isinstance(other, Weighted) else NotImplemented

    def __hash__(self) -> int:
        return hash(frozenset(self.weights.items()))

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[tuple[Any, int]]:
        return iter(self.weights.items())

    def __repr__(self) -> str:
        return f"Weighted({self.weights})"


class TurnedWeights(Stateless):
    """The incremental distinct of a `Weighted`, outside of loops."""

    def __init__(self) -> None:
        self._known = Weighted()

    def step(self, time: int, *inputs: Any) -> Any:
        (change,) = inputs
        before, self._known = self._known.weights, self._known + change
        after = self._known.weights
        return Weighted({thing: (after.get(thing, 0) > 0) - (before.get(thing, 0) > 0) for thing, _ in change})

    def snapshot(self) -> Any:
        return self._known

    def restore(self, state: Any) -> None:
        self._known = state


class Tagwise(Stateless):
    """An operator for each tag, made when the tag is first met, from the number of columns."""

    def __init__(self, make: Callable[[Hashable, int], Operator]) -> None:
        self._make = make
        self._operators: dict[Hashable, Operator] = {}
        self._zeros: dict[Hashable, ZSet] = {}

    def step(self, time: int, *inputs: Any) -> Any:
        (change,) = inputs
        found = {}
        for tag, part in change:
            if tag not in self._operators:
                self._operators[tag] = self._make(tag, part.columns)
                self._zeros[tag] = ZSet.zero(part.columns)
            found[tag] = self._operators[tag].step(time, part)
        for tag, operator in self._operators.items():
            if tag not in found and operator.next_time() == time:
                found[tag] = operator.step(time, self._zeros[tag])
        return Tagged(found)

    def next_time(self) -> int | None:
        times = (operator.next_time() for operator in self._operators.values())
        return min((time for time in times if time is not None), default=None)

    def settle(self) -> None:
        for operator in self._operators.values():
            operator.settle()

    def snapshot(self) -> Any:
        return {tag: operator.snapshot() for tag, operator in self._operators.items()}

    def restore(self, state: Any) -> None:
        self._operators = {tag: operator for tag, operator in self._operators.items() if tag in state}
        for tag, operator in self._operators.items():
            operator.restore(state[tag])

"""Derivations scheduled for iterations, and the difference that an iteration makes: `contract.Iterations`."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.run.contract.engine import Row
from tidelog.run.phases import ALIVE, DYING
from tidelog.run.tuples.absorb import Bag
from tidelog.run.tuples.differences import Difference, Kind
from tidelog.run.tuples.relation import Relation


class Schedule:
    """What is due in each iteration of a stratum, and the differences of the iteration at work."""

    def __init__(self, kind: Kind) -> None:
        self._kind = kind
        self._due: dict[str, dict[int, dict[Row, int]]] = {}
        self.differences: dict[str, Difference] = {}

    def add(self, relation: Relation, bag: Bag, sign: int) -> None:
        """Schedule derivations, except those of a later iteration than their heads', which have no effect."""
        due = self._due.setdefault(relation.name, {})
        difference = self.differences.get(relation.name)
        for row, rank in bag:
            there = row in relation.inserted.rows or (
                row in relation.settled.rows
                and relation.marks.get(row, ALIVE) <= DYING
                and not (difference is not None and difference.left(row))
            )
            if not there or rank < relation.supports[row][0]:
                changes = due.setdefault(rank + 1, {})
                changes[row] = changes.get(row, 0) + sign

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which something is scheduled."""
        return min((first for name in relations for first in self._due.get(name, ())), default=None)

    def take(self, relation: Relation, iteration: int) -> Difference:
        """Return what is due in an iteration, which is then at work."""
        changes = self._due.get(relation.name, {}).pop(iteration, {})
        found = self.differences[relation.name] = self._kind(relation, iteration, changes)
        return found

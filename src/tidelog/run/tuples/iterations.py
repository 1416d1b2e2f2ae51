"""Derivations scheduled for iterations, and what an iteration of `elastic` does to tuples: `contract.Iterations`.

A schedule has the derivations that tuples win and lose in an iteration: diff_plus and diff_minus of Zhao et al.,
section 4.2. Not all of these tuples come or leave, and which do is looked at once, when the iteration begins (eagerly):

| the tuple is | it |
| --- | --- |
| in an earlier iteration | stays: only the first iteration of a tuple is kept |
| in this iteration | wins or loses derivations in it, and leaves if none is left |
| in a later iteration | leaves it and comes here, if it has derivations here |
| absent | comes, if it has derivations |
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.run.contract.engine import Row
from tidelog.run.phases import ALIVE, DYING, REMOVED
from tidelog.run.tuples.absorb import Bag
from tidelog.run.tuples.relation import Journal, Relation


class Schedule:
    """What is due in each iteration of a stratum, and what comes in the iteration at work."""

    def __init__(self) -> None:
        self._due: dict[str, dict[int, dict[Row, int]]] = {}
        self._coming: dict[str, tuple[int, dict[Row, int]]] = {}

    def add(self, relation: Relation, bag: Bag, sign: int) -> None:
        """Schedule derivations, except those of a later iteration than their heads', which have no effect."""
        due = self._due.setdefault(relation.name, {})
        for row, rank in bag:
            there = row in relation.inserted.rows or (
                row in relation.settled.rows and relation.marks.get(row, ALIVE) <= DYING
            )
            if not there or rank < relation.supports[row][0]:
                changes = due.setdefault(rank + 1, {})
                changes[row] = changes.get(row, 0) + sign

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which something is scheduled."""
        return min((first for name in relations for first in self._due.get(name, ())), default=None)

    def begin(self, relation: Relation, iteration: int, journal: Journal) -> None:
        """Count the derivations of what is in an iteration, and make what leaves its iteration the delta."""
        leaving: set[Row] = set()
        coming: dict[Row, int] = {}
        for row, change in self._due.get(relation.name, {}).pop(iteration, {}).items():
            if not relation.holds(row):
                if change > 0:
                    coming[row] = change
                continue
            rank, count = relation.supports[row]
            if rank == iteration:
                journal.support(relation, row, (iteration, count + change))
                leaving |= set() if count + change else {row}
            elif rank > iteration and change > 0:
                leaving.add(row)
                coming[row] = change
        self._coming[relation.name] = iteration, coming
        relation.mark(leaving, DYING)
        relation.delta = relation.part(leaving)

    def turn(self, relation: Relation, journal: Journal) -> None:
        """Remove what leaves, and make it what was deleted unless it comes; make what comes the delta."""
        left = relation.delta.rows
        iteration, coming = self._coming[relation.name]
        relation.mark(left, REMOVED)
        relation.gone |= left
        for row, count in coming.items():
            journal.support(relation, row, (iteration, count))
        relation.deleted, relation.delta = relation.part(left - coming.keys()), relation.part(coming)

    def came(self, relation: Relation) -> int:
        """Return how many tuples came in the iteration at work, which is over."""
        return len(self._coming.pop(relation.name, (0, {}))[1])

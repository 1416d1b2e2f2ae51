"""Derivations scheduled for iterations, and what becomes of tuples in one of them: `run.contract.Iterations`.

To settle an iteration is to add up what is due for each head:

| the head is | it |
| --- | --- |
| in an earlier iteration | stays: only the first iteration of a tuple is kept |
| in this iteration | has so many more derivations in it, and leaves if none is left |
| in a later iteration | leaves it and comes here, if it has derivations here |
| absent | comes, if it has derivations |
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.run.contract import Row
from tidelog.run.phases import ALIVE, DYING
from tidelog.run.tuples.absorb import Bag
from tidelog.run.tuples.relation import Journal, Relation


class Schedule:
    """What is due in each iteration of a stratum."""

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

    def settle(self, relation: Relation, iteration: int, journal: Journal) -> set[Row]:
        """Count what is due, and keep what comes; return the tuples that leave."""
        leaves: set[Row] = set()
        coming: dict[Row, int] = {}
        for row, change in self._due.get(relation.name, {}).pop(iteration, {}).items():
            if not relation.holds(row):
                rank = iteration + 1
            else:
                rank, count = relation.supports[row]
                if rank == iteration:
                    journal.support(relation, row, (rank, count + change))
                if (rank == iteration and count + change == 0) or (rank > iteration and change > 0):
                    leaves.add(row)
            if rank > iteration and change > 0:
                coming[row] = change
        self._coming[relation.name] = iteration, coming
        return leaves

    def coming(self, relation: Relation, journal: Journal) -> set[Row]:
        """Give the tuples that come in the iteration settled last their support, and return them."""
        iteration, rows = self._coming.pop(relation.name, (0, {}))
        for row, count in rows.items():
            journal.support(relation, row, (iteration, count))
        return set(rows)

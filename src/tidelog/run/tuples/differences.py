"""What an iteration of `elastic` does to tuples, found out eagerly or lazily (Zhao et al., section 4.2).

A `Difference` has the derivations that tuples win and lose in an iteration: the paper's diff_plus and diff_minus. Not
all of these tuples come or leave:

| the tuple is | it |
| --- | --- |
| in an earlier iteration | stays: only the first iteration of a tuple is kept |
| in this iteration | has so many more derivations in it, and leaves if none is left |
| in a later iteration | leaves it and comes here, if it has derivations here |
| absent | comes, if it has derivations |

Which it is takes a look at the relation. `Eager` looks at each tuple once, when the iteration begins, and rules see
only tuples that do leave and come, the paper's actual_diff_minus and actual_diff_plus. With `Lazy` rules see all tuples
of the difference, and look at each that they find, each rule anew; the relation is changed when the iteration is over.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping

from tidelog.run.contract.engine import Row
from tidelog.run.phases import DYING, REMOVED
from tidelog.run.tuples.relation import Journal, Relation, Support


class Difference(ABC):
    """The derivations that tuples of a relation win and lose in an iteration: it begins, turns, and is merged."""

    def __init__(self, relation: Relation, iteration: int, changes: Mapping[Row, int]) -> None:
        self.relation = relation
        self.iteration = iteration
        self.changes = changes

    def leaves(self, row: Row) -> bool:
        """Tell whether a tuple leaves its iteration, as the relation is before it does."""
        change = self.changes.get(row)
        if change is None or not self.relation.holds(row):
            return False
        rank, count = self.relation.supports[row]
        return count + change == 0 if rank == self.iteration else rank > self.iteration and change > 0

    def comes(self, row: Row) -> bool:
        """Tell whether a tuple comes in this iteration, as the relation is before it does."""
        if self.changes.get(row, 0) <= 0:
            return False
        return not self.relation.holds(row) or self.relation.supports[row][0] > self.iteration

    @abstractmethod
    def begin(self, journal: Journal) -> None:
        """Make what leaves its iteration the delta."""

    @abstractmethod
    def turn(self, journal: Journal) -> None:
        """Remove what leaves, and make it what was deleted unless it comes; make what comes the delta."""

    @abstractmethod
    def merge(self, journal: Journal) -> int:
        """Let the delta become old, and return its size."""

    def left(self, row: Row) -> bool:
        """Tell whether a tuple has left, though the relation still has it."""
        return False

    def supports(self) -> Mapping[Row, Support]:
        """Return the support of tuples as rules are to see it."""
        return self.relation.supports


class Eager(Difference):
    """It looks at all of its tuples when the iteration begins."""

    def begin(self, journal: Journal) -> None:
        """Make what leaves its iteration the delta; count the derivations of what is in this one."""
        relation = self.relation
        leaving = {row for row in self.changes if self.leaves(row)}
        self._coming = {row for row in self.changes if self.comes(row)}
        for row, change in self.changes.items():
            if relation.holds(row) and relation.supports[row][0] == self.iteration:
                journal.support(relation, row, (self.iteration, relation.supports[row][1] + change))
        relation.mark(leaving, DYING)
        relation.delta = relation.part(leaving)

    def turn(self, journal: Journal) -> None:
        """Remove what leaves; give what comes its support."""
        relation, left = self.relation, self.relation.delta.rows
        relation.mark(left, REMOVED)
        relation.gone |= left
        for row in self._coming:
            journal.support(relation, row, (self.iteration, self.changes[row]))
        relation.deleted, relation.delta = relation.part(left - self._coming), relation.part(self._coming)

    def merge(self, journal: Journal) -> int:
        """Let the delta become old."""
        self.relation.insert()
        return len(self._coming)


class Lazy(Difference):
    """Whoever finds one of its tuples looks. The relation stays as it was until the iteration is over."""

    _turned = False

    def begin(self, journal: Journal) -> None:
        """Make all tuples the delta, of which rules find those that leave."""
        self.relation.leaving = self.leaves
        self.relation.delta = self.relation.part(self.changes, self.leaves)

    def turn(self, journal: Journal) -> None:
        """Let rules find of tuples that lose derivations those that leave, and of the others those that come."""
        self._turned = True
        losing = [row for row, change in self.changes.items() if change < 0]
        winning = [row for row, change in self.changes.items() if change > 0]
        self.relation.deleted = self.relation.part(losing, self.leaves)
        self.relation.delta = self.relation.part(winning, self.comes)

    def merge(self, journal: Journal) -> int:
        """Look at all tuples after all, and change the relation."""
        self.relation.leaving = None
        now = Eager(self.relation, self.iteration, self.changes)
        now.begin(journal)
        now.turn(journal)
        return now.merge(journal)

    def left(self, row: Row) -> bool:
        """Tell whether a tuple has left, though the relation still has it."""
        return self._turned and self.leaves(row)

    def supports(self) -> Mapping[Row, Support]:
        """Return the support of tuples: when those that come have come, they are in this iteration."""
        return Ahead(self) if self._turned else self.relation.supports


class Ahead(Mapping[Row, Support]):
    """The support of tuples with what a difference will give to those that come, looked at when it is asked for."""

    def __init__(self, difference: Difference) -> None:
        self._difference = difference
        self._supports = difference.relation.supports

    def __getitem__(self, row: Row) -> Support:
        difference = self._difference
        return (difference.iteration, difference.changes[row]) if difference.comes(row) else self._supports[row]

    def __len__(self) -> int:
        return len(self._supports)

    def __iter__(self) -> Iterator[Row]:
        return iter(self._supports)


Kind = Callable[[Relation, int, Mapping[Row, int]], Difference]
DIFFERENCES: Mapping[str, Kind] = {"eager": Eager, "lazy": Lazy}
"""The ways to find out by the name that chooses them."""

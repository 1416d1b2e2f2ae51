"""What the rules of a closure would cost in the place of its structure: rent before you buy, also the other way.

To follow changes by the structure costs what the graph does, whose edges are gone over, and what the rows do that a
change affects; to follow them by the rules costs what the change does, once their tuples are there. So a closure notes
by how much the first has cost more than the second is expected to (`Closed.owed`). When that is what evaluating the
rules costs, they take over: if they turn out to be dearer, an update of theirs is given up for a closure again.
"""

from __future__ import annotations

from tidelog.run.closure.pairs import Pairs
from tidelog.run.columnar.closures.closed import Closed
from tidelog.run.columnar.cost import COMPARED, COUNTED, RULE, UPDATE


def owed(before: Closed, after: Closed, spent: float, difference: tuple[Pairs, Pairs], steps: int) -> float:
    """Return what a closure owes after a change of so many steps, which took it so much work."""
    changed = sum(pairs.size for pairs in difference)
    matches = changed * _degree(after) + steps * after.pairs.size / max(1, after.targets.count)
    expected = 2 * (UPDATE.round + RULE) + changed * UPDATE.added + matches * UPDATE.match
    return max(0.0, before.owed + spent - expected)


def by_rules(closed: Closed) -> float:
    """Return what the rules of a closure along steps cost from scratch, and comparing their tuples with its own."""
    return closed.pairs.size * (COUNTED.added + COMPARED + COUNTED.match * _degree(closed))


def _degree(closed: Closed) -> float:
    """Return how many steps lead on from a value."""
    return closed.held.graph.edges / max(1, closed.values.count)

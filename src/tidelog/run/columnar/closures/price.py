"""What the rules of a closure would cost in the place of its structure: rent before you buy, also the other way.

To follow changes by the structure costs what the graph does, whose edges are gone over, and what the rows do that a
change affects; to follow them by the rules costs what the change does, once their tuples are there. So a closure notes
by how much the first has cost more than the second is expected to (`Closed.owed`). When that is what evaluating the
rules costs, they take over: if they turn out to be dearer, an update of theirs is given up for a closure again.

Same generation is followed by its rules. When an update of theirs is given up it is evaluated as such, for less than
rules take, and again at each change, until that has cost more than its rules, whose price is known from the last time.
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.run.closure.pairs import Pairs
from tidelog.run.columnar.closures.closed import Closed
from tidelog.run.columnar.cost import COMPARED, COUNTED, UPDATE
from tidelog.run.maintain.cost import Cost


def owed(before: Closed, after: Closed, spent: float, difference: tuple[Pairs, Pairs], steps: int) -> float:
    """Return what a closure owes after a change of `steps` steps, on which it spent `spent` units of work."""
    changed = sum(pairs.size for pairs in difference)
    matches = changed * _degree(after) + steps * after.pairs.size / max(1, after.targets.count)
    expected = _least() + changed * UPDATE.added + matches * UPDATE.match
    return max(0.0, before.owed + spent - expected)


def by_rules(closed: Closed) -> float:
    """Return what the rules of a closure along steps cost from scratch, and comparing their tuples with its own."""
    return closed.pairs.size * (COUNTED.added + COMPARED + COUNTED.match * _degree(closed))


def generated(before: Cost, after: Cost, changed: int, held: int, *, bare: bool) -> Cost:
    """Return what is known of same generation that has been evaluated as such; `bare` if it had been before, too."""
    if not bare:
        return replace(after, rules=before.work)
    expected = _least() + 2 * before.rules * changed / max(1, held)
    return replace(after, rules=before.rules, owed=max(0.0, before.owed + after.work - expected))


def _least() -> float:
    """Return what an update by rules takes however little it does."""
    return 2 * (UPDATE.round + UPDATE.rule)


def _degree(closed: Closed) -> float:
    """Return how many steps lead on from a value."""
    return closed.held.graph.edges / max(1, closed.values.count)

"""What evaluating a stratum from scratch took, how its updates have gone since, and what the next one may take."""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from dataclasses import replace
from typing import assert_never

from tidelog.base.record import record
from tidelog.base.tuning.updates import Budgets
from tidelog.run.contract.engine import Fallback


@record
class Past:
    """How updates of a stratum have gone. Their size is the number of tuples changed below."""

    given_up: int = 0
    """The size of the last one that was given up."""
    in_a_row: int = 0
    """How many were, since one was not."""
    done: int = 0
    """The greatest size of one that was not."""
    took: float = math.inf
    """The work of the evaluation in the place of the last one that was given up."""

    def promises_little(self, size: int, budgets: Budgets) -> bool:
        """Tell whether an update of a size is likely to be given up."""
        return self.in_a_row > 0 and size >= budgets.near * self.given_up and size > self.done

    def giving_up(self, size: int) -> Past:
        """Return what is known after one of a size was given up."""
        return Past(size, self.in_a_row + 1, self.done, self.took)

    def doing(self, size: int) -> Past:
        """Return what is known after one of a size was not given up."""
        return Past(self.given_up, 0, max(self.done, size), self.took)


@record
class Cost:
    """What an evaluation from scratch took, in units of work and in seconds, and how the updates since have gone."""

    work: float
    time: float
    past: tuple[Past, Past] = (Past(), Past())
    """Of those that take nothing away below, and of the others."""
    rules: float = 0.0
    """The work of its last evaluation by rules, where another way has taken their place."""
    owed: float = 0.0
    """Work that this way has taken since beyond what rules are expected to."""

    def in_place(self, *, losing: bool) -> Cost:
        """Return the same, of an evaluation that was done in the place of an update of one kind."""
        return self.after(replace(self.past[losing], took=self.work), losing=losing)

    def after(self, past: Past, *, losing: bool) -> Cost:
        """Return the same with another past of updates of one kind."""
        return replace(self, past=(self.past[0], past) if losing else (past, self.past[1]))


NOTHING = Cost(0, 0.0)
Costs = MutableMapping[frozenset[str], Cost]
"""What the last bootstrap of each stratum took, by its relations."""


@record
class Budget:
    """What an update may take."""

    work: float = math.inf
    seconds: float = math.inf

    def less(self, left: float, budgets: Budgets) -> float:
        """Return by how much it is less where only a part of the tuples is left; some of them may come back."""
        return max(0.0, self.work - max(budgets.work, self.work * max(left, budgets.left)))

    def __str__(self) -> str:
        return f"{self.work:,.0f} units of work" if self.work < math.inf else f"{self.seconds * 1000:.1f} ms"


UNLIMITED = Budget()


def budget_of(fallback: Fallback, last: Cost, size: int, lent: float, budgets: Budgets, *, losing: bool) -> Budget:
    """Return what an update of a size may take: its share, and what is lent to it, but no more than an evaluation.

    It gets a part of that where updates as large were given up, and is held against what was done in their place: each
    that is given up in vain costs less, and none that has become cheap goes unnoticed.
    """
    if fallback.share == math.inf:
        return UNLIMITED
    past, part, full = last.past[losing], 1.0, last.work
    if past.promises_little(size, budgets):
        part, full = float(budgets.again) ** (past.in_a_row % int(budgets.retry)), min(full, past.took)
    match fallback.by:
        case "work":
            own = fallback.share * full
            return Budget(work=max(budgets.work, part * own, part * min(own + lent, full)))
        case "time":
            return Budget(seconds=max(budgets.seconds, part * fallback.share * last.time))
        case _:
            assert_never(fallback.by)

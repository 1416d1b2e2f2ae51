"""What evaluating a stratum from scratch took, how its updates have gone since, and what the next one may take."""

from __future__ import annotations

import math
from collections.abc import MutableMapping
from dataclasses import replace
from typing import assert_never

from tidelog.base.record import record
from tidelog.run.contract import Switch

LEAST = {"work": 100_000.0, "time": 0.005}
"""Units and seconds that are always allowed: below this what a transaction costs anyway decides."""
RETRY = 4
"""Of so many updates of a size that was given up, one is tried."""


IN_A_ROW = 2
"""So many have to be given up first."""


@record
class Past:
    """How updates of a stratum have gone. Their size is the number of tuples changed below."""

    given_up: int = 0
    """The size of the last one that was given up."""
    in_a_row: int = 0
    """How many were, since one was not."""
    done: int = 0
    """The greatest size of one that was not."""
    untried: int = 0
    """How many were not tried since one was."""

    def forbids(self, size: int) -> bool:
        """Tell whether an update of a size is not to be tried."""
        likely = self.in_a_row >= IN_A_ROW and size >= self.given_up and size > self.done
        return likely and self.untried < RETRY - 1

    def giving_up(self, size: int) -> Past:
        """Return what is known after one of a size was given up."""
        return Past(size, self.in_a_row + 1, self.done)

    def doing(self, size: int) -> Past:
        """Return what is known after one of a size was not given up."""
        return Past(self.given_up, 0, max(self.done, size))


@record
class Cost:
    """What an evaluation from scratch took, in units of work and in seconds, and how the updates since have gone."""

    work: float
    time: float
    past: tuple[Past, Past] = (Past(), Past())
    """Of those that take nothing away below, and of the others."""

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

    def __str__(self) -> str:
        return f"{self.work:,.0f} units of work" if self.work < math.inf else f"{self.seconds * 1000:.1f} ms"


UNLIMITED = Budget()


def budget_of(switch: Switch, last: Cost, lent: float) -> Budget:
    """Return what an update may take: its share, and what is lent to it, but then no more than an evaluation."""
    if switch.share == math.inf:
        return UNLIMITED
    match switch.by:
        case "work":
            own = switch.share * last.work
            return Budget(work=max(LEAST["work"], own, min(own + lent, last.work)))
        case "time":
            return Budget(seconds=max(LEAST["time"], switch.share * last.time))
        case _:
            assert_never(switch.by)

"""Thresholds of `run.columnar`: threads, what is counted of derivations, and rounds of few tuples."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.tuning.thresholds import threshold


@record
class Threads:
    """When work is shared."""

    parts: int = threshold(8, draws=(1, 3), fitted="batch", kernel=True)
    """Parts that an operation is cut into, at most one for each processor."""
    rules_from: int = threshold(1 << 13, draws=(0, 4), fitted="updates")
    """From this many rows of a delta on, rules are evaluated side by side, and relations absorbed."""


@record
class Doors:
    """In which order candidates for minima and maxima are admitted where a stratum is evaluated from scratch."""

    at_once: int = threshold(1 << 12, draws=(1, 2, 8), fitted="bounds")
    """Up to this many in a round are all admitted: a round costs as much as some thousand derivations."""
    buckets: int = threshold(16, draws=(1, 3), fitted="bounds", kernel=True)
    """Of more, this part: 25 rounds with 3.8 derivations an edge become 29 with 1.1 (a million edges)."""


@record
class Counting:
    """Which derivations are counted, and how tuples that left are found again."""

    surveyed: int = threshold(1 << 16, draws=(0, 8), fitted="batch, updates")
    """From this many derivations on it is asked whether to count all of them is worth it."""
    often: int = threshold(16, draws=(0, 2), fitted="batch, updates")
    """Not if they are this many times the tuples: Andersen has 58, CSPA 120, Galen, whose deletions of one fact would
    take a minute instead of milliseconds, 8 and 12."""
    highest_rank: int = threshold(
        (1 << 30) + (1 << 29), draws=(1 << 22, 1 << 23), fitted="none: ranks are integers of 32 bits"
    )
    """An update does not begin with a greater rank: then it has half a billion levels before it."""
    divide_from: int = threshold(1 << 9, draws=(0, 4), fitted="papers")
    """The filter of this many tuples to find again may be divided by variable (Zhao et al., 4.2)."""
    divide_worth: int = threshold(2, draws=(0, 100), fitted="papers")
    """It is where the work is expected to be this many times less."""


@record
class SmallRounds:
    """Rounds of few tuples, which one kernel does (`small_rounds`)."""

    delta: int = threshold(4_096, draws=(-1, 3, 12), fitted="updates")
    """Deltas of up to this many tuples in all are small."""
    derivations: int = threshold(16_384, draws=(3, 12), fitted="updates")
    """A small round has at most this many derivations."""
    room: int = threshold(2, draws=(1, 3), fitted="updates", kernel=True)
    """Capacity of the table of a relation's recent tuples, in multiples of `derivations`."""
    sight: int = threshold(8, draws=(1, 3), fitted="updates", kernel=True)
    """Rows that a small round may look at, in multiples of `derivations`."""
    logged: int = threshold(8, draws=(4, 5), fitted="updates", kernel=True)
    """Capacity of the undo log, in multiples of `derivations`, at least 4; a full one is put away."""
    look: int = threshold(1 << 17, draws=(0, 20), fitted="updates", kernel=True)
    """After about this many rows looked at the watch looks at the clock again."""
    pause: int = threshold(8, draws=(0, 1), fitted="updates", kernel=True)
    """Rounds for which the kernel is not tried after one that was not small; doubled if the next is not either."""
    alone: int = threshold(8, draws=(0, 2), fitted="updates", kernel=True)
    """Up to this many bindings are searched for one by one; of more, equal keys are searched once."""
    places: int = threshold(64, draws=(2, 8), fitted="none: less costs one more copy", kernel=True)
    """Places that the table of recent tuples begins with, a power of two; it doubles when it is half full."""
    variables: int = threshold(64, draws=(1, 3), fitted="none: a bound on memory")
    """Rules of more variables are not told to the kernel: its room is as wide as the widest rule."""

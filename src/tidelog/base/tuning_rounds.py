"""Thresholds of `run.columnar`: threads, what is counted of derivations, and rounds of few tuples."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.thresholds import threshold


@record
class Threads:
    """When work is shared."""

    parts: int = threshold(
        8,
        draws=(1, 3),
        reason="Parts that an operation is cut into, at most one for each processor.",
        fitted="batch",
        kernel=True,
    )
    rules_from: int = threshold(
        1 << 13,
        draws=(0, 4),
        reason="From this many rows of a delta on, rules are evaluated side by side, and relations absorbed.",
        fitted="updates",
    )


@record
class Counting:
    """Which derivations are counted, and how tuples that left are found again."""

    surveyed: int = threshold(
        1 << 16,
        draws=(0, 8),
        reason="From this many derivations on it is asked whether to count all of them is worth it.",
        fitted="batch, updates",
    )
    often: int = threshold(
        16,
        draws=(0, 2),
        reason="Not if they are this many times the tuples: Andersen has 58, CSPA 120, Galen, whose deletions "
        "of one fact would take a minute instead of milliseconds, 8 and 12.",
        fitted="batch, updates",
    )
    highest_rank: int = threshold(
        (1 << 30) + (1 << 29),
        draws=(1 << 22, 1 << 23),
        reason="An update does not begin with a greater rank: then it has half a billion levels before it.",
        fitted="none: ranks are integers of 32 bits",
    )
    divide_from: int = threshold(
        1 << 9,
        draws=(0, 4),
        reason="The filter of this many tuples to find again may be divided by variable (Zhao et al., 4.2).",
        fitted="papers",
    )
    divide_worth: int = threshold(
        2,
        draws=(0, 100),
        reason="It is where the work is expected to be this many times less.",
        fitted="papers",
    )


@record
class SmallRounds:
    """Rounds of few tuples, which one kernel does (`small_rounds`)."""

    delta: int = threshold(
        4_096,
        draws=(-1, 3, 12),
        reason="Deltas of up to this many tuples in all are small.",
        fitted="updates",
    )
    derivations: int = threshold(
        16_384,
        draws=(3, 12),
        reason="A small round has at most this many derivations.",
        fitted="updates",
    )
    room: int = threshold(
        2,
        draws=(1, 3),
        reason="There is room for this many times as many recent tuples of a relation.",
        fitted="updates",
        kernel=True,
    )
    sight: int = threshold(
        8,
        draws=(1, 3),
        reason="A round looks at no more than this many times as many rows.",
        fitted="updates",
        kernel=True,
    )
    logged: int = threshold(
        8,
        draws=(4, 5),
        reason="So many times as many values are overwritten before what is logged is put away; at least 4 times.",
        fitted="updates",
        kernel=True,
    )
    look: int = threshold(
        1 << 17,
        draws=(0, 20),
        reason="After about this many rows looked at the watch looks at the clock again.",
        fitted="updates",
        kernel=True,
    )
    pause: int = threshold(
        8,
        draws=(0, 1),
        reason="After a round that was not small this many are not tried; twice as many if the next is not either.",
        fitted="updates",
        kernel=True,
    )
    alone: int = threshold(
        8,
        draws=(0, 2),
        reason="Of more bindings than this equal keys are searched once.",
        fitted="updates",
        kernel=True,
    )
    places: int = threshold(
        64,
        draws=(2, 8),
        reason="Places that the table of recent tuples begins with, a power of two; it doubles when it is half full.",
        fitted="none: less costs one more copy",
        kernel=True,
    )
    variables: int = threshold(
        64,
        draws=(1, 3),
        reason="Rules of more variables are not told to the kernel: its room is as wide as the widest rule.",
        fitted="none: a bound on memory",
    )

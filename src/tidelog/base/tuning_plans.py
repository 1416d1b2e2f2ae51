"""The parts of the table of thresholds by which bodies are ordered, and by which the engines dbsp and tuples choose.

See `tuning` for the table.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.thresholds import threshold


@record
class Planning:
    """What is assumed of unknown sizes when a body is ordered (`plan.join.estimate`, `plan.join.order_joins`)."""

    typical_size: int = threshold(
        1000,
        draws=(1, 2, 1_000_000),
        reason="Rows of a relation of unknown size: the same for all, so that what is bound decides.",
        fitted="none: any number above 1 gives the same order where no size is known",
        kernel=True,
    )
    elements: float = threshold(
        8.0,
        draws=(0.1, 10_000.0),
        reason="Elements of a collection: a few, so that it comes before a join that multiplies more.",
        fitted="none: a guess",
    )
    check: float = threshold(
        0.5,
        draws=(0.0, 100.0),
        reason="Rows found when every column is bound: the tuple is there or not.",
        fitted="none: a guess",
    )
    other_starts: int = threshold(
        16,
        draws=(0, 1),
        reason="How many other first relations are tried to avoid a product; each costs a search.",
        fitted="large-program",
        kernel=True,
    )


@record
class Traces:
    """How the circuits of DBSP look rows up and add them (`run.dbsp`)."""

    piece: int = threshold(
        1 << 20,
        draws=(1, 3),
        reason="Pairs of a key and a row that are looked at together: what they take stays bounded.",
        fitted="dyre",
    )
    ordered_keys: int = threshold(
        1024,
        draws=(0, 2),
        reason="More keys than this are sorted before they are looked up: found one after another in memory.",
        fitted="dyre",
    )
    summed: int = threshold(
        1 << 17,
        draws=(1, 3),
        reason="From this number of rows on, what is kept for later is added up at once, while it is in the cache.",
        fitted="dyre",
    )


@record
class Tuples:
    """How the engine tuples evaluates rules (`run.tuples`)."""

    first: int = threshold(
        256,
        draws=(1, 2),
        reason="Bindings that a step takes first; this number of them, or fewer, it takes at once.",
        fitted="none: few enough that a product of them is soon done",
    )
    chunk: int = threshold(
        1 << 14,
        draws=(1, 4),
        reason="Bindings after which there is a look at the clock and the memory.",
        fitted="none: a look takes as long as a few dozen of them",
    )
    prepared: int = threshold(
        10_000,
        draws=(1, 2),
        reason="Trees that are kept ready for evaluation, so that a long life of many rules does not fill the memory.",
        fitted="none: a bound on memory",
    )
    derivation: int = threshold(
        40,
        draws=(1, 1000),
        reason="Units of work, of some 25 ns, of a derivation, as `run.maintain` budgets an update.",
        fitted="none: twice that of the columnar engine",
        kernel=True,
    )

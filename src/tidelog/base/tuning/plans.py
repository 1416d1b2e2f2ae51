"""The parts of the table of thresholds by which bodies are ordered, and by which the engines dbsp and tuples choose.

See `table` for all of them.
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.tuning.thresholds import threshold


@record
class Planning:
    """What is assumed of unknown sizes when a body is ordered (`plan.join.estimate`, `plan.join.order_joins`)."""

    typical_size: int = threshold(
        1000,
        draws=(1, 2, 1_000_000),
        fitted="none: any number above 1 gives the same order where no size is known",
        kernel=True,
    )
    """Rows of a relation of unknown size: the same for all, so that what is bound decides."""
    elements: float = threshold(8.0, draws=(0.1, 10_000.0), fitted="none: a guess")
    """Elements of a collection: a few, so that it comes before a join that multiplies more."""
    check: float = threshold(0.5, draws=(0.0, 100.0), fitted="none: a guess")
    """Rows found when every column is bound: the tuple is there or not."""
    other_starts: int = threshold(16, draws=(0, 1), fitted="large-program", kernel=True)
    """How many other first relations are tried to avoid a product; each costs a search."""
    asking: float = threshold(
        2.0, draws=(0.01, 1000.0), fitted="none: what is there is looked at before it is asked for", kernel=True
    )
    """How many times as many rows a relation is taken to have that is computed by demand."""
    unasked: float = threshold(
        1e18, draws=(0.01, 100.0), fitted="none: asking without anything given is computing all", kernel=True
    )
    """The same where no column of it is given."""


@record
class Traces:
    """How the circuits of DBSP look rows up and add them (`run.dbsp`)."""

    piece: int = threshold(1 << 20, draws=(1, 3), fitted="dyre")
    """Pairs of a key and a row that are looked at together: what they take stays bounded."""
    ordered_keys: int = threshold(1024, draws=(0, 2), fitted="dyre")
    """More keys than this are sorted before they are looked up: found one after another in memory."""
    summed: int = threshold(1 << 17, draws=(1, 3), fitted="dyre")
    """From this number of rows on, what is kept for later is added up at once, while it is in the cache."""


@record
class Tuples:
    """How the engine tuples evaluates rules (`run.tuples`)."""

    first: int = threshold(256, draws=(1, 2), fitted="none: few enough that a product of them is soon done")
    """Bindings that a step takes first; this number of them, or fewer, it takes at once."""
    chunk: int = threshold(1 << 14, draws=(1, 4), fitted="none: a look takes as long as a few dozen of them")
    """Bindings after which there is a look at the clock and the memory."""
    prepared: int = threshold(10_000, draws=(1, 2), fitted="none: a bound on memory")
    """Trees that are kept ready for evaluation, so that a long life of many rules does not fill the memory."""
    derivation: int = threshold(40, draws=(1, 1000), fitted="none: twice that of the columnar engine", kernel=True)
    """Units of work, of some 25 ns, of a derivation, as `run.maintain` budgets an update."""

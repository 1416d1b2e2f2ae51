"""Thresholds of `run.closure` and `run.maintain`: how closures are kept, and when an update gives way."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.tuning.thresholds import threshold


@record
class Compiling:
    """From which size on kernels are loaded, or compiled, in the place of functions of numpy and Python."""

    rows: int = threshold(30_000, draws=(0, 5, 1 << 40), fitted="start, batch")
    """Loading the kernels of the columnar engine takes as long as numpy takes for about this many rows."""
    round: int = threshold(30, draws=(0, 1 << 40), fitted="start, updates", kernel=True)
    """What a round costs numpy however few rows it has, some 0.3 ms, in rows."""
    edges: int = threshold(1_000_000, draws=(0, 30, 1 << 40), fitted="start, closures")
    """To walk this many edges in Python, 0.4 us each, takes about as long as loading the kernels on graphs, 0.35 s."""
    spared: int = threshold(50, draws=(1, 1_000), fitted="start", kernel=True)
    """The part of that which is left to load if another table in this process uses these kernels already."""


@record
class Closures:
    """How transitive closures and same generation are kept, from scratch and under changes (`run.closure`)."""

    sample: int = threshold(32, draws=(1, 2, 4), fitted="closures")
    """Nodes searched from to estimate what searching from all of them would cost."""
    search_cost: int = threshold(40, draws=(0, 1 << 40), fitted="closures")
    """Words of bits united in the time of one step of a search, 0.15 ns and 6 ns: rows of bits, or searches."""
    word_cost: int = threshold(10, draws=(0, 3), fitted="closures", kernel=True)
    """The same for words that are written for the first time, for which memory has to be found."""
    share_from: int = threshold(4_000_000, draws=(0, 20), fitted="closures")
    """Steps of searches from which on threads share them."""
    bit_bytes: int = threshold(1 << 26, draws=(0, 64), fitted="none: a bound on memory")
    """Rows of bits may always take so much memory."""
    bit_part: int = threshold(4, draws=(1, 1_000), fitted="none: a bound on memory", kernel=True)
    """Beyond that they take no more than the pairs written out, divided by this."""
    outgrown: int = threshold(4, draws=(0, 1_000), fitted="none: a bound on memory")
    """Rows of bits that take this many times as much, after changes, are found anew, in another form perhaps."""
    walk_steps: int = threshold(1_000, draws=(0, 5), fitted="closures", kernel=True)
    """Steps of a search that are always allowed to see whether a lost or gained edge can be walked round."""
    walk_part: int = threshold(4, draws=(1, 1_000), fitted="closures", kernel=True)
    """A search may take one more step for this many edges of the graph: less than finding its rows takes."""
    few: int = threshold(8, draws=(0, 1, 1 << 20), fitted="closures, regret")
    """A closure along steps that one tuple is fed for this many of them, at most, is first tried by its rules."""
    tried: float = threshold(20.0, draws=(0.0, 1e6), fitted="regret", kernel=True)
    """Units of work for each step that its rules may take then: to number the nodes of steps takes about as much."""
    owed: float = threshold(1.0, draws=(0.0, 1e6), fitted="regret")
    """A closure gives way to its rules when changes have cost too much by this many times what they take anew."""
    rows: int = threshold(1 << 23, draws=(0, 1 << 40), fitted="none: a bound on memory")
    """It never does if it has more pairs than this, since rules write each of them."""
    renew_all: int = threshold(2, draws=(0, 1_000), fitted="closures")
    """All rows are found anew if affected nodes, times this, have more edges than the graph."""
    compared: int = threshold(1 << 22, draws=(1, 5), fitted="none: a bound on memory", kernel=True)
    """Positions compared at a time where rows have to be searched for: bounds what they take besides."""
    spare_rows: int = threshold(64, draws=(0,), fitted="closures", kernel=True)
    """Rows of bits that move get room for twice as many rows and this many more, so that they seldom move."""
    written: int = threshold(1 << 22, draws=(1, 3), fitted="closures")
    """Pairs that one thread writes at a time; between parts the watch looks at the clock."""
    first_room: int = threshold(1_024, draws=(1, 3), fitted="none: less costs one more copy", kernel=True)
    """Room that a kernel begins with for results whose number it does not know; it doubles when it is full."""
    generation_bytes: int = threshold(1 << 26, draws=(0, 40), fitted="none: a bound on memory")
    """Same generation has a bit for each pair of nodes if that takes so much memory at most: 23,170 nodes."""
    generations_dense: int = threshold(16, draws=(0, 1_000), fitted="closures", kernel=True)
    """What was added to a row is compared with what others lack if it is one in this many of all nodes."""
    generations_few: int = threshold(4, draws=(0, 1 << 20), fitted="closures", kernel=True)
    """Pairs that lead on to this many at most, on average, are followed one by one: rows are mostly empty."""
    node_spread: int = threshold(8, draws=(0, 1), fitted="closures")
    """Codes spread over this many times their number are numbered by their own size, without being sorted."""
    node_room: int = threshold(1_024, draws=(0, 3), fitted="none: small beside the cost of a commit", kernel=True)
    """Codes may spread over this many more than that: an array of a kilobyte costs nothing."""
    nodes_for_edge: int = threshold(8, draws=(0, 1), fitted="closures", kernel=True)
    """Nodes that a graph may have for each edge before they are numbered anew: the others are left over."""
    nodes_spare: int = threshold(1_000, draws=(0, 3), fitted="none: small beside the cost of a commit")
    """Nodes that a graph may have beyond that, so that graphs of a few edges are left alone."""


@record
class Budgets:
    """When an update is given up for an evaluation from scratch (`run.maintain.cost`)."""

    work: float = threshold(100_000.0, draws=(0.0, 300.0, 12_000.0), fitted="updates")
    """Units of work that an update may take however small its share, if starting over costs a multiple of them."""
    risk: float = threshold(0.5, draws=(0.0, 1.0), fitted="regret", kernel=True)
    """The part of what starting over costs that these may be: for small strata they are the whole regret."""
    least: float = threshold(20_000.0, draws=(0.0, 1e9), fitted="regret")
    """Units of work that are always allowed beside that part: a commit costs about as much anyway."""
    each: float = threshold(5.0, draws=(0.0, 100.0), fitted="updates", kernel=True)
    """Units of work that a tuple takes at least when its stratum is evaluated anew: it may have grown since it was."""
    seconds: float = threshold(0.005, draws=(0.0, 1e-5, 10.0), fitted="updates")
    """Seconds that are always allowed."""
    share: float = threshold(0.2, draws=(0.001, 3.0), fitted="updates")
    """The part of what an evaluation takes that an update may take: no commit is felt as dearer than one."""
    elastic_share: float = threshold(0.2, draws=(0.001, 3.0), fitted="papers")
    """The same for `elastic`: the switching parameter of Zhao et al."""
    rule_share: float = threshold(0.5, draws=(0.1, 1.0), fitted="updates", kernel=True)
    """The part of that where a rule is removed: the last evaluation was with it."""
    left: float = threshold(0.25, draws=(0.0, 1.0), fitted="updates")
    """The part of its budget that an update has however few tuples are left: some of them may come back."""
    near: float = threshold(0.8, draws=(0.0, 1.5), fitted="updates")
    """An update of this part of the size of one that was given up is expected to be given up, too."""
    again: float = threshold(0.5, draws=(0.1, 0.9), fitted="updates", kernel=True)
    """The part of the budget of the one before that such an update has."""
    retry: int = threshold(4, draws=(1, 2), fitted="updates", kernel=True)
    """Of this many that are given up in a row, one had its whole budget: some become cheap."""
    most: float = threshold(0.3, draws=(0.0, 10.0), fitted="regret")
    """Where more than this part of what a stratum without recursion reads has changed, its update is not tried."""
    few: int = threshold(16, draws=(0, 1 << 20), fitted="none: so few may be followed either way")
    """Tuples changed below up to which it is tried all the same."""
    counted: float = threshold(400_000.0, draws=(0.0, 1e9), fitted="regret")
    """Units of work of an evaluation from which on it leaves support to be counted later, for 40,000 a round."""
    load: float = threshold(0.5, draws=(0.0, 2.0), fitted="updates, loading")
    """A change that brings this part of what a stratum reads is a load: what it derives is counted at once."""

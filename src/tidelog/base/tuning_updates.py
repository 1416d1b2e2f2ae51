"""Thresholds of `run.closure` and `run.maintain`: how closures are kept, and when an update gives way."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.thresholds import threshold


@record
class Compiling:
    """From which size on kernels are loaded, or compiled, in the place of functions of numpy and Python."""

    rows: int = threshold(
        30_000,
        draws=(0, 5, 1 << 40),
        reason="Loading the kernels of the columnar engine takes as long as numpy takes for about this many rows.",
        fitted="start, batch",
    )
    edges: int = threshold(
        3_000,
        draws=(0, 3, 1 << 40),
        reason="A graph of this many edges takes about as long in Python as loading the kernels on graphs does.",
        fitted="closures",
    )


@record
class Closures:
    """How transitive closures and same generation are kept, from scratch and under changes (`run.closure`)."""

    sample: int = threshold(
        32,
        draws=(1, 2, 4),
        reason="Nodes searched from to estimate what searching from all of them would cost.",
        fitted="closures",
    )
    search_cost: int = threshold(
        40,
        draws=(0, 1 << 40),
        reason="Words of bits united in the time of one step of a search, 0.15 ns and 6 ns: rows of bits, or searches.",
        fitted="closures",
    )
    word_cost: int = threshold(
        10,
        draws=(0, 3),
        reason="The same for words that are written for the first time, for which memory has to be found.",
        fitted="closures",
        kernel=True,
    )
    share_from: int = threshold(
        4_000_000,
        draws=(0, 20),
        reason="Steps of searches from which on threads share them.",
        fitted="closures",
    )
    bit_bytes: int = threshold(
        1 << 26,
        draws=(0, 64),
        reason="Rows of bits may always take so much memory.",
        fitted="none: a bound on memory",
    )
    bit_part: int = threshold(
        4,
        draws=(1, 1_000),
        reason="Beyond that they take no more than the pairs written out, divided by this.",
        fitted="none: a bound on memory",
        kernel=True,
    )
    walk_steps: int = threshold(
        1_000,
        draws=(0, 5),
        reason="Steps of a search that are always allowed to see whether a lost or gained edge can be walked round.",
        fitted="closures",
        kernel=True,
    )
    walk_part: int = threshold(
        4,
        draws=(1, 1_000),
        reason="Besides one for this many edges of the graph: less than finding its rows takes.",
        fitted="closures",
        kernel=True,
    )
    renew_all: int = threshold(
        2,
        draws=(0, 1_000),
        reason="All rows are found anew if affected nodes, times this, have more edges than the graph.",
        fitted="closures",
    )
    compared: int = threshold(
        1 << 22,
        draws=(1, 5),
        reason="Positions compared at a time where rows have to be searched for: bounds what they take besides.",
        fitted="none: a bound on memory",
        kernel=True,
    )
    spare_rows: int = threshold(
        64,
        draws=(0,),
        reason="Rows of bits that move get room for twice as many rows and this many more, so that they seldom move.",
        fitted="closures",
        kernel=True,
    )
    written: int = threshold(
        1 << 22,
        draws=(1, 3),
        reason="Pairs that one thread writes at a time; between parts the watch looks at the clock.",
        fitted="closures",
    )
    first_room: int = threshold(
        1_024,
        draws=(1, 3),
        reason="Room that a kernel begins with for results whose number it does not know; it doubles when it is full.",
        fitted="none: less costs one more copy",
        kernel=True,
    )
    generation_bytes: int = threshold(
        1 << 26,
        draws=(0, 40),
        reason="Same generation has a bit for each pair of nodes if that takes so much memory at most: 23,170 nodes.",
        fitted="none: a bound on memory",
    )
    generations_dense: int = threshold(
        16,
        draws=(0, 1_000),
        reason="What was added to a row is compared with what others lack if it is one in this many of all nodes.",
        fitted="closures",
        kernel=True,
    )
    generations_few: int = threshold(
        4,
        draws=(0, 1 << 20),
        reason="Pairs that lead on to this many at most, on average, are followed one by one: rows are mostly empty.",
        fitted="closures",
        kernel=True,
    )
    node_spread: int = threshold(
        8,
        draws=(0, 1),
        reason="Codes spread over this many times their number are numbered by their own size, without being sorted.",
        fitted="closures",
    )
    node_room: int = threshold(
        1_024,
        draws=(0, 3),
        reason="And over this many more: an array of a kilobyte costs nothing.",
        fitted="none: small beside the cost of a commit",
        kernel=True,
    )
    nodes_for_edge: int = threshold(
        8,
        draws=(0, 1),
        reason="Nodes that a graph may have for each edge before they are numbered anew: the others are left over.",
        fitted="closures",
        kernel=True,
    )
    nodes_spare: int = threshold(
        1_000,
        draws=(0, 3),
        reason="And this many more, so that graphs of a few edges are left alone.",
        fitted="none: small beside the cost of a commit",
    )


@record
class Budgets:
    """When an update is given up for an evaluation from scratch (`run.maintain.cost`)."""

    work: float = threshold(
        100_000.0,
        draws=(0.0, 300.0, 12_000.0),
        reason="Units of work that are always allowed: below this, what a transaction costs anyway decides.",
        fitted="updates",
    )
    seconds: float = threshold(
        0.005,
        draws=(0.0, 1e-5, 10.0),
        reason="The same in seconds.",
        fitted="updates",
    )
    share: float = threshold(
        0.2,
        draws=(0.001, 3.0),
        reason="The part of what an evaluation takes that an update may take: no commit is felt as dearer than one.",
        fitted="updates",
    )
    elastic_share: float = threshold(
        0.2,
        draws=(0.001, 3.0),
        reason="The same for `elastic`: the switching parameter of Zhao et al.",
        fitted="papers",
    )
    rule_share: float = threshold(
        0.5,
        draws=(0.1, 1.0),
        reason="The part of that where a rule is removed: the last evaluation was with it.",
        fitted="updates",
        kernel=True,
    )
    left: float = threshold(
        0.25,
        draws=(0.0, 1.0),
        reason="The part of its budget that an update has however few tuples are left: some of them may come back.",
        fitted="updates",
    )
    near: float = threshold(
        0.8,
        draws=(0.0, 1.5),
        reason="An update of this part of the size of one that was given up is expected to be given up, too.",
        fitted="updates",
    )
    again: float = threshold(
        0.5,
        draws=(0.1, 0.9),
        reason="The part of the budget of the one before that such an update has.",
        fitted="updates",
        kernel=True,
    )
    retry: int = threshold(
        4,
        draws=(1, 2),
        reason="Of this many that are given up in a row, one had its whole budget: some become cheap.",
        fitted="updates",
        kernel=True,
    )
    load: float = threshold(
        0.5,
        draws=(0.0, 2.0),
        reason="A change that brings this part of what a stratum reads is a load: what it derives is counted at once.",
        fitted="updates, loading",
    )

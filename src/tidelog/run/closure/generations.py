"""Same generation as rows of bits: which nodes a node is paired with.

Pairs that are fed lead on to pairs of successors, side by side. A row is taken up when bits were added to it since it
was last: all of these at once lead to one image, which is united with the rows of all successors of its node. So the
work is one step for each pair and each successor of one of its nodes, where a join takes one for each pair of
successors. Once those rows lack less than was added, the image is found from the other end: whether a node that is
lacking has a predecessor among what was added, which mostly the first one tells. Where nodes have one or two
successors, pairs are followed one by one instead. Under limits that is done in pieces: bits that are left lead on.
"""

from __future__ import annotations

import numpy as np

from tidelog.base.process.meter import ask, pieces
from tidelog.base.tuning.updates import Closures
from tidelog.run.closure.plain import Nodes
from tidelog.run.closure.reach import BitRows, Graph, Reach


def fits(nodes: int, thresholds: Closures) -> bool:
    """Tell whether there is room for a bit for each pair of nodes, and as much again while they are found."""
    return nodes * ((nodes >> 6) + 1) * 8 <= thresholds.generation_bytes


def paired(fed: tuple[Nodes, Nodes], first: Graph, second: Graph, *, crossed: bool, apart: bool) -> Reach:
    """Find all pairs that pairs fed lead on to: along `first` and `second`, graphs of the same nodes."""
    n = first.nodes
    ask(2 * 8 * n * ((n >> 6) + 1))
    bits = np.zeros((n, (n >> 6) + 1), np.uint64)
    sources, targets = fed
    np.bitwise_or.at(bits, (sources, targets >> 6), np.uint64(1) << (targets & 63).astype(np.uint64))
    functions = first.functions
    functions(len(sources), words=bits.size)
    thresholds, back = functions.tuning.closures, second.turned
    graphs = [graph for one in (first, second, back) for graph in (one.offsets, one.targets)]
    how = int(thresholds.generations_few), int(thresholds.generations_dense), int(thresholds.first_room)
    left = bits
    for size in pieces():
        steps = min(size * 4 * bits.size, int(functions.left()))  # few beside them are those of beginning again
        left = functions().generations(*graphs, bits, left, crossed, apart, *how, steps)
        if not len(left):
            break
        functions.expect(steps)
    rows, found = np.arange(n, dtype=np.int32), BitRows(bits, functions)
    counts = found.count(rows, None)
    functions(int(counts.sum()))  # each pair leads on once, at least
    return Reach(found, rows, counts)

"""What the nodes of a graph reach by one step or more.

All nodes of a strongly connected component reach the same, and so do components that lead nowhere but into one with
cycles. There is one *row* for all that reach the same, in one of three forms, whichever is smallest and quickest:

* `BitRows`: a bit for each wanted node; rows of successors are united, 64 positions at a time. For dense closures.
* `SearchedRows`: nothing but the graph; a row is found by searching from a node. For sparse closures of large graphs.
* `ListRows`: the positions themselves. For undirected graphs, whose rows are their components, found by union-find.

Positions are the places of wanted nodes among all that are wanted (`place`, -1 for the others). Where some nodes are
`NEVER` reached, it is their rows alone that are asked for: those of others are found only as far as these need them.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tidelog.base.process.meter import ask, in_pieces
from tidelog.base.record import record
from tidelog.base.tuning.updates import Closures
from tidelog.run.closure.functions import WORDS, Functions
from tidelog.run.closure.plain import NEVER, Mask, Nodes, Places, Words
from tidelog.run.threads import share


@dataclass(frozen=True)
class Graph:
    """Nodes 0 to n - 1; the successors of u are targets[offsets[u]:offsets[u + 1]]. An edge may be there repeatedly."""

    offsets: Places
    targets: Nodes
    functions: Functions

    @staticmethod
    def of(sources: Nodes, targets: Nodes, nodes: int, functions: Functions) -> Graph:
        """Return the graph of edges."""
        offsets, ends = functions(len(sources)).linked(sources, targets, nodes)
        return Graph(offsets, ends, functions)

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        """The number of edges."""
        return len(self.targets)

    @cached_property
    def turned(self) -> Graph:
        """The graph with all edges reversed."""
        offsets, targets = self.functions(self.edges + self.nodes).turned(self.offsets, self.targets)
        return Graph(offsets, targets, self.functions)

    @cached_property
    def sources(self) -> Nodes:
        """The source of each edge."""
        return np.repeat(np.arange(self.nodes, dtype=np.int32), np.diff(self.offsets))


@record
class BitRows:
    """Rows of bits; a row is known by its number."""

    bits: Words
    functions: Functions

    def count(self, rows: Nodes, pool: Executor | None) -> Places:
        """Return the number of positions in each row."""
        count = self.functions(words=len(rows) * self.bits.shape[1]).count_bits
        return joined(in_pieces(0, len(rows), lambda first, last: count(self.bits, rows[first:last])))

    def fill(self, *groups: object) -> None:
        """Write the pairs of groups of members (see `kernels.fill_bits`)."""
        self.functions().fill_bits(self.bits, *groups)

    def has(self, row: int, position: int) -> bool:
        """Tell whether a position is in a row."""
        return bool((int(self.bits[row, position >> 6]) >> (position & 63)) & 1)


@record
class ListRows:
    """Rows as lists of positions; a row is known by its number."""

    offsets: Places
    positions: Nodes
    functions: Functions

    def count(self, rows: Nodes, pool: Executor | None) -> Places:
        """Return the number of positions in each row."""
        return np.asarray(np.diff(self.offsets)[rows])

    def fill(self, *groups: object) -> None:
        """Write the pairs of groups of members."""
        self.functions().fill_lists(self.offsets, self.positions, *groups)

    def has(self, row: int, position: int) -> bool:
        """Tell whether a position is in a row."""
        return position in self.positions[self.offsets[row] : self.offsets[row + 1]]


@record
class SearchedRows:
    """Rows found when they are wanted; a row is known by a node that reaches it."""

    graph: Graph
    place: Nodes

    @property
    def functions(self) -> Functions:
        """The functions of its graph."""
        return self.graph.functions

    def count(self, rows: Nodes, pool: Executor | None, fresh: Mask | None = None) -> Places:
        """Return the number of positions in each row; one that is not `fresh` has all that the one before it has."""
        if fresh is None:
            fresh = np.ones(len(rows), bool)
        if pool is None:
            found = self.search(rows, fresh)
        else:
            parts = int(self.functions.tuning.threads.parts)
            pieces = np.array_split(rows, parts), np.array_split(fresh, parts)
            found = [one for some in share(pool, self.search, list(zip(*pieces, strict=True))) for one in some]
        self.functions(sum(walked for _, walked in found))
        return joined([counts for counts, _ in found])

    def search(self, rows: Nodes, fresh: Mask) -> list[tuple[Places, int]]:
        """Return the numbers of positions in rows and the steps of finding them, by pieces (`count_searched`)."""
        count, graph = self.functions().count_searched, self.graph

        def search(first: int, last: int) -> tuple[Places, int]:
            found: tuple[Places, int] = count(
                graph.offsets, graph.targets, self.place, rows[first:last], fresh[first:last]
            )
            return found

        return in_pieces(0, len(rows), search)

    def fill(self, *groups: object) -> None:
        """Write the pairs of groups of members."""
        self.functions().fill_searched(self.graph.offsets, self.graph.targets, self.place, *groups)

    def has(self, row: int, position: int) -> bool:
        """Tell whether a position is in a row."""
        nodes = np.array([row], np.int32)
        return position in listed(self, nodes)[1]


Rows = BitRows | ListRows | SearchedRows


def joined(parts: list[Places]) -> Places:
    """Return arrays as one."""
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def listed(rows: SearchedRows, nodes: Nodes) -> tuple[Places, Nodes]:
    """Return the positions of what each node reaches, in order of the nodes, as lists one after another."""
    functions, graph = rows.functions, rows.graph
    room = int(functions.tuning.closures.first_room)
    found: tuple[Places, Nodes] = functions().list_searched(graph.offsets, graph.targets, rows.place, nodes, room)
    functions(len(found[1]) * (1 + graph.edges // max(1, graph.nodes)))  # found by walking edges
    return found


@record
class Reach:
    """The row of each node, -1 for a node that reaches nothing, and how many positions each node's row has."""

    rows: Rows
    row: Nodes
    counts: Places


def reach(graph: Graph, place: Nodes, pool: Executor | None = None) -> Reach:
    """Find what every node reaches."""
    table = graph.functions(2 * (graph.edges + graph.nodes))
    component, count = table.components(graph.offsets, graph.targets, np.ones(graph.nodes, np.bool_))
    component, count, cyclic = table.alike(graph.offsets, graph.targets, component, count)
    starts, members = table.linked(component, np.arange(graph.nodes, dtype=np.int32), count)
    leaving = np.diff(graph.offsets) > 0
    open_ = leaving[members[starts[:-1]]] if graph.nodes else np.empty(0, bool)  # all of a component's, or its only one
    nodes = members[starts[:-1]][open_]
    asked = asked_for(place)
    some = nodes if asked is None else members[starts[np.unique(component[asked & leaving])]]
    searching = _estimated(graph, place, some, len(nodes))
    if searching is not None:
        row = np.where(open_, members[starts[:-1]], -1).astype(np.int32)[component]
        threads = pool if searching > graph.functions.tuning.closures.share_from else None
        if asked is None:
            counts = _searched(graph, place, component, (starts, members), cyclic, threads)
        else:
            counts = np.zeros(count, np.int64)
            counts[component[some]] = SearchedRows(graph, place).count(some, threads)
        return Reach(SearchedRows(graph, place), row, counts[component])
    number = np.where(open_, np.cumsum(open_) - 1, -1).astype(np.int32)
    row = number[component]
    ask(8 * len(nodes) * width(place))
    bits = np.empty((len(nodes), width(place)), np.uint64)
    find_bits(graph, place, row, (starts, members), bits)
    return _counted(BitRows(bits, graph.functions), row, np.arange(len(nodes), dtype=np.int32), len(nodes), pool)


def find_bits(graph: Graph, place: Nodes, row: Nodes, linked: tuple[Places, Nodes], bits: Words) -> None:
    """Fill the rows of components (see `kernels.bit_rows`)."""
    starts, members = linked
    edges = int((graph.offsets[members + 1] - graph.offsets[members]).sum())
    table = graph.functions(edges, words=(edges + len(starts) - 1) * bits.shape[1])

    def find(first: int, last: int) -> None:
        table.bit_rows(graph.offsets, graph.targets, place, row, starts[first : last + 1], members, bits)

    in_pieces(0, len(starts) - 1, find)


def _searched(
    graph: Graph, place: Nodes, component: Nodes, linked: tuple[Places, Nodes], cyclic: Mask, pool: Executor | None
) -> Places:
    """Return how many positions the row of each component has, with as few searches as can be."""
    table, (starts, members) = graph.functions(graph.edges), linked
    via, nodes, fresh = table.chained(graph.offsets, graph.targets, component, starts, members)
    counts = np.zeros(len(starts) - 1, np.int64)
    counts[component[nodes]] = SearchedRows(graph, place).count(nodes, pool, fresh)
    table.carried(via, component, cyclic, place, counts)
    return counts


def _counted(rows: Rows, row: Nodes, used: Nodes, size: int, pool: Executor | None) -> Reach:
    counts = np.zeros(size + 1, np.int64)  # one more, for nodes without a row
    counts[used] = rows.count(used, pool)
    return Reach(rows, row, counts[row])


def width(place: Nodes) -> int:
    """Return the number of words that have a bit for each wanted node."""
    return (int(place.max(initial=-1)) >> 6) + 1


def asked_for(place: Nodes) -> Mask | None:
    """Tell whose rows are asked for: those of nodes that are never reached, or, where there are none, all (None)."""
    sources: Mask = place == NEVER
    return sources if sources.any() else None


def _estimated(graph: Graph, place: Nodes, nodes: Nodes, rows: int) -> int | None:
    """Estimate the steps of searching from each node; None if rows of bits are quicker, and not too large."""
    if not len(nodes):
        return 0
    words, thresholds = width(place), graph.functions.tuning.closures
    some = np.ascontiguousarray(nodes[:: len(nodes) // thresholds.sample if thresholds.sample < len(nodes) else 1])
    counted, walked = _sampled(SearchedRows(graph, place), some)
    searching = walked * len(nodes) // len(some)
    written = 8 * counted * len(nodes) // len(some)
    small = 8 * words * rows <= bytes_allowed(written, thresholds)
    quick = thresholds.search_cost * searching > (graph.edges + int(thresholds.word_cost) * rows) * words
    graph.functions.expect(graph.edges + words * rows // WORDS if small and quick else searching)
    return None if small and quick else searching


def _sampled(rows: SearchedRows, nodes: Nodes) -> tuple[int, int]:
    """Search from nodes; return the number of positions found, and of steps.

    What the first search takes, the others are expected to take: they may be worth kernels.
    """
    counted = walked = 0
    for some in (nodes[:1], nodes[1:]):
        rows.functions.expect(walked * len(some))
        found = rows.search(some, np.ones(len(some), bool))
        counted += sum(int(counts.sum()) for counts, _ in found)
        steps = sum(work for _, work in found)
        rows.functions(steps)
        walked += steps
    return counted, walked


def bytes_allowed(written: int, thresholds: Closures) -> int:
    """Return how many bytes rows of bits may take, given the bytes of their pairs when written."""
    return max(thresholds.bit_bytes, written // int(thresholds.bit_part))


def reach_both_ways(graph: Graph, place: Nodes) -> Reach:
    """Find what every node reaches in a graph whose every edge is there both ways, as rows to be searched for."""
    table = graph.functions(2 * graph.edges + graph.nodes)
    component, count = table.united(graph.sources, graph.targets, graph.nodes)
    starts, members = table.linked(component, np.arange(graph.nodes, dtype=np.int32), count)
    linked = np.diff(graph.offsets) > 0
    row = np.where(linked, members[starts[:-1]][component], -1).astype(np.int32)
    sizes = np.concatenate(([0], np.cumsum(place[members] >= 0)))
    return Reach(SearchedRows(graph, place), row, np.where(linked, np.diff(sizes[starts])[component], 0))


def reach_undirected(graph: Graph, place: Nodes) -> Reach:
    """Find what every node reaches if edges can be walked both ways: its component, if it has an edge at all."""
    table = graph.functions(2 * graph.edges + graph.nodes)
    component, count = table.united(graph.sources, graph.targets, graph.nodes)
    starts, members = table.linked(component, np.arange(graph.nodes, dtype=np.int32), count)
    alone = np.ones(graph.nodes, bool)
    alone[graph.targets] = alone[graph.sources] = False
    wanted = (place[members] >= 0) & ~alone[members]
    ends = np.concatenate(([0], np.cumsum(wanted)))[starts].astype(np.int64)
    row = np.where(alone, -1, component).astype(np.int32)
    return _counted(
        ListRows(ends, place[members[wanted]], graph.functions), row, np.arange(count, dtype=np.int32), count, None
    )

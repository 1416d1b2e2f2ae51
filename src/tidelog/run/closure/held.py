"""What the nodes of a graph reach, kept true while edges come and go.

    1. A lost edge whose source still reaches its target changes nothing: whoever walked it walks round it. Likewise an
       edge gained between nodes of which the one reached the other.
    2. Otherwise the nodes that reach the source of such an edge are *affected*, and no others. Whoever is in a
       component with an affected node is affected too, so components and rows are found anew among them alone.
    3. The difference is read off, old row against new row, once for all nodes that had the one and have the other.

That an edge can be walked round is found by the rows of its source's other successors (where the old graph is acyclic
around it, so that no two lost edges vouch for each other), or by a search with a bound on its steps: at worst nodes are
affected that need not be. So an update takes about as long as finding all rows would, and mostly far less. Nothing
here is changed in place: the state before remains valid beside the state after, and undoing is forgetting. New rows of
bits stand behind those in use; when there is no room they move, without those that are not.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from itertools import pairwise

import numpy as np

from tidelog.base.process.meter import ask, in_pieces
from tidelog.base.record import record
from tidelog.run.closure.functions import Functions
from tidelog.run.closure.pairs import Pairs
from tidelog.run.closure.plain import Mask, Nodes, Places, Words
from tidelog.run.closure.reach import (
    BitRows,
    Graph,
    ListRows,
    Reach,
    SearchedRows,
    asked_for,
    bytes_allowed,
    find_bits,
    listed,
    reach,
    width,
)

Edges = Nodes
"""Edges as two lines: sources and targets."""


@record
class Held:
    """A graph, the position of each node in rows, and the row of each. `used` rows of bits are in use."""

    graph: Graph
    place: Nodes
    reach: Reach
    used: int
    undirected: bool = False
    """Whether each edge is there both ways."""

    @staticmethod
    def of(graph: Graph, place: Nodes, found: Reach, *, undirected: bool = False) -> Held:
        """Hold what was found of a graph."""
        used = len(found.rows.bits) if isinstance(found.rows, BitRows) else 0
        return Held(graph, place, found, used, undirected)

    def change(self, lost: Edges, gained: Edges, place: Nodes, pool: Executor | None = None) -> tuple[Held, Difference]:
        """Take edges away and add others; `place` has the old nodes as they were, and perhaps more."""
        lost, gained = _in_order(lost), _in_order(gained)
        n = len(place)
        old = _with_nodes(self, place)
        middle = _altered(self.graph, n, lost, _NO_EDGES)
        graph = _altered(middle, n, _NO_EDGES, gained)
        starts = np.concatenate((_missed(old, middle, lost), _unknown(old, gained)))
        if not len(starts):
            rows = replace(old.reach.rows, graph=graph) if isinstance(old.reach.rows, SearchedRows) else old.reach.rows
            return replace(old, graph=graph, reach=replace(old.reach, rows=rows)), Difference.nothing(graph.functions)
        turned = graph.turned
        affected = graph.functions().reached(turned.offsets, turned.targets, starts)
        nodes = np.flatnonzero(affected).astype(np.int32)
        graph.functions(int((turned.offsets[nodes + 1] - turned.offsets[nodes]).sum()))
        work = int((graph.offsets[nodes + 1] - graph.offsets[nodes]).sum())
        much = graph.functions.tuning.closures.renew_all * work > graph.edges
        if (much and not self.undirected) or self._outgrows(place):
            new = Held.of(graph, place, reach(graph, place, pool))  # perhaps in another form
        else:
            new = _renewed(old, graph, affected)
        asked = asked_for(place)
        return new, _difference(old, new, nodes if asked is None else nodes[asked[nodes]])

    def _outgrows(self, place: Nodes) -> bool:
        """Tell whether rows of bits have become many more than `reach` would make, for what they have."""
        if not isinstance(self.reach.rows, BitRows):
            return False
        thresholds = self.graph.functions.tuning.closures
        allowed = bytes_allowed(8 * int(self.reach.counts.sum()), thresholds)
        return 8 * self.used * width(place) > thresholds.outgrown * allowed


@record
class Difference:
    """Which positions the rows of some nodes have lost and gained: lists shared by nodes, and the list of each node."""

    nodes: Nodes
    row: Nodes
    deleted: ListRows
    inserted: ListRows

    @staticmethod
    def nothing(functions: Functions) -> Difference:
        """Return the difference between equals."""
        none = np.empty(0, np.int32)
        nowhere = ListRows(np.zeros(1, np.int64), none, functions)
        return Difference(none, none, nowhere, nowhere)

    def of(self, wanted: Mask, number: Nodes) -> tuple[Pairs, Pairs]:
        """Return the pairs deleted and inserted, of the nodes that are wanted, by the numbers they have as sources."""
        keep = wanted[self.nodes]
        sources, row = number[self.nodes[keep]], self.row[keep]
        deleted, inserted = (
            Pairs(rows, row, np.diff(rows.offsets)[row], sources) for rows in (self.deleted, self.inserted)
        )
        return deleted, inserted


_NO_EDGES: Edges = np.empty((2, 0), np.int32)


def _in_order(edges: Edges) -> Edges:
    return np.ascontiguousarray(edges[:, np.argsort(edges[0], kind="stable")])


def _altered(graph: Graph, n: int, lost: Edges, gained: Edges) -> Graph:
    if not lost.shape[1] and not gained.shape[1] and n == graph.nodes:
        return graph
    table = graph.functions(graph.edges + n)
    offsets, targets, missing = table.altered(graph.offsets, graph.targets, n, lost, gained)
    assert not missing, "an edge that is lost was there"
    return Graph(offsets, targets, graph.functions)


def _with_nodes(held: Held, place: Nodes) -> Held:
    """Return what is held with more nodes, which have no edges yet."""
    more = len(place) - held.graph.nodes
    if not more:
        return held
    ends = np.full(more, held.graph.edges, np.int64)
    graph = Graph(np.concatenate((held.graph.offsets, ends)), held.graph.targets, held.graph.functions)
    found = held.reach
    row = np.concatenate((found.row, np.full(more, -1, np.int32)))
    counts = np.concatenate((found.counts, np.zeros(more, np.int64)))
    rows = SearchedRows(graph, place) if isinstance(found.rows, SearchedRows) else found.rows
    return Held(graph, place, Reach(rows, row, counts), held.used, held.undirected)


def _missed(old: Held, middle: Graph, lost: Edges) -> Nodes:
    """Return the sources of lost edges that cannot be walked round, as far as can be told quickly."""
    sources: Nodes = lost[0]
    if not len(sources):
        return sources
    table, rows = middle.functions(min(len(sources) * middle.edges, _steps(middle))), old.reach.rows
    if isinstance(rows, BitRows):
        place = np.where(old.place < 64 * rows.bits.shape[1], old.place, -1).astype(np.int32)
        round_ = table.bypassed(middle.offsets, middle.targets, place, old.reach.row, rows.bits, lost)
        lost, sources = np.ascontiguousarray(lost[:, ~round_]), sources[~round_]
    far: Mask = table.apart(middle.offsets, middle.targets, lost, _steps(middle))
    return sources[far]


def _unknown(old: Held, gained: Edges) -> Nodes:
    """Return the sources of gained edges that did not reach the targets, as far as can be told quickly."""
    sources: Nodes = gained[0]
    if not len(sources):
        return sources
    rows = old.reach.rows
    far: Mask
    if isinstance(rows, BitRows):
        row, position = old.reach.row[sources], old.place[gained[1]]
        known = (row >= 0) & (position >= 0) & (position < 64 * rows.bits.shape[1])
        words = rows.bits[row[known], position[known] >> 6]
        known[known] = (words >> (position[known] & 63).astype(np.uint64)) & np.uint64(1) != 0
        far = ~known
        return sources[far]
    graph = old.graph
    table = graph.functions(min(len(sources) * graph.edges, _steps(graph)))
    far = table.apart(graph.offsets, graph.targets, gained, _steps(graph))
    return sources[far]


def _steps(graph: Graph) -> int:
    """Return how many steps searches for a way round edges may take."""
    thresholds = graph.functions.tuning.closures
    return int(thresholds.walk_steps) + graph.edges // int(thresholds.walk_part)


def _renewed(old: Held, graph: Graph, affected: Mask) -> Held:
    """Find the rows of affected nodes anew."""
    nodes = np.flatnonzero(affected).astype(np.int32)
    table = graph.functions(2 * int((graph.offsets[nodes + 1] - graph.offsets[nodes]).sum()) + graph.nodes)
    component, count = table.components(graph.offsets, graph.targets, affected)
    component, count, _ = table.alike(graph.offsets, graph.targets, component, count)
    starts, members = table.linked(component[nodes], nodes, count)
    firsts = members[starts[:-1]]
    open_ = graph.offsets[firsts + 1] > graph.offsets[firsts]
    row, counts = old.reach.row.copy(), old.reach.counts.copy()
    if not isinstance(old.reach.rows, BitRows):
        rows = SearchedRows(graph, old.place)
        _rename(row, affected)
        row[nodes] = np.where(open_, firsts, -1)[component[nodes]]
        found, asked = np.zeros(count, np.int64), asked_for(old.place)
        if asked is not None:
            wanted = np.zeros(count, bool)
            wanted[component[nodes[asked[nodes]]]] = True
            open_ &= wanted
        graph.functions.expect(int(old.reach.counts[firsts[open_]].sum()))
        found[open_] = rows.count(firsts[open_], None)
        counts[nodes] = found[component[nodes]]
        return Held(graph, old.place, Reach(rows, row, counts), 0, old.undirected)
    row[nodes] = -1
    fresh = int(open_.sum())
    bits, row, used = _room(old, row, fresh)
    number = np.where(open_, np.cumsum(open_) - 1 + used, -1).astype(np.int32)
    row[nodes] = number[component[nodes]]
    find_bits(graph, old.place, row, (starts, members), bits)
    found, filled = np.zeros(count, np.int64), BitRows(bits, graph.functions)
    found[open_] = filled.count(number[open_], None)
    counts[nodes] = found[component[nodes]]
    return Held(graph, old.place, Reach(filled, row, counts), used + fresh, old.undirected)


def _rename(row: Nodes, affected: Mask) -> None:
    """Name rows that affected nodes gave their names, and that others share, after one of these others."""
    sharing = np.flatnonzero((row >= 0) & affected[row] & ~affected).astype(np.int32)
    name = np.empty_like(row)
    name[row[sharing]] = sharing
    row[sharing] = name[row[sharing]]


def _room(old: Held, row: Nodes, fresh: int) -> tuple[Words, Nodes, int]:
    """Return bits with room for more rows, the rows of nodes in them, and how many are used."""
    assert isinstance(old.reach.rows, BitRows)
    bits, words = old.reach.rows.bits, width(old.place)
    if old.used + fresh <= len(bits) and words <= bits.shape[1]:
        return bits, row, old.used
    live = np.unique(row[row >= 0])
    if words > bits.shape[1]:
        words += words // 8 + 1
    spare = int(old.graph.functions.tuning.closures.spare_rows)
    shape = 2 * (len(live) + fresh) + spare, max(words, bits.shape[1])
    ask(8 * shape[0] * shape[1])
    room = np.zeros(shape, np.uint64)
    room[: len(live), : bits.shape[1]] = bits[live]
    number = np.full(len(bits) + 1, -1, np.int32)
    number[live] = np.arange(len(live))
    return room, number[row], len(live)


def _difference(old: Held, new: Held, nodes: Nodes) -> Difference:
    """Compare the rows that nodes had with those they have."""
    had, have = old.reach.row[nodes].astype(np.int64), new.reach.row[nodes].astype(np.int64)
    both, row = np.unique(((had + 1) << 32) | (have + 1), return_inverse=True)
    before, after = (both >> 32).astype(np.int32) - 1, (both & 0xFFFFFFFF).astype(np.int32) - 1
    functions = new.graph.functions
    a, b = old.reach.rows, new.reach.rows
    if isinstance(a, BitRows) and isinstance(b, BitRows):
        functions.expect(int(old.reach.counts[nodes].sum() + new.reach.counts[nodes].sum()))
        room = int(functions.tuning.closures.first_room)
        differing = functions(words=2 * len(both) * b.bits.shape[1]).bits_differing
        bits, others = a.bits, b.bits
        parts = in_pieces(0, len(both), lambda i, j: differing(bits, before[i:j], others, after[i:j], room))
        deleted, inserted = (_joined([part[side : side + 2] for part in parts], functions) for side in (0, 2))
    else:
        first = np.full(len(both), 0, np.int64)
        first[row[::-1]] = np.arange(len(nodes))[::-1]
        sizes = old.reach.counts[nodes[first]] + new.reach.counts[nodes[first]]
        deleted, inserted = _compared(old, new, before, after, sizes)
    return Difference(nodes, row.astype(np.int32), deleted, inserted)


def _compared(old: Held, new: Held, before: Nodes, after: Nodes, sizes: Places) -> tuple[ListRows, ListRows]:
    """Compare rows as lists, some at a time."""
    functions = new.graph.functions
    at_a_time = int(functions.tuning.closures.compared)
    functions.expect(2 * int(sizes.sum()))
    table = functions()
    parts = np.flatnonzero(np.diff(np.cumsum(sizes) // at_a_time)) + 1

    def compare(first: int, last: int) -> tuple[tuple[Places, Nodes], tuple[Places, Nodes]]:
        had, have = _listed(old, before[first:last]), _listed(new, after[first:last])
        return table.lists_without(*had, *have), table.lists_without(*have, *had)

    ranges = pairwise([0, *parts.tolist(), len(before)])
    found = [made for first, last in ranges for made in in_pieces(first, last, compare)]
    deleted, inserted = (_joined([made[side] for made in found], functions) for side in (0, 1))
    return deleted, inserted


def _listed(held: Held, rows: Nodes) -> tuple[Places, Nodes]:
    """Return rows as lists, empty ones where there is none."""
    if isinstance(held.reach.rows, BitRows):
        table = held.graph.functions(words=len(rows) * held.reach.rows.bits.shape[1])
        found: tuple[Places, Nodes] = table.list_bits(held.reach.rows.bits, rows)
        return found
    there = rows >= 0
    ends, lists = listed(SearchedRows(held.graph, held.place), rows[there])
    sizes = np.zeros(len(rows), np.int64)
    sizes[there] = np.diff(ends)
    return np.concatenate(([0], np.cumsum(sizes))), lists


def _joined(parts: list[tuple[Places, Nodes]], functions: Functions) -> ListRows:
    if len(parts) == 1:
        return ListRows(*parts[0], functions)
    ask(4 * sum(len(lists) for _, lists in parts))
    sizes = np.concatenate([np.diff(ends) for ends, _ in parts])
    return ListRows(np.concatenate(([0], np.cumsum(sizes))), np.concatenate([lists for _, lists in parts]), functions)

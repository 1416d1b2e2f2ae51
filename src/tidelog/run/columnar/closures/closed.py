"""The closure of one relation: its tuples as a graph, and what the graph's nodes reach as tuples again.

    whole   T is the closure of what its feeds derive. A node is a value, with the values of the columns that partition
            the closure; a tuple fed is an edge.
    left    T(k, z) :- T(k, y), E(y, z). Values are nodes and so are the other columns k of T; an edge leads from k to y
            for each T(k, y) fed, and from y to z for each step. T holds what the k's reach.
    right   T(x, k) :- E(x, y), T(y, k). Likewise, with edges from y to k. T holds the k's that values reach.

In the last two, values have even numbers as nodes and the k's odd ones. Columns that hold constants are the same in all
tuples; tuples fed with other constants are no edges, and T holds them as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.record import record
from tidelog.plan.closures.recognise import Closure, Form, Kind
from tidelog.run.closure.held import Difference, Edges, Held
from tidelog.run.closure.pairs import Pairs
from tidelog.run.closure.plain import NEVER, Nodes
from tidelog.run.closure.reach import Graph, reach, reach_both_ways, reach_undirected
from tidelog.run.columnar.arrays.table import Mask, Words
from tidelog.run.columnar.closures.nodes import Key, Numbers, numbered
from tidelog.run.columnar.closures.paired import CodeColumns, Paired, Side
from tidelog.run.columnar.equipment import Tools
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.threads import helpers

Steps = Sequence[tuple[Words, Words]]
"""Pairs of values, as the codes of sources and targets."""


@record
class Shape:
    """Which columns of the relation make its sources and its targets, and which hold constants."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    constants: tuple[tuple[int, int], ...]
    own: str
    """Which of the two are nodes of their own beside the values: `sources`, `targets`, or neither."""
    undirected: bool

    @staticmethod
    def of(closure: Closure, codec: Codec) -> Shape:
        """Return the shape of a closure."""
        constants = tuple((c, codec.code(const.value, const.type)) for c, const in closure.constants)
        undirected = closure.kind is not Kind.TRANSITIVE
        kept = closure.partition
        if closure.form is Form.NONLINEAR or closure.exact:
            sources = tuple(sorted((*kept, closure.source)))
            targets = tuple(closure.target if c == closure.source else c for c in sources)
            return Shape(sources, targets, constants, "", undirected)
        if closure.form is Form.LEFT:
            return Shape(tuple(sorted((*kept, closure.source))), (closure.target,), constants, "sources", undirected)
        return Shape((closure.source,), tuple(sorted((*kept, closure.target))), constants, "targets", undirected)

    @property
    def stride(self) -> int:
        """How many nodes there are for each number."""
        return 2 if self.own else 1

    @property
    def first(self) -> int:
        """The first node that is a source."""
        return int(self.own == "sources")

    def places(self, nodes: int) -> Nodes:
        """Return the number of each node that is a target as its position in rows."""
        found = np.full(nodes, NEVER if self.own == "sources" else -1, np.int32)
        wanted = found[int(self.own == "targets") :: self.stride]
        wanted[:] = np.arange(len(wanted))
        return found

    def fits(self, columns: CodeColumns) -> Mask:
        """Tell which tuples have the constants."""
        fits = np.ones(len(columns[self.sources[0]]), bool)
        for column, code in self.constants:
            fits &= columns[column] == np.uint64(code)
        return fits


@record
class Closed:
    """The nodes of a closure and what they reach. `values` number the values and `others` the nodes of their own."""

    shape: Shape
    values: Numbers
    others: Numbers | None
    held: Held
    owed: float = 0.0
    """Work that following changes has taken beyond what the rules are expected to (`price`)."""

    @property
    def sources(self) -> Numbers:
        """The nodes that tuples begin with."""
        return self.others if self.shape.own == "sources" and self.others is not None else self.values

    @property
    def targets(self) -> Numbers:
        """The nodes that tuples end with."""
        return self.others if self.shape.own == "targets" and self.others is not None else self.values

    @property
    def pairs(self) -> Pairs:
        """The pairs of sources and targets."""
        found = self.held.reach
        of_sources = slice(self.shape.first, self.shape.stride * self.sources.count, self.shape.stride)
        return Pairs(found.rows, found.row[of_sources], found.counts[of_sources])

    @property
    def tuples(self) -> Paired:
        """The tuples that the pairs make."""
        sources, targets = Side(self.shape.sources, self.sources), Side(self.shape.targets, self.targets)
        return Paired(sources, targets, self.shape.constants, self.pairs)

    def change(
        self, lost: CodeColumns, gained: CodeColumns, steps_lost: Steps, steps_gained: Steps
    ) -> tuple[Closed, Pairs, Pairs]:
        """Take tuples fed and steps away and add others; return also the pairs deleted and inserted."""
        values, others = self.values, self.others
        edges: list[Edges] = []
        for fed, steps in ((lost, steps_lost), (gained, steps_gained)):
            begin, end = ([fed[c] for c in columns] for columns in (self.shape.sources, self.shape.targets))
            if others is None:
                values, first = values.with_nodes(begin)
                values, last = values.with_nodes(end)
                found = np.stack((first, last))
                edges.append(np.concatenate((found, found[::-1]), axis=1) if self.shape.undirected else found)
                continue
            apart, at = (begin, end) if self.shape.own == "sources" else (end, begin)
            others, other = others.with_nodes(apart)
            values, value = values.with_nodes(at)
            parts = [_between(self.shape, other, value)]
            for step in steps:
                values, near = values.with_nodes([step[0]])
                values, far = values.with_nodes([step[1]])
                parts.append(2 * np.stack((near, far)))
            edges.append(np.concatenate(parts, axis=1))
        place = self.shape.places(_nodes(self.shape, values, others))
        held, difference = self.held.change(edges[0], edges[1], place, helpers.get())
        after = Closed(self.shape, values, others, held)
        return after, *after.differing(difference)

    def differing(self, difference: Difference) -> tuple[Pairs, Pairs]:
        """Return the pairs deleted and inserted that a difference between rows makes."""
        nodes = np.arange(self.held.graph.nodes, dtype=np.int32)
        stride = self.shape.stride
        return difference.of(nodes % stride == self.shape.first, nodes // stride)


def closed(shape: Shape, fed: CodeColumns, steps: Steps, tools: Tools, *, lasting: bool) -> Closed:
    """Close what is fed, tuples that have the shape's constants, along steps. `lasting` if it is to change."""
    begin: Key = [fed[c] for c in shape.sources]
    end: Key = [fed[c] for c in shape.targets]
    if not shape.own:
        values, (first, last) = numbered([begin, end], tools.arrays)
        both = shape.undirected and lasting
        edges = (first, last) if not both else (np.concatenate((first, last)), np.concatenate((last, first)))
        graph = Graph.of(*edges, values.count, tools.functions)
        place = shape.places(values.count)
        if shape.undirected:
            found = reach_both_ways(graph, place) if both else reach_undirected(graph, place)
        else:
            found = reach(graph, place, helpers.get())
        return Closed(shape, values, None, Held.of(graph, place, found, undirected=both))
    apart, at = (begin, end) if shape.own == "sources" else (end, begin)
    others, (other,) = numbered([apart], tools.arrays)
    values, (value, *stepped) = numbered([at, *([codes] for step in steps for codes in step)], tools.arrays)
    parts = [_between(shape, other, value)]
    parts += [2 * np.stack((near, far)) for near, far in zip(stepped[0::2], stepped[1::2], strict=True)]
    size = _nodes(shape, values, others)
    sources, targets = np.concatenate(parts, axis=1)
    graph = Graph.of(sources, targets, size, tools.functions)
    place = shape.places(size)
    return Closed(shape, values, others, Held.of(graph, place, reach(graph, place, helpers.get())))


def _nodes(shape: Shape, values: Numbers, others: Numbers | None) -> int:
    return shape.stride * max(values.count, 0 if others is None else others.count)


def _between(shape: Shape, other: Nodes, value: Nodes) -> Edges:
    """Return the edges between nodes of their own and values, which tuples fed make."""
    return np.stack((2 * other + 1, 2 * value) if shape.own == "sources" else (2 * value, 2 * other + 1))

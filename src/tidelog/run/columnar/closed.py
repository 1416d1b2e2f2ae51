"""The closure of one relation: its tuples as a graph, and what the graph's nodes reach as tuples again.

    whole   T is the closure of what its feeds derive. A node is a value, with the values of the columns that partition
            the closure; a tuple fed is an edge.
    left    T(k, z) :- T(k, y), E(y, z). Values are nodes and so are the other columns k of T; an edge leads from k to y
            for each T(k, y) fed, and from y to z for each step. T holds what the k's reach.
    right   T(x, k) :- E(x, y), T(y, k). Likewise, with edges from y to k. T holds the k's that values reach.

In the last two, values have even numbers and the k's odd ones. Columns that hold constants are the same in all tuples;
tuples fed with other constants are no edges, and T holds them as they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tidelog.plan.closures import Closure, Form, Kind
from tidelog.run.closure.pairs import Pairs
from tidelog.run.closure.reach import Graph, reach, reach_undirected
from tidelog.run.columnar.arrays import Mask, Words, arrays, helpers
from tidelog.run.columnar.encode import Codec
from tidelog.run.columnar.layout import Layout, Range, range_of
from tidelog.run.columnar.lazy import Codes, LazyBatch
from tidelog.run.columnar.nodes import Key, Numbers, numbered

Columns = Mapping[int, Words]
"""Codes of tuples by column."""


@dataclass(frozen=True, slots=True)
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
    def ordered(self) -> bool:
        """Whether pairs in the order of their nodes are tuples in the order of their columns."""
        return max(self.sources) < min(c for c in self.targets if c not in self.sources)

    def fits(self, columns: Columns) -> Mask:
        """Tell which tuples have the constants."""
        fits = np.ones(len(columns[self.sources[0]]), bool)
        for column, code in self.constants:
            fits &= columns[column] == np.uint64(code)
        return fits


@dataclass(frozen=True, slots=True)
class Closed:
    """The nodes of a closure and what they reach. `values` number the values and `others` the nodes of their own."""

    shape: Shape
    values: Numbers
    others: Numbers | None
    pairs: Pairs

    @property
    def sources(self) -> Numbers:
        """The nodes that tuples begin with."""
        return self.others if self.shape.own == "sources" and self.others is not None else self.values

    @property
    def targets(self) -> Numbers:
        """The nodes that tuples end with."""
        return self.others if self.shape.own == "targets" and self.others is not None else self.values

    def ranges(self, arity: int) -> list[Range]:
        """Return the range of the codes in each column."""
        found: dict[int, Range] = {column: Range(code, code) for column, code in self.shape.constants}
        for columns, numbers in ((self.shape.sources, self.sources), (self.shape.targets, self.targets)):
            found.update({c: range_of(codes) for c, codes in zip(columns, numbers.codes, strict=True)})
        return [found[column] for column in range(arity)]

    def batch(self, layout: Layout) -> LazyBatch:
        """Return the tuples, packed in a layout that has room for them, to be written when they are read."""
        return LazyBatch(self.pairs.size, lambda: self.write(self.pairs, layout), self.has)

    def write(self, pairs: Pairs, layout: Layout) -> Words:
        """Write pairs of sources and targets as tuples in order."""
        left = _words(layout, self.shape.sources, self.sources, dict(self.shape.constants))
        right = _words(layout, self.shape.targets, self.targets, {})
        rows = pairs.write(left, right, helpers.get())
        return rows if self.shape.ordered else arrays(rows.shape[1]).sort(rows)

    def has(self, codes: Codes) -> bool:
        """Tell whether a tuple is in the closure."""
        if any(codes[column] != code for column, code in self.shape.constants):
            return False
        source, target = (
            int(numbers.find([np.array([codes[c]], np.uint64) for c in columns])[0])
            for columns, numbers in ((self.shape.sources, self.sources), (self.shape.targets, self.targets))
        )
        return source >= 0 and target >= 0 and self.pairs.has(source, target)


def closed(shape: Shape, fed: Columns, steps: Sequence[tuple[Words, Words]]) -> Closed:
    """Close what is fed, tuples that have the shape's constants, along steps, which are pairs of values."""
    begin: Key = [fed[c] for c in shape.sources]
    end: Key = [fed[c] for c in shape.targets]
    if not shape.own:
        values, (first, last) = numbered([begin, end])
        graph = Graph.of(first, last, values.count)
        place = np.arange(values.count, dtype=np.int32)
        found = reach_undirected(graph, place) if shape.undirected else reach(graph, place, helpers.get())
        return Closed(shape, values, None, Pairs(found.rows, found.row, found.counts))
    apart, at = (begin, end) if shape.own == "sources" else (end, begin)
    others, (other,) = numbered([apart])
    values, (value, *stepped) = numbered([at, *([codes] for step in steps for codes in step)])
    between = (2 * other + 1, 2 * value) if shape.own == "sources" else (2 * value, 2 * other + 1)
    size = 2 * max(others.count, values.count)
    graph = Graph.of(
        np.concatenate((between[0], *(2 * ends for ends in stepped[0::2]))),
        np.concatenate((between[1], *(2 * ends for ends in stepped[1::2]))),
        size,
    )
    place = np.full(size, -1, np.int32)
    wanted = place[0::2] if shape.own == "sources" else place[1::2]
    wanted[:] = np.arange(len(wanted))
    found = reach(graph, place, helpers.get())
    of_source = slice(1, None, 2) if shape.own == "sources" else slice(0, None, 2)
    count = (others if shape.own == "sources" else values).count
    return Closed(
        shape, values, others, Pairs(found.rows, found.row[of_source][:count], found.counts[of_source][:count])
    )


def _words(layout: Layout, columns: Sequence[int], numbers: Numbers, constants: Mapping[int, int]) -> Words:
    """Return the packed columns of nodes, in the order of their numbers, with constants."""
    rows: Words = np.repeat(layout.constant(constants), numbers.count, axis=1)  # type: ignore[arg-type]
    for column, codes in zip(columns, numbers.codes, strict=True):
        field = layout.fields[column]
        if field.bits:
            rows[field.word] |= (codes - np.uint64(field.base)) << np.uint64(field.shift)
    return rows

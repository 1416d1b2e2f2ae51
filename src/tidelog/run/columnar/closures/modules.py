"""Closures as modules among other rules: the functions of the transitive and of the symmetric-transitive module.

The external facts X and the closure T are relations like others, and they are all that a module knows: what Algorithms
4 to 9 keep beside them is found in T itself, whose tuples say what a node reaches, is reached from, and is connected
with. So nothing has to be undone, and each function looks up what is near the change and closes a graph of just that,
by components, rows of bits or searches (`run.closure`).

    transitive              Add     the new edges, what reaches their sources in T, what their targets reach
                            Del     from what reaches the source of a deleted edge to what its target reaches
                            Red     X from the sources of what was deleted, and T from all other nodes it comes to
    symmetric-transitive    Add     the new edges and the components of their nodes
                            Del     the components of the nodes of deleted edges
                            Red     X at the nodes of what was deleted

Del spares tuples that are external facts in their own right and stand without the closure: those that have a
nonrecursive derivation (the paper's counter C_nr), or where ranks are kept one of a lower rank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence

import numpy as np

from tidelog.plan.closures.recognise import Kind
from tidelog.plan.closures.replace_equals import ReplacingRule
from tidelog.plan.closures.split_modules import ClosureRule
from tidelog.run.closure.pairs import Pairs
from tidelog.run.closure.plain import NEVER
from tidelog.run.closure.reach import Graph, reach
from tidelog.run.columnar.arrays.table import Mask
from tidelog.run.columnar.closures.answers import Answers, among
from tidelog.run.columnar.closures.closed import Shape, closed
from tidelog.run.columnar.closures.edges import Edges, chosen_of, joined, none_of, size_of
from tidelog.run.columnar.closures.nodes import Key, numbered
from tidelog.run.columnar.closures.paired import CodeColumns, Paired, Side
from tidelog.run.columnar.closures.replaced import Replacing
from tidelog.run.columnar.kernels.ranks import above
from tidelog.run.columnar.rules.bag import Bag, Bags
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.storage.layout import place
from tidelog.run.contract.module import Module
from tidelog.run.contract.phase import Job, Phase, Support
from tidelog.run.phases import AFTER, BEFORE, CURRENT, DELETED, DELTA
from tidelog.run.threads import helpers


def closing(rule: ClosureRule, store: Deriving) -> Module:
    """Return the module of a closure's rule."""
    assert rule.closure is not None
    if isinstance(rule, ReplacingRule):
        return Replacing(rule, store)
    return (Transitive if rule.closure.kind is Kind.TRANSITIVE else SymmetricTransitive)(rule, store)


class Closing(Answers, ABC):
    """The module of a closure T of external facts X. Each tuple of T has one derivation, by the closure as a whole."""

    def __init__(self, rule: ClosureRule, store: Deriving) -> None:
        assert rule.closure is not None
        super().__init__(rule, store, Shape.of(rule.closure, store.codec), dict(rule.closure.constants))

    # --- the four functions ------------------------------------------------------------------------------------------

    def add(self, jobs: Sequence[Job]) -> Bags:
        """Return what follows from new external facts and does not hold (Definition 3)."""
        new, known = self.seen(self.external, DELTA).all(), self.seen(self.whole, CURRENT)
        if self.whole.is_empty(CURRENT):
            return self._all(new)
        new = chosen_of(new, ~known.held(new))
        if not size_of(new):
            return {}
        found = self._closed(joined([new, *self.near(new, known)]))
        found = chosen_of(found, ~known.held(found))
        return self.bag(found, self.external.highest)

    def diff(self, jobs: Sequence[Job]) -> Bags:
        """Return all derivations of the rule that comes or goes; what is below reaches the module by the others."""
        return self.store.unite([self.bag(found, rank) for rank, found in self._by_rank()])

    def delete(self, jobs: Sequence[Job]) -> Bags:
        """Return what held by way of external facts that are deleted, but not what stands by itself (Definition 6)."""
        gone, left = self.seen(self.external, DELTA).all(), self.seen(self.whole, AFTER)
        gone = chosen_of(gone, left.held(gone))  # with a tuple that is deleted all has been that it leads to
        gone = chosen_of(gone, ~self.bypassed(gone, left)) if self.whole.support is Support.RANKED else gone
        if not size_of(gone):
            return {}
        found = self.over(gone, left)
        found = chosen_of(found, left.held(found))
        return self.bag(chosen_of(found, ~self.stand(found)), int(self.whole.support is Support.COUNTED))

    def rederive(self, jobs: Sequence[Job]) -> Bags:
        """Return the deleted tuples that follow from the external facts that are left (Definition 7)."""
        if self.store.phase is Phase.COUNT:
            return {}  # whoever has lost its one derivation has none
        gone = self.seen(self.whole, DELETED)
        edges = self.again(gone.all(), self.seen(self.external, AFTER), self.seen(self.whole, AFTER))
        found = self._closed(edges)
        return self.bag(chosen_of(found, gone.held(found)), self.external.highest)

    # --- what is near a change ---------------------------------------------------------------------------------------

    @abstractmethod
    def near(self, new: CodeColumns, known: Edges) -> list[CodeColumns]:
        """Return tuples of the closure by way of which new edges lead to others."""

    @abstractmethod
    def over(self, gone: CodeColumns, left: Edges) -> CodeColumns:
        """Return the tuples of the closure that edges lead to, by any other way too."""

    @abstractmethod
    def again(self, gone: CodeColumns, external: Edges, left: Edges) -> CodeColumns:
        """Return edges whose closure has all that was deleted and follows from what is left."""

    def bypassed(self, gone: CodeColumns, left: Edges) -> Mask:
        """Tell which edges nothing needs that they lead to, as far as can be told quickly, where ranks are kept."""
        return np.zeros(size_of(gone), bool)

    # --- what they share ---------------------------------------------------------------------------------------------

    def _all(self, edges: CodeColumns) -> Bags:
        """Return the closure of edges as the first derivations that there are."""
        made = closed(self.shape, edges, (), self.store.tools, lasting=False).tuples
        layout = self.layout_for(made.ranges(self.whole.arity))
        self.count(made.pairs.size)
        rank = np.full(made.pairs.size, self.external.highest, np.int32) if self.store.ranked else None
        return {self.whole.name: [Bag(layout, made.write(made.pairs, layout), rank, ordered=True)]}

    def _closed(self, edges: CodeColumns) -> CodeColumns:
        """Return the closure of edges, in order."""
        if not size_of(edges):
            return edges
        return self._written(closed(self.shape, edges, (), self.store.tools, lasting=False).tuples)

    def _written(self, made: Paired) -> CodeColumns:
        layout = place(enumerate(made.ranges(self.whole.arity)))
        rows = made.write(made.pairs, layout)
        self.store.spend_on_matches(rows.shape[1])
        return {column: layout.codes(rows, column) for column in range(self.whole.arity)}

    def _by_rank(self) -> Iterator[tuple[int, CodeColumns]]:
        """Yield the closure in parts, by the lowest rank of external facts from which a tuple follows."""
        edges = self.seen(self.external, AFTER)
        columns = edges.all()
        rank = edges.ranks(columns)
        known = none_of(self.whole.arity)
        for one in np.unique(rank).tolist():
            found = self._closed(joined([known, chosen_of(columns, rank == one)]))
            yield one, chosen_of(found, ~among(found, known, self.store.arrays))
            known = found


class Transitive(Closing):
    """Section 5: reachability."""

    def near(self, new: CodeColumns, known: Edges) -> list[CodeColumns]:
        """Return what reaches the sources of new edges, and what their targets reach."""
        return [known.entering(_nodes(new, self.shape.sources)), known.leaving(_nodes(new, self.shape.targets))]

    def over(self, gone: CodeColumns, left: Edges) -> CodeColumns:
        """Return pairs of what reaches the source of an edge, or is it, and what its target reaches, or is it.

        In a graph of three layers: from what reaches a source to the source, along the edge, and on to what the target
        reaches.
        """
        tools, shape = self.store.tools, self.shape
        begin, end = _nodes(gone, shape.sources), _nodes(gone, shape.targets)
        before, after = left.entering(begin), left.leaving(end)
        firsts, (first, near, own) = numbered(
            [_nodes(before, shape.sources), _nodes(before, shape.targets), begin], tools.arrays
        )
        lasts, (last, far, aim) = numbered(
            [_nodes(after, shape.targets), _nodes(after, shape.sources), end], tools.arrays
        )
        middle, beyond = firsts.count, 2 * firsts.count
        sources = [first, own, middle + own, beyond + far]
        targets = [middle + near, middle + own, beyond + aim, beyond + last]
        nodes = beyond + lasts.count
        graph = Graph.of(np.concatenate(sources), np.concatenate(targets), nodes, tools.functions)
        positions = np.full(nodes, -1, np.int32)
        positions[:middle] = NEVER
        positions[beyond:] = np.arange(lasts.count)
        found = reach(graph, positions, helpers.get())
        pairs = Pairs(found.rows, found.row[:middle], found.counts[:middle])
        return self._written(Paired(Side(shape.sources, firsts), Side(shape.targets, lasts), shape.constants, pairs))

    def bypassed(self, gone: CodeColumns, left: Edges) -> Mask:
        """Tell of which edges another one leaves the source, to a node that reaches the target but not the source.

        So none of two edges vouches for the other. Whatever an edge leads to has at least the level above it. Where the
        other edge is below that, and the way on from there stands on edges below, all of it still stands.
        """
        shape, before = self.shape, self.seen(self.whole, BEFORE)
        external = self.seen(self.external, AFTER)
        out = external.leaving(_nodes(gone, shape.sources))
        nodes, (mine, its) = numbered([_nodes(one, shape.sources) for one in (gone, out)], self.store.arrays)
        starts, members = self.store.tools.functions(len(its)).linked(
            its, np.arange(len(its), dtype=np.int32), nodes.count
        )
        first, each = starts[mine], np.diff(starts)[mine]
        edge = np.repeat(np.arange(len(mine)), each)
        other = members[np.arange(len(edge)) + np.repeat(first - np.cumsum(each) + each, each)]
        middle = [codes[other] for codes in _nodes(out, shape.targets)]
        on = {**chosen_of(gone, edge), **dict(zip(shape.sources, middle, strict=True))}
        back = on | {t: gone[s][edge] for s, t in zip(shape.sources, shape.targets, strict=True)}
        least = above(self.seen(self.external, DELTA).ranks(gone))[edge]
        round_ = left.held(on) & ~before.held(back)
        round_ &= (external.ranks(out)[other] < least) & (left.ranks(on) <= least)
        found = np.zeros(len(mine), bool)
        found[edge[round_]] = True
        return found

    def again(self, gone: CodeColumns, external: Edges, left: Edges) -> CodeColumns:
        """Return external facts from the sources of what was deleted, and from where they lead what is left."""
        begin = _nodes(gone, self.shape.sources)
        first = external.leaving(begin)
        return joined([first, left.leaving(_nodes(first, self.shape.targets))])


class SymmetricTransitive(Closing):
    """Section 6: connected components."""

    def near(self, new: CodeColumns, known: Edges) -> list[CodeColumns]:
        """Return the components of the nodes of new edges."""
        return [known.leaving(_nodes(new, columns)) for columns in (self.shape.sources, self.shape.targets)]

    def over(self, gone: CodeColumns, left: Edges) -> CodeColumns:
        """Return the components of the nodes of edges."""
        return self._closed(joined([gone, *self.near(gone, left)]))

    def again(self, gone: CodeColumns, external: Edges, left: Edges) -> CodeColumns:
        """Return the external facts at the nodes of what was deleted."""
        nodes = [_nodes(gone, columns) for columns in (self.shape.sources, self.shape.targets)]
        return joined([facts(at) for at in nodes for facts in (external.leaving, external.entering)])


def _nodes(edges: CodeColumns, columns: tuple[int, ...]) -> Key:
    return [edges[column] for column in columns]

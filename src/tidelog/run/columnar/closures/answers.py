"""What modules with structures of their own have in common: how they see facts, and answer with derivations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tidelog.base.expr import Const
from tidelog.plan.closures.split_modules import ClosureRule
from tidelog.run.columnar.arrays.table import Mask
from tidelog.run.columnar.closures.closed import Shape
from tidelog.run.columnar.closures.edges import Edges, size_of
from tidelog.run.columnar.closures.paired import CodeColumns
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.rules.bag import Bag, Bags
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.columnar.storage.layout import Layout, Range, place, range_of
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.contract.phase import Support
from tidelog.run.phases import AFTER, View


class Answers:
    """What makes derivations of tuples of the whole relation, which the module alone derives from external facts."""

    def __init__(self, rule: ClosureRule, store: Deriving, shape: Shape, constants: Mapping[int, Const]) -> None:
        self.store, self.shape, self.constants = store, shape, constants
        self.external, self.whole = store.relation(rule.external), store.relation(rule.head)

    def seen(self, relation: Relation, view: View) -> Edges:
        """Return what a view shows of a relation, as edges."""
        return Edges(self.store, relation, self.shape, self.constants, view)

    def bag(self, found: CodeColumns, rank: int) -> Bags:
        """Return tuples as derivations of a rank."""
        count = size_of(found)
        if not count:
            return {}
        self.count(count)
        layout = self.layout_for([range_of(found[column]) for column in range(self.whole.arity)])
        rows = layout.pack(found, count)  # type: ignore[arg-type]
        bag = Bag(layout, rows, np.full(count, rank, np.int32) if self.store.ranked else None)
        return {self.whole.name: [bag]}

    def layout_for(self, ranges: list[Range]) -> Layout:
        """Return the layout of the whole relation, or one of its own for codes that it has no room for."""
        fields = self.whole.layout.fields
        fits = all(fields[column].range.covers(codes) for column, codes in enumerate(ranges))
        return self.whole.layout if fits else place(enumerate(ranges))

    def count(self, derivations: int) -> None:
        """Count derivations."""
        with self.store.counting:
            self.store.derivations += derivations

    def stand(self, found: CodeColumns) -> Mask:
        """Tell which tuples are external facts that stand whatever becomes of the closure."""
        support = self.whole.support
        stand = np.zeros(size_of(found), bool)
        if support is Support.NONE or not len(stand):
            return stand
        rank = np.zeros(len(stand), np.int32)
        for batch, places, targets in self.seen(self.whole, AFTER).located(found):
            rank[places] = batch.ranks()[targets]
        for batch, places, targets in self.seen(self.external, AFTER).located(found):
            if support is Support.RANKED:
                stand[places] = batch.ranks()[targets] < rank[places]
            elif batch.counts is not None:
                stand[places] = batch.counts[0, targets] > 0
        return stand


def among(found: CodeColumns, known: CodeColumns, arrays: Arrays) -> Mask:
    """Tell which tuples are among others."""
    if not size_of(known):
        return np.zeros(size_of(found), bool)
    layout = place((c, range_of(np.concatenate((found[c], known[c])))) for c in found)
    table = arrays(size_of(found))
    one, other = (layout.pack(edges, size_of(edges)) for edges in (found, known))  # type: ignore[arg-type]
    order = table.order(one)
    low, high, _ = table.ranges(np.ascontiguousarray(one[:, order]), table.sort(other), one.shape[0], 64)
    there = np.zeros(len(order), bool)
    there[order] = high > low
    return there

"""The module of rules that replace equals by equals: tuples in classes, of which each is written once.

    E  pairs that say what is equal, a symmetric-transitive closure; X  external facts; T  what follows from them
    Add     new facts and the tuples at new equals, with all names in place of each
    Del     the tuples in the classes of deleted facts, and those at deleted equals
    Red     the deleted tuples whose class has an external fact that is left

Names that are equal are a class, and tuples whose names are equal column by column are one, too. A class has a fact or
none, so what follows from facts are whole classes, whatever follows from which: each tuple is written once, where the
rules derive it once for every other name of it. Like the modules of closures (`modules`) this one keeps nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tidelog.base.process.meter import ask
from tidelog.base.record import record
from tidelog.plan.closures.replace_equals import ReplacingRule
from tidelog.run.closure.plain import Nodes, Places
from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.closures.answers import Answers, among
from tidelog.run.columnar.closures.closed import Shape
from tidelog.run.columnar.closures.edges import Edges, chosen_of, joined, none_of, size_of
from tidelog.run.columnar.closures.nodes import numbered
from tidelog.run.columnar.closures.paired import CodeColumns
from tidelog.run.columnar.equipment import Tools
from tidelog.run.columnar.rules.bag import Bags
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.contract.phase import Job, Phase, Support
from tidelog.run.phases import AFTER, CURRENT, DELETED, DELTA, WITH_DYING, View


class Replacing(Answers):
    """The module of a relation T of external facts X with equals E in place of each other. See `contract.module`."""

    def __init__(self, rule: ReplacingRule, store: Deriving) -> None:
        assert rule.closure is not None
        closure = rule.closure
        super().__init__(rule, store, Shape((closure.source,), (closure.target,), (), "", undirected=False), {})
        self._equals = store.relation(closure.relation)
        self._constants = dict(closure.constants)
        self._pairs = Shape.of(closure, store.codec)
        self._columns = rule.columns

    # --- the four functions ------------------------------------------------------------------------------------------

    def add(self, jobs: Sequence[Job]) -> Bags:
        """Return what follows from new facts and new equals, and does not hold (Definition 3)."""
        new, known = self.seen(self.external, DELTA).all(), self.seen(self.whole, CURRENT)
        new = chosen_of(new, ~known.held(new))
        found = self._with_equals(joined([new, *self._at_equals(known)]), self._equal(CURRENT))
        return self.bag(chosen_of(found, ~known.held(found)), self._highest)

    def diff(self, jobs: Sequence[Job]) -> Bags:
        """Return all derivations of the rule that comes or goes; what is below reaches the module by the others."""
        return self.store.unite([self.bag(found, rank) for rank, found in self._by_rank()])

    def delete(self, jobs: Sequence[Job]) -> Bags:
        """Return what held by way of deleted facts or equals, but not what stands by itself (Definition 6)."""
        gone, left = self.seen(self.external, DELTA).all(), self.seen(self.whole, AFTER)
        near = self._with_equals(gone, self._equal(WITH_DYING))
        found = self._distinct(joined([near, *self._at_equals(left)]))
        found = chosen_of(found, left.held(found))
        return self.bag(chosen_of(found, ~self.stand(found)), int(self.whole.support is Support.COUNTED))

    def rederive(self, jobs: Sequence[Job]) -> Bags:
        """Return the deleted tuples whose class has an external fact that is left (Definition 7)."""
        gone = self.seen(self.whole, DELETED).all()
        if self.store.phase is Phase.COUNT or not size_of(gone):
            return {}  # whoever has lost its one derivation has none
        classes = self._classes(gone, self._equal(AFTER))
        every = classes.written(classes.of(gone))
        facts = chosen_of(every, self.seen(self.external, AFTER).held(every))
        again = among(classes.of(gone), classes.of(facts), self.store.arrays)
        return self.bag(chosen_of(gone, again), self._highest)

    # --- classes -----------------------------------------------------------------------------------------------------

    @property
    def _highest(self) -> int:
        return max(self.external.highest, self._equals.highest)

    def _equal(self, view: View) -> Edges:
        return Edges(self.store, self._equals, self._pairs, self._constants, view)

    def _at_equals(self, tuples: Edges) -> Iterator[CodeColumns]:
        """Yield the tuples that have a name of the equals that are new or deleted."""
        pairs = self._equal(DELTA).all()
        if size_of(pairs):
            for column in self._columns:
                yield tuples.at((column,), [pairs[self._pairs.sources[0]]])

    def _with_equals(self, tuples: CodeColumns, equal: Edges) -> CodeColumns:
        """Return all tuples of the classes of some."""
        if not size_of(tuples):
            return tuples
        classes = self._classes(tuples, equal)
        return classes.written(classes.of(tuples))

    def _classes(self, tuples: CodeColumns, equal: Edges) -> Classes:
        """Return the classes of the names in tuples, by the equals that are seen.

        These are transitive, unless some have been deleted: then it takes more steps than one.
        """
        (begin,), (end,) = self._pairs.sources, self._pairs.targets
        names = np.unique(np.concatenate([tuples[column] for column in self._columns]))
        known, parts = names, [none_of(self.whole.arity)]
        while len(names):
            parts.append(equal.at((begin,), [names]))
            if not (self._equals.main.dying or self._equals.main.removed):
                break
            names = np.setdiff1d(parts[-1][end], known)
            known = np.union1d(known, names)
        pairs = joined(parts)
        return Classes.made(known, (pairs[begin], pairs[end]), self._columns, self.store.tools)

    def _distinct(self, tuples: CodeColumns) -> CodeColumns:
        columns = range(self.whole.arity)
        numbers, _ = numbered([[tuples[column] for column in columns]], self.store.arrays)
        return dict(zip(columns, numbers.codes, strict=True))

    def _by_rank(self) -> Iterator[tuple[int, CodeColumns]]:
        """Yield the tuples in parts, by the lowest rank of facts and equals from which one follows."""
        known = none_of(self.whole.arity)
        facts, equal = self.seen(self.external, AFTER), self._equal(AFTER)
        columns, pairs = facts.all(), equal.all()
        ranks = facts.ranks(columns), equal.ranks(pairs)
        (begin,), (end,) = self._pairs.sources, self._pairs.targets
        for one in np.unique(np.concatenate(ranks)).tolist():
            few, those = (chosen_of(c, r <= one) for c, r in zip((columns, pairs), ranks, strict=True))
            names = np.concatenate([few[column] for column in self._columns])
            classes = Classes.made(names, (those[begin], those[end]), self._columns, self.store.tools)
            found = classes.written(classes.of(few))
            yield one, chosen_of(found, ~among(found, known, self.store.arrays))
            known = found


@record
class Classes:
    """Names in order, the class of each, and the names of each class; the columns of tuples that have names."""

    names: Words
    number: Nodes
    starts: Places
    members: Nodes
    columns: tuple[int, ...]
    tools: Tools

    @staticmethod
    def made(names: Words, pairs: tuple[Words, Words], columns: tuple[int, ...], tools: Tools) -> Classes:
        """Return the classes of names and of those that pairs say are equal."""
        every, place = np.unique(np.concatenate((names, *pairs)), return_inverse=True)
        one, other = np.split(place[len(names) :].astype(np.int32), 2)
        table = tools.functions(len(one))
        number, count = table.united(one, other, len(every))
        starts, members = table.linked(number, np.arange(len(every), dtype=np.int32), count)
        return Classes(every, number, starts, members, columns, tools)

    def of(self, tuples: CodeColumns) -> CodeColumns:
        """Return the classes of tuples: of names, and all else as it is."""
        return {
            column: self.number[np.searchsorted(self.names, codes)].astype(np.uint64) if self._named(column) else codes
            for column, codes in tuples.items()
        }

    def written(self, classes: CodeColumns) -> CodeColumns:
        """Return all tuples of classes, each once."""
        columns = range(len(classes))
        numbers, _ = numbered([[classes[column] for column in columns]], self.tools.arrays)
        sizes = np.diff(self.starts)
        each = np.ones(numbers.count, np.int64)
        for column in self.columns:
            each *= sizes[numbers.codes[column].view(np.int64)]
        total = int(each.sum())
        ask(8 * total * (len(classes) + 2))
        self.tools.functions(total)
        row = np.repeat(np.arange(numbers.count), each)
        left = np.arange(total) - np.repeat(np.cumsum(each) - each, each)
        found = {column: numbers.codes[column][row] for column in columns}
        for column in self.columns:
            those = found[column].view(np.int64)
            left, which = np.divmod(left, sizes[those])
            found[column] = self.names[self.members[self.starts[those] + which]]
        return found

    def _named(self, column: int) -> bool:
        return column in self.columns

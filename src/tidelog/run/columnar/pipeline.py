"""Evaluating one rule: bindings flow through the steps of its tree, from the innermost scan to the head.

A tree is left-deep, so it is a list of steps. Between steps only variables that a later step needs are kept, the key
of the next join first, so that sorting packed rows sorts by that key. When a join would make more than `CHUNK` rows its
bindings are cut into parts and each part goes through the remaining steps alone, which bounds memory, keeps parts in
cache, and lets the threads of the engine's pool share the work: kernels run without the interpreter lock.

A step that could continue with either of two scans that share a variable not yet bound (the body is cyclic) decides
row by row which of them has fewer matches, and lets the two groups of rows take the two orders: a worst-case-optimal
step in the sense of Ngo et al., made of the same joins.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, assert_never

import numpy as np

from tidelog.base.expr import Const, Var
from tidelog.base.free import free_variables as variables
from tidelog.plan.nodes import (
    Aggregate,
    AntiJoin,
    Extend,
    Join,
    Node,
    Product,
    Project,
    Rule,
    Scan,
    Select,
    Unit,
    Unnest,
)
from tidelog.run.columnar.arrays import Places, Ranks, Words, arrays
from tidelog.run.columnar.batch import Batch
from tidelog.run.columnar.join import Matches, Probe, make_probe, match, match_in_place, present
from tidelog.run.columnar.layout import Layout, Range, place, range_of
from tidelog.run.columnar.relation import CURRENT, Relation
from tidelog.run.columnar.table import Source, Table, unit
from tidelog.run.contract import Phase, Support

if TYPE_CHECKING:
    from tidelog.run.columnar.store import Store

CHUNK = 1 << 22
CHOOSE_FROM = 512
"""From so many rows on, the order of a cyclic body is chosen row by row."""

Step = Scan | Aggregate | AntiJoin | Select | Extend | Unnest


@dataclass(frozen=True, slots=True)
class Bag:
    """Derived head tuples, repeated as often as they are derived, packed in a layout of the head relation."""

    layout: Layout
    rows: Words
    rank: Ranks | None = None
    """The greatest rank in the body of each derivation, if ranks are followed."""
    times: Places | None = None
    """How often each row is derived, if rows were brought together."""
    ordered: bool = False
    """Whether the rows are in order."""


def steps_of(tree: Project) -> tuple[Step, ...]:
    """Return the steps of a left-deep tree, innermost first."""
    steps: list[Step] = []
    node: Node = tree.input
    while True:
        match node:
            case Unit():
                return tuple(reversed(steps))
            case Scan() | Aggregate():
                return (node, *reversed(steps))
            case Join(left, right) | Product(left, right):
                assert isinstance(right, Scan | Aggregate), "plans are left-deep"
                steps.append(right)
                node = left
            case AntiJoin(left) | Select(left) | Extend(left) | Unnest(left):
                steps.append(node)
                node = left
            case Project():
                raise AssertionError("a projection stands only at the top")
            case _:
                assert_never(node)


class Pipeline:
    """The evaluation of one tree over a store. Made anew for each evaluation; cheap."""

    def __init__(self, rule: Rule, tree: Project, store: Store) -> None:
        self.rule = rule
        self.store = store
        self.head = store.relation(tree.relation)
        self.expressions = tree.expressions
        self.steps = steps_of(tree)
        self.bags: list[Bag] = []
        self.derivations = 0
        self._counting = Lock()
        self._apart = False
        """Whether parts of the bindings are taken through the steps by several threads already."""

    def run(self) -> list[Bag]:
        """Return the bags of derived head tuples."""
        if not any(self._is_empty(step) for step in self.steps):
            self._go(self.steps, unit(ranked=self.store.ranked))
        return self.bags

    def finish(self, table: Table) -> list[Bag]:
        """Return the bags of head tuples made of bindings that have passed all steps."""
        self._finish(table)
        return self.bags

    def _is_empty(self, step: Step) -> bool:
        if not isinstance(step, Scan):
            return False
        return self.store.relation(step.relation).is_empty(self.store.view(step, self.rule, negated=False))

    # --- the steps ---------------------------------------------------------------------------------------------------

    def _go(self, steps: Sequence[Step], table: Table) -> None:
        """Take the bindings through the steps and keep what they derive."""
        while steps:
            if table.count == 0:
                return
            step, rest = steps[0], steps[1:]
            match step:
                case Scan() | Aggregate():
                    self._join(step, rest, table)
                    return
                case AntiJoin(_, right):
                    table, found = present(table, self._probe(right, table, negated=True))
                    table = table.filtered(~found)
                case Select(_, condition):
                    table = table.filtered(self.store.scalars.mask(condition, table))
                case Extend(_, variable, expression):
                    codes = self.store.scalars.codes(expression, table)
                    table = table.extended(variable.name, codes, self._needed(rest))
                case Unnest(_, variable, expression):
                    places, codes = self.store.scalars.elements(expression, variable.type, table)
                    table = table.taken(places).extended(variable.name, codes, self._needed(rest))
                case _:
                    assert_never(step)
            steps = rest
        self._finish(table)

    def _join(self, step: Scan | Aggregate, rest: Sequence[Step], table: Table) -> None:
        probe = self._probe(step, table)
        other = self._rival(step, rest, table)
        if other is None or table.count < CHOOSE_FROM:
            self._advance(match(table, probe), probe, rest)
            return
        place = rest.index(other)
        swapped = (step, *rest[:place], *rest[place + 1 :])
        here, there = match(table, probe), match(table, self._probe(other, table))
        if here is None or there is None:
            return
        # both matches must speak of the same rows in the same order, so the second is found again for the first's rows
        there = match_in_place(here.table, self._probe(other, here.table))
        counts = there.counts()
        fewer = here.counts() <= counts
        self._advance(here.chosen(fewer), probe, rest)
        self._advance(
            match(here.table.filtered(~fewer & (counts > 0)), self._probe(other, table)),
            self._probe(other, table),
            swapped,
        )

    def _advance(self, matches: Matches | None, probe: Probe, rest: Sequence[Step]) -> None:
        """Emit matches, in parts that are not too large, and go on with the rest."""
        if matches is None or not matches.total:
            return
        if matches.total <= CHUNK or matches.table.count == 1:
            self._emit(matches, probe, rest)
            return
        ends = np.searchsorted(np.cumsum(matches.counts()), np.arange(CHUNK, matches.total + CHUNK, CHUNK), "left") + 1
        ends = np.unique(np.minimum(ends, matches.table.count))
        parts = zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
        if self._apart or not self.store.pool:
            for start, end in parts:
                self._emit(matches.part(start, end), probe, rest)
            return
        self._apart = True
        running = [self.store.pool.submit(self._emit, matches.part(start, end), probe, rest) for start, end in parts]
        try:
            for part in running:
                part.result()
        finally:
            for part in running:
                part.cancel()
            wait(running)
            self._apart = False

    def _emit(self, matches: Matches, probe: Probe, rest: Sequence[Step]) -> None:
        if not matches.total:
            return
        available = set(matches.table.layout.fields) | set(probe.new)
        if not rest and not probe.equal and all(isinstance(e, Var | Const) for e in self.expressions):
            sources = self._head_sources()
            layout = self._head_layout(
                {c: probe.range(s, matches.table) if isinstance(s, str) else Range(s, s) for c, s in sources.items()}
            )
            made = matches.emit(probe, layout, sources)
            self._keep(Bag(layout, made.rows, made.rank))
            return
        wanted = [variable for variable in self._arranged(rest, available) if variable in available]
        self._go(rest, matches.table_of(probe, wanted))

    # --- the head ----------------------------------------------------------------------------------------------------

    def _head_sources(self) -> dict[Hashable, Source]:
        sources: dict[Hashable, Source] = {}
        for column, expression in enumerate(self.expressions):
            if isinstance(expression, Var):
                sources[column] = expression.name
            elif isinstance(expression, Const):
                sources[column] = self.store.codec.code(expression.value, expression.type)
        return sources

    def _finish(self, table: Table) -> None:
        """Make head tuples of bindings."""
        if table.count == 0:
            return
        if all(isinstance(e, Var | Const) for e in self.expressions):
            sources = self._head_sources()
            layout = self._head_layout(
                {c: table.range(s) if isinstance(s, str) else Range(s, s) for c, s in sources.items()}
            )
            self._keep(Bag(layout, table.moved(layout, sources).rows, table.rank))
            return
        columns: dict[Hashable, Words] = {
            column: self.store.scalars.codes(expression, table) for column, expression in enumerate(self.expressions)
        }
        layout = self._head_layout({column: range_of(codes) for column, codes in columns.items()})
        self._keep(Bag(layout, layout.pack(columns, table.count), table.rank))

    def _head_layout(self, ranges: Mapping[Hashable, Range]) -> Layout:
        """Return the layout of the head relation, or one of the bag's own if the head has no room for these codes."""
        fields = self.head.layout.fields
        if all(fields[column].range.covers(codes) for column, codes in ranges.items()):
            return self.head.layout
        return place((column, ranges[column]) for column in range(self.head.arity))

    def _keep(self, bag: Bag) -> None:
        """Keep a bag; a large one is first rid of repetitions, and in a bootstrap of tuples the head relation has."""
        count = bag.rows.shape[1]
        with self._counting:
            self.derivations += count
        self.store.watch.look()
        if count >= CHUNK // 4 and bag.rank is None:
            bag = self._condensed(bag)
        self.bags.append(bag)

    def _condensed(self, bag: Bag) -> Bag:
        table = arrays(bag.rows.shape[1])
        rows = table.sort(bag.rows)
        if self.head.support is not Support.NONE:
            firsts = table.firsts(rows)
            times = np.diff(np.append(firsts, rows.shape[1]))
            return Bag(bag.layout, np.ascontiguousarray(rows[:, firsts]), None, times, ordered=True)
        rows = table.unique(rows)
        if self.store.phase is Phase.BOOT and bag.layout == self.head.layout:
            for batch, _ in self.head.batches(self.head.main, CURRENT):
                rows = table.without(rows, batch.rows)
        return Bag(bag.layout, rows.copy(), ordered=True)

    # --- what a step sees --------------------------------------------------------------------------------------------

    def _probe(self, step: Scan | Aggregate, table: Table, *, negated: bool = False) -> Probe:
        if isinstance(step, Aggregate):
            relation = self._aggregated(step, table)
            return make_probe(relation, CURRENT, (*step.keys, step.result), table, self.store.codec)
        relation, view = self.store.relation(step.relation), self.store.view(step, self.rule, negated=negated)
        ranked = self.store.ranked and step.relation in self.store.members
        return make_probe(relation, view, step.terms, table, self.store.codec, ranked=ranked)

    def _aggregated(self, step: Aggregate, table: Table) -> Relation:
        """Return the result of an aggregate, of the groups that bindings ask for, as a relation of its own."""
        names = (*step.keys, step.result)
        relation = Relation("", [name.type for name in names])
        keys = table.distinct([key.name for key in step.keys if key.name in table.layout.fields])
        found = self.store.groups(step, keys, self.store.view(step.input, self.rule, negated=False))
        if found is not None:
            columns = [found.codes(name.name) for name in names]
            relation.admit([range_of(codes) for codes in columns])
            rows = relation.layout.pack(dict(enumerate(columns)), found.count)
            relation.set_delta(Batch(arrays(found.count).sort(rows)))
        return relation

    def _rival(self, step: Scan | Aggregate, rest: Sequence[Step], table: Table) -> Scan | None:
        """Return a later scan that could come now instead, and shares a variable not yet bound."""
        if not isinstance(step, Scan) or not table.layout.fields:
            return None
        bound = set(table.layout.fields)
        mine = {term.name for term in step.terms if isinstance(term, Var)} - bound
        for other in rest:
            if isinstance(other, Scan):
                names = {term.name for term in other.terms if isinstance(term, Var)}
                if names & bound and (names - bound) & mine:
                    return other
        return None

    def _needed(self, rest: Sequence[Step]) -> set[str]:
        """Return the variables that the remaining steps and the head read."""
        names = {v for e in self.expressions for v in variables(e)}
        for step in rest:
            names |= _reads(step)
        return names

    def _arranged(self, rest: Sequence[Step], available: set[Hashable]) -> list[str]:
        """Return the needed variables, those of the next join's key first, in the order of the columns it probes."""
        needed = self._needed(rest)
        first: list[str] = []
        for step in rest:
            if isinstance(step, Scan):
                known = Table(place((name, Range(0, 0)) for name in available), unit().rows)
                first = self._probe(step, known).key_variables()
                break
            if not isinstance(step, AntiJoin):
                break
        return [*dict.fromkeys(first), *sorted(needed - set(first))]


def _reads(step: Step) -> set[str]:
    match step:
        case Scan(_, terms):
            return {term.name for term in terms if isinstance(term, Var)}
        case Aggregate():
            return {key.name for key in step.keys} | {step.result.name}
        case AntiJoin(_, right):
            return {term.name for term in right.terms if isinstance(term, Var)}
        case Select(_, expression) | Extend(_, _, expression) | Unnest(_, _, expression):
            return set(variables(expression))
        case _:
            assert_never(step)

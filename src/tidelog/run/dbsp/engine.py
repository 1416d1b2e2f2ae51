"""The strategy `dbsp`: a session's program in the dynamic interpreter.

Rules and facts are two streams of one circuit, so a change of rules is a step like any other: nothing restarts. What
holds is read from the index of facts, whose order () always has all of them. Batches of traces never change, so a
snapshot costs as much as there are traces, not what they hold.

The interpreter knows a relation by its *tag*: the name, and a number after it once the relation was declared anew with
other columns. Stored facts are sets: what is there already, or not there, makes no change.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import count
from typing import Any

import numpy as np

from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.base.types import Type
from tidelog.plan.nodes import EMPTY_PLAN, Plan, Rule, Stratum
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.columnar.functions import arrays_of
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.layout import Field, Layout
from tidelog.run.columnar.storage.rows import DecodedRows, code_columns, decoded_in
from tidelog.run.contract.engine import NO_LIMITS, Delta, Limits, Row, Rows, Update, Work, refuse_bounds
from tidelog.run.dbsp.expressions import ColumnExpressions
from tidelog.run.dbsp.interpreter import Interpreter
from tidelog.run.dbsp.rewriting.kit import LEVEL, Clause, Gather
from tidelog.run.dbsp.translate import Translator, levels, refuse_side_effects
from tidelog.run.dbsp.zsets.zset import ZSet
from tidelog.run.limits import Watch


@record
class Known:
    """A rule as the interpreter has it, the key that its parts begin with, and what evaluates them."""

    rule: Rule
    clause: Clause | Gather
    key: str
    scalars: Scalars


@record
class State:
    """A program in the interpreter: its rules by identity, tags of relations, and how many tuples there are.

    `homes` has where the stored facts of input relations are.
    """

    plan: Plan
    scalars: Scalars
    known: Mapping[str, Known] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)


class DbspEngine:
    """The state of one program, kept by the dynamic interpreter. `indexed` is the switch of the paper's section 4.3."""

    name = "columnar"

    def __init__(
        self, plan: Plan, *, indexed: bool = True, limits: Limits = NO_LIMITS, tuning: Tuning = DEFAULT
    ) -> None:
        self._tuning = tuning
        self._arrays = arrays_of(tuning)
        self._codec = Codec()
        self._expressions = ColumnExpressions(self._codec)
        self._keys = count()
        self._types: dict[str, tuple[Type, ...]] = {}
        self.interpreter = Interpreter(indexed=indexed, expressions=self._expressions, tuning=tuning.traces)
        self._state = State(EMPTY_PLAN, Scalars(self._codec, {}, {}, self._arrays))
        self.update({}, plan, limits)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._state.plan

    # --- reading -----------------------------------------------------------------------------------------------------

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        tag = self._state.tags[relation]
        return self._decoded(self._facts(tag).rows, tag, self._names(relation, self.plan))

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self._state.counts.get(self._state.tags[relation], 0)

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        tag = self._state.tags[relation]
        codes = [self._codec.known(value, type) for value, type in zip(row, self._types[tag], strict=True)]
        if None in codes:
            return False
        return bool(self._present(tag, np.array(codes, U).reshape(-1, 1))[0])

    def verify(self) -> list[str]:
        """Check that facts are sets, that they are counted right, and that every index has all of them."""
        problems = []
        for (tag, positions), trace in self.interpreter.index.traces.items():
            facts, found = self._facts(tag), trace.all()
            order = [*positions, *(c for c in range(trace.columns) if c not in positions)]
            if found != facts.project(order):
                problems.append(f"{tag}: the index on columns {positions} has other facts than the relation")
            if (facts.weights != 1).any():
                problems.append(f"{tag}: a fact has a weight other than 1")
            if len(facts) != self._state.counts.get(tag, 0):
                problems.append(f"{tag}: counted {self._state.counts.get(tag, 0)} facts, there are {len(facts)}")
        return problems

    def _facts(self, tag: str) -> ZSet:
        trace = self.interpreter.index.facts(tag)
        return trace.all() if trace is not None else ZSet.zero(len(self._types[tag]))

    def _present(self, tag: str, rows: Words) -> Any:
        trace = self.interpreter.index.facts(tag)
        return trace.weights(rows) > 0 if trace is not None else np.zeros(rows.shape[1], bool)

    def _decoded(self, rows: Words, tag: str, names: Sequence[str]) -> DecodedRows:
        types = self._types[tag]
        words = max(1, len(types))
        layout = Layout({i: Field(i, 0, 64, 0) for i in range(len(types))}, words)
        return decoded_in(
            layout, rows if types else np.zeros((1, rows.shape[1]), U), types, names, self._codec, self._arrays
        )

    def _names(self, relation: str, plan: Plan) -> list[str]:
        return [column.name for column in plan.relations[relation].columns]

    # --- changing ----------------------------------------------------------------------------------------------------

    def snapshot(self) -> Any:
        """Return the current state."""
        return self._state, self.interpreter.snapshot()

    def restore(self, token: Any) -> None:
        """Go back to a state."""
        self._state, held = token
        self.interpreter.restore(held)

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program in one step of the circuit; after an error nothing has changed."""
        token = self.snapshot()
        try:
            with Watch(limits) as watch:
                return self._update(facts, plan or self.plan, watch)
        except BaseException:
            self.restore(token)
            raise

    def _update(self, facts: Mapping[str, Delta], plan: Plan, watch: Watch) -> Update:
        started = time.perf_counter()
        before = self._state
        after = before if plan is before.plan else self._replanned(before, plan)
        rules = _difference(before, after)
        if after is not before:
            known = (*before.known.values(), *after.known.values())
            self._expressions.rules = {one.key: (one.rule, one.scalars) for one in known}
        given = self._moved(before, after)
        for name, change in facts.items():
            home = after.tags[stored_in(name, plan.relations)]
            arriving = given.get(home, ZSet.zero(len(self._types[home])))
            given[home] = self._stored(home, change, arriving, new=home != before.homes.get(name, home))
        run = _Run(self.interpreter, after, watch)
        changed = run.step(given, rules)
        counts = dict(after.counts)
        for tag, found in changed.items():
            counts[tag] = counts.get(tag, 0) + int(found.weights.sum())
        self._state = replace(after, counts=counts)
        if after is not before:
            self.interpreter.kit.keep(one.clause for one in after.known.values())
        changes = self._changes(before, self._state, changed)
        if not changed and not any(rules.values()):
            return Update(changes)
        seconds = time.perf_counter() - started
        reason = f"{sum(weight > 0 for weight in rules.values())} rules in, {sum(w < 0 for w in rules.values())} out"
        return Update(changes, (Work(0, tuple(sorted(changes)), "dbsp", reason, run.rounds, run.pairs, seconds),))

    def _replanned(self, before: State, plan: Plan) -> State:
        """Return the state's description for another program; rules that are the same keep their clauses."""
        scalars = before.scalars
        if not (_same(before.plan.functions, plan.functions) and _same(before.plan.types, plan.types)):
            scalars = Scalars(self._codec, plan.functions, plan.types, self._arrays)
        tags = {name: self._tagged(name, before, plan) for name in plan.relations}
        refuse_bounds(plan, "the strategy `dbsp`", "use another strategy, such as `ranked`")
        translator = Translator(self._codec, tags.__getitem__)
        at = levels(plan)
        found: dict[str, Known] = {}
        for rule in (rule for stratum in plan.strata for rule in stratum.rules):
            known = before.known.get(rule.identity)
            level = at[rule.identity]
            if known is not None and known.rule == rule and _same_tags(rule, before.tags, tags):
                same = known.clause.level == level
                found[rule.identity] = known if same else replace(known, clause=replace(known.clause, level=level))
                continue
            refuse_side_effects(rule, plan.functions)
            key = str(next(self._keys))
            found[rule.identity] = Known(rule, translator.rule(rule, level, key), key, scalars)
        homes = {
            name: tags[stored_in(name, plan.relations)]
            for name, relation in plan.relations.items()
            if relation.role == "input" and (relation.past or not relation.auxiliary)
        }
        return State(plan, scalars, found, tags, homes, before.counts)

    def _tagged(self, name: str, before: State, plan: Plan) -> str:
        types = tuple(column.type for column in plan.relations[name].columns)
        tag = before.tags.get(name, name)
        number = 2
        while self._types.setdefault(tag, types) != types:
            tag, number = f"{name}@{number}", number + 1
        return tag

    def _moved(self, before: State, after: State) -> dict[str, ZSet]:
        """Return the change by which stored facts go to where the new program keeps them, or go with their relation."""
        moved: dict[str, ZSet] = {}
        for name, home in before.homes.items():
            target = after.homes.get(name)
            facts = self._facts(home) if target != home else None
            if facts is None or not len(facts):
                continue
            moved[home] = -facts
            if target is not None and self._types[target] == self._types[home]:
                moved[target] = facts
        return moved

    def _stored(self, home: str, change: Delta, arriving: ZSet, *, new: bool) -> ZSet:
        """Return the change of stored facts as a Z-set: what is not there comes, what is there goes.

        In a new home are only the facts that arrive: rules have derived what it has, and are gone.
        """
        inserted, deleted = self._coded(home, change.inserted), self._coded(home, change.deleted)
        deleted = (deleted - inserted).distinct()
        both = inserted + deleted
        there = ZSet(both.rows, (self._present(home, both.rows) & (not new)).astype(np.int64)).without_zeros()
        known = there + _among(arriving, both)
        return arriving + (inserted - known).distinct() - _among(known, deleted)

    def _coded(self, tag: str, rows: Rows) -> ZSet:
        columns = code_columns(rows, self._types[tag], self._codec)
        words = np.stack([column.astype(U) for column in columns]) if columns else np.empty((0, len(rows)), U)
        return ZSet.made(words, np.ones(words.shape[1], np.int64)).distinct()

    def _changes(self, before: State, after: State, changed: Mapping[str, ZSet]) -> dict[str, Delta]:
        """Return the exact change of every relation of the old and the new program, in values."""
        names = {tag: (name, before.plan) for name, tag in before.tags.items()}
        names |= {tag: (name, after.plan) for name, tag in after.tags.items()}
        found: dict[str, Delta] = {}
        for tag, change in changed.items():
            name, plan = names[tag]
            columns = self._names(name, plan)
            inserted, deleted = (
                self._decoded(change.where(keep).rows, tag, columns)
                for keep in (change.weights > 0, change.weights < 0)
            )
            if name in found:  # declared anew with other columns: rows that look the same have not changed
                both = [{*found[name].inserted, *inserted}, {*found[name].deleted, *deleted}]
                found[name] = Delta(both[0] - both[1], both[1] - both[0])
            else:
                found[name] = Delta(inserted, deleted)
        return {name: change for name, change in found.items() if change}


class _Run:
    """One step of the interpreter, watched."""

    def __init__(self, interpreter: Interpreter, state: State, watch: Watch) -> None:
        self._interpreter = interpreter
        self._strata = _strata_by_level(state)
        self._watch = watch
        self.rounds = 0
        self.pairs = 0

    def step(self, facts: Mapping[str, ZSet], rules: Mapping[Clause | Gather, int]) -> Mapping[str, ZSet]:
        before = self._interpreter.product.pairs
        self._interpreter.loop.watch = self._begin
        self._interpreter.on_facts = self._watch.add_tuples
        try:
            return self._interpreter.step(facts, rules)
        finally:
            self._interpreter.loop.watch = None
            self._interpreter.on_facts = None
            self.pairs = self._interpreter.product.pairs - before

    def _begin(self, time: int) -> None:
        level = time >> LEVEL
        self.rounds += 1
        self._watch.begin_round(self._strata.get(level, _NOTHING), (time & ((1 << LEVEL) - 1)) + 1)


_NOTHING = Stratum(0, (), False, ())


def _strata_by_level(state: State) -> dict[int, Stratum]:
    """Return the rules of each level as one stratum, which is how the interpreter evaluates them."""
    rules: dict[int, list[Rule]] = {}
    for known in state.known.values():
        rules.setdefault(known.clause.level, []).append(known.rule)
    return {
        level: Stratum(level, tuple(sorted({rule.head for rule in found})), True, tuple(found))
        for level, found in rules.items()
    }


def _difference(before: State, after: State) -> dict[Clause | Gather, int]:
    changes: dict[Clause | Gather, int] = {}
    if before is not after:
        for state, weight in ((before, -1), (after, 1)):
            for known in state.known.values():
                changes[known.clause] = changes.get(known.clause, 0) + weight
    return {clause: weight for clause, weight in changes.items() if weight}


def _among(rows: ZSet, wanted: ZSet) -> ZSet:
    """Return the rows that are also in another Z-set."""
    if not len(rows) or not len(wanted):
        return ZSet.zero(rows.columns)
    ones = ZSet(wanted.rows, np.ones(len(wanted), np.int64))
    return rows.join(ones, on=[(c, c) for c in range(rows.columns)], keep=range(rows.columns))


def _same(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    return before.keys() == after.keys() and all(after[name] is value for name, value in before.items())


def _same_tags(rule: Rule, before: Mapping[str, str], after: Mapping[str, str]) -> bool:
    return all(before.get(name) == after[name] for name in (rule.head, *rule.reads))

"""The engine `tuples`: one tuple at a time over Python's own sets and tuples, to compare ways of evaluating rules.

The Shapiro paper's point is that evaluators, index structures and update algorithms can be compared fairly only if they
share everything else. Here they do: the algorithms of `run.maintain` run on this engine as on any other, `evaluator`
says how a rule is evaluated, `index` how rows are found, `parallel` whether rules are evaluated side by side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, TypedDict, Unpack

from tidelog.base.process.gc_pause import collector_paused
from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import EMPTY_PLAN, Plan, Stratum
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.backend import Support
from tidelog.run.contract.engine import NO_LIMITS, Delta, Fallback, Limits, Row, Rows, Update, Work
from tidelog.run.limits import Watch
from tidelog.run.maintain.choose import Earlier, Strategy, maintain, reached, strategy_of, support_of
from tidelog.run.maintain.cost import Costs
from tidelog.run.phases import DELETED, INSERTED
from tidelog.run.tuples.algebra import AlgebraEvaluator
from tidelog.run.tuples.differences import DIFFERENCES
from tidelog.run.tuples.evaluator import Evaluator
from tidelog.run.tuples.index import INDEXES
from tidelog.run.tuples.relation import Journal, Relation
from tidelog.run.tuples.scalars import Scalars
from tidelog.run.tuples.store import Equipment, Store
from tidelog.run.tuples.substitution import SubstitutionEvaluator
from tidelog.run.tuples.verify import check_support

EVALUATORS: Mapping[str, Evaluator] = {"algebra": AlgebraEvaluator(), "substitution": SubstitutionEvaluator()}
"""The ways to evaluate a rule by the name that chooses them."""


@record
class State:
    """A program and its relations: what a snapshot refers to. What is in relations is put back by journals."""

    plan: Plan
    relations: Mapping[str, Relation]
    equipment: Equipment
    earlier: Earlier


class Ways(TypedDict, total=False):
    """The ways to work that can be chosen, for comparison.

    `evaluator` is one of `EVALUATORS`, `index` one of `INDEXES`, `parallel` the number of threads that evaluate the
    rules of a round. Of the strategy `elastic`, `rediscovery` is whether its filter is `whole` or `divided`, and
    `differences` one of `DIFFERENCES`.
    """

    evaluator: str
    index: str
    parallel: int
    rediscovery: str
    differences: str


class TuplesEngine:
    """The state of one program in this process, as Python tuples.

    `strategy` is one of `run.maintain.choose.ALGORITHMS`, `auto` or `recompute`; `fallback` says when an update is
    given up for an evaluation from scratch; `limits` bound the first evaluation; `tuning` has thresholds.
    """

    name = "tuples"

    def __init__(
        self,
        plan: Plan,
        *,
        strategy: str = "auto",
        fallback: Fallback | None = None,
        limits: Limits = NO_LIMITS,
        tuning: Tuning = DEFAULT,
        **ways: Unpack[Ways],
    ) -> None:
        self._tuning = tuning
        self._strategy = strategy
        self._fallback = fallback
        self._costs: Costs = {}
        self._journals: list[list[Journal]] = []
        """Those of each update since the last snapshot, there before the first change."""
        threads = ways.get("parallel", 1)
        equipment = Equipment(
            EVALUATORS[ways.get("evaluator", "algebra")],
            INDEXES[ways.get("index", "hash")],
            support_of(strategy),
            ThreadPoolExecutor(threads, "tidelog") if threads > 1 else None,
            Scalars({}, {}),
            ways.get("rediscovery", "whole") == "divided",
            DIFFERENCES[ways.get("differences", "eager")],
            tuning.tuples,
        )
        self._state = State(EMPTY_PLAN, {}, equipment, Earlier.of(EMPTY_PLAN))
        with Watch(limits) as watch:
            self._update({}, plan, watch)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._state.plan

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program; after an error nothing has changed."""
        # Values never refer to themselves, so a search for cycles finds none; it took a third of the time.
        with collector_paused(), Watch(limits) as watch:
            return self._update(facts, plan or self._state.plan, watch)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        found = self._state.relations.get(relation)
        return frozenset() if found is None else frozenset(found.settled.rows)

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        found = self._state.relations.get(relation)
        return 0 if found is None else len(found.settled.rows)

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        found = self._state.relations.get(relation)
        return found is not None and row in found.settled.rows

    def verify(self) -> list[str]:
        """Check what is kept of tuples; return what is wrong."""
        if self._state.equipment.support is Support.NONE:
            return []
        return list(check_support(self._store(self._state, self._state.plan, Watch())))

    def snapshot(self) -> Any:
        """Return the current state. Only the last snapshot can be restored."""
        self._journals = []
        return self._state

    def restore(self, token: Any) -> None:
        """Go back to the state of the last snapshot, also from the middle of an update or of going back."""
        for journals in reversed(self._journals):
            _undo(journals)
        self._state = token
        self._journals = []

    # --- updating ----------------------------------------------------------------------------------------------------

    def _update(self, facts: Mapping[str, Delta], plan: Plan, watch: Watch) -> Update:
        before = self._state
        store = self._store(before, plan, watch)
        self._journals.append(store.journals)
        costs = dict(self._costs)
        try:
            orphans = before.earlier.orphans(plan, before.relations)
            for name in orphans:
                apart = stored_in(name, before.plan.relations)
                store.keep_facts(name, before.relations[apart].settled.rows if apart != name else ())
            stored = {stored_in(name, plan.relations): change for name, change in facts.items()}
            for name, change in stored.items():
                store.change_facts(name, set(change.inserted), set(change.deleted))
            for name in orphans:
                store.compare(name)
            work = [
                done
                for stratum in reached(store, plan, before.earlier, stored)
                if (done := self._maintain(store, stratum, before.earlier, costs)) is not None
            ]
            changes = _changes(store, before, plan)
            store.finish()
            earlier = before.earlier if plan is before.plan else Earlier.of(plan)
            relations = {name: relation for name, relation in store.relations.items() if name in plan.relations}
            self._costs = costs
            self._state = State(plan, relations, store.equipment, earlier)
            return Update(changes, tuple(work))
        except BaseException:
            self._state = before
            _undo(store.journals)
            raise

    def _maintain(self, store: Store, stratum: Stratum, earlier: Earlier, costs: Costs) -> Work | None:
        strategy = strategy_of(stratum, store.plan, self._strategy)
        how = Strategy(strategy, self._fallback, self._tuning.budgets)
        return maintain(store, stratum, earlier, costs, store.watch, how)

    @staticmethod
    def _store(before: State, plan: Plan, watch: Watch) -> Store:
        equipment = before.equipment
        if plan is before.plan:
            return Store(plan, equipment, dict(before.relations), before.relations, watch)
        functions, types = {**before.plan.functions, **plan.functions}, {**before.plan.types, **plan.types}
        equipment = replace(equipment, scalars=Scalars(functions, types), prepared={})
        kept = {name: relation for name, relation in before.relations.items() if _fits(relation, plan)}
        store = Store(plan, equipment, kept, before.relations, watch)
        for name, relation in before.relations.items():
            apart = stored_in(name, plan.relations)
            if apart not in before.plan.relations and apart not in kept:
                made = kept[apart] = store.fresh(apart)  # rules derive it from now on, too: it held its stored facts
                made.settled.add(relation.settled.rows)
        return store


def _undo(journals: Sequence[Journal]) -> None:
    """Undo an update: the relations it was given are as they were."""
    for journal in reversed(journals):
        journal.undo()


def _fits(relation: Relation, plan: Plan) -> bool:
    """Tell whether a relation of an earlier plan is one of a plan, with the same columns."""
    found = plan.relations.get(relation.name)
    return found is not None and relation.types == tuple(column.type for column in found.columns)


def _changes(store: Store, before: State, plan: Plan) -> dict[str, Delta]:
    """Return the exact change of every relation."""
    changes: dict[str, Delta] = {}
    for name, relation in before.relations.items():
        if not _fits(relation, plan) and relation.settled.rows:
            changes[name] = Delta((), frozenset(relation.settled.rows))
    for name, relation in store.touched.items():
        change = Delta(frozenset(relation.rows(INSERTED)), frozenset(relation.rows(DELETED)))
        if change and (name not in before.relations or _fits(before.relations[name], plan)):
            changes[name] = change
    return changes

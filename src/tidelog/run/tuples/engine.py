"""The engine `tuples`: one tuple at a time over Python's own sets and tuples, to compare ways of evaluating rules.

The Shapiro paper's point is that evaluators, index structures and update algorithms can be compared fairly only if they
share everything else. Here they do: the algorithms of `run.maintain` run on this engine as on any other, `evaluator`
says how a rule is evaluated, `index` how rows are found, `parallel` whether rules are evaluated side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TypedDict, Unpack

from tidelog.base.process.gc_pause import collector_paused
from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import Plan, Stratum
from tidelog.run.contract.engine import NO_LIMITS, Delta, Fallback, Limits, Row, Rows, Update, Work
from tidelog.run.contract.phase import Support
from tidelog.run.limits import Watch
from tidelog.run.maintain.choose import Strategy, maintain, strategy_of, support_of
from tidelog.run.maintain.commit import Committed, Recoverable, commit, kept_relations
from tidelog.run.maintain.cost import Costs
from tidelog.run.tuples.algebra import AlgebraEvaluator
from tidelog.run.tuples.evaluator import Evaluator
from tidelog.run.tuples.index import INDEXES
from tidelog.run.tuples.relation import Relation
from tidelog.run.tuples.scalars import Scalars
from tidelog.run.tuples.store import Equipment, Store
from tidelog.run.tuples.substitution import SubstitutionEvaluator
from tidelog.run.tuples.verify import check_support

EVALUATORS: Mapping[str, Evaluator] = {"algebra": AlgebraEvaluator(), "substitution": SubstitutionEvaluator()}
"""The ways to evaluate a rule by the name that chooses them."""


@record
class State:
    """A program and its relations: what a snapshot refers to. What is in relations is put back by journals."""

    committed: Committed[Relation]
    equipment: Equipment


class Ways(TypedDict, total=False):
    """The ways to work that can be chosen, for comparison.

    `evaluator` is one of `EVALUATORS`, `index` one of `INDEXES`, `parallel` the number of threads that evaluate the
    rules of a round. Of the strategy `elastic`, `rediscovery` is whether its filter is `whole` or `divided`.
    """

    evaluator: str
    index: str
    parallel: int
    rediscovery: str


class TuplesEngine(Recoverable[State]):
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
        threads = ways.get("parallel", 1)
        equipment = Equipment(
            EVALUATORS[ways.get("evaluator", "algebra")],
            INDEXES[ways.get("index", "hash")],
            support_of(strategy),
            ThreadPoolExecutor(threads, "tidelog") if threads > 1 else None,
            Scalars({}, {}),
            ways.get("rediscovery", "whole") == "divided",
            tuning.tuples,
        )
        super().__init__(State(Committed.nothing(), equipment))
        with Watch(limits) as watch:
            self._update({}, plan, watch)

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program; after an error nothing has changed."""
        # Values never refer to themselves, so a search for cycles finds none; it took a third of the time.
        with collector_paused(), Watch(limits) as watch:
            return self._update(facts, plan or self.plan, watch)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        found = self._state.committed.relations.get(relation)
        return frozenset() if found is None else frozenset(found.settled.rows)

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        found = self._state.committed.relations.get(relation)
        return 0 if found is None else len(found.settled.rows)

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        found = self._state.committed.relations.get(relation)
        return found is not None and row in found.settled.rows

    def verify(self) -> list[str]:
        """Check what is kept of tuples; return what is wrong."""
        if self._state.equipment.support is Support.NONE:
            return []
        return list(check_support(self._store(self._state, self.plan, Watch())))

    # --- updating ----------------------------------------------------------------------------------------------------

    def _update(self, facts: Mapping[str, Delta], plan: Plan, watch: Watch) -> Update:
        before = self._state
        committed_before = before.committed.towards(plan)
        store, earlier = self._store(before, plan, watch), committed_before.earlier

        def follow(strata: Iterator[Stratum], costs: Costs) -> Iterator[Work | None]:
            for stratum in strata:
                how = Strategy(strategy_of(stratum, plan, self._strategy), self._fallback, self._tuning.budgets)
                yield maintain(store, stratum, earlier, costs, watch, how)

        def change() -> tuple[Update, State]:
            update, committed = commit(store, committed_before, plan, facts, follow)
            return update, State(committed, store.equipment)

        return self._change(store.journals, change)

    @staticmethod
    def _store(before: State, plan: Plan, watch: Watch) -> Store:
        committed, equipment = before.committed, before.equipment
        if plan is not committed.plan:
            equipment = replace(equipment, scalars=Scalars(*committed.definitions(plan)), prepared={})
        return Store(plan, equipment, kept_relations(committed, plan), committed.relations, watch)

"""The in-process engine: columns of codes in sorted batches, kept up to date stratum by stratum.

`run.maintain.commit` drives an update. Until the next snapshot what it overwrote is kept in journals, so that it can be
undone at a cost in proportion to it. Strata that are closures go another way (`closures`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import EMPTY_PLAN, Plan, Stratum, shown
from tidelog.run.columnar.backend import ColumnarBackend
from tidelog.run.columnar.closures.claim import HOW, Claims, explained
from tidelog.run.columnar.closures.closed import Closed
from tidelog.run.columnar.closures.modules import closing
from tidelog.run.columnar.closures.price import generated
from tidelog.run.columnar.equipment import Equipment, Tools
from tidelog.run.columnar.rules.ordering import Orders
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.storage.rows import decoded, find, look_up
from tidelog.run.columnar.support.verify import check_support
from tidelog.run.contract.engine import NO_LIMITS, Delta, Fallback, Limits, Row, Rows, Update, Work
from tidelog.run.contract.phase import Support
from tidelog.run.limits import Watch
from tidelog.run.maintain.choose import Strategy, maintain, strategy_of, support_of
from tidelog.run.maintain.commit import Committed, Recoverable, commit, kept_relations
from tidelog.run.maintain.cost import NOTHING, Costs
from tidelog.run.threads import helpers

KEEP_CLOSURES = ("auto", "modular")
"""The strategies under which closures have structures that are kept from one update to the next."""


@record
class State:
    """A program and its relations: what a snapshot refers to. Marks, ranks and counts are put back by journals."""

    committed: Committed[Relation]
    claims: Claims
    scalars: Scalars
    closed: Mapping[str, Closed]


class ColumnarEngine(Recoverable[State]):
    """The state of one program in this process.

    `strategy` is one of `run.maintain.choose.ALGORITHMS`, `auto` or `recompute`, and `fallback` says when it is given
    up for an evaluation from scratch; by default the strategy does. The strategy decides what support tuples have;
    `support` asks for another, for whoever only wants to read it off. Strata that are closures are evaluated by
    structures of their own (`claim`) unless `closures` is false. `rediscovery` says whether the filter of `elastic` is
    `whole` or `divided`; None: divided where less work is expected. `threads` is how many are used; `limits` bound the
    first evaluation. `tuning` has the thresholds by which it chooses among ways to compute the same.
    """

    name = "columnar"

    def __init__(  # noqa: PLR0913 -- what a user, a test, or an engine on top of it may choose
        self,
        plan: Plan,
        *,
        strategy: str = "auto",
        fallback: Fallback | None = None,
        support: Support | None = None,
        threads: int | None = None,
        closures: bool = True,
        rediscovery: str | None = None,
        limits: Limits = NO_LIMITS,
        tuning: Tuning = DEFAULT,
    ) -> None:
        self._tuning = tuning
        self._tools = Tools.of(tuning)
        self._codec = Codec()
        self._strategy = strategy
        self._fallback = fallback
        self._divided = None if rediscovery is None else rediscovery == "divided"
        self._support = support_of(strategy) if support is None else support
        self._lasting = strategy in KEEP_CLOSURES
        self._closures = closures and (self._lasting or (strategy == "recompute" and self._support is Support.NONE))
        threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(threads - 1, "tidelog") if threads > 1 else None
        self._orders = Orders(self._codec, tuning)
        self._last_claims: tuple[Claims, Claims] | None = None
        claims = Claims(EMPTY_PLAN, self._wants_closure, lasting=False)
        scalars = Scalars(self._codec, {}, {}, self._tools.arrays)
        super().__init__(State(Committed.nothing(), claims, scalars, {}))
        self.update({}, plan, limits)

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program; after an error nothing has changed."""
        with Watch(limits) as watch:
            return self._update(facts, plan or self.plan, watch)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        found = self._relation(relation)
        columns = [column.name for column in self.plan.relations[relation].columns]
        return decoded(found, found.gathered(bare=True), columns, self._codec)

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self._relation(relation).count()

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        found = self._relation(relation)
        return find(row, found, self._codec)

    def look_up(self, relation: str, values: Mapping[int, Any]) -> Rows:
        """Return the tuples of a relation that have these values in some columns."""
        return look_up(self._relation(relation), values, self._codec)

    def coded(self, relation: str) -> tuple[Relation, Codec]:
        """Return a relation as it is held, and what its codes mean: for an engine that goes on from it."""
        return self._relation(relation), self._codec

    def verify(self) -> list[str]:
        """Check every support count; return what is wrong."""
        if self._support is Support.NONE:
            return []
        store = self._store(self._state, self._state.claims, Watch())
        return [*check_support(store), *self._state.claims.check(store, self._state.closed)]

    def _relation(self, name: str) -> Relation:
        found = self._state.committed.relations.get(name)
        if found is None:
            types = [column.type for column in self._state.claims.plan.relations[name].columns]
            return Relation(name, types, self._tools.arrays)
        return found

    # --- updating ----------------------------------------------------------------------------------------------------

    def _update(self, facts: Mapping[str, Delta], given: Plan, watch: Watch) -> Update:
        before = self._state
        claims = before.claims
        if given is not claims.given:
            claims = self._claims_of(given, claims)
        before = replace(before, committed=before.committed.towards(claims.plan))
        store, closed = self._store(before, claims, watch), dict(before.closed)

        def follow(strata: Iterator[Stratum], costs: Costs) -> Iterator[Work | None]:
            done = (self._maintain(store, stratum, before, claims, closed, costs) for stratum in strata)
            return (None if work is None else replace(work, relations=shown(work.relations)) for work in done)

        def change() -> tuple[Update, State]:
            update, committed = commit(store, before.committed, given, facts, follow)
            kept = {name: closed[name] for name in claims.relations if name in closed}
            return update, State(committed, claims, store.scalars, kept)

        before_helpers = helpers.set(self._pool)
        try:
            return self._change(store.journals, change)
        finally:
            helpers.reset(before_helpers)

    def _claims_of(self, given: Plan, earlier: Claims) -> Claims:
        """Return the closures of another plan; those of the last are kept, since a goal may be asked again."""
        known = self._last_claims
        if known is None or known[0] is not earlier or known[1].given is not given:
            modules = self._closures
            made = Claims(given, self._wants_closure, lasting=self._lasting, modules=modules, earlier=earlier)
            self._last_claims = known = earlier, made
        return known[1]

    def _maintain(
        self,
        store: ColumnarBackend,
        stratum: Stratum,
        before: State,
        claims: Claims,
        closed: dict[str, Closed],
        costs: Costs,
    ) -> Work | None:
        name, watch, earlier = stratum.relations[0], store.watch, before.committed.earlier
        was = any(relation in before.closed for relation in stratum.relations)
        if not claims.claims(stratum):
            held = [before.committed.relations.get(relation) for relation in stratum.relations]
            bare = any(map(self._is_bare, held))
            if claims.may_generate(stratum) and earlier.has(stratum) and held[0] is not None and held[0].count():
                return self._generate(store, stratum, before, claims, costs, bare=bare)
            was = was or bare
            strategy = "recompute" if was else strategy_of(stratum, store.plan, self._strategy)
            done = maintain(store, stratum, earlier, costs, watch, self._how(strategy))
            return replace(done, reason="it was a closure before") if was and done is not None else done
        unchanged = not any(earlier.changes(stratum))
        if unchanged and was and before.closed[name].pairs.size:
            if not claims.gives_way(before.closed[name], name, store):
                return claims.follow(closed, store, stratum, watch)
            evaluate = partial(claims.evaluate_by_rules, closed)
            done = maintain(store, stratum, earlier, costs, watch, self._how("recompute"), evaluate)
            return None if done is None else replace(done, reason="changes of the closure had cost more than its rules")
        if unchanged and self._is_by_rules(before.committed.relations.get(name)):
            evaluate = partial(claims.evaluate, closed, again=True)
            return maintain(store, stratum, earlier, costs, watch, self._how(self._strategy), evaluate)
        evaluate = partial(claims.evaluate, closed)
        done = maintain(store, stratum, earlier, costs, watch, self._how("recompute"), evaluate)
        reason = "it was empty" if unchanged else "its rules have changed" if self._lasting else "chosen by the user"
        return explained(done, reason, by_rules=name not in store.bare)

    def _generate(
        self,
        store: ColumnarBackend,
        stratum: Stratum,
        before: State,
        claims: Claims,
        costs: Costs,
        *,
        bare: bool,
    ) -> Work | None:
        """Bring same generation up to date, by its rules or, where they were given up, as such (`closures.price`)."""
        name, earlier, watch = stratum.relations[0], before.committed.earlier, store.watch
        cost = costs.get(stratum.members, NOTHING)
        way = self._how("recompute" if bare else self._strategy)
        if bare and cost.owed > cost.rules:
            done = maintain(store, stratum, earlier, costs, watch, way)
            return None if done is None else replace(done, reason="changes had cost more than its rules")
        done = maintain(store, stratum, earlier, costs, watch, way, claims.regenerate)
        if done is not None and self._is_bare(store.relations[name]):
            changed, held = sum(store.changed(name)), store.count(name)
            costs[stratum.members] = generated(cost, costs[stratum.members], changed, held, bare=bare)
            return replace(done, strategy=HOW, reason="its rules had been given up" if bare else done.reason)
        return done

    def _is_bare(self, relation: Relation | None) -> bool:
        """Tell whether a relation has no support where others have."""
        return relation is not None and relation.support is Support.NONE and self._support is not Support.NONE

    @staticmethod
    def _is_by_rules(relation: Relation | None) -> bool:
        """Tell whether the tuples of a closure are kept by its rules; where there are none it is chosen anew."""
        return relation is not None and relation.support is not Support.NONE and relation.count() > 0

    def _how(self, strategy: str) -> Strategy:
        return Strategy(strategy, self._fallback, self._tuning.budgets)

    def _wants_closure(self, stratum: Stratum, plan: Plan) -> bool:
        if any(plan.relations[name].bound is not None for name in stratum.relations):
            return False  # a structure knows no best bounds
        return self._closures and strategy_of(stratum, plan, self._strategy) == self._strategy

    def _store(self, before: State, claims: Claims, watch: Watch) -> ColumnarBackend:
        committed, plan, scalars = before.committed, claims.plan, before.scalars
        if plan is not committed.plan:
            scalars = Scalars(self._codec, *committed.definitions(plan), self._tools.arrays)
        lent = self._tools, self._codec, scalars, self._orders, self._support, self._divided, closing
        equipment = Equipment(*lent, claims.relations, claims.modules)
        return ColumnarBackend(plan, equipment, kept_relations(committed, plan), committed.relations, watch)

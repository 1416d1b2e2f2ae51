"""The in-process engine: columns of codes in sorted batches, kept up to date stratum by stratum.

An update marks deleted facts and keeps inserted ones apart, brings every stratum it reaches up to date
(`run.maintain.choose`), reads off the exact change of each relation, and then makes it final. Until the next snapshot
what it overwrote is kept, so that it can be undone at a cost in proportion to it. The journals are there before the
first change, and undoing leaves them until it is done, so that an interrupt may come anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from tidelog.base.record import record
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import EMPTY_PLAN, Plan, Stratum
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.columnar.arrays.table import Mask, Words, chosen, no_rows
from tidelog.run.columnar.closures.claim import Claims, explained
from tidelog.run.columnar.closures.closed import Closed
from tidelog.run.columnar.equipment import Equipment, Tools
from tidelog.run.columnar.rules.ordering import Orders
from tidelog.run.columnar.rules.scalars import Scalars
from tidelog.run.columnar.storage.batch import Batch, Journal
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.relation import Relation, Where
from tidelog.run.columnar.storage.rows import DecodedRows, code_parts, decoded, find, pack_columns, ranges_of
from tidelog.run.columnar.store import Store
from tidelog.run.columnar.support.verify import check_support
from tidelog.run.contract.backend import Support
from tidelog.run.contract.engine import NO_LIMITS, Delta, Fallback, Limits, Row, Rows, Update, Work
from tidelog.run.limits import Watch
from tidelog.run.maintain.choose import Earlier, Strategy, maintain, reached, strategy_of, support_of
from tidelog.run.maintain.cost import Costs
from tidelog.run.phases import ALIVE, DELETED, INSERTED, REMOVED
from tidelog.run.threads import helpers

KEEP_CLOSURES = ("auto", "modular")
"""The strategies under which closures have structures that are kept from one update to the next."""


@record
class State:
    """A program and its relations: what a snapshot refers to. Marks, ranks and counts are put back by journals."""

    claims: Claims
    relations: Mapping[str, Relation]
    scalars: Scalars
    earlier: Earlier
    closed: Mapping[str, Closed]

    @property
    def plan(self) -> Plan:
        """The plan as this engine follows it."""
        return self.claims.plan


class ColumnarEngine:
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
        self._costs: Costs = {}
        self._journals: list[list[Journal]] = []
        """Those of each update since the last snapshot."""
        self._orders = Orders(self._codec, tuning)
        claims = Claims(EMPTY_PLAN, self._wants_closure, lasting=False)
        scalars = Scalars(self._codec, {}, {}, self._tools.arrays)
        self._state = State(claims, {}, scalars, Earlier.of(EMPTY_PLAN), {})
        self.update({}, plan, limits)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._state.claims.given

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program; after an error nothing has changed."""
        with Watch(limits) as watch:
            return self._update(facts, plan or self.plan, watch)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        found = self._relation(relation)
        return self._decoded(relation, found, found.gathered(bare=True), self._state.plan)

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self._relation(relation).count()

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        found = self._relation(relation)
        return find(row, found, self._codec)

    def holding(self, relation: str) -> tuple[Relation, Codec]:
        """Return a relation as it is held, and what its codes mean: for an engine that goes on from it."""
        return self._relation(relation), self._codec

    def verify(self) -> list[str]:
        """Check every support count; return what is wrong."""
        if self._support is Support.NONE:
            return []
        store = self._store(self._state, self._state.claims, Watch())
        return [*check_support(store), *self._state.claims.check(store)]

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

    def _decoded(self, name: str, relation: Relation, batch: Batch, plan: Plan) -> DecodedRows:
        return decoded(relation, batch, [column.name for column in plan.relations[name].columns], self._codec)

    def _relation(self, name: str) -> Relation:
        found = self._state.relations.get(name)
        if found is None:
            types = [column.type for column in self._state.plan.relations[name].columns]
            return Relation(name, types, self._tools.arrays)
        return found

    # --- updating ----------------------------------------------------------------------------------------------------

    def _update(self, facts: Mapping[str, Delta], given: Plan, watch: Watch) -> Update:
        before = self._state
        claims = before.claims
        if given is not claims.given:
            modules = self._strategy == "modular"
            claims = Claims(given, self._wants_closure, lasting=self._lasting, modules=modules, earlier=claims)
        plan = claims.plan
        store = self._store(before, claims, watch)
        self._journals.append(store.journals)
        costs = dict(self._costs)
        before_helpers = helpers.set(self._pool)
        try:
            orphans = before.earlier.orphans(plan, before.relations)
            for name in orphans:
                store.keep_facts(name, before.relations.get(stored_in(name, before.plan.relations)))
            stored = {stored_in(name, plan.relations): change for name, change in facts.items()}
            for name, change in stored.items():
                self._change_facts(store, name, change)
            for name in orphans:
                store.compare(name)
            work = [
                done
                for stratum in reached(store, plan, before.earlier, stored)
                if (done := self._maintain(store, stratum, before, claims, costs)) is not None
            ]
            changes = self._changes(store, before, given)
            store.finish()
            earlier = before.earlier if plan is before.plan else Earlier.of(plan)
            relations = {name: relation for name, relation in store.relations.items() if name in plan.relations}
            kept = {**before.closed, **store.closed}
            closed = {name: kept[name] for name in claims.relations if name in kept}
            self._costs = costs
            self._state = State(claims, relations, store.scalars, earlier, closed)
            return Update(changes, tuple(work))
        except BaseException:
            self._state = before
            _undo(store.journals)
            raise
        finally:
            helpers.reset(before_helpers)

    def _maintain(self, store: Store, stratum: Stratum, before: State, claims: Claims, costs: Costs) -> Work | None:
        name, watch = stratum.relations[0], store.watch
        was = any(relation in before.closed for relation in stratum.relations)
        if not claims.claims(stratum):
            strategy = "recompute" if was else strategy_of(stratum, store.plan, self._strategy)
            done = maintain(store, stratum, before.earlier, costs, watch, self._how(strategy))
            return replace(done, reason="it was a closure before") if was and done is not None else done
        unchanged = was and not any(before.earlier.changes(stratum))
        if unchanged and before.closed[name].pairs.size:
            return claims.follow(store, stratum, before.closed[name], watch)
        done = maintain(store, stratum, before.earlier, costs, watch, self._how("recompute"), claims.evaluate)
        reason = "it was empty" if unchanged else "its rules have changed" if self._lasting else "chosen by the user"
        return explained(done, reason)

    def _how(self, strategy: str) -> Strategy:
        return Strategy(strategy, self._fallback, self._tuning.budgets)

    def _wants_closure(self, stratum: Stratum, plan: Plan) -> bool:
        return self._closures and strategy_of(stratum, plan, self._strategy) == self._strategy

    def _store(self, before: State, claims: Claims, watch: Watch) -> Store:
        plan = claims.plan
        kept, scalars = dict(before.relations), before.scalars
        if plan is not before.plan:
            kept = _kept(before, plan)
            functions, types = {**before.plan.functions, **plan.functions}, {**before.plan.types, **plan.types}
            scalars = Scalars(self._codec, functions, types, self._tools.arrays)
        lent = self._tools, self._codec, scalars, self._orders, self._support, self._divided, claims.relations
        return Store(plan, Equipment(*lent), kept, before.relations, watch)

    def _change_facts(self, store: Store, name: str, change: Delta) -> None:
        """Mark deleted facts and keep inserted ones apart."""
        relation = store.touch(name)
        given = [
            code_parts(rows, relation.types, self._codec, self._tuning.sorting) if len(rows) else None
            for rows in (change.inserted, change.deleted)
        ]
        for parts in given:
            if parts is not None:
                relation.admit(ranges_of(parts))
        inserted, deleted = (
            no_rows(relation.layout.words) if parts is None else pack_columns(parts, rows, relation)
            for parts, rows in zip(given, (change.inserted, change.deleted), strict=True)
        )
        if deleted.shape[1]:
            deleted = self._tools.arrays(max(inserted.shape[1], deleted.shape[1])).without(deleted, inserted)
            there, where = _present(relation, deleted)
            gone = _chosen(deleted, there)
            relation.take_away(gone, REMOVED, store.journal, where)
            relation.set_deleted(gone)
        if inserted.shape[1]:
            there, _ = _present(relation, inserted)
            relation.set_delta(relation.stated(_chosen(inserted, ~there)))
            relation.insert()

    def _changes(self, store: Store, before: State, plan: Plan) -> dict[str, Delta]:
        """Return the exact change of every relation, in values."""
        changes: dict[str, Delta] = {}
        for name, relation in before.relations.items():
            if name not in before.claims.given.relations:
                continue
            if name not in plan.relations or store.relations.get(name) is None:
                gone = self._decoded(name, relation, relation.gathered(bare=True), before.plan)
                if len(gone):
                    changes[name] = Delta((), gone)
        for name, relation in store.touched.items():
            old = before.relations.get(name)
            if name not in plan.relations:
                continue
            if old is not None and old.types != relation.types:
                continue
            inserted, deleted = (
                ()
                if relation.is_empty(view)
                else self._decoded(name, relation, relation.gathered(view, bare=True), plan)
                for view in (INSERTED, DELETED)
            )
            if inserted or deleted:
                changes[name] = Delta(inserted, deleted)
        return changes


def _undo(journals: Sequence[Journal]) -> None:
    """Undo an update: the relations it was given are as they were."""
    for journal in reversed(journals):
        journal.undo()


def _kept(before: State, plan: Plan) -> dict[str, Relation]:
    """Return the relations that another plan goes on with."""
    kept = {
        name: relation
        for name, relation in before.relations.items()
        if name in plan.relations and relation.types == tuple(c.type for c in plan.relations[name].columns)
    }
    for name, relation in before.relations.items():
        apart = stored_in(name, plan.relations)
        if apart not in before.plan.relations and apart not in kept:
            kept[apart] = relation.apart(apart)  # rules derive it from now on, too: it held its stored facts
    return kept


def _present(relation: Relation, rows: Words) -> tuple[Mask, Where]:
    """Tell which of the sorted rows hold now, and where they are."""
    found = np.zeros(rows.shape[1], bool)
    where: Where = []
    for batch, places, targets in relation.locate(relation.main, rows, ALIVE):
        found[places] = True
        where.append((batch, targets))
    return found, where


def _chosen(rows: Words, keep: Mask) -> Words:
    """Return the rows where the mask is true."""
    return rows if keep.all() else chosen(rows, keep)

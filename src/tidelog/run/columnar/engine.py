"""The in-process engine: columns of codes in sorted batches, evaluated stratum by stratum.

An update puts the changed facts into copies of their relations and evaluates again every stratum that reads a changed
relation or has changed rules, then compares. Relations are copied or made anew, never changed in place once an update
has returned, so a snapshot is a table of references.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidelog.plan.nodes import Plan, Stratum, Version
from tidelog.run.columnar.arrays import Words, arrays
from tidelog.run.columnar.encode import Codec
from tidelog.run.columnar.relation import Relation
from tidelog.run.columnar.rows import DecodedRows, find, nothing, pack_rows
from tidelog.run.columnar.store import Store, difference
from tidelog.run.contract import NO_LIMITS, Change, Limits, Row, Rows, Update, Work
from tidelog.run.limits import Watch
from tidelog.run.maintain.seminaive import bootstrap


@dataclass(frozen=True, slots=True)
class State:
    """A program, its stored facts and its relations: all that a snapshot needs."""

    plan: Plan
    facts: Mapping[str, Relation]
    relations: Mapping[str, Relation]


class ColumnarEngine:
    """The state of one program in this process."""

    name = "columnar"

    def __init__(self, plan: Plan) -> None:
        self._codec = Codec()
        self._state = State(plan, {}, {})
        self._update({}, plan, Watch(), everything=True)

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._state.plan

    def update(self, facts: Mapping[str, Change], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Change stored facts and the program; after an error nothing has changed."""
        return self._update(facts, plan or self._state.plan, Watch(limits), everything=False)

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""
        found = self._relation(relation)
        return DecodedRows(found.layout, found.rows(), found.types, self._codec)

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self._relation(relation).count()

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""
        found = self._relation(relation)
        return find(row, found.layout, found.batches(found.main, Version.ALL), found.types, self._codec)

    def snapshot(self) -> Any:
        """Return the current state: it is never changed in place."""
        return self._state

    def restore(self, token: Any) -> None:
        """Go back to the state of a token."""
        self._state = token

    def _relation(self, name: str) -> Relation:
        found = self._state.relations.get(name)
        if found is None:
            return Relation(name, [column.type for column in self._state.plan.relations[name].columns])
        return found

    # --- updating ----------------------------------------------------------------------------------------------------

    def _update(self, facts: Mapping[str, Change], plan: Plan, watch: Watch, *, everything: bool) -> Update:
        before = self._state
        kept = {name for name in plan.relations if _same_columns(name, before.plan, plan)}
        relations = {name: relation for name, relation in before.relations.items() if name in kept}
        stored = {name: relation for name, relation in before.facts.items() if name in kept}
        changed = {name for name in before.relations if name not in kept}
        for name, change in facts.items():
            stored[name] = self._changed(stored.get(name) or self._empty(name, plan), change)
            relations[name] = stored[name]
            changed.add(name)
        store = Store(plan, self._codec, relations, watch)
        work = [
            self._evaluate(stratum, store, stored)
            for stratum in plan.strata
            if everything or (self._reached(stratum, changed, before.plan) and not _note(stratum, changed))
        ]
        for relation in relations.values():
            relation.settle()
        self._state = State(plan, stored, relations)
        return Update(self._changes(before, everything), tuple(work))

    def _evaluate(self, stratum: Stratum, store: Store, stored: Mapping[str, Relation]) -> Work:
        start = time.perf_counter()
        derivations = store.derivations
        for name in stratum.relations:
            store.relations[name] = store.fresh(name)
            if name in stored:
                store.relations[name] = stored[name].copy()
        rounds = bootstrap(store, stratum, store.watch)
        seconds = time.perf_counter() - start
        return Work(
            stratum.number, stratum.relations, "recompute", "", rounds, store.derivations - derivations, seconds
        )

    def _reached(self, stratum: Stratum, changed: set[str], before: Plan) -> bool:
        """Tell whether a stratum reads a changed relation or has other rules than before."""
        if any(relation in changed for rule in stratum.rules for relation in rule.reads):
            return True
        old = {rule.identity for other in before.strata for rule in other.rules if rule.head in stratum.relations}
        return old != {rule.identity for rule in stratum.rules} or any(r in changed for r in stratum.relations)

    def _changed(self, relation: Relation, change: Change) -> Relation:
        """Return a copy of stored facts with a change applied."""
        after = relation.copy()
        if change.deleted:
            gone = pack_rows(change.deleted, after, self._codec)
            rows = after.rows()
            after.replace(arrays(rows.shape[1]).without(rows.copy(), gone))
        if change.inserted:
            after.absorb([pack_rows(change.inserted, after, self._codec)])
            after.settle()
        return after

    def _empty(self, name: str, plan: Plan) -> Relation:
        return Relation(name, [column.type for column in plan.relations[name].columns])

    def _changes(self, before: State, everything: bool) -> dict[str, Change]:
        """Return the exact change of every relation that is not the object it was."""
        changes: dict[str, Change] = {}
        for name in before.relations.keys() | self._state.relations.keys():
            old, new = before.relations.get(name), self._state.relations.get(name)
            if old is new or everything:
                continue
            inserted, deleted, layout_of = self._compared(name, old, new, before.plan)
            if inserted.shape[1] or deleted.shape[1]:
                changes[name] = Change(
                    DecodedRows(layout_of.layout, inserted, layout_of.types, self._codec),
                    DecodedRows(layout_of.layout, deleted, layout_of.types, self._codec),
                )
        return changes

    def _compared(
        self, name: str, old: Relation | None, new: Relation | None, before: Plan
    ) -> tuple[Words, Words, Relation]:
        if new is None:
            assert old is not None
            return nothing(old), old.rows(), old
        if old is None or old.types != new.types:
            return new.rows(), nothing(new), new
        return (*difference(old, new), new)


def _note(stratum: Stratum, changed: set[str]) -> bool:
    """Count the relations of a stratum that is evaluated again as changed."""
    changed.update(stratum.relations)
    return False


def _same_columns(name: str, before: Plan, after: Plan) -> bool:
    old, new = before.relations.get(name), after.relations.get(name)
    return old is not None and new is not None and [c.type for c in old.columns] == [c.type for c in new.columns]

"""One update of an engine's state, from changed facts and perhaps another plan to the exact change of every relation.

`commit` drives it for every engine that keeps its relations up to date stratum by stratum:

1. A relation that no rule derives any more is left with its stored facts.
2. Stored facts are changed.
3. The strata that a change reaches are brought up to date, in order; how is up to the engine (`Follow`).
4. The change of every relation is read off.
5. The update is made final; the result is a new `Committed`.

What is particular to an engine are the operations of its `Store`, the backend of one update. An engine makes one of the
relations that the plan goes on with (`kept_relations`), calls `commit`, and makes its next state of what that returns.

Where relations are changed in place, the store writes what it overwrites to journals, and the engine is a
`Recoverable`. An interrupt may come anywhere: the journals are known before the first change, the new state becomes
visible by one assignment, and undoing can be interrupted and done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, Protocol, Self, TypeVar

from tidelog.base.expr import Function
from tidelog.base.record import record
from tidelog.base.types import Type, TypeDefinition
from tidelog.plan.nodes import EMPTY_PLAN, Plan, Stratum
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.backend import Backend
from tidelog.run.contract.engine import Delta, Rows, Update, Work
from tidelog.run.maintain.choose import Earlier, reached
from tidelog.run.maintain.cost import Cost, Costs
from tidelog.run.phases import AFTER, DELETED, INSERTED, View


class Held(Protocol):
    """A relation as an engine holds it."""

    @property
    def types(self) -> tuple[Type, ...]:
        """The types of its columns."""

    def apart(self, name: str) -> Self:
        """Return a relation of the same tuples, under a name that a plan has for its stored facts."""


class Journal(Protocol):
    """What an update has overwritten."""

    def undo(self) -> None:
        """Put it back; once that is done, again does nothing."""


R = TypeVar("R", bound=Held)
S = TypeVar("S", bound="State")


class Store(Backend, Protocol[R]):
    """The backend of one update: the relations of a plan, and what `commit` asks of them beyond `Backend`."""

    plan: Plan
    """The plan that the update goes over to, perhaps the one there was."""
    relations: dict[str, R]
    touched: dict[str, R]
    """The relations that the update has changed so far."""

    def change_facts(self, facts: Mapping[str, Delta]) -> None:
        """Insert and delete tuples of relations that hold stored facts; `changed` tells what that has changed."""

    def fill(self, relation: str, facts: R) -> None:
        """Let a relation, just `reset`, hold the tuples of another; `change_facts` and `compare` are to follow."""

    def contents(self, name: str, relation: R, view: View, plan: Plan) -> Rows:
        """Return the tuples that a view shows of a relation of a plan, as they are now: they outlive the update."""

    def finish(self) -> None:
        """Make the update final in every relation it touched."""


@record
class Committed(Generic[R]):
    """What a commit has left: a plan, its relations, and what evaluating its strata took."""

    given: Plan
    """The plan as a session gave it."""
    earlier: Earlier
    """What the next update must know of the plan as the engine follows it, which may have more relations."""
    relations: Mapping[str, R]
    costs: Mapping[frozenset[str], Cost]

    @staticmethod
    def nothing() -> Committed[R]:
        """Return what there is before the first commit."""
        return Committed(EMPTY_PLAN, Earlier(EMPTY_PLAN), {}, {})

    @property
    def plan(self) -> Plan:
        """The plan as the engine follows it."""
        return self.earlier.plan

    def towards(self, plan: Plan) -> Committed[R]:
        """Return this as it is before an update that goes over to a plan."""
        return replace(self, earlier=self.earlier.towards(plan))

    def definitions(self, plan: Plan) -> tuple[dict[str, Function], dict[str, TypeDefinition]]:
        """Return the functions and types of another plan and, for rules that are being removed, of this one."""
        return {**self.plan.functions, **plan.functions}, {**self.plan.types, **plan.types}


Follow = Callable[[Iterator[Stratum], Costs], Iterable[Work | None]]
"""How an engine brings the strata that a change reaches up to date; what each took, None if there was nothing to do.

The strata come one at a time: whether the next is reached is known when the one before it is up to date. An engine that
deals with all of them at once need not ask for any.
"""


def commit(
    store: Store[R], before: Committed[R], given: Plan, facts: Mapping[str, Delta], follow: Follow
) -> tuple[Update, Committed[R]]:
    """Update the relations of a store; return the change, and what the next update starts from."""
    plan = store.plan
    orphans = before.earlier.orphans(plan, before.relations)
    for name in orphans:
        apart = stored_in(name, before.plan.relations)
        store.reset(name)
        if apart != name and apart in before.relations:
            store.fill(name, before.relations[apart])
    stored = {stored_in(name, plan.relations): change for name, change in facts.items()}
    store.change_facts(stored)
    for name in orphans:
        store.compare(name)
    costs = dict(before.costs)
    strata = reached(store, plan, before.earlier, {**stored, **dict.fromkeys(orphans)})
    work = tuple([done for done in follow(strata, costs) if done is not None])
    changes = _changes(store, before, given)
    store.finish()
    earlier = before.earlier if plan is before.plan else Earlier(plan)
    relations = {name: relation for name, relation in store.relations.items() if name in plan.relations}
    return Update(changes, work), Committed(given, earlier, relations, costs)


def kept_relations(before: Committed[R], plan: Plan) -> dict[str, R]:
    """Return the relations that a plan goes on with, by their names in it."""
    if plan is before.plan:
        return dict(before.relations)
    kept = {name: relation for name, relation in before.relations.items() if _fits(relation, name, plan)}
    for name, relation in before.relations.items():
        apart = stored_in(name, plan.relations)
        if apart not in before.plan.relations and apart not in kept:
            kept[apart] = relation.apart(apart)  # rules derive it from now on, too: it held its stored facts
    return kept


def _fits(relation: Held, name: str, plan: Plan) -> bool:
    """Tell whether a relation of an earlier plan is one of a plan, with the same columns."""
    found = plan.relations.get(name)
    return found is not None and relation.types == tuple(column.type for column in found.columns)


def _changes(store: Store[R], before: Committed[R], given: Plan) -> dict[str, Delta]:
    """Return the exact change of every relation of the plans given; one that has got other columns is another."""
    changes: dict[str, Delta] = {}
    others = set[str]()
    if given is not before.given:
        others = {name for name in before.given.relations if _differs(before, name, given)}
    for name in others:
        gone = store.contents(name, before.relations[name], AFTER, before.plan)
        came: Rows = ()
        if name in given.relations and name in store.relations:
            came = store.contents(name, store.relations[name], AFTER, store.plan)
            gone, came = frozenset(gone) - frozenset(came), frozenset(came) - frozenset(gone)
        changes[name] = Delta(came, gone)
    for name, relation in store.touched.items():
        if name in given.relations and name not in others:
            inserted, deleted = (store.contents(name, relation, view, store.plan) for view in (INSERTED, DELETED))
            changes[name] = Delta(inserted, deleted)
    return {name: change for name, change in changes.items() if change}


def _differs(before: Committed[R], name: str, plan: Plan) -> bool:
    return name in before.relations and not _fits(before.relations[name], name, plan)


class State(Protocol):
    """What an engine holds between updates."""

    @property
    def committed(self) -> Committed[Any]:
        """What the last commit has left."""


class Recoverable(Generic[S]):
    """An engine that changes relations in place: its state, and the journals that put back what it was."""

    def __init__(self, state: S) -> None:
        self._state = state
        self._journals: list[Sequence[Journal]] = []
        """Those of each update since the last snapshot."""

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""
        return self._state.committed.given

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

    def _change(self, journals: Sequence[Journal], change: Callable[[], tuple[Update, S]]) -> Update:
        """Go over to the state that a change makes, which writes to these journals; whatever it raises, undo it."""
        before = self._state
        self._journals.append(journals)
        try:
            update, self._state = change()
            return update  # noqa: TRY300 -- an interrupt may come here, too
        except BaseException:
            self._state = before
            _undo(journals)
            raise


def _undo(journals: Sequence[Journal]) -> None:
    """Undo an update: the relations it was given are as they were."""
    for journal in reversed(journals):
        journal.undo()

"""What passes with a commit: rows of streams go, and relations of the past follow those they are the past of.

A stream is a relation whose stored facts are taken away when the next ones come, so an engine needs to know nothing of
streams; only the change that users see of one is all its rows, as nothing ever leaves a stream. `R-1` is a relation
whose stored facts change in each commit as `R` changed in the one before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from tidelog.logic.program import each_of
from tidelog.plan.nodes import Plan, Relation
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.engine import Delta, Engine, Row, Update
from tidelog.session.program.timed import Timed


def passed(facts: Mapping[str, Delta], after: Timed, engine: Engine, owed: Mapping[str, Delta]) -> Mapping[str, Delta]:
    """Return the facts of a transaction, and what passes with it; `owed` is how the past is behind."""
    if not after.given and not after.past:
        return facts
    before = engine.plan
    changed = dict(facts)
    for name in after.given:
        if name in before.relations:
            going = tuple(engine.rows(stored_in(name, before.relations)))
            own = facts.get(name, Delta())
            changed[name] = Delta(own.inserted, (*going, *own.deleted))
    for relation in after.past:
        changed[relation.name] = owed[relation.name] if relation.name in owed else _behind(relation, before, engine)
    return {name: change for name, change in changed.items() if name in facts or change}


def _behind(relation: Relation, before: Plan, engine: Engine) -> Delta:
    """Return how a relation of the past differs from the one it follows, where it has not followed it before."""
    now, then = (set(_rows(name, relation, before, engine)) for name in (relation.past or "", relation.name))
    return Delta(tuple(now - then), tuple(then - now))


def _rows(name: str, like: Relation, plan: Plan, engine: Engine) -> tuple[tuple[object, ...], ...]:
    there = plan.relations.get(name)
    same = there is not None and [c.type for c in there.columns] == [c.type for c in like.columns]
    return tuple(engine.rows(name)) if same else ()


def owing(after: Timed, update: Update) -> dict[str, Delta]:
    """Return how relations of the past are behind after an update."""
    return {relation.name: update.changes.get(relation.past or "", Delta()) for relation in after.past}


def weighted(update: Update, after: Timed) -> dict[str, dict[Row, int]]:
    """Return how the weights of rows of multisets changed."""
    found: dict[str, dict[Row, int]] = {}
    for name in after.multisets:
        change = update.changes.get(each_of(name), Delta())
        weights = Counter(row[:-1] for row in change.inserted)
        weights.subtract(Counter(row[:-1] for row in change.deleted))
        found[name] = {row: weight for row, weight in weights.items() if weight}
    return {name: weights for name, weights in found.items() if weights}


def visible(update: Update, after: Timed, engine: Engine) -> Mapping[str, Delta]:
    """Return the changes of an update as users see them: of a stream all rows."""
    if not after.streams:
        return update.changes
    rows = {name: Delta(tuple(engine.rows(name))) for name in after.streams}
    return {**{name: change for name, change in update.changes.items() if name not in rows}, **rows}

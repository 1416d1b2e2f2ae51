"""Stored facts: which of those given are new, which of those taken were there, and where they are kept.

A relation that rules derive, too, keeps its facts in a relation of their own (`plan.rewrite.separate_facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pyspark.sql import functions as f

from tidelog.plan.nodes import Plan
from tidelog.plan.rewrite.separate_facts import stored_in
from tidelog.run.contract.engine import Delta
from tidelog.run.spark.frames.checkpoint import Part, Question, answers, gathered
from tidelog.run.spark.frames.relation import RANK, SUPPORT, Parts, Relation, by_hash
from tidelog.run.spark.frames.rows import frame_of
from tidelog.run.spark.partitions.loads import IN, OUT, Load, loaded
from tidelog.run.spark.store import Store, finished


def kept_relations(before: Plan, relations: Mapping[str, Relation], plan: Plan) -> dict[str, Relation]:
    """Return the relations that a program shares with the one before it, by their names in the new one."""
    kept = {
        name: relation
        for name, relation in relations.items()
        if name in plan.relations and relation.types == tuple(c.type for c in plan.relations[name].columns)
    }
    for name, relation in relations.items():
        apart = stored_in(name, plan.relations)
        if apart not in before.relations and apart not in kept:
            kept[apart] = relation  # rules derive it from now on, too: what it held are its stored facts
    return kept


def change_facts(
    store: Store, facts: Mapping[str, Delta], orphans: set[str], before: tuple[Plan, Mapping[str, Relation]]
) -> None:
    """Insert and delete stored facts; `orphans` lose all tuples that are not stored, as no rule derives them now."""
    for name in orphans:
        stored = before[1].get(stored_in(name, before[0].relations))
        derived = store.relation(name)
        store.reset(name)
        if stored is not None and stored is not derived:
            store.relations[name].settled = stored.settled
    asked = [
        one for name, change in facts.items() for one in _asked(store, stored_in(name, store.plan.relations), change)
    ]
    found = answers([question for question, _ in asked]) if asked else []
    for (_, take), answer in zip(asked, found, strict=True):
        take(*answer)
    for name in orphans:
        relation = store.relations[name]
        parts = finished([relation])[0].settled
        relation.settled, relation.inserted, relation.removed, relation.deleted = parts, (), (), ()
        store.compare(name)


Take = Callable[[Part, Mapping[str, int]], None]
"""What becomes of an answer."""


def _asked(store: Store, name: str, change: Delta) -> Iterator[tuple[Question, Take]]:
    """Ask which facts were there and which are new; each answer with how the relation takes it."""
    relation = store.touch(name)
    columns, spark = relation.columns, store.frames.spark
    fresh = None
    before = loaded(relation.settled)
    load = Load.of(store, relation) if before or not relation.settled else None
    if load is not None and load.fits(before):
        sides = {kind: rows for kind, rows in ((IN, change.inserted), (OUT, change.deleted)) if len(rows)}
        frames = {kind: frame_of(rows, relation.types, store.cells, spark) for kind, rows in sides.items()}
        if before or IN in frames:
            yield load.question(before, frames), lambda *found: load.answer(relation, *found)
        return
    if relation.settled:
        store.place(relation)
    if len(change.inserted):
        given = frame_of(change.inserted, relation.types, store.cells, spark)
        fresh = given.groupBy(*columns).agg(f.lit(1).cast("long").alias(SUPPORT))
        fresh = fresh.select(*columns, f.lit(0).cast("long").alias(RANK), SUPPORT)
    if len(change.deleted) and relation.settled:
        taken = frame_of(change.deleted, relation.types, store.cells, spark).distinct()
        if fresh is not None:
            taken = taken.join(fresh, columns, "left_anti")
        stored = gathered(relation.settled)
        gone = by_hash(taken).join(stored, columns).select(*columns, RANK, SUPPORT)
        yield Question(gone), lambda part, _: relation.delete(_parts(part))
    if fresh is not None:
        yield Question(relation.new_in(fresh, relation.settled)), lambda part, _: relation.insert(_parts(part))


def _parts(part: Part) -> Parts:
    return (part,) if part.count else ()

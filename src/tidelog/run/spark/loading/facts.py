"""Stored facts: which of those given are new, which of those taken were there, and where they are kept.

A relation that rules derive, too, keeps its facts in a relation of their own (`plan.rewrite.separate_facts`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from tidelog.run.contract.engine import Delta
from tidelog.run.spark.frames.checkpoint import Part, Question, answers, gathered
from tidelog.run.spark.frames.encode import Cells
from tidelog.run.spark.frames.relation import RANK, SUPPORT, Parts, Relation, by_hash
from tidelog.run.spark.frames.rows import frame_of
from tidelog.run.spark.loading.loads import IN, OUT, Load, loaded

LoadOf = Callable[[Relation], Load | None]
"""How the facts of a relation are loaded into parcels, if they are."""


def change_facts(changes: Mapping[Relation, Delta], load_of: LoadOf, cells: Cells, spark: SparkSession) -> None:
    """Insert and delete stored facts of relations."""
    asked = [one for relation, change in changes.items() for one in _asked(relation, change, load_of, cells, spark)]
    found = answers([question for question, _ in asked]) if asked else []
    for (_, take), answer in zip(asked, found, strict=True):
        take(*answer)


Take = Callable[[Part, Mapping[str, int]], None]
"""What becomes of an answer."""


def _asked(
    relation: Relation, change: Delta, load_of: LoadOf, cells: Cells, spark: SparkSession
) -> Iterator[tuple[Question, Take]]:
    """Ask which facts were there and which are new; each answer with how the relation takes it."""
    columns = relation.columns
    fresh = None
    before = loaded(relation.settled)
    load = load_of(relation) if before or not relation.settled else None
    if load is not None and load.fits(before):
        sides = {kind: rows for kind, rows in ((IN, change.inserted), (OUT, change.deleted)) if len(rows)}
        frames = {kind: frame_of(rows, relation.types, cells, spark) for kind, rows in sides.items()}
        if before or IN in frames:
            yield load.question(before, frames), lambda *found: load.answer(relation, *found)
        return
    relation.place()
    if len(change.inserted):
        given = frame_of(change.inserted, relation.types, cells, spark)
        fresh = given.groupBy(*columns).agg(f.lit(1).cast("long").alias(SUPPORT))
        fresh = fresh.select(*columns, f.lit(0).cast("long").alias(RANK), SUPPORT)
    if len(change.deleted) and relation.settled:
        taken = frame_of(change.deleted, relation.types, cells, spark).distinct()
        if fresh is not None:
            taken = taken.join(fresh, columns, "left_anti")
        stored = gathered(relation.settled)
        gone = by_hash(taken).join(stored, columns).select(*columns, RANK, SUPPORT)
        yield Question(gone), lambda part, _: relation.delete(_parts(part))
    if fresh is not None:
        new = relation.new_in(fresh, relation.settled)
        yield Question(new, relation.texts_in()), lambda part, counts: _insert(relation, part, counts)


def _insert(relation: Relation, part: Part, counts: Mapping[str, int]) -> None:
    relation.measure(part.count, counts)
    relation.insert(_parts(part))


def _parts(part: Part) -> Parts:
    return (part,) if part.count else ()

"""What relations that were evaluated anew have gained and lost, if their tuples are in parcels: one job for all.

Whoever owns the same tuples before and after compares them in Python. Where tuples were placed otherwise before, or
were rows, as updates leave them, they are sent there first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidelog.run.spark.frames.checkpoint import Part, gathered, settle, united
from tidelog.run.spark.frames.parcels import (
    KIND,
    PARCELS,
    PLACE,
    RELATION,
    ROWS,
    Batches,
    Packed,
    Parcel,
    opened,
    scattered,
)
from tidelog.run.spark.frames.relation import RANK, SUPPORT, Parts, column_name
from tidelog.run.spark.frames.sets import without

OLD, NEW, GAINED, LOST = "old", "new", "gained", "lost"
"""Kinds of parcels: what a relation had and has, and the difference."""


def differences(changes: Mapping[str, tuple[Parts, Parts]], most: int) -> dict[str, tuple[Parts, Parts]]:
    """Return what relations have gained and lost, given what they had and have.

    Those of which that is not known without comparing rows in Spark are left out. Parcels have at most `most` bytes.
    """
    after = {name: rows for name, (had, has) in changes.items() if had and (rows := packed(has)) and rows.placed[1]}
    places = {rows.placed[1] for rows in after.values()}
    if len(places) != 1:
        return {}
    frames = [rows.chosen.withColumn(KIND, f.lit(NEW)) for rows in after.values()]
    frames += [placed(changes[name][0], name, rows.placed, OLD, most) for name, rows in after.items()]
    both = united(frames).repartitionById(places.pop(), PLACE)
    parcels, told = settle(both.mapInArrow(_comparing(most), PARCELS), **counts_of(list(after)))
    return {name: changed(parcels.frame, rows, number, told) for number, (name, rows) in enumerate(after.items())}


def counts_of(relations: Sequence[str]) -> dict[str, Column]:
    """Return what is to be counted of parcels to say what relations have gained and lost."""
    return {
        f"{kind}{number}": f.sum(f.when((f.col(KIND) == kind) & (f.col(RELATION) == name), f.col(ROWS)))
        for number, name in enumerate(relations)
        for kind in (GAINED, LOST)
    }


def changed(parcels: DataFrame, rows: Packed, number: int, counts: Mapping[str, int]) -> tuple[Parts, Parts]:
    """Return what a relation has gained and lost, which is in parcels that were counted."""
    gained, lost = (
        (Part(Packed(parcels, rows.relation, kind, rows.schema), count, placed=False),) if count else ()
        for kind, count in ((kind, counts[f"{kind}{number}"]) for kind in (GAINED, LOST))
    )
    return gained, lost


def packed(parts: Parts) -> Packed | None:
    """Return the tuples of a relation if all are in parcels."""
    rows = parts[0].rows if len(parts) == 1 else None
    return rows if isinstance(rows, Packed) else None


def placed(parts: Parts, relation: str, where: tuple[int | None, int], kind: str, most: int) -> DataFrame:
    """Return tuples in parcels of a kind, for those at the places that a column gives them."""
    rows = packed(parts)
    if rows is not None and rows.placed == where:
        return rows.chosen.withColumns({KIND: f.lit(kind), RELATION: f.lit(relation)})
    frame, (column, count) = gathered(parts), where
    send = scattered(relation, kind, [column_name(column or 0)], count, most)
    return frame.drop(RANK, SUPPORT).mapInArrow(send, PARCELS)


def _comparing(most: int) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: what a partition owned and what it owns to what it has gained and lost."""

    def run(batches: Batches) -> Batches:
        tables: dict[str, dict[str, list[pa.Table]]] = {}
        place = 0
        for parcel in opened(batches):
            place = parcel.place
            tables.setdefault(parcel.relation, {OLD: [], NEW: []})[parcel.kind].append(parcel.rows)
        for relation, found in tables.items():
            old, new = (pa.concat_tables(rows) if rows else None for rows in found.values())
            for parcel in compared(place, relation, old, new):
                yield from parcel.batches(most)

    return run


def compared(place: int, relation: str, old: pa.Table | None, new: pa.Table | None) -> Iterator[Parcel]:
    """Yield what a relation has gained and lost."""
    for kind, these, those in ((GAINED, new, old), (LOST, old, new)):
        if these is not None:
            yield Parcel(place, relation, kind, without(these, those))

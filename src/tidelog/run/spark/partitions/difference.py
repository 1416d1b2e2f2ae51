"""What a relation that was evaluated anew has gained and lost, if its tuples are in parcels: one job for both.

Partitions that own the same tuples before and after compare them in Python. Where tuples were rows before, as updates
leave them, they are sent to their partitions first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.run.spark.frames.checkpoint import Part, gathered, settle, united
from tidelog.run.spark.frames.relation import Parts, column_name, columns_of
from tidelog.run.spark.frames.sets import without
from tidelog.run.spark.partitions.parcels import (
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

_OLD, _NEW, _GAINED, _LOST = "old", "new", "gained", "lost"


def differences(before: Parts, after: Parts, arity: int, partitions: int, most: int) -> tuple[Parts, Parts] | None:
    """Return what a relation has gained and lost; None if its tuples are not in parcels of their owners.

    Parcels have at most `most` tuples.
    """
    rows = _packed(after)
    if rows is None or rows.column is None or not before:
        return None
    both = united([_placed(before, rows, arity, partitions, most), rows.chosen.withColumn(KIND, f.lit(_NEW))])
    counts = {kind: f.sum(f.when(f.col(KIND) == kind, f.col(ROWS))) for kind in (_GAINED, _LOST)}
    parcels = both.repartitionById(partitions, PLACE).mapInArrow(_comparing(most), PARCELS)
    found, told = settle(parcels, **counts)
    return _sides(found.frame, rows, [told[kind] for kind in (_GAINED, _LOST)])


def compared(before: Mapping[str, Packed], after: Mapping[str, Packed], most: int) -> dict[str, tuple[Parts, Parts]]:
    """Return what relations have gained and lost, by one task for all; each side has them in the same parcels."""
    if not after:
        return {}
    sides = [
        next(iter(side.values())).parcels.where(f.col(RELATION).isin(*after)).withColumn(KIND, f.lit(kind))
        for side, kind in ((before, _OLD), (after, _NEW))
    ]
    counts = {
        f"{kind}{number}": f.sum(f.when((f.col(KIND) == kind) & (f.col(RELATION) == name), f.col(ROWS)))
        for number, name in enumerate(after)
        for kind in (_GAINED, _LOST)
    }
    parcels, told = settle(united(sides).coalesce(1).mapInArrow(_comparing(most), PARCELS), **counts)
    return {
        name: _sides(parcels.frame, rows, [told[f"{kind}{number}"] for kind in (_GAINED, _LOST)])
        for number, (name, rows) in enumerate(after.items())
    }


def _packed(parts: Parts) -> Packed | None:
    rows = parts[0].rows if len(parts) == 1 else None
    return rows if isinstance(rows, Packed) else None


def _sides(parcels: DataFrame, rows: Packed, counts: Sequence[int]) -> tuple[Parts, Parts]:
    """Return what was gained and lost of a relation."""
    gained, lost = (
        (Part(Packed(parcels, rows.relation, kind, rows.schema), count, placed=False),) if count else ()
        for kind, count in zip((_GAINED, _LOST), counts, strict=True)
    )
    return gained, lost


def _placed(before: Parts, after: Packed, arity: int, partitions: int, most: int) -> DataFrame:
    """Return the tuples before, in parcels for those who own them after."""
    rows = _packed(before)
    if rows is not None and rows.column == after.column:
        return rows.chosen.withColumn(KIND, f.lit(_OLD))
    assert after.column is not None
    send = scattered(after.relation, _OLD, [column_name(after.column)], partitions, most)
    return gathered(before).select(*columns_of(arity)).mapInArrow(send, PARCELS)


def _comparing(most: int) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: what a partition owned and what it owns to what it has gained and lost."""

    def run(batches: Batches) -> Batches:
        tables: dict[str, dict[str, list[pa.Table]]] = {}
        place = 0
        for parcel in opened(batches):
            place = parcel.place
            tables.setdefault(parcel.relation, {_OLD: [], _NEW: []})[parcel.kind].append(parcel.rows)
        for relation, found in tables.items():
            for parcel in _of_one(place, relation, found):
                yield from parcel.batches(most)

    return run


def _of_one(place: int, relation: str, tables: Mapping[str, list[pa.Table]]) -> Iterator[Parcel]:
    old, new = (pa.concat_tables(found) if found else None for found in tables.values())
    for kind, these, those in ((_GAINED, new, old), (_LOST, old, new)):
        if these is not None:
            yield Parcel(place, relation, kind, without(these, those))

"""What a relation that was evaluated anew has gained and lost, if its tuples are in parcels: one job for both.

Partitions that own the same tuples before and after compare them in Python. Where tuples were rows before, as updates
leave them, they are sent to their partitions first.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.run.spark.checkpoint import Part, gathered, settle, united
from tidelog.run.spark.parcels import KIND, PARCELS, PLACE, ROWS, Batches, Packed, Parcel, opened, scattered
from tidelog.run.spark.relation import Parts, column_name, columns_of
from tidelog.run.spark.sets import without

_OLD, _NEW, _GAINED, _LOST = "old", "new", "gained", "lost"


def differences(before: Parts, after: Parts, arity: int, partitions: int) -> tuple[Parts, Parts] | None:
    """Return what a relation has gained and lost; None if its tuples are not in parcels of their owners."""
    rows = after[0].rows if len(after) == 1 else None
    if not isinstance(rows, Packed) or rows.column is None or not before:
        return None
    both = united([_placed(before, rows, arity, partitions), rows.chosen.withColumn(KIND, f.lit(_NEW))])
    counts = {kind: f.sum(f.when(f.col(KIND) == kind, f.col(ROWS))) for kind in (_GAINED, _LOST)}
    compared = both.repartitionById(partitions, PLACE).mapInArrow(_compared, PARCELS)
    found, told = settle(compared, **counts)
    gained, lost = (
        (Part(Packed(found.frame, rows.relation, kind, rows.schema), told[kind], placed=False),) if told[kind] else ()
        for kind in (_GAINED, _LOST)
    )
    return gained, lost


def _placed(before: Parts, after: Packed, arity: int, partitions: int) -> DataFrame:
    """Return the tuples before, in parcels for those who own them after."""
    rows = before[0].rows if len(before) == 1 else None
    if isinstance(rows, Packed) and rows.column == after.column:
        return rows.chosen.withColumn(KIND, f.lit(_OLD))
    assert after.column is not None
    send = scattered(after.relation, _OLD, [column_name(after.column)], partitions)
    return gathered(before).select(*columns_of(arity)).mapInArrow(send, PARCELS)


def _compared(batches: Batches) -> Batches:
    """For `mapInArrow`: what a partition owned and what it owns to what it has gained and lost."""
    tables: dict[str, list[pa.Table]] = {_OLD: [], _NEW: []}
    place, relation = 0, ""
    for parcel in opened(batches):
        place, relation = parcel.place, parcel.relation
        tables[parcel.kind].append(parcel.rows)
    old, new = (pa.concat_tables(found) if found else None for found in tables.values())
    for kind, these, those in ((_GAINED, new, old), (_LOST, old, new)):
        if these is not None:
            yield from Parcel(place, relation, kind, without(these, those)).batches()

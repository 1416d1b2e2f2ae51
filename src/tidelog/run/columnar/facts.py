"""Stored facts: deleted ones are marked in their relation, and inserted ones kept apart."""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.arrays.table import Mask, Words, chosen, no_rows
from tidelog.run.columnar.storage.batch import Journal
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.order import Where
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.storage.rows import code_parts, pack_columns, ranges_of
from tidelog.run.contract.engine import Delta
from tidelog.run.phases import ALIVE, REMOVED


def change_facts(relation: Relation, change: Delta, codec: Codec, journal: Journal) -> None:
    """Mark the deleted facts of a relation that are there, and make those inserted that are not."""
    arrays = relation.arrays
    given = [
        code_parts(rows, relation.types, codec, arrays.tuning.sorting) if len(rows) else None
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
        deleted = arrays(max(inserted.shape[1], deleted.shape[1])).without(deleted, inserted)
        there, where = _present(relation, deleted)
        gone = _chosen(deleted, there)
        relation.take_away(gone, REMOVED, journal, where)
        relation.set_deleted(gone)
    if inserted.shape[1]:
        there, _ = _present(relation, inserted)
        relation.set_delta(relation.stated(_chosen(inserted, ~there)))
        relation.insert()


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

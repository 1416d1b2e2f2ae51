"""Semijoin filters: tuples without a partner in a later scan are left out before they are joined.

    P(x, z) :- delta Q(x, r, y), P(y, w), U(w, r, z).        only the r and w that U has are worth following

In a bootstrap the relations below the stratum do not change, so the values in a column of one are noted once, as a
table of truth values, and each batch of the stratum's own relations is reduced once for each use, which its successors
do again when batches merge. A reduction that keeps most rows is not made: a sample tells. Nobody asks for ranks, counts
or marks in a bootstrap, so reduced batches have none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.rules.join import Seen
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import FULL, Layout
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import AFTER

Partners = tuple[tuple[int, str, int], ...]
"""For each column whose values later scans must have: that column, the relation scanned later, its column."""


@record
class Filter:
    """The values in a column: whether each code from the least on is there."""

    low: int
    there: Mask


Given = Sequence[Filter | None]


class Filters:
    """The filters made for a stratum so far."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Filter | None] = {}

    def of(self, relation: Relation, column: int, rows: int) -> Filter | None:
        """Return the values in a column of a relation that does not change.

        None if they spread too wide, or if the relation is too large to look through it for `rows` rows.
        """
        key = relation.name, column
        if key not in self._known:
            if relation.count() > rows:
                return None
            self._known[key] = _values(relation, column)
        return self._known[key]


def _values(relation: Relation, column: int) -> Filter | None:
    room = relation.observed[column]
    if room.high - room.low >= relation.arrays.tuning.filters.widest:
        return None
    there = np.zeros(max(0, room.high - room.low + 1), bool)
    for batch, _ in relation.batches(relation.main, AFTER):
        there[relation.layout.codes(batch.rows, column) - np.uint64(room.low)] = True
    return Filter(room.low, there)


def reduced(seen: Seen, partners: Partners, filters: Given, bindings: int) -> Seen:
    """Return what is seen without rows that have no partner, as far as leaving them out is worth it."""
    layout, arrays = seen.order.layout, seen.arrays
    batches = [(_reduced(batch, layout, partners, filters, bindings, arrays), limit) for batch, limit in seen.batches]
    return Seen(seen.relation, seen.order, [one for one in batches if one[0].size], seen.ranked)


def _reduced(batch: Batch, layout: Layout, partners: Partners, filters: Given, bindings: int, arrays: Arrays) -> Batch:
    known = batch.reduced.get(partners) if batch.reduced is not None else None
    if known is not None:
        return known
    thresholds = arrays.tuning.filters
    few = batch.size < thresholds.least or not batch.size
    if few or batch.mark is not None or thresholds.probed * bindings < batch.size:
        return batch
    step = batch.size // thresholds.sample if thresholds.sample < batch.size else 1
    sample = Batch(np.ascontiguousarray(batch.rows[:, ::step]))
    worth = _filtered(sample, layout, partners, filters, arrays).size <= thresholds.worth * sample.size
    found = _filtered(batch, layout, partners, filters, arrays) if worth else batch
    batch.reduced = {**(batch.reduced or {}), partners: found}
    return found


def _filtered(batch: Batch, layout: Layout, partners: Partners, filters: Given, arrays: Arrays) -> Batch:
    rows = batch.rows
    for (column, _, _), one in zip(partners, filters, strict=True):
        if one is None:
            continue
        field = layout.fields[column]
        shift = field.shift if field.bits else 0
        offset = (field.base - one.low) & FULL
        rows = arrays(rows.shape[1]).among(rows, field.word, shift, (1 << field.bits) - 1, offset, one.there)
    return Batch(rows)

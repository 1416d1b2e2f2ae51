"""What a rule derives, packed, and how many new tuples that will make: for a limit on tuples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Places, Ranks, Words
from tidelog.run.columnar.rules.head_bitmap import HeadBitmap
from tidelog.run.columnar.storage.layout import Layout
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import CURRENT


@record
class Bag:
    """Derived head tuples, repeated as often as they are derived, packed in a layout of the head relation."""

    layout: Layout
    rows: Words
    rank: Ranks | None = None
    """The greatest rank in the body of each derivation, if ranks are followed."""
    times: Places | None = None
    """How often each row is derived, if rows were brought together."""
    ordered: bool = False
    """Whether the rows are in order."""
    bitmap: HeadBitmap | None = None
    """The bitmap that has found its rows to be new and distinct, if one has."""


Bags = Mapping[str, Sequence[Bag]]
"""The bags of each head relation."""


def new_tuples(head: Relation, bags: Iterable[Bag]) -> int:
    """Return a number of distinct tuples in bags that a relation does not have; there may be more, but not fewer."""
    groups: list[tuple[Layout, list[Words]]] = []
    for bag in bags:
        rows = next((rows for layout, rows in groups if layout == bag.layout), None)
        if rows is None:
            groups.append((bag.layout, [bag.rows]))
        else:
            rows.append(bag.rows)
    return max((_new(head, layout, rows) for layout, rows in groups), default=0)


def _new(head: Relation, layout: Layout, parts: list[Words]) -> int:
    together = np.concatenate(parts, axis=1)
    table = head.arrays(together.shape[1])
    rows = table.unique(table.sort(together))
    held = 0
    for batch, _ in head.batches(head.main, CURRENT):
        if layout == head.layout:
            rows = table.without(rows, batch.rows)
        else:
            held += batch.size
    return max(0, int(rows.shape[1]) - held)

"""How many new tuples derivations will make, before they are absorbed: for a limit on tuples."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.storage.layout import Layout
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.phases import CURRENT

if TYPE_CHECKING:
    from tidelog.run.columnar.rules.evaluate import Bag


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

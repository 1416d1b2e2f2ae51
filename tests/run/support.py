"""What a columnar engine keeps of each tuple, for tests."""

from __future__ import annotations

from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.rows import decoded
from tidelog.run.contract import Row


def support(engine: ColumnarEngine, relation: str) -> dict[Row, tuple[int, ...]]:
    """Return the rank and the counts of every tuple of a relation."""
    held, codec = engine.holding(relation)
    batch = held.gathered()
    names = [column.name for column in engine.plan.relations[relation].columns]
    counts = [] if batch.counts is None else batch.counts.tolist()
    return dict(zip(decoded(held, batch, names, codec), zip(batch.ranks().tolist(), *counts, strict=True), strict=True))

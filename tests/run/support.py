"""What an engine keeps of each tuple, for tests."""

from __future__ import annotations

from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.storage.rows import decoded
from tidelog.run.contract.engine import Row
from tidelog.run.tuples.engine import TuplesEngine


def support(engine: ColumnarEngine | TuplesEngine, relation: str) -> dict[Row, tuple[int, ...]]:
    """Return the rank and the counts of every tuple of a derived relation."""
    if isinstance(engine, TuplesEngine):
        found = engine._state.committed.relations.get(relation)
        return {} if found is None else {row: found.supports[row] for row in found.rows()}
    held, codec = engine.coded(relation)
    batch = held.gathered()
    names = [column.name for column in engine.plan.relations[relation].columns]
    counts = [] if batch.counts is None else batch.counts.tolist()
    return dict(zip(decoded(held, batch, names, codec), zip(batch.ranks().tolist(), *counts, strict=True), strict=True))

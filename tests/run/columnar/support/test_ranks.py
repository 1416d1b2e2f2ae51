"""Tuples that went and have derivations left come back above all others; ranks that grew too great start over."""

from __future__ import annotations

import pytest

from tidelog import Database
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.kernels.ranks import level
from tidelog.session.engines import EngineName

PROGRAM = """
input relation Edge(a: u32, b: u32)
output relation Reach(a: u32, b: u32)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z), x != z.
"""
EDGES = [(1, 2), (2, 3), (1, 4), (4, 5), (5, 3), (3, 6)]


@pytest.mark.parametrize("engine", ["columnar", "tuples"])
def test_a_tuple_comes_back_by_its_counts(engine: EngineName) -> None:
    db = Database(PROGRAM, engine=engine, strategy="ranked")
    with db.transaction() as tx:
        tx.insert("Edge", EDGES)
    with db.transaction() as tx:
        tx.delete("Edge", [(2, 3)])
    assert set(tx.result.changes["Reach"].deleted) == {(2, 3), (2, 6)}
    # (2, 3) and (1, 3) by the edge, what these two led to, and (1, 6) once more from (1, 3), which came back.
    assert [work.derivations for work in tx.result.profile] == [5]
    db.verify()


def test_ranks_that_are_too_great_start_over() -> None:
    db = Database(PROGRAM, strategy="ranked", tuning=DEFAULT.having({"counting.highest_rank": level(2)}))
    with db.transaction() as tx:
        tx.insert("Edge", EDGES)
    with db.transaction() as tx:
        tx.delete("Edge", [(2, 3)])
    (work,) = tx.result.profile
    assert (work.strategy, work.reason) == ("recompute", "ranks had become too great")
    assert set(tx.result.changes["Reach"].deleted) == {(2, 3), (2, 6)}
    db.verify()

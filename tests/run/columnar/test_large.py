"""Few probes of a relation that is too large to be searched without a fence, however its rows are held."""

from __future__ import annotations

import pytest

from tidelog import Database

PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Start(a: u32)
relation Path(a: u32, b: u32)
output relation Hit(b: u32)
output relation Source(a: u32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Hit(b) :- Start(a), Path(a, b).
Source(a) :- Start(b), Path(a, b).
"""
LENGTH = 500


@pytest.mark.parametrize("strategy", ["auto", "recompute", "ranked"])
def test_few_probes_of_many_tuples(strategy: str) -> None:
    db = Database(PROGRAM, strategy=strategy)
    with db.transaction() as tx:
        tx.insert("Edge", [(n, n + 1) for n in range(LENGTH)])
    assert db.relation("Path").count() == LENGTH * (LENGTH + 1) // 2
    for start in (3, 250, LENGTH):
        with db.transaction() as tx:
            tx.insert("Start", [(start,)])
        assert db.relation("Hit").count() == LENGTH - start
        assert db.relation("Source").count() == start
        with db.transaction() as tx:
            tx.delete("Start", [(start,)])
        assert db.relation("Hit").count() == db.relation("Source").count() == 0

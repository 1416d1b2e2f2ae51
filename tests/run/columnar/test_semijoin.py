"""Filters leave out what cannot be joined, and nothing else."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tidelog
from tidelog.run.columnar import pipeline, semijoin, small_rounds
from tidelog.run.columnar.batch import Batch

PROGRAM = """
input relation Assign(a: u32, b: u32)
input relation Load(a: u32, b: u32)
input relation Start(a: u32, b: u32)
output relation Points(a: u32, b: u32)
Points(a, b) :- Start(a, b).
Points(a, c) :- Assign(a, b), Points(b, c).
Points(y, w) :- Load(y, x), Points(x, z), Points(z, w).
"""


def test_filters_change_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (pipeline, semijoin):
        monkeypatch.setattr(module, "FROM", 1)
    monkeypatch.setattr(small_rounds, "SMALL", -1)
    kept: list[float] = []
    filtered = semijoin._filtered

    def noted(batch: Batch, *more: Any) -> Batch:
        found = filtered(batch, *more)
        kept.append(found.size / batch.size)
        return found

    monkeypatch.setattr(semijoin, "_filtered", noted)
    monkeypatch.setattr(semijoin, "SAMPLE", 1)
    monkeypatch.setattr(semijoin, "WORTH", 1.0)
    for seed in range(5):
        rng = random.Random(seed)
        facts = {
            name: [(rng.randrange(1, 30), rng.randrange(1, 30)) for _ in range(count)]
            for name, count in (("Assign", 25), ("Load", 4), ("Start", 12))
        }
        rows = []
        for engine, how in (("columnar", "recompute"), ("reference", "auto")):
            database = tidelog.Database(PROGRAM, engine=engine, strategy=how)
            with database.transaction() as tx:
                for name, given in facts.items():
                    tx.insert(name, given)
            rows.append(database.relation("Points").rows())
        assert rows[0] == rows[1]
    assert min(kept) < 0.5, "many tuples have no partner"

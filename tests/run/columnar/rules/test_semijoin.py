"""Filters leave out what cannot be joined, and nothing else."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tidelog
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.rules import semijoin
from tidelog.run.columnar.storage.batch import Batch

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
    values = {"filters.least": 1, "filters.sample": 1, "filters.worth": 1.0, "small_rounds.delta": -1}
    tuning = DEFAULT.having(values)
    kept: list[float] = []
    filtered = semijoin._filtered

    def noted(batch: Batch, *more: Any) -> Batch:
        found = filtered(batch, *more)
        kept.append(found.size / batch.size)
        return found

    monkeypatch.setattr(semijoin, "_filtered", noted)
    for seed in range(5):
        rng = random.Random(seed)
        facts = {
            name: [(rng.randrange(1, 30), rng.randrange(1, 30)) for _ in range(count)]
            for name, count in (("Assign", 25), ("Load", 4), ("Start", 12))
        }
        rows = []
        for database in (
            tidelog.Database(PROGRAM, strategy="recompute", tuning=tuning),
            tidelog.Database(PROGRAM, engine="reference", tuning=tuning),
        ):
            with database.transaction() as tx:
                for name, given in facts.items():
                    tx.insert(name, given)
            rows.append(database.relation("Points").rows())
        assert rows[0] == rows[1]
    assert min(kept) < 0.5, "many tuples have no partner"

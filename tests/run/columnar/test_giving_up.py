"""Updates that give way to evaluation from scratch between others that go on: what is kept of tuples stays right.

After an evaluation from scratch tuples have other ranks, and perhaps other things are counted, than an update leaves.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.generate.checking import follow
from tidelog.run.columnar import engine, store
from tidelog.run.contract import Switch, Work
from tidelog.run.maintain import choose
from tidelog.session.soak.histories import random_history

HISTORIES = 10
LENGTH = 4


@pytest.mark.parametrize("often", [0, 1, 1 << 30])
def test_updates_that_give_way_between_others(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SURVEYED", 0)
    monkeypatch.setattr(store, "OFTEN", often)
    monkeypatch.setitem(choose.LEAST, "work", 12_000.0)  # two rounds, but not three
    reasons: set[str] = set()

    def maintain(*given: Any) -> Work | None:
        done = choose.maintain(*given)
        reasons.update([] if done is None else [done.reason.partition(" ")[0]])
        return done

    monkeypatch.setattr(engine, "maintain", maintain)
    for seed in range(HISTORIES):
        follow(random_history(Random(seed), LENGTH), lambda plan: engine.ColumnarEngine(plan, switch=Switch(0.0)))
    assert {"the", "within"} <= reasons, "some updates took more than their budget, some stayed within it"

"""An update that is interrupted at any point leaves everything as it was, ranks and counts included."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tests.generate.pipeline import answers, plan_text
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.storage.batch import Journal
from tidelog.run.contract.engine import Delta
from tidelog.run.limits import Watch

PROGRAM = """
input relation Edge(a: bit<8>, b: bit<8>)
input relation Off(a: bit<8>)
output relation Reach(a: bit<8>, b: bit<8>)
output relation Reached(b: bit<8>, n: usize)
output relation Lost(a: bit<8>)
Reach(x, y) :- Edge(x, y), not Off(y).
Reach(x, z) :- Reach(x, y), Reach(y, z).
Reached(b, n) :- Reach(a, b), var n = a.group_by(b).count().
Lost(x) :- Edge(x, _), not Reached(x, _).
"""


class Interrupter:
    """Raises an interrupt after so many calls of what it stands before."""

    def __init__(self, calls: int) -> None:
        self.calls = calls

    def before(self, function: Any) -> Any:
        def call(*arguments: Any) -> Any:
            result = function(*arguments)
            self.calls -= 1
            if self.calls == 0:
                raise KeyboardInterrupt
            return result

        return call


@pytest.mark.parametrize("strategy", ["ranked", "modular", "auto", "recompute"])
@pytest.mark.parametrize("place", ["write", "look"])
def test_interrupted_anywhere(monkeypatch: pytest.MonkeyPatch, strategy: str, place: str) -> None:
    random = Random(7)
    engine = ColumnarEngine(plan_text(PROGRAM), strategy=strategy)
    edges = [(random.randrange(12), random.randrange(12)) for _ in range(30)]
    engine.update({"Edge": Delta(edges), "Off": Delta([(3,)])})
    interrupted = 0
    for calls in range(1, 60, 2):
        change = {
            "Edge": Delta([(random.randrange(12), random.randrange(12))], random.sample(edges, 3)),
            "Off": Delta([(random.randrange(12),)], [(3,)]),
        }
        before = answers(engine)
        interrupter = Interrupter(calls)
        with monkeypatch.context() as patch:
            owner = Journal if place == "write" else Watch
            patch.setattr(owner, place, interrupter.before(getattr(owner, place)))
            try:
                engine.update(change)
            except KeyboardInterrupt:
                interrupted += 1
                assert answers(engine) == before
        assert engine.verify() == []
        assert all(engine.count(name) == len(rows) for name, rows in answers(engine).items())
    assert interrupted > 2 or (strategy, place) == ("recompute", "write")

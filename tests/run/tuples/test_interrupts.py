"""An update that is interrupted at any line leaves everything as it was, what is kept of tuples included."""

from __future__ import annotations

import sys
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any

import pytest

from tests.generate.pipeline import answers, plan_text
from tidelog.run import tuples
from tidelog.run.contract.engine import Delta
from tidelog.run.tuples.engine import TuplesEngine

PROGRAM = """
input relation Edge(a: u8, b: u8)
input relation Off(a: u8)
output relation Reach(a: u8, b: u8)
output relation Reached(b: u8, n: usize)
Reach(x, y) :- Edge(x, y), not Off(y).
Reach(x, z) :- Reach(x, y), Edge(y, z).
Reached(b, n) :- Reach(a, b), var n = a.group_by(b).count().
"""
FOLDER = str(Path(tuples.__file__).parent)


class Interrupter:
    """Raises an interrupt at the n-th line that runs in the engine."""

    def __init__(self, lines: int) -> None:
        self.lines = lines

    def trace(self, frame: FrameType, event: str, _argument: Any) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            self.lines -= 1
            if self.lines == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return self.trace


def is_interrupted(engine: TuplesEngine, change: dict[str, Delta], lines: int) -> bool:
    """Update an engine; tell whether that was interrupted after so many lines."""
    before = sys.gettrace()
    sys.settrace(Interrupter(lines).trace)
    try:
        engine.update(change)
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


@pytest.mark.parametrize("strategy", ["ranked", "dred", "elastic", "modular", "recompute"])
@pytest.mark.parametrize("index", ["hash", "sorted", "spine"])
@pytest.mark.parametrize("seed", [7, 23])
def test_interrupted_anywhere(strategy: str, index: str, seed: int) -> None:
    random = Random(seed)
    engine = TuplesEngine(plan_text(PROGRAM), strategy=strategy, index=index)
    edges = [(random.randrange(9), random.randrange(9)) for _ in range(14)]
    engine.update({"Edge": Delta(edges), "Off": Delta([(3,)])})
    interrupts, lines = 0, 1
    while interrupts < 40:
        change = {
            "Edge": Delta([(random.randrange(9), random.randrange(9))], random.sample(edges, 2)),
            "Off": Delta([(random.randrange(9),)], [(random.randrange(9),)]),
        }
        before, token = answers(engine), engine.snapshot()
        if is_interrupted(engine, change, lines):
            interrupts += 1
            lines += random.randrange(1, 80)
        else:
            lines = random.randrange(1, 200)
            engine.restore(token)
        assert answers(engine) == before
        assert engine.verify() == []
        if interrupts % 4 == 0:
            engine.update(change)

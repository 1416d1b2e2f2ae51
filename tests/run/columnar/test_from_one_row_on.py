"""What the engine does for many rows only, it does here from one row on: on random programs and graphs it is right.

Maps of bits, directories, runs that meet, rows left out that were seen lately, derivations that are not counted: all
begin at some size. Here all those sizes are none, so that small inputs take the ways of large ones.
"""

from __future__ import annotations

from random import Random

import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import answers, plan_text
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session.soak.histories import random_history

HISTORIES = 60
GRAPHS = 8
PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Blue(a: u32, b: u32)
output relation Same(a: u32, b: u32)
output relation Triangle(a: u32, b: u32, c: u32)
output relation Mixed(a: u32, c: u32)
output relation Square(a: u32, b: u32, c: u32, d: u32)
output relation Reach(a: u32)
output relation Far(a: u32, n: u64)
Same(x, y) :- Edge(p, x), Edge(p, y), x != y.
Same(x, y) :- Edge(a, x), Same(a, b), Edge(b, y).
Same(x, x) :- Blue(x, _).
Triangle(x, y, z) :- Edge(x, y), Edge(y, z), Edge(x, z).
Mixed(x, z) :- Edge(x, y), Blue(y, z), Edge(z, x), not Blue(x, z).
Square(x, y, z, w) :- Edge(x, y), Edge(y, z), Edge(z, w), Edge(x, w), Same(x, w).
Reach(x) :- Blue(x, x).
Reach(y) :- Reach(x), Edge(x, y).
Far(x, 0) :- Reach(x).
Far(y, n * 3 + 1) :- Far(x, n), Edge(x, y), n < 1000.
"""


FEW = {
    "small_rounds.delta": -1,
    "joins.few": 0,
    "joins.choose_from": 0,
    "joins.order_from": 0,
    "joins.matches": 4,
    "joins.bindings": 8,
    "joins.condense_from": 1,
    "joins.repeats_from": 0,
    "batches.directory_probes": 1 << 30,
    "counting.surveyed": 0,
    "counting.often": 0,
    "maps.least": 0,
    "maps.spread": 1 << 30,
    "maps.large_from": 0,
    "maps.dense": 1 << 30,
}
TUNINGS = {
    "numpy": DEFAULT.having({**FEW, "compiling.rows": 1 << 60}),
    "compiled": DEFAULT.having({**FEW, "compiling.rows": 0}),
    "large maps": DEFAULT.having({**FEW, "compiling.rows": 0, "maps.small_bits": 0}),
}


@pytest.fixture(params=TUNINGS.values(), ids=[*TUNINGS])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    assert isinstance(request.param, Tuning)
    return request.param


@pytest.mark.long(reason="random programs and their histories")
@pytest.mark.parametrize("strategy", ["recompute", "auto"])
def test_random_programs(strategy: str, tuning: Tuning) -> None:
    def make(plan: Plan) -> ColumnarEngine:
        return ColumnarEngine(plan, strategy=strategy, threads=1 + len(plan.relations) % 2, tuning=tuning)

    for seed in range(HISTORIES if strategy == "recompute" else HISTORIES // 4):
        follow(random_history(Random(seed), 2), make)


@pytest.mark.long(reason="random graphs")
@pytest.mark.parametrize("threads", [1, 2])
def test_random_graphs(threads: int, tuning: Tuning) -> None:
    for seed in range(GRAPHS):
        random = Random(seed)
        plan = plan_text(PROGRAM)
        columnar = ColumnarEngine(plan, strategy="recompute", threads=threads, tuning=tuning)
        engines = columnar, ReferenceEngine(plan)
        for _ in range(2):  # the second time with higher codes
            top = random.choice([5, 12, 4000])
            nodes = random.sample(range(top), min(top, 9))
            edges = {
                name: {(random.choice(nodes), random.choice(nodes)) for _ in range(14)} for name in ("Edge", "Blue")
            }
            for engine in engines:
                engine.update({name: Delta(sorted(rows), ()) for name, rows in edges.items()})
            assert answers(engines[0]) == answers(engines[1])

"""Tuples that have lost their support are lifted where they have some: state, ranks and counts stay right."""

from __future__ import annotations

import math
from random import Random

import numpy as np
import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import plan_text
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.run.columnar.arrays.table import Places
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.kernels.ranks import ROOM
from tidelog.run.columnar.storage import relation
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.contract.engine import Delta, Fallback, Row, Update
from tidelog.run.contract.phase import Support
from tidelog.run.reference.engine import ReferenceEngine
from tidelog.session.soak.histories import random_history

POINTERS = """
input relation Address(a: u32, b: u32)
input relation Assign(a: u32, b: u32)
input relation Load(a: u32, b: u32)
input relation Store(a: u32, b: u32)
output relation Points(a: u32, b: u32)
output relation Reaches(a: u32, b: u32)
Points(y, x) :- Address(y, x).
Points(y, x) :- Assign(y, z), Points(z, x).
Points(y, w) :- Load(y, x), Points(x, z), Reaches(z, w).
Reaches(x, y) :- Points(x, y), not Store(x, x).
Points(z, w) :- Store(y, x), Points(y, z), Points(x, w).
"""
"""Andersen's analysis, mutually recursive: many derivations of a tuple, many of its own rank."""
INPUTS = {"Address": 0.6, "Assign": 1.2, "Load": 0.5, "Store": 0.5}


@pytest.fixture(autouse=True)
def only_support_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(relation.LINES, Support.RANKED, 1)


@pytest.fixture(params=["arrays", "kernels", "rounds", "scarce"])
def tuning(request: pytest.FixtureRequest) -> Tuning:
    """Numpy, kernels for each operation, kernels for whole rounds, and these with hardly any room."""
    found = DEFAULT.having({"compiling.rows": 1 << 60 if request.param == "arrays" else 0})
    if request.param in {"arrays", "kernels"}:
        return found.having({"small_rounds.delta": -1})
    scarce = {"small_rounds.derivations": 12, "small_rounds.look": 20, "small_rounds.pause": 1}
    return found.having(scarce) if request.param == "scarce" else found


def lifted(engine: ColumnarEngine) -> int:
    """Return how many tuples have a rank between levels."""
    ranks = [engine.coded(name)[0].gathered().ranks() for name in ("Points", "Reaches")]
    return sum(int(np.count_nonzero(rank % ROOM)) for rank in ranks)


def counts(batch: Batch) -> Places:
    """Return the support of tuples."""
    assert batch.counts is not None
    return batch.counts


def pairs(random: Random, size: int, count: int) -> set[tuple[int, ...]]:
    """Return up to so many pairs of numbers below a size."""
    return {(random.randrange(size), random.randrange(size)) for _ in range(count)}


def loaded(facts: dict[str, set[tuple[int, ...]]], tuning: Tuning, *, counted: bool) -> ColumnarEngine:
    """Return an engine that holds facts, and does not give updates up; perhaps nobody has counted support there."""
    load = DEFAULT.budgets.load if counted else math.inf
    loading = tuning.having({"budgets.work": 0.0, "budgets.load": load, "budgets.counted": 0.0})
    engine = ColumnarEngine(plan_text(POINTERS), fallback=Fallback(0.0), tuning=loading)
    engine.update({name: Delta(sorted(rows)) for name, rows in facts.items()})
    engine._tuning = tuning.having({"budgets.work": math.inf})
    assert engine.coded("Points")[0].counted == counted
    return engine


@pytest.mark.long(reason="random programs and their histories")
@pytest.mark.parametrize("counted", [True, False])
def test_pointers(counted: bool, tuning: Tuning) -> None:
    found = 0
    for seed in range(6):
        random = Random(seed)
        size = random.choice([6, 10])
        facts = {name: pairs(random, size, int(share * size)) for name, share in INPUTS.items()}
        engine, reference = loaded(facts, tuning, counted=counted), ReferenceEngine(plan_text(POINTERS))
        reference.update({name: Delta(sorted(rows)) for name, rows in facts.items()})
        for _ in range(10):
            name = random.choice(sorted(facts))
            gone = {row for row in facts[name] if random.random() < 0.2}
            new = pairs(random, size, random.choice([0, 2])) - gone
            facts[name] = (facts[name] - gone) | new
            change = {name: Delta(sorted(new), sorted(gone))}
            assert changed(engine.update(change)) == changed(reference.update(change))
            assert not engine.verify()
            found += lifted(engine)
    assert found > 10


def changed(update: Update) -> dict[str, tuple[frozenset[Row], frozenset[Row]]]:
    """Return the changes of the relations that rules derive."""
    changes = {name: update.changes.get(name, Delta()) for name in ("Points", "Reaches")}
    return {name: (frozenset(one.inserted), frozenset(one.deleted)) for name, one in changes.items()}


def test_kernels_lift_as_rounds_one_by_one_do() -> None:
    compiled = DEFAULT.having({"compiling.rows": 0})
    tunings = compiled, compiled.having({"small_rounds.delta": -1})
    found = 0
    for seed in range(4):
        random = Random(seed)
        facts = {name: pairs(random, 12, int(share * 12)) for name, share in INPUTS.items()}
        engines = [loaded(facts, tuning, counted=True) for tuning in tunings]
        for _ in range(6):
            name = random.choice(sorted(facts))
            gone = {row for row in facts[name] if random.random() < 0.3}
            facts[name] -= gone
            for engine in engines:
                engine.update({name: Delta((), sorted(gone))})
            for one in ("Points", "Reaches"):
                batches = [engine.coded(one)[0].gathered() for engine in engines]
                assert (batches[0].ranks() == batches[1].ranks()).all()
                told, uncounted = (counts(batch) for batch in reversed(batches))
                assert ((told == uncounted) | (uncounted < 0)).all(), "what the kernel does not count it leaves open"
            found += lifted(engines[0])
    assert found > 10


def test_random_programs(tuning: Tuning) -> None:
    for seed in range(200, 206):
        follow(random_history(Random(seed), 4), lambda plan: ColumnarEngine(plan, closures=False, tuning=tuning))


def test_what_was_lifted_is_put_back_with_the_rest(tuning: Tuning) -> None:
    random = Random(3)
    facts = {name: pairs(random, 20, int(share * 20)) for name, share in INPUTS.items()}
    engine = loaded(facts, tuning, counted=True)
    token = engine.snapshot()
    engine.update({"Assign": Delta((), sorted(facts["Assign"])[::3])})
    assert lifted(engine)
    engine.restore(token)
    assert not lifted(engine)
    assert not engine.verify()

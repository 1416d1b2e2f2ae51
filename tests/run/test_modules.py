"""Strategy `modular` where modules take turns: a closure and other recursive rules in one stratum."""

from __future__ import annotations

import math
from functools import partial
from random import Random

import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import plan_text
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.base.tuning.thresholds import Paths
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Fallback
from tidelog.session.soak.draw.closures import Closures
from tidelog.session.soak.draw.mixed import mixed_history
from tidelog.session.soak.histories import history_of

DECLARED = """
input relation E(a: u32, b: u32)
input relation F(a: u32, b: u32)
output relation T(a: u32, b: u32)
output relation R(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), T(y, z).
T(x, y) :- R(x, y).
"""
MIXED = {
    "step": "R(x, z) :- T(x, y), F(y, z).",
    "symmetric": "R(x, z) :- T(x, y), F(y, z). T(x, y) :- T(y, x).",
    "equivalence": "R(x, z) :- T(x, y), F(z, y). T(x, y) :- T(y, x). T(x, x) :- T(x, _). T(x, x) :- F(x, _).",
    "two closures": "R(x, y) :- F(x, y). R(x, z) :- R(x, y), R(y, z). R(x, z) :- T(x, y), F(y, z).",
    "reflexive": "R(x, z) :- T(x, y), F(z, y). T(x, x) :- T(x, _).",
}


@pytest.mark.parametrize("rules", MIXED.values(), ids=list(MIXED))
def test_changes_of_facts_and_rules(rules: str) -> None:
    one = plan_text(DECLARED + rules)
    other = plan_text(DECLARED + rules + " T(x, y) :- F(y, x).")
    engines = [ColumnarEngine(one, strategy=strategy) for strategy in ("modular", "recompute")]
    for seed in range(40):
        random = Random(seed)
        facts = {
            name: Delta(
                [(random.randrange(9), random.randrange(9)) for _ in range(random.randint(0, 4))],
                random.sample(sorted(engines[0].rows(name)), min(2, engines[0].count(name))),
            )
            for name in "EF"
        }
        plan = random.choice((None, None, one, other))
        updates = [engine.update(facts, plan) for engine in engines]
        for name in "TR":
            assert sorted(engines[0].rows(name)) == sorted(engines[1].rows(name)), f"seed {seed}"
            changes = [update.changes.get(name, Delta()) for update in updates]
            assert len({(frozenset(c.inserted), frozenset(c.deleted)) for c in changes}) == 1, f"seed {seed}"
        assert not engines[0].verify()


@pytest.mark.long(reason="random programs and their histories")
def test_random_programs() -> None:
    for seed in range(24):
        random = Random(seed)
        follow(
            history_of(Closures(random, mixed=True).program(), random, 8),
            lambda plan: ColumnarEngine(plan, strategy="modular"),
        )


@pytest.mark.long(reason="500 random histories")
def test_random_programs_of_modules_under_all_strategies() -> None:
    for seed in range(500):
        random = Random(seed)
        strategy = random.choice(("modular", "auto", "auto", "recompute"))
        fallback = Fallback(math.inf) if strategy == "auto" and random.random() < 0.7 else None
        tuning = Tuning.drawn(random, Paths()) if random.random() < 0.7 else DEFAULT
        made = partial(ColumnarEngine, strategy=strategy, fallback=fallback, tuning=tuning)
        follow(mixed_history(random, 5), made)


INVERSE = DECLARED + "R(y, x) :- T(x, y). T(y, x) :- R(x, y)."


@pytest.mark.parametrize(
    ("rules", "edges", "published"),
    [
        (INVERSE, [(i, i + 1) for i in range(200)], 60_299),
        (DECLARED + MIXED["symmetric"], [(i, i + 1) for i in range(199)], 200 * 200),
        (DECLARED + MIXED["step"], [(i, i + 1) for i in range(200)], 200 * 201),
    ],
    ids=["inverse", "clique", "path"],
)
@pytest.mark.parametrize("strategy", ["auto", "modular", "recompute"])
def test_derivations_are_within_twice_those_of_algorithm_2(
    strategy: str, rules: str, edges: list[tuple[int, int]], published: int
) -> None:
    """With edges walked and words written inside the module, which count like derivations."""
    engine = ColumnarEngine(plan_text(rules), strategy=strategy)
    work = engine.update({"E": Delta(edges), "F": Delta([(5, 7)])}).work
    assert sum(one.derivations for one in work) <= 2 * published
    assert {name for one in work for name in one.relations} == {"T", "R"}


def test_a_path_takes_a_square_not_a_cube_of_instances() -> None:
    """Example 1: n facts in a row have n (n + 1) / 2 paths, in some n cubed / 6 instances of the transitive rule."""
    n = 200
    taken = {}
    for strategy in ("modular", "ranked"):
        engine = ColumnarEngine(plan_text(DECLARED + MIXED["step"]), strategy=strategy)
        (work,) = engine.update({"E": Delta([(i, i + 1) for i in range(n)])}).work[-1:]
        assert engine.count("T") == n * (n + 1) // 2
        taken[strategy] = work.derivations
    assert taken["modular"] < n * n
    assert taken["ranked"] > n**3 / 6


def test_an_edge_that_can_be_walked_round_takes_nothing_with_it() -> None:
    """Of all pairs that it connected none is deleted, to be found again; where it cannot, they all are."""
    n = 40
    engine = ColumnarEngine(plan_text(DECLARED + MIXED["step"]), fallback=Fallback(math.inf))
    engine.update({"E": Delta([*((i, i + 1) for i in range(2 * n)), (n, n + 2)])})
    pairs = engine.count("T")
    (work,) = engine.update({"E": Delta([], [(n, n + 2)])}).work
    assert (engine.count("T"), work.derivations < 10) == (pairs, True)
    (work,) = engine.update({"E": Delta([], [(n, n + 1)])}).work
    assert engine.count("T") == n * (n + 1) // 2 + (n - 1) * n // 2
    assert work.derivations > n * n
    assert not engine.verify()

"""Closures evaluated by their own structures: the answers of the reference engine, and rows written only when read.

TIDELOG_HISTORIES sets the number of histories for each strategy.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from random import Random

import pytest

from tests.generate.checking import follow
from tests.generate.pipeline import plan_text
from tidelog import Database
from tidelog.base.errors import LimitError
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Plan
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.columnar.storage.lazy import LazyBatch
from tidelog.run.contract.engine import Delta, Limits, Update
from tidelog.session.engines import StrategyName
from tidelog.session.soak.brute import brute_force
from tidelog.session.soak.draw.closures import closure_history
from tidelog.session.soak.histories import History

HISTORIES = int(os.environ.get("TIDELOG_HISTORIES", "72"))
CLOSURE = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), T(y, z).
"""
RING = [(i, (i + 1) % 50) for i in range(50)]


@pytest.mark.long(reason="random graphs")
@pytest.mark.parametrize("strategy", ["auto", "recompute"])
@pytest.mark.parametrize("block", range(4))
def test_histories_of_closures(block: int, strategy: StrategyName) -> None:
    for seed in range(block, HISTORIES, 4):
        follow(closure_history(Random(seed)), lambda plan: ColumnarEngine(plan, strategy=strategy))


@pytest.mark.long(reason="random graphs")
@pytest.mark.parametrize("block", range(4))
def test_histories_that_nobody_reads(block: int) -> None:
    for seed in range(block, HISTORIES, 4):
        follow_changes(closure_history(Random(1_000 + seed)), ColumnarEngine)


def follow_changes(history: History, make: Callable[[Plan], ColumnarEngine]) -> None:
    """Play a history and read nothing but what changes, and how many tuples there are; sometimes undo a step."""
    engine = make(plan_text(str(history.start)))
    program = history.start
    known = {name: frozenset(rows) for name, rows in brute_force(program, tries=3_000_000).items()}
    for number, (step, after) in enumerate(history.programs()):
        place = f"step {number}: {step}\n{after}"
        facts = {
            name: Delta(step.inserted.get(name, ()), step.deleted.get(name, ()))
            for name in step.inserted.keys() | step.deleted.keys()
        }
        plan = plan_text(str(after)) if step.rules_added or step.rules_removed else None
        if number % 3 == 2:
            token = engine.snapshot()
            engine.update(facts, plan)
            engine.restore(token)
            assert {name: engine.count(name) for name in known} == {name: len(rows) for name, rows in known.items()}
        token = engine.snapshot()
        update = engine.update(facts, plan)
        expected = brute_force(after, tries=3_000_000)
        for name, rows in expected.items():
            change = update.changes.get(name, Delta())
            inserted, deleted = frozenset(change.inserted), frozenset(change.deleted)
            assert (inserted, deleted) == (rows - known[name], known[name] - rows), f"{name} after {place}"
            assert len(change.inserted) == len(inserted), f"{name} after {place}"
            assert engine.count(name) == len(rows), f"{name} after {place}"
        known = {name: frozenset(rows) for name, rows in expected.items()}
    assert {name: frozenset(engine.rows(name)) for name in known} == known
    assert not engine.verify()


def test_nothing_is_written_until_it_is_read() -> None:
    engine = ColumnarEngine(plan_text(CLOSURE), strategy="recompute")
    update = engine.update({"E": Delta(RING)})
    assert [work.strategy for work in update.work] == ["closure"]
    (batch,) = engine.coded("T")[0].main.settled
    assert isinstance(batch, LazyBatch)
    assert engine.count("T") == len(update.changes["T"].inserted) == 2500
    assert engine.contains("T", (3, 2))
    assert not engine.contains("T", (3, 50))
    assert not batch.written
    assert sorted(engine.rows("T")) == [(x, y) for x in range(50) for y in range(50)]
    assert batch.written


@pytest.mark.parametrize("read", [False, True])
def test_values_that_are_gone_leave_nothing(read: bool) -> None:
    engine = ColumnarEngine(plan_text(CLOSURE), tuning=DEFAULT.having({"closures.nodes_spare": 10}))
    engine.update({"E": Delta([(0, 1)])})
    for number in range(1, 60):
        update = engine.update({"E": Delta([(number, number + 1)], [(number - 1, number)])})
        assert [work.strategy for work in update.work] == ["closure"]
        assert [list(part) for part in (update.changes["T"].inserted, update.changes["T"].deleted)] == [
            [(number, number + 1)],
            [(number - 1, number)],
        ]
        if read:
            assert list(engine.rows("T")) == [(number, number + 1)]
        assert engine._state.closed["T"].values.count <= 20
    assert list(engine.rows("T")) == [(59, 60)]


def test_limits() -> None:
    engine = ColumnarEngine(plan_text(CLOSURE), strategy="recompute")
    with pytest.raises(LimitError, match=r"stratum 0 \(T\) took more than 2499 new tuples"):
        engine.update({"E": Delta(RING)}, limits=Limits(tuples=2499))
    assert engine.count("T") == 0


def test_wide_keys_and_many_words() -> None:
    text = """
    input relation E(g: signed<64>, h: signed<64>, a: signed<64>, b: signed<64>)
    output relation T(g: signed<64>, h: signed<64>, a: signed<64>, b: signed<64>)
    T(g, h, x, y) :- E(g, h, x, y).
    T(g, h, x, z) :- T(g, h, x, y), T(g, h, y, z).
    """
    engine = ColumnarEngine(plan_text(text), strategy="recompute")
    low, high = -(1 << 63), (1 << 63) - 1
    engine.update({"E": Delta([(low, high, low, 0), (low, high, 0, high), (high, low, 0, low)])})
    assert sorted(engine.rows("T")) == [
        (low, high, low, 0),
        (low, high, low, high),
        (low, high, 0, high),
        (high, low, 0, low),
    ]


SAME = """
input relation E(a: u32, b: u32)
input relation F(a: u32, b: u32)
output relation S(a: u32, b: u32)
output relation U(a: u32)
U(x) :- S(x, 3), not S(3, x).
"""
GENERATIONS = [
    "S(x, y) :- E(p, x), E(p, y), x != y. S(x, y) :- E(a, x), S(a, b), E(b, y).",
    "S(x, y) :- E(p, x), E(p, y). S(x, y) :- E(x, a), S(a, b), F(b, y), y != x.",
    "S(x, y) :- F(x, y). S(x, y) :- E(x, a), S(b, a), F(b, y).",
    "S(x, y) :- F(x, y). S(x, y) :- E(x, 7), F(7, y). S(x, y) :- E(x, a), S(b, a), F(b, y), x != y.",
]


@pytest.mark.parametrize("rules", GENERATIONS)
@pytest.mark.parametrize("form", ["plain", "compiled", "too large"])
def test_same_generation(rules: str, form: str) -> None:
    most = {"closures.generation_bytes": 0} if form == "too large" else {}
    tuning = DEFAULT.having({"compiling.edges": 0 if form == "compiled" else 1 << 60, **most})
    plan = plan_text(SAME + rules)
    engine = ColumnarEngine(plan, strategy="recompute", tuning=tuning)
    other = ColumnarEngine(plan, strategy="recompute", closures=False)
    for seed in range(6):
        random = Random(seed)
        nodes = random.choice((8, 90))
        facts = {
            name: Delta([(random.randrange(nodes), random.randrange(nodes)) for _ in range(nodes)], engine.rows(name))
            for name in "EF"
        }
        update = engine.update(facts)
        assert {name: set(change.inserted) for name, change in update.changes.items()} == {
            name: set(change.inserted) for name, change in other.update(facts).changes.items()
        }
        for name in "SU":
            assert engine.count(name) == other.count(name)
            assert list(engine.rows(name)) == list(other.rows(name))
        if form != "too large":
            assert [(work.strategy, work.rounds) for work in update.work][:1] == [("closure", 1)]


@pytest.mark.parametrize("rules", GENERATIONS)
@pytest.mark.parametrize("form", ["plain", "too large"])
def test_same_generation_whose_rules_are_given_up(rules: str, form: str) -> None:
    """It is evaluated as such then, and at each change, until that has cost more than its rules; rules change, too."""
    small = {"budgets.work": 0.0, "budgets.least": 0.0, "budgets.share": 0.001, "budgets.risk": 0.0}
    tuning = DEFAULT.having({**small, **({"closures.generation_bytes": 0} if form == "too large" else {})})
    plan, more = plan_text(SAME + rules), plan_text(SAME + rules + " S(x, y) :- F(x, y), S(y, x), E(y, _).")
    engine, other = ColumnarEngine(plan, tuning=tuning), ColumnarEngine(plan, strategy="dred", closures=False)
    random, reasons = Random(3), list[str]()
    for number in range(50):
        sizes = (9, 3) if number < 24 else (1, 0)
        change = {
            name: Delta(*([(random.randrange(20), random.randrange(20)) for _ in range(size)] for size in sizes))
            for name in "EF"
        }
        now = more if number in (20, 21, 22) else plan
        update, expected = engine.update(change, now), other.update(change, now)
        assert {name: (set(one.inserted), set(one.deleted)) for name, one in update.changes.items()} == {
            name: (set(one.inserted), set(one.deleted)) for name, one in expected.changes.items()
        }
        assert set(engine.rows("S")) == set(other.rows("S"))
        assert not engine.verify()
        reasons += [work.reason for work in update.work if work.relations == ("S",)]
    assert form != "plain" or "its rules had been given up" in reasons


def test_same_generation_goes_back_to_its_rules() -> None:
    tuning = DEFAULT.having({"budgets.work": 0.0, "budgets.least": 0.0, "budgets.share": 0.001, "budgets.risk": 0.0})
    engine = ColumnarEngine(plan_text(SAME + GENERATIONS[0]), tuning=tuning)
    tree = [(number // 2, number) for number in range(1, 400)]
    engine.update({"E": Delta(tree)})
    assert engine.update({"E": Delta([], tree[300:303])}).work[0].strategy == "closure"
    engine._tuning = DEFAULT
    ways = []
    for number in range(30):
        change = Delta([tree[-1]]) if number % 2 else Delta([], [tree[-1]])
        ways += [work.strategy for work in engine.update({"E": change}).work if work.relations == ("S",)]
        assert len(engine.rows("S")) == engine.count("S")
    assert not engine.verify()
    often = ways.index("recompute")
    assert 3 < often < 25
    assert ways == ["closure"] * often + ["recompute"] + ["ranked"] * (29 - often)


@pytest.mark.parametrize("strategy", ["auto", "modular"])
def test_closures_read_for_the_first_time_after_a_deletion(strategy: StrategyName) -> None:
    """Sparse road-like graphs, of whose closures nobody has read a row before edges went."""
    random = Random(14)
    edges = {
        (a, min(9_999, max(0, a + random.randint(-6, 6)))) for a in (random.randrange(10_000) for _ in range(9_000))
    }
    edges |= {(1, 1), (0, 1)}
    gone = {(0, 1), *random.sample(sorted(edges), len(edges) // 20)}
    database = Database(
        """
        input relation Road(a: u32, b: u32)
        output relation Reach(a: u32, b: u32)
        Reach(a, b) :- Road(a, b).
        Reach(a, c) :- Reach(a, b), Road(b, c).
        """,
        strategy=strategy,
    )
    with database.transaction() as tx:
        tx.insert("Road", sorted(edges))
    with database.transaction() as tx:
        tx.delete("Road", sorted(gone))
    expected = closure_of_pairs(edges - gone)
    assert set(database.relation("Reach").rows(ordered=False)) == expected
    assert set(tx.result.changes["Reach"].deleted) == closure_of_pairs(edges) - expected


def closure_of_pairs(edges: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Search from every node."""
    after: dict[int, list[int]] = {}
    for a, b in edges:
        after.setdefault(a, []).append(b)
    found: set[tuple[int, int]] = set()
    for start in after:
        seen: set[int] = set()
        waiting = [start]
        while waiting:
            for b in after.get(waiting.pop(), ()):
                if b not in seen:
                    seen.add(b)
                    waiting.append(b)
        found |= {(start, b) for b in seen}
    return found


FEW = """
input relation S(a: u32)
input relation E(a: u32, b: u32)
output relation R(s: u32, b: u32)
R(x, x) :- S(x).
R(x, z) :- R(x, y), E(y, z).
"""
SPARSE = [(number, number + 1) for number in range(4_000) if number % 5 != 4]
DENSE = [(a, (a * 7 + b * b) % 60) for a in range(60) for b in range(8)]


def kinds(update: Update) -> list[str]:
    """How the strata of an update were brought up to date."""
    return [work.strategy for work in update.work]


def test_what_few_sources_reach_is_kept_by_rules() -> None:
    """Their updates cost what the change does: following a closure costs what its graph does."""
    plan = plan_text(FEW)
    tuning = DEFAULT.having({"budgets.least": DEFAULT.budgets.work})  # to start over costs little: nothing is given up
    engine = ColumnarEngine(plan, tuning=tuning)
    other = ColumnarEngine(plan, tuning=tuning.having({"closures.few": 1 << 20}))
    load = {"S": Delta([(0,), (45,)]), "E": Delta(SPARSE)}
    update = engine.update(load)
    assert kinds(update) == ["recompute"]
    assert "its rules took less than a closure" in update.work[0].reason
    assert kinds(other.update(load)) == ["closure"]
    for change in ({"E": Delta([], [(3, 4)])}, {"E": Delta([(3, 4), (4, 5)])}, {"S": Delta([(100,)], [(0,)])}):
        update, expected = engine.update(change), other.update(change)
        assert kinds(expected) == ["closure"]
        assert kinds(update) == ["ranked"]
        assert update.work[0].derivations < expected.work[0].derivations
        assert set(update.changes["R"].inserted) == set(expected.changes["R"].inserted)
        assert set(update.changes["R"].deleted) == set(expected.changes["R"].deleted)
        assert not engine.verify()


def test_a_closure_whose_changes_cost_more_than_its_rules_gives_way_to_them() -> None:
    """The graph is gone over for each change, which costs its rules little: in the long run they cost less."""
    tuning = DEFAULT.having({"closures.tried": 0.0, "budgets.least": DEFAULT.budgets.work})
    engine, other = (ColumnarEngine(plan_text(FEW), strategy=strategy, tuning=tuning) for strategy in ("auto", "dred"))
    sparse = [(number, number + 1) for number in range(60_000) if number % 5 != 4]
    load = {"S": Delta([(0,), (45,)]), "E": Delta(sparse)}
    assert kinds(engine.update(load)) == ["closure"]
    other.update(load)
    ways: list[str] = []
    for number in range(4):
        change = {"E": Delta([(3, 4)]) if number % 2 else Delta([], [(3, 4)])}
        update, expected = engine.update(change), other.update(change)
        assert set(update.changes["R"].inserted) == set(expected.changes["R"].inserted)
        assert set(update.changes["R"].deleted) == set(expected.changes["R"].deleted)
        assert not engine.verify()
        ways += kinds(update)
    assert ways == ["closure", "recompute", *["ranked"] * 2]
    engine._tuning = tuning.having({"budgets.least": 0.0, "budgets.work": 0.0})
    (work,) = engine.update({"E": Delta([(4, 5)])}).work
    assert work.reason.startswith("the update took more than"), "what rules do in vain is given up for a closure again"
    assert kinds(engine.update({"E": Delta([], [(4, 5)])})) == ["closure"]
    assert not engine.verify()


def test_rules_that_take_more_than_a_closure_are_given_up() -> None:
    engine = ColumnarEngine(plan_text(FEW), strategy="recompute", tuning=DEFAULT.having({"closures.tried": 0.5}))
    update = engine.update(
        {"S": Delta([(number,) for number in range(5)]), "E": Delta(DENSE)}, limits=Limits(tuples=300)
    )
    assert kinds(update) == ["closure"]
    assert engine.count("R") == 300, "and what they had found counts once"


def test_work_on_graphs_counts_like_derivations() -> None:
    engine = ColumnarEngine(plan_text(CLOSURE))
    (work,) = engine.update({"E": Delta(RING)}).work
    assert work.strategy == "closure"
    assert work.derivations > 3 * len(RING), "every edge is walked, to number components and to unite their rows"
    (work,) = engine.update({"E": Delta([(50, 51), (51, 52)])}).work
    assert work.derivations >= len(RING) + 2, "a graph is altered as a whole"

"""Updates that give way to evaluation from scratch between others that go on: what is kept of tuples stays right.

After an evaluation from scratch tuples have other ranks, and perhaps other things are counted, than an update leaves:
support is counted when it is needed, unless so much is new that it is a load.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from tests.generate.checking import follow
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar import engine
from tidelog.run.columnar.support import absorb, counting
from tidelog.run.contract.engine import Delta, Fallback, Row, Work
from tidelog.run.maintain import choose, cost
from tidelog.run.threads import share
from tidelog.session.database import Database, plan_of
from tidelog.session.soak.histories import random_history

HISTORIES = 10
LENGTH = 4


@pytest.mark.parametrize("often", [0, 1, 1 << 30])
def test_updates_that_give_way_between_others(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Work enough for two rounds, but not for three.
    tuning = DEFAULT.having(
        {"counting.surveyed": 0, "counting.often": often, "budgets.work": 20_000.0, "budgets.counted": 0.0}
    )
    reasons: set[str] = set()

    def maintain(*given: Any) -> Work | None:
        done = choose.maintain(*given)
        reasons.update([] if done is None else [done.reason.partition(" ")[0]])
        return done

    monkeypatch.setattr(engine, "maintain", maintain)
    for seed in range(HISTORIES):
        follow(
            random_history(Random(seed), LENGTH),
            lambda plan: engine.ColumnarEngine(plan, fallback=Fallback(0.0), tuning=tuning),
        )
    assert {"the", "within"} <= reasons, "some updates took more than their budget, some stayed within it"


@pytest.mark.long(reason="random histories")
@pytest.mark.parametrize("often", [0, 1 << 30])
@pytest.mark.parametrize("small", [-1, DEFAULT.small_rounds.delta])
def test_support_is_found_when_it_is_needed(small: int, often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some updates give way, which leaves tuples uncounted; others go on from there: doubtful tuples go, or stay."""
    tuning = DEFAULT.having(
        {
            "budgets.load": math.inf,
            "budgets.work": 20_000.0,
            "small_rounds.delta": small,
            "counting.surveyed": 0,
            "counting.often": often,
            "budgets.counted": 0.0,
        }
    )
    kept = lost = 0
    settled = absorb.settled

    def settling(relation: Any, *given: Any) -> Any:
        nonlocal kept, lost
        assert not relation.counted or relation.lines == 1
        found = settled(relation, *given)
        lost += found[0].size
        kept += relation.main.deleted.size - found[0].size
        return found

    monkeypatch.setattr(counting, "settled", settling)
    for seed in range(100, 100 + 2 * HISTORIES):
        follow(
            random_history(Random(seed), 3 * LENGTH),
            lambda plan: engine.ColumnarEngine(plan, fallback=Fallback(0.01), tuning=tuning),
        )
    assert kept > 10
    assert lost > 10


ROADS = """
input relation Road(a: u32, b: u32)
output relation Even(a: u32, b: u32)
output relation Odd(a: u32, b: u32)
Odd(x, y) :- Road(x, y).
Even(x, z) :- Odd(x, y), Road(y, z).
Odd(x, z) :- Even(x, y), Road(y, z).
"""


def test_relations_side_by_side(monkeypatch: pytest.MonkeyPatch) -> None:
    """Relations of a stratum are released and absorbed by several threads; some updates are given up in between."""
    tuning = DEFAULT.having({"threads.rules_from": 1, "small_rounds.delta": -1})
    together, given_up = {"_absorb": 0, "_release": 0}, 0

    def sharing(pool: Any, function: Any, calls: Any) -> Any:
        if pool is not None and function.__name__ in together:
            together[function.__name__] += 1
        return share(pool, function, calls)

    monkeypatch.setattr(counting, "share", sharing)
    random = Random(1)
    roads = sorted({(random.randrange(30), random.randrange(30)) for _ in range(60)})
    plan = plan_of(Database(ROADS))
    followed = engine.ColumnarEngine(plan, threads=3, fallback=Fallback(0.5), tuning=tuning)
    recomputed = engine.ColumnarEngine(plan, strategy="recompute")
    for least in (1e9, 1e9, 60_000.0, 1e9, 60_000.0, 1e9):
        followed._tuning = tuning.having({"budgets.work": least})
        some = random.sample(roads, 8)
        for change in (Delta(roads), Delta((), some), Delta(some)):
            found, expected = (one.update({"Road": change}) for one in (followed, recomputed))
            assert _sets(found.changes) == _sets(expected.changes)
            assert not followed.verify()
            given_up += sum(work.reason.startswith("the update took") for work in found.work)
    assert min(together.values()) > 5
    assert given_up


def _sets(changes: Mapping[str, Delta]) -> dict[str, tuple[set[Row], set[Row]]]:
    return {name: (set(change.inserted), set(change.deleted)) for name, change in changes.items()}


def test_an_update_in_vain_makes_the_next_one_cheaper() -> None:
    last, budgets = cost.Cost(1e9, 1.0), []
    for _ in range(6):
        budgets.append(cost.budget_of(Fallback(0.2), last, 100, 0.0, DEFAULT.budgets, losing=True).work)
        last = cost.Cost(1e9, 1.0, last.after(last.past[True].giving_up(100), losing=True).past)
    assert budgets == [2e8, 1e8, 5e7, 2.5e7, 2e8, 1e8]
    assert cost.budget_of(Fallback(0.2), last, 10, 0.0, DEFAULT.budgets, losing=True).work == 2e8, (
        "a smaller one has all"
    )
    assert cost.budget_of(Fallback(0.2), last, 100, 0.0, DEFAULT.budgets, losing=False).work == 2e8, (
        "another kind has all"
    )
    last = last.in_place(losing=True)
    smaller = cost.Cost(4e9, 1.0, last.past)
    assert cost.budget_of(Fallback(0.2), smaller, 100, 0.0, DEFAULT.budgets, losing=True).work == 5e7, (
        "held against what was done instead"
    )
    done = last.after(last.past[True].doing(100), losing=True)
    assert cost.budget_of(Fallback(0.2), done, 100, 0.0, DEFAULT.budgets, losing=True).work == 2e8


def test_a_budget_goes_with_the_tuples() -> None:
    budget = cost.Budget(work=1e9)
    assert [budget.less(left, DEFAULT.budgets) for left in (2.0, 1.0, 0.5, 0.25, 0.0)] == [0, 0, 5e8, 7.5e8, 7.5e8]
    assert cost.Budget(work=DEFAULT.budgets.work).less(0.0, DEFAULT.budgets) == 0


GRAPH = """
input relation Edge(a: u32, b: u32)
input relation Skip(a: u32)
output relation Reach(a: u32, b: u32)
output relation Far(a: u32, n: usize)
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z), not Skip(y).
Far(x, n) :- Reach(x, y), var n = y.group_by(x).count().
"""


@pytest.mark.long(reason="random histories")
def test_no_update_pays_for_counts_it_does_not_need() -> None:
    """A load counts; an update that gives way does not, nor one not even tried; a small one goes on from there."""
    tuning = DEFAULT.having({"budgets.work": 300_000.0, "budgets.counted": 0.0})
    found = Database(GRAPH, strategy="auto", fallback=Fallback(0.01), tuning=tuning)
    edges = [(n, n + 1) for n in range(300)] + [(1_000 + n, 1_001 + n) for n in range(5)]

    def commit(inserted: list[tuple[int, int]], deleted: list[tuple[int, int]]) -> tuple[str, str, bool]:
        with found.transaction() as tx:
            tx.delete("Edge", deleted)
            tx.insert("Edge", inserted)
        found.verify()
        (work,) = [work for work in tx.result.profile if work.relations == ("Reach",)]
        relation, _ = found._store._engine.coded("Reach")  # type: ignore[attr-defined]
        return work.strategy, work.reason, relation.counted

    middle = [edges[n] for n in range(0, 300, 20)]
    assert commit(edges, [])[::2] == ("recompute", True)
    reasons = []
    for _ in range(6):
        strategy, reason, counted = commit([], middle)
        assert (strategy, counted) == ("recompute", False)
        reasons.append(reason)
        assert commit(middle, [])[::2] == ("recompute", False)
    assert len(set(reasons)) == 1, "no budget is less than what is always allowed"
    assert commit([], [edges[-1]])[::2] == ("ranked", False)
    assert commit([edges[-1]], [])[::2] == ("ranked", False)
    found.set_strategy("auto")
    assert found._store._engine.coded("Reach")[0].counted  # type: ignore[attr-defined]


def test_uncounted_tuples_of_a_rule_with_groups() -> None:
    """Groups have no state in which one could count: their strata are counted, also if such a rule comes later."""
    found = Database(
        """
input relation Edge(a: u32, b: u32)
input relation Weight(a: u32, n: u32)
output relation Heavy(a: u32, b: u32)
Heavy(x, y) :- Edge(x, y).
Heavy(x, z) :- Heavy(x, y), Edge(y, z), x != z.
""",
        strategy="auto",
        fallback=Fallback(0.0),
        tuning=DEFAULT.having({"budgets.work": 1.0, "budgets.counted": 0.0}),
    )
    rule = "Heavy(x, n) :- Weight(x, m), var n = m.group_by(x).max()."
    with found.transaction() as tx:
        tx.insert("Edge", [(n, n + 1) for n in range(9)])
        tx.insert("Weight", [(1, 5), (1, 4), (2, 7)])
    with found.transaction() as tx:
        tx.delete("Edge", [(4, 5)])
    assert not found._store._engine.coded("Heavy")[0].counted  # type: ignore[attr-defined]
    found._store._engine._tuning = DEFAULT.having({"budgets.work": 1e9})  # type: ignore[attr-defined]
    with found.transaction() as tx:
        tx.add_rules(rule)
    found.verify()
    assert [work.reason for work in tx.result.profile if "Heavy" in work.relations] == [
        "its groups need counts that its tuples do not have"
    ]
    assert found._store._engine.coded("Heavy")[0].counted  # type: ignore[attr-defined]
    with found.transaction() as tx:
        tx.delete("Weight", [(1, 5), (2, 7)])
        tx.delete("Edge", [(1, 2)])
    found.verify()

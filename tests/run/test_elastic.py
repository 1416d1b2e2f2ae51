"""The strategy `elastic`: Theorem 3.5 of Zhao et al. on random histories of facts and rules, and when it gives up.

TIDELOG_HISTORIES sets the number of histories of 12 steps.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tests.generate.pipeline import plan_text
from tests.run.support import support
from tidelog.base.errors import UserError
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Plan, Scan
from tidelog.run.columnar import store
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Fallback, Row, Work
from tidelog.run.contract.phase import Phase, Support
from tidelog.run.maintain.cost import Cost
from tidelog.run.tuples.engine import TuplesEngine, Ways
from tidelog.run.tuples.relation import Find
from tidelog.run.tuples.store import Seen
from tidelog.session.database import Database
from tidelog.session.observe.profile import show_profile
from tidelog.session.soak.histories import random_history
from tidelog.session.soak.spec import Program

NEVER = Fallback(math.inf)
Make = Callable[[Plan, str | None], ColumnarEngine | TuplesEngine]
HISTORIES = int(os.environ.get("TIDELOG_HISTORIES", "8"))


def all_support(engine: ColumnarEngine | TuplesEngine) -> dict[str, dict[Row, tuple[int, ...]]]:
    return {rule.head: support(engine, rule.head) for stratum in engine.plan.strata for rule in stratum.rules}


def bootstrapped(program: Program) -> ColumnarEngine:
    """Return an engine that has evaluated every stratum from scratch."""
    engine = ColumnarEngine(plan_text(str(program)), strategy="recompute", support=Support.FIRST)
    engine.update({name: Delta(rows) for name, rows in program.facts.items() if rows})
    return engine


def columnar(plan: Plan, rediscovery: str | None) -> ColumnarEngine:
    tuning = DEFAULT.having({"counting.divide_from": 0})
    return ColumnarEngine(plan, strategy="elastic", fallback=NEVER, rediscovery=rediscovery, tuning=tuning)


def tuples(plan: Plan, rediscovery: str | None) -> TuplesEngine:
    how: Ways = {"index": "sorted", "rediscovery": rediscovery or "whole"}
    return TuplesEngine(plan, strategy="elastic", fallback=NEVER, **how)


@pytest.mark.long(reason="random histories")
@pytest.mark.parametrize(
    ("make", "rediscovery"),
    [
        pytest.param(columnar, "whole", id="columnar, whole filter"),
        pytest.param(columnar, "divided", id="columnar, divided filter"),
        pytest.param(columnar, None, id="columnar, as expected"),
        pytest.param(tuples, "whole", id="tuples, whole filter"),
        pytest.param(tuples, "divided", id="tuples, divided filter"),
    ],
)
def test_theorem_3_5(make: Make, rediscovery: str | None) -> None:
    """After each update every tuple has the iteration and the count that Bootstrap gives it on the new facts."""
    for seed in range(2 * HISTORIES):
        history = random_history(Random(seed), 12)
        engine = make(plan_text(str(history.start)), rediscovery)
        for step, program in history.programs():
            facts = {
                name: Delta(step.inserted.get(name, ()), step.deleted.get(name, ()))
                for name in step.inserted.keys() | step.deleted.keys()
            }
            changes_rules = step.rules_added or step.rules_removed
            engine.update(facts, plan_text(str(program)) if changes_rules else None)
            assert all_support(engine) == all_support(bootstrapped(program)), f"seed {seed}, {step}\n{program}"


# --- the filter of re-discovery --------------------------------------------------------------------------------------

CLOSURE = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""
HUB = """
input relation Has(x: u32, a: u32)
input relation Wants(y: u32, a: u32)
input relation Passes(x: u32, y: u32, a: u32)
relation Owns(x: u32, a: u32)
output relation Meets(x: u32, y: u32)
Owns(x, a) :- Has(x, a).
Owns(y, a) :- Meets(x, y), Passes(x, y, a).
Meets(x, y) :- Owns(x, a), Wants(y, a).
"""
MEMBERS = range(50)
COMMON = 1_000
HAS = [(x, COMMON) for x in MEMBERS] + [(x, 20 * x + i) for x in MEMBERS for i in range(20)]
WANTS = [(y, COMMON) for y in MEMBERS] + HAS[len(MEMBERS) :]
"""All have and want one thing; besides, each has twenty things of its own, and wants these."""


def looked_at(engine: ColumnarEngine | TuplesEngine, change: Mapping[str, Delta], patch: pytest.MonkeyPatch) -> int:
    """Return how many rows re-discovery matches in an update."""
    seen: list[int] = []
    finder, spend = Seen.finder, store.Store.spend_on_matches

    def spending(self: store.Store, count: int, sifted: int = 0) -> None:
        if self.phase is Phase.REDISCOVER:
            seen.append(count + sifted)
        spend(self, count, sifted)

    def finding(self: Seen, scan: Scan, columns: tuple[int, ...], *, negated: bool = False) -> Find:
        find = finder(self, scan, columns, negated=negated)

        def counted(key: Any) -> Collection[Row]:
            rows = find(key)
            if self._store.phase is Phase.REDISCOVER:
                seen.append(len(rows))
            return rows

        return counted

    with patch.context() as inside:
        inside.setattr(store.Store, "spend_on_matches", spending)
        inside.setattr(Seen, "finder", finding)
        engine.update(change)
    assert not engine.verify()
    return sum(seen)


@pytest.mark.parametrize("make", [columnar, tuples])
def test_a_divided_filter_does_not_multiply(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Zhao et al., section 4.2: many tuples have left that have the same x, whose matches are looked at once."""

    def without_the_hub(rediscovery: str | None) -> int:
        engine = make(plan_text(HUB), rediscovery)
        engine.update({"Has": Delta(HAS), "Wants": Delta(WANTS), "Passes": Delta([(1, 2, COMMON)])})
        assert engine.count("Meets") == len(MEMBERS) ** 2
        found = looked_at(engine, {"Wants": Delta((), WANTS[: len(MEMBERS)])}, monkeypatch)
        assert set(engine.rows("Meets")) == {(x, x) for x in MEMBERS}
        return found

    whole, divided = without_the_hub("whole"), without_the_hub("divided")
    assert whole > 20 * len(MEMBERS) ** 2
    assert divided < 5 * len(HAS)
    if make is columnar:
        assert without_the_hub(None) == divided


def test_a_divided_filter_goes_through_what_stayed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where much stays that has the same x as what left, it is better to look up what left, and that is done."""
    random = Random(1)
    inside = {(random.randrange(150), random.randrange(150)) for _ in range(450)}
    edges = [*sorted(inside), *sorted((a + 150, b + 150) for a, b in inside)]

    def without_the_bridge(rediscovery: str | None) -> int:
        engine = columnar(plan_text(CLOSURE), rediscovery)
        engine.update({"Edge": Delta([*edges, (3, 155)])})
        return looked_at(engine, {"Edge": Delta((), [(3, 155)])}, monkeypatch)

    whole = without_the_bridge("whole")
    assert without_the_bridge("divided") > 2 * whole
    assert without_the_bridge(None) == whole


# --- the switching parameter ------------------------------------------------------------------------------------------

CHAINS = 10_000
EDGES = [(4 * chain + i, 4 * chain + i + 1) for chain in range(CHAINS) for i in range(3)]
"""Many chains of three edges and six paths."""


def chains(fallback: Fallback | None) -> ColumnarEngine:
    engine = ColumnarEngine(plan_text(CLOSURE), strategy="elastic", fallback=fallback)
    engine.update({"Edge": Delta(EDGES)})
    assert engine.count("Path") == 6 * CHAINS
    return engine


def cut(engine: ColumnarEngine, count: int) -> Work:
    """Delete the first edge of some chains, and three paths each."""
    (work,) = engine.update({"Edge": Delta((), EDGES[: 3 * count : 3])}).work
    assert engine.count("Path") == 6 * CHAINS - 3 * count
    assert not engine.verify()
    return work


@pytest.mark.parametrize(
    ("fallback", "count", "strategy", "reason"),
    [
        pytest.param(None, 10, "elastic", "within 100,000 units of work", id="low impact"),
        pytest.param(None, 5_000, "recompute", "the update took more than 100,000 units of work", id="high impact"),
        pytest.param(Fallback(3.0), 5_000, "elastic", "within 1,", id="a larger share"),
        pytest.param(Fallback(math.inf), 5_000, "elastic", "chosen by the user", id="never"),
        pytest.param(Fallback(1e9, "time"), 5_000, "elastic", "within ", id="by time, enough of it"),
    ],
)
def test_switching(fallback: Fallback | None, count: int, strategy: str, reason: str) -> None:
    work = cut(chains(fallback), count)
    assert work.strategy == strategy
    assert work.reason.startswith(reason)


def test_switching_by_time() -> None:
    """The update may take a fifth of the time of the last bootstrap, and is dropped in the round after that."""
    engine = chains(Fallback(0.2, "time"))
    engine._tuning = DEFAULT.having({"budgets.seconds": 0.0})
    committed = engine._state.committed
    costs = {members: Cost(cost.work, 0.0) for members, cost in committed.costs.items()}
    engine._state = replace(engine._state, committed=replace(committed, costs=costs))
    work = cut(engine, 10)
    assert (work.strategy, work.reason) == ("recompute", "the update took more than 0.0 ms")
    assert next(iter(engine._state.committed.costs.values())).time > 0


def test_work_is_also_what_leads_to_nothing() -> None:
    """A change that makes a join match a great deal is given up, however little it derives."""
    program = """
    input relation Wanted(x: u32)
    input relation Link(x: u32, y: u32)
    input relation End(y: u32)
    output relation Found(x: u32)
    Found(x) :- Wanted(x), Link(x, y), End(y).
    """
    engine = ColumnarEngine(plan_text(program), strategy="auto")
    engine.update({"Link": Delta([(7, y) for y in range(100_000)]), "End": Delta([(9,)])})
    (work,) = engine.update({"Wanted": Delta([(7,)])}).work
    assert work.reason == "the update took more than 20,000 units of work"
    assert work.derivations <= 2
    assert list(engine.rows("Found")) == [(7,)]


def test_what_an_engine_cannot_is_refused() -> None:
    with pytest.raises(UserError, match="the engine `reference` has no option `fallback`"):
        Database(CLOSURE, engine="reference", fallback=Fallback(0.2))


def test_a_database_shows_what_ran_and_why() -> None:
    database = Database(CLOSURE, strategy="elastic")
    with database.transaction() as tx:
        tx.insert("Edge", [(1, 2), (2, 3)])
    assert "Path: elastic (within 100,000 units of work)" in show_profile(tx.result)
    database.set_strategy("elastic", Fallback(math.inf))
    with database.transaction() as tx:
        tx.delete("Edge", [(1, 2)])
    assert "Path: elastic (chosen by the user)" in show_profile(tx.result)

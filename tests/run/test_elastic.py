"""The strategy `elastic`: Theorem 3.5 of Zhao et al. on random histories of facts and rules, and when it gives up.

TIDELOG_HISTORIES sets the number of histories of 12 steps.
"""

from __future__ import annotations

import math
import os
from random import Random

import pytest

from tests.generate.pipeline import plan_text
from tests.run.support import support
from tidelog.base.errors import UserError
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract import Change, Row, Support, Switch, Work
from tidelog.run.maintain import choose
from tidelog.run.tuples.engine import TuplesEngine
from tidelog.session.database import Database
from tidelog.session.profile import show_profile
from tidelog.session.soak.histories import random_history
from tidelog.session.soak.spec import Program

HISTORIES = int(os.environ.get("TIDELOG_HISTORIES", "8"))


def all_support(engine: ColumnarEngine | TuplesEngine) -> dict[str, dict[Row, tuple[int, ...]]]:
    return {rule.head: support(engine, rule.head) for stratum in engine.plan.strata for rule in stratum.rules}


def bootstrapped(program: Program) -> ColumnarEngine:
    """Return an engine that has evaluated every stratum from scratch."""
    engine = ColumnarEngine(plan_text(str(program)), strategy="recompute", support=Support.FIRST)
    engine.update({name: Change(rows) for name, rows in program.facts.items() if rows})
    return engine


@pytest.mark.parametrize("make", [ColumnarEngine, TuplesEngine], ids=["columnar", "tuples"])
@pytest.mark.parametrize("block", range(2))
def test_theorem_3_5(make: type[ColumnarEngine | TuplesEngine], block: int) -> None:
    """After each update every tuple has the iteration and the count that Bootstrap gives it on the new facts."""
    for seed in range(block, 2 * HISTORIES, 2):
        history = random_history(Random(seed), 12)
        engine = make(plan_text(str(history.start)), strategy="elastic", switch=Switch(math.inf))
        for step, program in history.programs():
            facts = {
                name: Change(step.inserted.get(name, ()), step.deleted.get(name, ()))
                for name in step.inserted.keys() | step.deleted.keys()
            }
            changes_rules = step.rules_added or step.rules_removed
            engine.update(facts, plan_text(str(program)) if changes_rules else None)
            assert all_support(engine) == all_support(bootstrapped(program)), f"seed {seed}, {step}\n{program}"


# --- the switching parameter ------------------------------------------------------------------------------------------

CLOSURE = """
input relation Edge(a: u32, b: u32)
output relation Path(a: u32, b: u32)
Path(x, y) :- Edge(x, y).
Path(x, z) :- Path(x, y), Edge(y, z).
"""
CHAINS = 10_000
EDGES = [(4 * chain + i, 4 * chain + i + 1) for chain in range(CHAINS) for i in range(3)]
"""Many chains of three edges and six paths."""


def chains(switch: Switch | None) -> ColumnarEngine:
    engine = ColumnarEngine(plan_text(CLOSURE), strategy="elastic", switch=switch)
    engine.update({"Edge": Change(EDGES)})
    assert engine.count("Path") == 6 * CHAINS
    return engine


def cut(engine: ColumnarEngine, count: int) -> Work:
    """Delete the first edge of some chains, and three paths each."""
    (work,) = engine.update({"Edge": Change((), EDGES[: 3 * count : 3])}).work
    assert engine.count("Path") == 6 * CHAINS - 3 * count
    assert not engine.verify()
    return work


@pytest.mark.parametrize(
    ("switch", "count", "strategy", "reason"),
    [
        pytest.param(None, 10, "elastic", "within 200,000 units of work", id="low impact"),
        pytest.param(None, 5_000, "recompute", "the update took more than 200,000 units of work", id="high impact"),
        pytest.param(Switch(3.0), 5_000, "elastic", "within 2,", id="a larger share"),
        pytest.param(Switch(math.inf), 5_000, "elastic", "chosen by the user", id="never"),
        pytest.param(Switch(1e9, "time"), 5_000, "elastic", "within ", id="by time, enough of it"),
    ],
)
def test_switching(switch: Switch | None, count: int, strategy: str, reason: str) -> None:
    work = cut(chains(switch), count)
    assert work.strategy == strategy
    assert work.reason.startswith(reason)


def test_switching_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The update may take a fifth of the time of the last bootstrap, and is dropped in the round after that."""
    engine = chains(Switch(0.2, "time"))
    monkeypatch.setitem(choose.LEAST, "time", 0.0)
    engine._costs = {members: choose.Cost(cost.work, 0.0) for members, cost in engine._costs.items()}
    work = cut(engine, 10)
    assert (work.strategy, work.reason) == ("recompute", "the update took more than 0.0 ms")
    assert next(iter(engine._costs.values())).time > 0


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
    engine.update({"Link": Change([(7, y) for y in range(100_000)]), "End": Change([(9,)])})
    (work,) = engine.update({"Wanted": Change([(7,)])}).work
    assert work.reason == "the update took more than 200,000 units of work"
    assert work.derivations <= 2
    assert list(engine.rows("Found")) == [(7,)]


def test_what_an_engine_cannot_is_refused() -> None:
    with pytest.raises(UserError, match="the engine `reference` has no option `switch`"):
        Database(CLOSURE, "reference", switch=Switch(0.2))


def test_a_database_shows_what_ran_and_why() -> None:
    database = Database(CLOSURE, strategy="elastic")
    with database.transaction() as tx:
        tx.insert("Edge", [(1, 2), (2, 3)])
    assert "Path: elastic (within 200,000 units of work)" in show_profile(tx.result)
    database.follow_by("elastic", Switch(math.inf))
    with database.transaction() as tx:
        tx.delete("Edge", [(1, 2)])
    assert "Path: elastic (chosen by the user)" in show_profile(tx.result)

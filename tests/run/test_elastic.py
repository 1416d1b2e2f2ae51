"""The strategy `elastic`: Theorem 3.5 of Zhao et al. on random histories of facts and rules.

TIDELOG_HISTORIES sets the number of histories of 12 steps.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from tests.generate.pipeline import plan_text
from tests.run.support import support
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract import Change, Row, Support
from tidelog.session.soak.histories import random_history
from tidelog.session.soak.spec import Program

HISTORIES = int(os.environ.get("TIDELOG_HISTORIES", "8"))


def all_support(engine: ColumnarEngine) -> dict[str, dict[Row, tuple[int, ...]]]:
    return {name: support(engine, name) for name in engine.plan.relations}


def bootstrapped(program: Program) -> ColumnarEngine:
    """Return an engine that has evaluated every stratum from scratch."""
    engine = ColumnarEngine(plan_text(str(program)), strategy="recompute", support=Support.FIRST)
    engine.update({name: Change(rows) for name, rows in program.facts.items() if rows})
    return engine


@pytest.mark.parametrize("block", range(4))
def test_theorem_3_5(block: int) -> None:
    """After each update every tuple has the iteration and the count that Bootstrap gives it on the new facts."""
    for seed in range(block, 2 * HISTORIES, 4):
        history = random_history(Random(seed), 12)
        engine = ColumnarEngine(plan_text(str(history.start)), strategy="elastic")
        for step, program in history.programs():
            facts = {
                name: Change(step.inserted.get(name, ()), step.deleted.get(name, ()))
                for name in step.inserted.keys() | step.deleted.keys()
            }
            changes_rules = step.rules_added or step.rules_removed
            engine.update(facts, plan_text(str(program)) if changes_rules else None)
            assert all_support(engine) == all_support(bootstrapped(program)), f"seed {seed}, {step}\n{program}"

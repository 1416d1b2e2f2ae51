"""Delete and rederive: alternatives of every kind of rule are found, and nothing is kept beside the tuples."""

from __future__ import annotations

import pytest

from tests.generate.pipeline import plan_text
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta

DECLARED = """
input relation A(x: u8, y: u8)
input relation B(x: u8, y: u8)
output relation R(x: u8, y: u8)
R(x, y) :- A(x, y).
"""
ALTERNATIVES = {
    "rule": "R(x, y) :- B(x, y).",
    "fact": "R(1, 2).",
    "computed": "R(x, y + 1) :- B(x, z), var y = z - 1.",
    "negation": "R(x, y) :- B(x, y), not A(y, x).",
    "aggregate": "R(x, n) :- B(x, y), var n = y.group_by(x).max().",
    "recursion": "R(x, y) :- B(x, y).  R(x, z) :- R(x, y), R(y, z).",
}


def engine(program: str) -> ColumnarEngine:
    made = ColumnarEngine(plan_text(program), strategy="dred")
    made.update({"A": Delta([(1, 2), (3, 4)]), "B": Delta([(1, 2), (5, 6)])})
    return made


@pytest.mark.parametrize("rule", ALTERNATIVES.values(), ids=ALTERNATIVES)
def test_what_another_rule_derives_comes_back(rule: str) -> None:
    dred = engine(DECLARED + rule)
    update = dred.update({"A": Delta(deleted=[(1, 2), (3, 4)])})
    assert set(update.changes["R"].deleted) == {(3, 4)}
    assert not update.changes["R"].inserted
    assert dred.contains("R", (1, 2))
    assert [work.strategy for work in update.work] == ["dred"] * len(update.work)


def test_a_group_that_changes_is_an_alternative_only_as_it_is_afterwards() -> None:
    dred = engine(DECLARED + ALTERNATIVES["aggregate"])
    update = dred.update({"A": Delta(deleted=[(1, 2)]), "B": Delta(inserted=[(1, 9)], deleted=[(5, 6)])})
    assert set(update.changes["R"].deleted) == {(1, 2), (5, 6)}
    assert set(update.changes["R"].inserted) == {(1, 9)}


def test_an_alternative_that_needs_another() -> None:
    dred = engine(DECLARED + "R(x, y) :- B(x, y).  R(x, z) :- R(x, y), R(y, z).")
    dred.update({"A": Delta([(2, 7)]), "B": Delta([(2, 7)])})
    update = dred.update({"A": Delta(deleted=[(1, 2), (2, 7)])})
    assert "R" not in update.changes  # (1, 7) comes back by way of (1, 2) and (2, 7)
    assert dred.contains("R", (1, 7))


def test_nothing_is_kept_beside_the_tuples() -> None:
    dred = engine(DECLARED + ALTERNATIVES["recursion"])
    dred.update({"A": Delta([(2, 5)], [(1, 2)])})
    for relation in dred.plan.relations:
        for batch in dred.coded(relation)[0].main.settled:
            assert batch.rank is None
            assert batch.counts is None

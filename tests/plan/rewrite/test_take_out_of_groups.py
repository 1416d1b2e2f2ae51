"""Atoms that only say which groups there are do not make a group depend on itself."""

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.plan.passes import plan_program

PROGRAM = """
input relation E(a: u8, b: u8)
relation R(a: u8)
relation S(a: u8, b: u8)
relation F(a: u8)
R(1).
S(x, y) :- E(x, y), R(x).
R(y) :- F(x), E(x, y).
{}
"""
FINE = (
    "F(x) :- R(x), E(x, y), var n = y.group_by(x).count(), n < 3.",
    "F(x) :- E(x, y), R(x), R(1), y > x, var n = y.group_by(x).sum(), n < 3.",
    "F(x) :- E(x, y), S(x, z), E(z, x), var n = y.group_by((x, z)).count(), n < 3.",
    "F(x) :- R(x), E(x, y), var n = y.group_by(x).max(), n < 3.",
)
ITSELF = (
    "F(x) :- R(x), E(x, y), R(y), var n = y.group_by(x).count(), n < 3.",
    "F(x) :- S(x, y), var n = y.group_by(x).count(), n < 3.",
    "F(x) :- R(x), E(x, y), S(x, _), var n = y.group_by(x).count(), n < 3.",
    "F(y) :- R(x), E(y, _), var n = x.group_by(y).count(), n < 3.",
    "F(x) :- R(x), E(y, _), var n = y.group_by(x).count(), n < 3.",
)


def codes(rules: str) -> list[str]:
    report = Report()
    program = analyse(Source("program", PROGRAM.format(rules)), report)
    assert program is not None, report.errors
    plan_program(program, report)
    return [one.code for one in report.errors]


@pytest.mark.parametrize("rules", FINE)
def test_groups_of_what_is_known(rules: str) -> None:
    assert not codes(rules)


@pytest.mark.parametrize("rules", ITSELF)
def test_groups_of_itself(rules: str) -> None:
    assert set(codes(rules)) == {"E0602"}

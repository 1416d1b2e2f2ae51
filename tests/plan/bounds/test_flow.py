"""Which rules are monotone in the bounds they read."""

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.plan.passes import plan_program

PROGRAM = """
input relation E(a: u64, b: u64, w: u64)
input relation F(a: u64, x: signed<32>, f: double)
typedef Cost = Cost{{sum: u64, hops: u64}}
output relation D(a: u64, min d: u64)
output relation X(a: u64, max d: u64)
output relation S(a: u64, min d: signed<64>)
output relation R(a: u64, min d: double)
output relation T(a: u64, min d: (u64, u64))
output relation C(a: u64, min d: Cost)
output relation B(a: u64, max b: bool)
output relation P(a: u64)
#[monotone]
function up(x: u64): u64 {{ x }}
function any_way(x: u64): u64 {{ x }}
D(a, b) :- E(a, b, _).
{}
"""
MONOTONE = (
    "D(b, d + w * 2) :- D(a, d), E(a, b, w).",
    "D(b, (d + w) / 3 >> 1) :- D(a, d), E(a, b, w).",
    "D(b, max(d, min(w, 4))) :- D(a, d), E(a, b, w).",
    "D(b, up(d)) :- D(a, d), E(a, b, w).",
    "D(b, if (w > 3) { d + 1 } else { d }) :- D(a, d), E(a, b, w).",
    "D(b, x) :- D(a, d), E(a, b, w), var x = d + w, x < 100, d <= w.",
    "D(b, 1) :- D(a, d), E(a, b, w), not (d > w), d < 3 or w > d.",
    "D(b, 0) :- D(a, _), E(a, b, _).",
    "X(b, d) :- X(a, d), E(a, b, w), d >= w, w < d.",
    "S(b, d - (w as signed<64>)) :- S(a, d), E(a, b, w).",
    "S(b, -x) :- M(a, x), E(a, b, _). M(b, -x) :- S(a, x), E(a, b, _). output relation M(a: u64, max d: signed<64>)",
    "R(b, (d + 1.5) * 2.0) :- R(a, d), E(a, b, _).",
    "T(b, (d + w, a)) :- T(a, (d, _)), E(a, b, w).",
    "T(b, (d.0, d.0 + 1)) :- T(a, d), E(a, b, _).",
    "C(b, Cost{d.sum + w, a}) :- C(a, d), E(a, b, w).",
    "B(b, t and w > 3) :- B(a, t), E(a, b, w).",
    "P(a) :- D(a, d), d < 3. D(a, 0) :- P(a).",
    "P(d) :- D(_, d), not D(d, d), d == 3.",
)
OTHERWISE = (
    "D(b, 100 - d) :- D(a, d), E(a, b, _).",
    "D(b, d - w) :- D(a, d), E(a, b, w).",
    "D(b, any_way(d)) :- D(a, d), E(a, b, _).",
    "D(b, d) :- D(a, d), E(a, b, _), d > 3.",
    "D(b, d) :- D(a, d), E(a, b, _), d != 3.",
    "D(b, 0) :- D(a, d), D(b, e), E(a, b, _), d < e.",
    "D(b, 0) :- D(a, d), D(b, d), E(a, b, _).",
    "D(d, 0) :- D(_, d).",
    "D(b, 0) :- D(a, d), E(a, b, d).",
    "D(b, 0) :- D(a, d), E(a, b, x), x == d + 1.",
    "D(b, if (d > 3) { 0 } else { 1 }) :- D(a, d), E(a, b, _).",
    "D(b, d & 7) :- D(a, d), E(a, b, _).",
    "D(b, 0) :- D(a, 3), E(a, b, _).",
    "X(b, d) :- X(a, d), E(a, b, _), d < 3.",
    "S(b, d * (x as signed<64>)) :- S(a, d), F(a, x, _), E(a, b, _).",
    "R(b, d * f) :- R(a, d), F(a, _, f), E(a, b, _).",
    "T(b, (d.1, a)) :- T(a, d), E(a, b, _).",
    "P(d) :- D(_, d). D(a, 0) :- P(a).",
    "D(a, w) :- X(a, w). X(a, d) :- D(a, d).",
    "D(b, 0) :- D(a, d), E(a, b, w), not F(d, _, _).",
)


def codes(rules: str) -> list[str]:
    report = Report()
    program = analyse(Source("program", PROGRAM.format(rules)), report)
    assert program is not None, report.errors
    plan_program(program, report)
    return [one.code for one in report.errors]


@pytest.mark.parametrize("rules", MONOTONE)
def test_monotone(rules: str) -> None:
    assert not codes(rules)


@pytest.mark.parametrize("rules", OTHERWISE)
def test_not_monotone(rules: str) -> None:
    assert set(codes(rules)) == {"E0603"}

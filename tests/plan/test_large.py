"""Large programs and long rules: planning stays fast. Bounds are several times what an idle machine needs."""

from __future__ import annotations

import random
import time

import pytest

from tests.plan.small import plan, program
from tidelog.base.diagnostic import Report
from tidelog.logic.program import Program
from tidelog.plan.passes import plan_program

RELATIONS, RULES = 500, 2000


def large() -> Program:
    choose = random.Random(7)
    lines = [f"R{i}(x, y) :- I{i % 100}(x, y)." for i in range(RELATIONS)]
    for number in range(RULES - RELATIONS):
        head, length = choose.randrange(RELATIONS), choose.choice((1, 2, 3, 3, 4))
        body = [f"R{choose.randrange(head + 1)}(x{i}, x{i + 1})" for i in range(length)]
        body += choose.choice(([], [f"x0 > {number}"], [f"not I{choose.randrange(100)}(x0, _)"], ["y = x0 + x1"]))
        lines.append(f"R{head}(x0, x{length}) :- {', '.join(body)}.")
    return program("\n".join(lines))


def test_a_large_program() -> None:
    given = large()
    start = time.process_time()
    planned = plan_program(given, Report())
    assert planned is not None
    assert time.process_time() - start < 4
    assert sum(len(stratum.rules) for stratum in planned.strata) >= RULES
    assert len(planned.indexes) > RELATIONS / 2
    start = time.process_time()
    again = plan_program(large(), Report(), earlier=planned)
    assert time.process_time() - start < 1.5
    assert again is not None
    assert again.strata == planned.strata


@pytest.mark.parametrize(
    "atom", ["R{0}(x{0}, x{1})", "R{0}(x0, x{1})", "R{0}(y{0}, x{0})", "R{0}(x{0}, x{1}), g(x{0}) > {0}"]
)
def test_a_rule_with_hundreds_of_atoms(atom: str) -> None:
    body = ", ".join(atom.format(i, i + 1) for i in range(120))
    planned = plan(f"H(x0) :- {body}.")
    (rule,) = planned.strata[0].rules
    assert len(rule.variants) == 120
    assert len(rule.probes) > 0 or "y" in atom


def test_a_rule_with_thousands_of_atoms_is_planned_at_once() -> None:
    body = ", ".join(f"R(x{i}, x{i + 1})" for i in range(3000))
    (rule,) = plan(f"H(x0, x3000) :- {body}.").strata[0].rules
    assert len(rule.reads) == 3000
    (again,) = plan(f"H(x0, x3000) :- {body}.").strata[0].rules
    assert again == rule
    (other,) = plan(f"H(x0, x3000) :- {body}, S(x0).").strata[0].rules
    assert other != rule

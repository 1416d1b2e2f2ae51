"""Same generation recognised from its rules."""

from __future__ import annotations

import pytest

from tests.plan.small import plan
from tidelog.plan.closures.same_generation import SameGeneration, same_generation

BASE = "S(x, y) :- E(p, x), E(p, y), x != y.\n"


def found(text: str) -> SameGeneration | None:
    return next((one for stratum in plan(text).strata if (one := same_generation(stratum)) is not None), None)


@pytest.mark.parametrize(
    ("rule", "first", "second", "crossed", "apart"),
    [
        ("S(x, y) :- E(a, x), S(a, b), E(b, y).", ("E", (0, 1)), ("E", (0, 1)), False, False),
        ("S(x, y) :- S(a, b), E(b, y), E(a, x).", ("E", (0, 1)), ("E", (0, 1)), False, False),
        ("S(x, y) :- E(a, x), E(b, y), S(a, b).", ("E", (0, 1)), ("E", (0, 1)), False, False),
        ("S(x, y) :- E(x, a), S(a, b), E(y, b).", ("E", (1, 0)), ("E", (1, 0)), False, False),
        ("S(x, y) :- U(x, a), S(a, b), D(b, y).", ("U", (1, 0)), ("D", (0, 1)), False, False),
        ("S(x, y) :- U(x, a), S(b, a), D(b, y).", ("U", (1, 0)), ("D", (0, 1)), True, False),
        ("S(x, y) :- F(a, 3, x), S(a, b), F(b, 4, y).", ("F", (0, 2)), ("F", (0, 2)), False, False),
        ("S(x, y) :- E(a, x), S(a, b), E(b, y), x != y.", ("E", (0, 1)), ("E", (0, 1)), False, True),
        ("S(x, y) :- E(a, x), S(a, b), E(b, y), y != x.", ("E", (0, 1)), ("E", (0, 1)), False, True),
    ],
)
def test_forms(rule: str, first: object, second: object, crossed: bool, apart: bool) -> None:
    one = found(BASE + rule)
    assert one is not None
    assert (one.crossed, one.apart) == (crossed, apart)
    assert [(scan.relation, columns) for scan, columns in (one.first, one.second)] == [first, second]
    assert [r.origin.text for r in one.feeds] == [BASE.strip()]
    assert one.rule.origin.text == rule


@pytest.mark.parametrize(
    "rules",
    [
        "S(x, y) :- E(a, x), S(a, b), E(a, y).",  # both go on from one side
        "S(x, y) :- E(a, x), S(a, a), E(a, y).",
        "S(x, y) :- E(a, x), S(a, b), E(b, x).",
        "S(x, y) :- E(a, x), S(a, y), E(x, y).",
        "S(x, y) :- E(a, x), S(a, b), E(b, y), a != b.",
        "S(x, y) :- E(a, x), S(a, b), E(b, y), x < y.",
        "S(x, y) :- E(a, x), S(a, b), E(b, y), not G(x).",
        "S(x, y) :- F(a, c, x), S(a, b), F(b, c, y).",  # the steps have more in common
        "S(x, y) :- E(a, x), S(a, b), S(b, y).",
        "S(x, y) :- E(a, x), S(a, b), E(b, y).\nS(x, y) :- S(y, x).",
        "S(x, y) :- E(a, x), S(a, b), R(b, y).\nR(x, y) :- S(x, y).",
        "S(x, y) :- E(a, x), S(a, b), E(b, y), E(x, y).",
    ],
)
def test_others(rules: str) -> None:
    assert found(BASE + rules) is None

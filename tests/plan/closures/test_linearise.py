"""Nonlinear closures made linear: which ones, and that they are the same relation."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.generate.pipeline import plan_text
from tidelog.plan.closures.classify import decompositions
from tidelog.plan.closures.linearise import Linearised, linearise
from tidelog.plan.show.text import show_stratum

DECLARED = "input relation E(a: u32, b: u32)\noutput relation T(a: u32, b: u32)\n"
FEED = "T(x, y) :- E(x, y).\n"


def made(rules: str, declared: str = DECLARED) -> Linearised | None:
    plan = plan_text(declared + rules)
    return linearise(next(stratum for stratum in plan.strata if "T" in stratum.relations))


@pytest.mark.parametrize("rule", ["T(x, z) :- T(x, y), T(y, z).", "T(x, z) :- T(y, z), T(x, y)."])
def test_a_closure_decomposes_then(rule: str) -> None:
    found = made(FEED + rule)
    assert found is not None
    assert (found.step, found.source, found.target) == ("T#step", 0, 1)
    assert decompositions(found.stratum) == ({"T": 0},)
    text = show_stratum(replace(found.stratum, rules=found.stratum.rules[1:]))
    assert "scan delta T(x, y)\n      join new T#step(y, z) on y" in text.replace("old T#step", "new T#step")


def test_a_closure_in_two_of_three_columns() -> None:
    declared = "input relation E(g: u8, a: u32, b: u32)\noutput relation T(g: u8, a: u32, b: u32)\n"
    found = made("T(g, x, y) :- E(g, x, y).\nT(g, x, z) :- T(g, x, y), T(g, y, z).", declared)
    assert found is not None
    assert (found.source, found.target) == (1, 2)


@pytest.mark.parametrize(
    "rules",
    [
        "T(x, z) :- T(x, y), E(y, z).",
        "T(x, z) :- T(x, y), T(y, z).\nT(x, y) :- T(y, x).",
        "T(x, z) :- T(x, y), T(y, z).\nT(x, z) :- T(x, y), E(z, y).",
        "T(x, z) :- T(x, y), T(y, z), x != z.",
        "T(x, z) :- T(x, y), T(z, y).",
    ],
)
def test_others_stay(rules: str) -> None:
    assert made(FEED + rules) is None

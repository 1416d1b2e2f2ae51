"""Closures that are modules of their strata."""

from __future__ import annotations

from tests.plan.small import plan
from tidelog.plan.closures.split_modules import split_modules
from tidelog.plan.nodes import Plan, Rule, Stratum

MIXED = """
T(x, y) :- E(x, y).
T(x, y) :- R(x, y).
T(x, z) :- T(x, y), T(y, z).
R(x, z) :- T(x, y), F(y, z).
"""


def split(text: str, earlier: Plan | None = None) -> Plan:
    return split_modules(plan(text), lambda stratum, plan: True, earlier)


def shown(rule: Rule) -> tuple[str, tuple[str, ...]]:
    return rule.head, rule.reads


def recursive(found: Plan) -> Stratum:
    (stratum,) = (stratum for stratum in found.strata if stratum.recursive)
    return stratum


def test_external_facts_are_apart() -> None:
    stratum = recursive(split(MIXED))
    assert set(stratum.relations) == {"T", "R", "T#fed"}
    assert sorted(map(shown, stratum.rules)) == [
        ("R", ("T", "F")),
        ("T", ("E",)),
        ("T", ("T", "T#fed")),
        ("T", ("T#fed",)),
        ("T#fed", ("E",)),
        ("T#fed", ("R",)),
    ]


def test_symmetric_rules_make_external_facts_symmetric() -> None:
    stratum = recursive(split(MIXED + "T(x, y) :- T(y, x).  T(x, x) :- T(x, _).".replace("  ", chr(10))))
    assert ("T#fed", ("T#fed",)) in map(shown, stratum.rules)
    assert ("T", ("T",)) not in map(shown, stratum.rules)


def test_a_closure_alone_and_linear_ones_remain() -> None:
    for rules in (
        "T(x, y) :- E(x, y).\nT(x, z) :- T(x, y), T(y, z).",
        "T(x, 4, y) :- E(x, y).\nT(x, 4, z) :- T(x, 4, y), T(y, 4, z).\nT(x, 5, z) :- T(x, 4, y), F(y, z).",
        "T(x, y) :- E(x, y).\nT(x, y) :- R(x, y).\nT(x, z) :- T(x, y), E(y, z).\nR(x, z) :- T(x, y), F(y, z).",
    ):
        assert "T#fed" not in split(rules).relations


def test_rules_that_stay_are_the_same_objects() -> None:
    before = split(MIXED)
    after = split(MIXED + "T(x, y) :- G(x, y).", before)
    kept = {id(rule) for rule in recursive(before).rules if rule.source is None}
    assert kept
    assert kept <= {id(rule) for rule in recursive(after).rules}

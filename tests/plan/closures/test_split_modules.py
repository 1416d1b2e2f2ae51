"""Closures that are modules of their strata."""

from __future__ import annotations

from tests.plan.small import plan
from tidelog.plan.closures.recognise import Kind
from tidelog.plan.closures.split_modules import ClosureRule, split_modules
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


def closing(found: Plan) -> ClosureRule:
    (rule,) = (rule for rule in recursive(found).rules if isinstance(rule, ClosureRule))
    return rule


def test_external_facts_are_apart() -> None:
    stratum = recursive(split(MIXED))
    assert set(stratum.relations) == {"T", "R", "T#fed"}
    assert sorted(map(shown, stratum.rules)) == [
        ("R", ("T", "F")),
        ("T", ("T#fed",)),
        ("T#fed", ("E",)),
        ("T#fed", ("R",)),
    ]


def test_the_rules_of_a_closure_are_one() -> None:
    found = closing(split(MIXED + "T(x, y) :- T(y, x).\nT(x, x) :- T(x, _).\nT(x, x) :- F(x, _)."))
    assert (found.head, found.external) == ("T", "T#fed")
    assert found.closure is not None
    assert found.closure.kind is Kind.EQUIVALENCE


def test_a_closure_alone_and_linear_ones_remain() -> None:
    for rules in (
        "T(x, y) :- E(x, y).\nT(x, z) :- T(x, y), T(y, z).",
        "T(x, y) :- E(x, y).\nT(x, y) :- R(x, y).\nT(x, z) :- T(x, y), E(y, z).\nR(x, z) :- T(x, y), F(y, z).",
    ):
        assert "T#fed" not in split(rules).relations


def test_rules_that_stay_are_the_same_objects() -> None:
    before = split(MIXED)
    after = split(MIXED + "T(x, y) :- G(x, y).", before)
    assert {id(rule) for rule in recursive(before).rules} & {id(rule) for rule in recursive(after).rules}
    assert closing(before) is closing(after)
    assert closing(before) is not closing(split(MIXED + "T(x, y) :- T(y, x).", before))

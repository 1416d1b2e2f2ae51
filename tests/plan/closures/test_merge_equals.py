"""Relations of a stratum that are equal are one."""

from __future__ import annotations

from tests.plan.small import plan
from tidelog.plan.closures.merge_equals import merge_equals
from tidelog.plan.closures.recognise import Kind, closure_of
from tidelog.plan.closures.tell_modules import tell_modules
from tidelog.plan.nodes import Plan

CLOSURE = "T(x, y) :- E(x, y).\nT(x, z) :- T(x, y), T(y, z).\n"


def merged(text: str, earlier: Plan | None = None) -> Plan:
    return merge_equals(plan(text), lambda stratum, plan: True, earlier)


def strata(text: str) -> list[tuple[str, ...]]:
    return [stratum.relations for stratum in merged(text).strata]


def test_an_inverse_is_read_off_from_a_closure_that_stands_alone() -> None:
    found = merged(CLOSURE + "R(y, x) :- T(x, y).\nT(y, x) :- R(x, y).")
    assert [stratum.relations for stratum in found.strata] == [("T",), ("R",)]
    closure = closure_of(found.strata[0])
    assert closure is not None
    assert closure.kind is Kind.TRANSITIVE


def test_rules_of_the_inverse_become_rules_of_the_other() -> None:
    found = merged(CLOSURE + "R(y, x) :- T(x, y).\nT(y, x) :- R(x, y).\nR(x, y) :- F(x, y).")
    assert [rule.reads for rule in found.strata[0].rules] in ([("E",), ("T", "T"), ("F",)], [("F",)])


def test_equal_and_inverse_at_once_make_a_closure_symmetric() -> None:
    found = merged(CLOSURE + "R(x, y) :- T(x, y).\nT(y, x) :- R(x, y).")
    closure = closure_of(found.strata[0])
    assert closure is not None
    assert closure.kind is Kind.SYMMETRIC_TRANSITIVE


def test_what_is_only_derived_from_each_other_stays_apart() -> None:
    rules = CLOSURE + "R(x, y) :- T(x, y).\nR(x, y) :- F(x, y).\nT(x, z) :- R(x, y), F(y, z)."
    assert [set(names) for names in strata(rules)] == [{"R", "T"}]
    assert strata("T(x, y) :- E(x, y).\nT(x, y) :- R(x, y).\nR(x, x) :- T(x, _).") != [("T",), ("R",)]


def test_rules_that_stay_are_the_same_objects() -> None:
    text = CLOSURE + "R(y, x) :- T(x, y).\nT(y, x) :- R(x, y)."
    before = merged(text)
    after = merged(text + "\nT(x, y) :- F(x, y).", before)
    (one,), (other,) = (found.strata[1].rules for found in (before, after))
    assert one is other


def test_a_plan_says_what_is_one_and_what_is_a_module() -> None:
    said = tell_modules(plan(CLOSURE + "R(y, x) :- T(x, y).\nT(y, x) :- R(x, y)."))
    assert list(said.values()) == [["T: transitive closure", "R is T with columns exchanged"]]
    said = tell_modules(plan(CLOSURE + "T(x, y) :- R(x, y).\nR(x, z) :- T(x, y), F(y, z)."))
    assert list(said.values()) == [
        ["module T: transitive closure of what other rules derive", "module of all other rules: semi-naive"]
    ]

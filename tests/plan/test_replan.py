"""Planning a program that has changed."""

from __future__ import annotations

from tests.plan.small import program
from tidelog.base.diagnostic import Report
from tidelog.plan.lazy import Lazy
from tidelog.plan.nodes import Plan, Rule
from tidelog.plan.passes import plan_program

TEXT = """
Reach(x, y) :- Edge(x, y).
#[hop] Reach(x, z) :- Reach(x, y), Edge(y, z).
Apart(x, y) :- Node(x), Node(y), not Reach(x, y).
"""


def planned(text: str, earlier: Plan | None = None) -> Plan:
    report = Report()
    plan = plan_program(program(text), report, earlier=earlier)
    assert plan is not None, report.diagnostics
    return plan


def rules(plan: Plan) -> dict[str, Rule]:
    return {rule.identity: rule for stratum in plan.strata for rule in stratum.rules}


def test_an_equal_program_keeps_every_rule() -> None:
    first = planned(TEXT)
    second = planned(TEXT, first)
    assert second == first
    assert all(rule is rules(first)[identity] for identity, rule in rules(second).items())


def test_only_the_new_rule_is_made() -> None:
    first = rules(planned(TEXT))
    second = rules(planned(TEXT + "Reach(x, x) :- Node(x).\n", planned(TEXT)))
    assert set(second) - set(first) == {"Reach(x, x) :- Node(x)."}
    again = rules(planned(TEXT, planned(TEXT + "Reach(x, x) :- Node(x).\n")))
    assert set(again) == set(first)


def test_a_named_rule_that_was_replaced_is_made_anew() -> None:
    first = planned(TEXT)
    second = planned(TEXT.replace("Reach(x, y), Edge(y, z).", "Edge(x, y), Reach(y, z)."), first)
    assert rules(second)["hop"] != rules(first)["hop"]
    assert rules(second)["hop"].reads == ("Edge", "Reach")
    kept = "Reach(x, y) :- Edge(x, y)."
    assert rules(second)[kept] is rules(first)[kept]


def test_strata_follow_the_rules() -> None:
    first = planned(TEXT)
    assert [stratum.relations for stratum in first.strata] == [("Reach",), ("Apart",)]
    second = planned(TEXT + "Edge(x, y) :- Apart(x, y), Road(x, y).\n".replace("Edge", "Far"), first)
    assert [stratum.relations for stratum in second.strata] == [("Reach",), ("Apart",), ("Far",)]
    assert second.strata[0].rules == first.strata[0].rules


def test_a_refused_change_gives_no_plan() -> None:
    report = Report()
    changed = program(TEXT + "Edge(x, y) :- Apart(x, y).\n")
    assert plan_program(changed, report, earlier=planned(TEXT)) is None
    assert [diagnostic.code for diagnostic in report.errors] == ["E0601"]


def test_rules_of_one_text_are_told_apart() -> None:
    text = "A(x) :- B(x).\nA(x) :- B(x)."
    assert list(rules(planned(text))) == ["A(x) :- B(x).", "A(x) :- B(x). #2"]


def test_indexes_that_nobody_looked_at_are_not_made() -> None:
    first = planned(TEXT)
    assert isinstance(first.indexes, Lazy)
    assert not first.indexes.made
    second = planned(TEXT, first)
    assert not first.indexes.made
    assert second.indexes == first.indexes


def test_sizes_guide_the_order() -> None:
    plan = plan_program(program("H(x) :- Big(x, y), Small(y)."), Report(), sizes={"Big": 10**6, "Small": 3})
    assert plan is not None
    (rule,) = plan.strata[0].rules
    assert next(probe.relation for probe in rule.probes) == "Big"

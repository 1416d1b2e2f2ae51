"""Programs restricted to what is asked for, as texts."""

from __future__ import annotations

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.logic.print import print_rule
from tidelog.plan.demand.choose_demanded import Extent
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program
from tidelog.plan.show.json import plan_data
from tidelog.plan.show.text import show_text

GRAPH = """
input relation Link(a: u8, b: u8)
input relation Base(a: u8, b: u8)
input relation Start(s: u8)
#[demand] relation Reach(a: u8, b: u8)
output relation Seen(x: u8)
"""
SEEN = "Seen(x) :- Start(s), Reach(s, x)."
BEFORE = "Seen(x) :- Start(s), Reach(x, s)."


def planned(text: str, extent: Extent = "declared") -> Plan:
    report = Report()
    program = analyse(Source("<program>", text), report)
    assert program is not None, report.errors
    plan = plan_program(program, report, extent=extent)
    assert plan is not None
    return plan


def rules(plan: Plan) -> set[str]:
    return {print_rule(rule.source) for stratum in plan.strata for rule in stratum.rules if rule.source is not None}


SOURCE = {
    "Reach#asked.a(s) :- Start(s).",
    "Seen(x) :- Start(s), Reach#for.a(s, x).",
    "Reach#for.a(a, b) :- Reach#asked.a(a), Link(a, b).",
    "Reach#for.a(#x, #z) :- Reach#for.a(#x, #y), Link(#y, #z).",
}
TARGET = {
    "Reach#asked.b(s) :- Start(s).",
    "Seen(x) :- Start(s), Reach#for.b(x, s).",
    "Reach#for.b(a, b) :- Reach#asked.b(b), Link(a, b).",
    "Reach#for.b(#x, #z) :- Reach#for.b(#y, #z), Link(#x, #y).",
}
FORMS = {
    "left": "Reach(a, b) :- Link(a, b).  Reach(a, c) :- Reach(a, b), Link(b, c).",
    "right": "Reach(a, b) :- Link(a, b).  Reach(a, c) :- Link(a, b), Reach(b, c).",
    "nonlinear": "Reach(a, b) :- Link(a, b).  Reach(a, c) :- Reach(a, b), Reach(b, c).",
}


@pytest.mark.parametrize("form", FORMS)
def test_a_closure_keeps_the_end_that_is_given(form: str) -> None:
    plan = planned(GRAPH + FORMS[form] + SEEN)
    assert rules(plan) == SOURCE
    assert plan.partial == {"Reach"}
    assert not plan.notes
    assert rules(planned(GRAPH + FORMS[form] + BEFORE)) == TARGET


def test_steps_other_than_what_feeds_are_a_closure_of_their_own() -> None:
    text = GRAPH + "Reach(a, b) :- Base(a, b).  Reach(a, c) :- Link(a, b), Reach(b, c)."
    source = rules(planned(text + SEEN))
    assert "Reach#along#for.#x(#x, #z) :- Reach#along#for.#x(#x, #y), Link(#y, #z)." in source
    assert rules(planned(text + BEFORE)) == {
        "Reach#asked.b(s) :- Start(s).",
        "Seen(x) :- Start(s), Reach#for.b(x, s).",
        "Reach#for.b(a, b) :- Reach#asked.b(b), Base(a, b).",
        "Reach#for.b(a, c) :- Reach#for.b(b, c), Link(a, b).",
    }


def test_an_equivalence_takes_steps_both_ways() -> None:
    text = GRAPH + "Reach(a, b) :- Link(a, b).  Reach(a, b) :- Reach(b, a).  Reach(a, c) :- Reach(a, b), Reach(b, c)."
    made = rules(planned(text + SEEN))
    assert "Reach#base#for.a(a, b) :- Reach#base#asked.a(a), Link(a, b)." in made
    assert "Reach#base#for.a(b, a) :- Reach#base#asked.a(b), Link(a, b)." in made


def test_prefixes_are_shared() -> None:
    text = "input relation A(x: u8, y: u8)  input relation B(x: u8, y: u8)  output relation H(x: u8, z: u8)"
    text += "#[demand] relation P(x: u8, y: u8)  P(x, y) :- A(x, y), x < y.  H(x, z) :- A(x, y), B(y, z), P(z, x)."
    made = rules(planned(text))
    (shared,) = (rule for rule in made if rule.startswith("H#so.far"))
    name = shared.partition("(")[0]
    assert made == {
        f"{name}(x, z) :- A(x, y), B(y, z).",
        f"P#asked.x.y(z, x) :- {name}(x, z).",
        f"H(x, z) :- {name}(x, z), P#for.x.y(z, x).",
        "P#for.x.y(x, y) :- P#asked.x.y(x, y), A(x, y), x < y.",
    }


def test_groups_are_asked_for_whole() -> None:
    text = GRAPH + FORMS["left"] + "#[demand] relation Count(a: u8, n: u64)"
    text += "Count(a, n) :- Reach(a, b), var n = b.group_by(a).count().  Seen(x) :- Start(x), Count(x, 3)."
    made = rules(planned(text))
    assert "Count#asked.a(x) :- Start(x)." in made
    assert "Reach#asked.a(a) :- Count#asked.a(a)." in made
    groups = (
        GRAPH + "#[demand] relation Count(a: u8, n: u64)  Count(a, n) :- Link(a, b), var n = b.group_by(a).count()."
    )
    assert "Link#for.a(a, b) :- Link#asked.a(a), Link(a, b)." in rules(
        planned(groups + "Seen(x) :- Start(x), Count(x, _).")
    )


CYCLE = """
input relation Move(a: u8, b: u8)
#[demand] relation P(a: u8)
#[demand] relation R(a: u8)
output relation O(x: u8)
P(x) :- Move(x, y), not R(y), P(y).
P(x) :- Move(x, x).
R(x) :- Move(x, y), Move(y, x).
O(x) :- Move(x, 1), P(x).
"""


def test_a_negated_atom_may_be_looked_at_last() -> None:
    made = rules(planned(CYCLE))
    assert any("not R#for.a(y)" in rule for rule in made)
    assert not planned(CYCLE).notes


def test_what_would_depend_on_its_own_negation_is_computed_in_full() -> None:
    text = CYCLE.replace("Move(x, y), not R(y), P(y)", "Q(x, y), P(y)").replace(
        "R(x) :-", "Q(x, y) :- Move(x, y), not R(y).  R(x) :-"
    )
    plan = planned("#[demand] relation Q(a: u8, b: u8)" + text)
    assert plan.notes == {"R": "asking for it would depend on its own negation or group"}
    assert "R(a) in full: asking for it would depend" in show_text(plan)
    assert plan_data(plan)["partial"] == ["P", "Q"]
    assert show_text(plan).startswith("inputs\n  Move(a, b)\n\nby demand\n  Q(a, b)\n  P(a)\n  R(a) in full")


def test_new_values_are_not_asked_for_in_a_recursion() -> None:
    text = "input relation N(n: bigint)  input relation Go(n: bigint)  output relation O(n: bigint)"
    text += "#[demand] relation Even(n: bigint)  Even(0).  O(n) :- Go(n), Even(n)."
    plan = planned(text + "Even(n) :- Even(m), N(n), m == n - 2.")
    assert any("Even#asked.n(n), m := n - 2, N(n)." in rule for rule in rules(plan))
    assert not plan.notes
    plan = planned(text + "Even(n) :- N(k), var n = k + 1, var m = n - 2, Even(m).")
    assert plan.notes == {"Even": "it is asked for without any column given"}


def test_nothing_is_computed_that_nobody_asks_for() -> None:
    text = GRAPH + FORMS["left"] + SEEN
    assert planned(text, "everything").strata == ()
    assert planned(text, "everything").partial == {"Reach", "Seen"}
    assert planned(text, "nothing").partial == frozenset()
    whole = planned(GRAPH.replace("#[demand]", "") + FORMS["left"] + SEEN)
    assert rules(whole) == rules(planned(text, "nothing"))


def test_planning_again_keeps_rules() -> None:
    report = Report()
    program = analyse(Source("<program>", GRAPH + FORMS["nonlinear"] + SEEN), report)
    assert program is not None
    first = plan_program(program, report)
    assert first is not None
    again = plan_program(program, report, earlier=first)
    assert again is not None
    known = {id(rule) for stratum in first.strata for rule in stratum.rules}
    assert {id(rule) for stratum in again.strata for rule in stratum.rules} == known

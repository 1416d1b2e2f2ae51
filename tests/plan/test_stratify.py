"""Strata, and the diagnostics for programs that have none."""

from __future__ import annotations

from textwrap import dedent

from tests.plan.small import plan, program
from tidelog.base.diagnostic import Report, render
from tidelog.plan.passes import plan_program


def strata(text: str) -> list[tuple[set[str], bool]]:
    return [(set(stratum.relations), stratum.recursive) for stratum in plan(text).strata]


def mistakes(text: str) -> str:
    report = Report()
    assert plan_program(program(dedent(text).strip()), report) is None
    assert {diagnostic.code for diagnostic in report.errors} <= {"E0601", "E0602"}
    return "\n\n".join(map(render, report.errors))


def test_one_stratum_a_component_in_order_of_need() -> None:
    text = """
Apart(x, y) :- Node(x), Node(y), not Reach(x, y).
Node(x) :- Edge(x, _).
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z).
Even(x) :- Zero(x).
Even(y) :- Odd(x), Edge(x, y).
Odd(y) :- Even(x), Edge(x, y).
"""
    assert strata(text) == [({"Node"}, False), ({"Reach"}, True), ({"Apart"}, False), ({"Even", "Odd"}, True)]


def test_strata_are_numbered_and_hold_their_rules() -> None:
    planned = plan("B(x) :- A(x).\nC(x) :- B(x).\nB(x) :- Z(x).")
    assert [(s.number, [rule.origin.text for rule in s.rules]) for s in planned.strata] == [
        (0, ["B(x) :- A(x).", "B(x) :- Z(x)."]),
        (1, ["C(x) :- B(x)."]),
    ]


def test_inputs_need_no_stratum_but_facts_do() -> None:
    assert strata("F(1).\nG(x) :- F(x), I(x).") == [({"F"}, False), ({"G"}, False)]


def test_negation_below_is_fine() -> None:
    assert strata("P(x) :- Q(x), not R(x).\nR(x) :- S(x).\nP(x) :- P(x), not T(x).")[-1] == ({"P"}, True)


def test_a_relation_that_negates_itself() -> None:
    shown = mistakes("Win(x) :- Move(x, y), not Win(y).").split("\n")
    assert shown[:5] == [
        "error[E0601]: `Win` depends on its own negation",
        "  --> small.dl:1:23",
        "  |",
        "1 | Win(x) :- Move(x, y), not Win(y).",
        "  |                       ^^^^^^^^^^",
    ]
    assert [line[:8] for line in shown[5:]] == ["  note: ", "  hint: "]


def test_a_longer_cycle_is_shown_edge_by_edge() -> None:
    shown = mistakes("""
        A(x) :- I(x), B(x).
        B(x) :- I(x), not C(x).
        C(x) :- D(x).
        D(x) :- A(x).
        D(x) :- I(x), not E(x).
        E(x) :- J(x).
    """)
    assert shown.startswith("error[E0601]: `B` depends on its own negation\n  --> small.dl:2:")
    assert [line for line in shown.split("\n") if line.startswith("  `")] == [
        "  `B` needs that `C` does not hold:",
        "  `C` needs `D`:",
        "  `D` needs `A`:",
        "  `A` needs `B`:",
    ]


def test_aggregation_counts_like_negation_and_auxiliary_relations_are_not_shown() -> None:
    shown = mistakes("""
        Cost#1(x, c) :- Cost(y, c), Edge(y, x).
        Cost(x, n) :- n = min(c) by x of Cost#1(x, c).
    """)
    assert shown.startswith("error[E0602]: `Cost` depends on an aggregate over itself\n  --> small.dl:2:")
    assert "Cost#1`" not in shown


def test_a_wildcard_in_a_negation_is_shown_as_written() -> None:
    shown = mistakes("P(x) :- N(x), not Q(x, _).\nQ(x, x) :- P(x).")
    assert "`P` needs that `Q` does not hold" in shown
    assert "#" not in shown


def test_every_bad_cycle_is_reported() -> None:
    report = Report()
    assert plan_program(program("P(x) :- I(x), not P(x).\nQ(x) :- I(x), not R(x).\nR(x) :- Q(x)."), report) is None
    assert [diagnostic.message for diagnostic in report.errors] == [
        "`P` depends on its own negation",
        "`Q` depends on its own negation",
    ]


def test_a_cycle_with_two_negations_is_reported_once() -> None:
    report = Report()
    assert plan_program(program("P(x) :- I(x), not Q(x).\nQ(x) :- I(x), not P(x)."), report) is None
    assert [len(diagnostic.labels) for diagnostic in report.errors] == [2]


def test_long_chains_of_relations() -> None:
    text = "\n".join(f"R{i + 1}(x) :- R{i}(x)." for i in range(3000))
    assert len(plan(text).strata) == 3000
    report = Report()
    assert plan_program(program(text + "\nR1(x) :- I(x), not R3000(x)."), report) is None
    assert len(report.errors[0].labels) == 3000

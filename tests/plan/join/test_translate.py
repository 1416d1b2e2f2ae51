"""Rules as algebra in body order, in one step and in the steps of the Shapiro paper."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import given

from tests.papers.translation_steps import translation_steps
from tests.plan.evaluate import Tuples, derivations
from tests.plan.random_rules import facts, rules
from tests.plan.small import rule
from tests.plan.trees import show_tree
from tidelog.logic.program import Rule
from tidelog.plan.join.spine import scans
from tidelog.plan.join.translate import translate
from tidelog.plan.nodes import Project, Version

CASES = {
    "F(1, 2).": """
        project F(1, 2)
          one row
    """,
    "H(x) :- R(x, x, 1, _).": """
        project H(x)
          scan R(x, x, 1, _)
    """,
    "H(x, z) :- R(x, y), S(y, z, 1), not T(z), z > 3.": """
        project H(x, z)
          select z > 3
            antijoin on z
              join on y
                scan R(x, y)
                scan S(y, z, 1)
              scan T(z)
    """,
    "H(x) :- R(x), S(y), x == y.": """
        project H(x)
          select x == y
            product
              scan R(x)
              scan S(y)
    """,
    "H(x, v) :- R(x), y = x + 1, y = g(x), v in f(y), x in f(v).": """
        project H(x, v)
          select x == x'
            unnest x' in f(v)
              unnest v in f(y)
                select y == g(x)
                  extend y = x + 1
                    scan R(x)
    """,
    "H(x) :- x = 3, R(x).": """
        project H(x)
          join on x
            extend x = 3
              one row
            scan R(x)
    """,
    "H() :- not R(1), 2 > 1.": """
        project H()
          select 2 > 1
            antijoin
              one row
              scan R(1)
    """,
    "H(k, n, m) :- P(k), n = count(v) by k of R(k, v), m = sum(v) by k of S(k, v).": """
        project H(k, n, m)
          join on k
            join on k
              scan P(k)
              aggregate R(k, v) by k with n = count(v)
            aggregate S(k, v) by k with m = sum(v)
    """,
    "H(n, m) :- n = count(v) by  of R(v), m = sum(v) by k of S(k, v), P(k, n).": """
        project H(n, m)
          join on k, n
            product
              aggregate R(v) with n = count(v)
              aggregate S(k, v) by k with m = sum(v)
            scan P(k, n)
    """,
}


@pytest.mark.parametrize("text", CASES)
def test_a_rule_is_a_tree_in_body_order(text: str) -> None:
    assert show_tree(translate(rule(text))) == dedent(CASES[text]).strip()


def test_scans_read_the_current_state_and_know_their_occurrence() -> None:
    tree = translate(rule("H(x) :- R(x), not S(x), n = count(v) by x of T(x, v), R(n)."))
    assert [(s.relation, s.occurrence) for s in scans(tree)] == [("R", 0), ("S", 1), ("T", 2), ("R", 3)]
    assert {s.version for s in scans(tree)} == {Version.ALL}


def test_columns_are_all_variables_bound_so_far() -> None:
    tree = translate(rule("H(x) :- R(x, y), S(y, z), v = z + 1."))
    assert [v.name for v in tree.input.columns] == ["x", "y", "z", "v"]
    assert tree.columns == ()


STEPS = """
    -- scans and products
    antijoin on z
      product
        scan R(x, x'2, y)
        scan S(y'2, z, '1.2)
      scan T(z, 2)
    -- constants to selections
    antijoin on z
      product
        scan R(x, x'2, y)
        select '1.2 == 1
          scan S(y'2, z, '1.2)
      scan T(z, 2)
    -- equalities to selections
    antijoin on z
      select y == y'2
        product
          select x == x'2
            scan R(x, x'2, y)
          select '1.2 == 1
            scan S(y'2, z, '1.2)
      scan T(z, 2)
    -- projection to the head
    project H(x, z)
      antijoin on z
        select y == y'2
          product
            select x == x'2
              scan R(x, x'2, y)
            select '1.2 == 1
              scan S(y'2, z, '1.2)
        scan T(z, 2)
    -- products to joins
    project H(x, z)
      antijoin on z
        join on y
          select x == x'2
            scan R(x, x'2, y)
          select '1.2 == 1
            scan S(y, z, '1.2)
        scan T(z, 2)
    -- selections into scans
    project H(x, z)
      antijoin on z
        join on y
          scan R(x, x, y)
          scan S(y, z, 1)
        scan T(z, 2)
"""


def test_the_steps_of_the_paper() -> None:
    steps = translation_steps(rule("H(x, z) :- R(x, x, y), S(y, z, 1), not T(z, 2)."))
    assert "\n".join(f"-- {title}\n{show_tree(tree)}" for title, tree in steps) == dedent(STEPS).strip()


@pytest.mark.parametrize("text", CASES)
def test_the_steps_lead_to_the_translation(text: str) -> None:
    assert translation_steps(rule(text))[-1][1] == translate(rule(text))


@given(rules())
def test_the_steps_lead_to_the_translation_of_any_rule(rule: Rule) -> None:
    assert translation_steps(rule)[-1][1] == translate(rule)


@given(rules(aggregates=False), facts())
def test_every_step_means_the_same(rule: Rule, facts: Tuples) -> None:
    expected = derivations(translate(rule), facts)
    for _, tree in translation_steps(rule):
        if isinstance(tree, Project):
            assert derivations(tree, facts) == expected


def test_a_long_body_is_no_problem() -> None:
    text = f"H(x0) :- {', '.join(f'R(x{i}, x{i + 1})' for i in range(2000))}."
    tree = translate(rule(text))
    assert sum(1 for _ in scans(tree)) == 2000
    *_, (_, last) = translation_steps(rule(text.replace("2000", "300")[: text.index("R(x300")].rstrip(", ") + "."))
    assert isinstance(last, Project)
    assert show_tree(last).count("\n") > 300

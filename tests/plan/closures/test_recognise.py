"""Closures recognised from their rules."""

from __future__ import annotations

import pytest

from tests.plan.small import plan
from tidelog.base.expr import Const
from tidelog.base.types import BIGINT
from tidelog.plan.closures.recognise import Closure, Form, Kind, closures

BASE = "T(x, y) :- E(x, y).\n"
TRANSITIVE = "T(x, z) :- T(x, y), T(y, z).\n"
SYMMETRIC = "T(x, y) :- T(y, x).\n"


def closure(text: str) -> Closure:
    (found,) = (found for stratum in plan(text).strata for found in closures(stratum))
    return found


def none(text: str) -> bool:
    return not any(closures(stratum) for stratum in plan(text).strata)


@pytest.mark.parametrize(
    ("rule", "form", "exact"),
    [
        ("T(x, z) :- T(x, y), T(y, z).", Form.NONLINEAR, True),
        ("T(x, z) :- T(y, z), T(x, y).", Form.NONLINEAR, True),
        ("T(x, z) :- T(x, y), E(y, z).", Form.LEFT, True),
        ("T(x, z) :- E(y, z), T(x, y).", Form.LEFT, True),
        ("T(x, z) :- E(x, y), T(y, z).", Form.RIGHT, True),
        ("T(x, z) :- T(y, z), E(x, y).", Form.RIGHT, True),
        ("T(x, z) :- T(x, y), F(y, z).", Form.LEFT, False),
        ("T(x, z) :- T(x, y), E(z, y).", Form.LEFT, False),
        ("T(x, z) :- T(x, y), F(z, 4, y, _).", Form.LEFT, False),
    ],
)
def test_transitive(rule: str, form: Form, exact: bool) -> None:
    found = closure(BASE + rule)
    assert (found.kind, found.form, found.exact, found.alone) == (Kind.TRANSITIVE, form, exact, True)
    assert (found.source, found.target, found.partition, found.constants) == (0, 1, (), ())
    assert [r.origin.text for r in found.rules] == [rule]
    assert [r.origin.text for r in found.feeds] == [BASE.strip()]
    assert bool(found.steps) == (form is not Form.NONLINEAR)


def test_where_the_step_is_in_its_relation() -> None:
    assert closure(BASE + "T(x, z) :- T(x, y), F(z, 4, y, _).").step_columns == ((2, 0),)
    assert closure(BASE + "T(x, z) :- E(x, y), T(y, z).").step_columns == ((0, 1),)


@pytest.mark.parametrize(
    "rule",
    [
        "T(x, z) :- T(x, y), T(y, z), x != z.",
        "T(x, z) :- T(x, y), T(z, y).",
        "T(x, z) :- T(y, x), T(y, z).",
        "T(x, x) :- T(x, y), T(y, x).",
        "T(x, z) :- T(x, y), F(y, w), G(w, z).",
        "T(x, z) :- T(x, y), F(y, z, x).",
        "T(x, z) :- T(x, y), F(y, y, z).",
        "T(x, z) :- T(x, y), F(x, z).",
        "T(x, z) :- T(x, z), F(y, z).",
        "T(x, 3) :- T(x, y), F(y, 3).",
        "T(x, z + 1) :- T(x, y), F(y, z).",
        "T(x, z) :- T(x, y), E(y, z), not F(x).",
        "T(x, y) :- T(y, x).",
        "T(x, y) :- E(a, x), T(a, b), E(b, y).",
    ],
)
def test_not_a_closure(rule: str) -> None:
    assert none(BASE + rule)


def test_a_step_of_the_same_stratum_is_not_linear() -> None:
    assert none(BASE + "T(x, z) :- T(x, y), S(y, z).\nS(x, y) :- T(y, x).")


def test_symmetric_and_reflexive() -> None:
    assert closure(BASE + TRANSITIVE + SYMMETRIC).kind is Kind.SYMMETRIC_TRANSITIVE
    on_nodes = closure(BASE + TRANSITIVE + SYMMETRIC + "T(x, x) :- N(x).")
    assert (on_nodes.kind, on_nodes.alone, len(on_nodes.feeds)) == (Kind.EQUIVALENCE, True, 2)
    on_itself = closure(BASE + TRANSITIVE + SYMMETRIC + "T(x, x) :- T(x, _).")
    assert (on_itself.kind, on_itself.alone, len(on_itself.rules)) == (Kind.EQUIVALENCE, True, 3)
    assert closure(BASE + TRANSITIVE + "T(x, x) :- N(x).").kind is Kind.TRANSITIVE


def test_a_symmetric_rule_beside_a_linear_one_is_only_a_feed() -> None:
    found = closure(BASE + "T(x, z) :- T(x, y), E(y, z).\n" + SYMMETRIC)
    assert (found.kind, found.alone, found.exact) == (Kind.TRANSITIVE, False, False)


def test_other_rules_may_feed_it_recursive_ones_too() -> None:
    found = closure(BASE + TRANSITIVE + "T(x, y) :- F(x, y), G(y).\nT(x, y) :- T(y, z), H(z, x).")
    assert (found.form, found.alone, len(found.feeds)) == (Form.NONLINEAR, False, 3)
    galen = """
P(x, z) :- P(x, y), P(y, z).
P(x, z) :- P(y, w), U(w, r, z), Q(x, r, y).
Q(x, r, z) :- P(x, y), Q(y, r, z).
Q(x, q, z) :- Q(x, r, z), S(r, q).
P(x, z) :- P0(x, z).
Q(x, r, z) :- Q0(x, r, z).
"""
    p, q = closures(plan(galen).strata[-1])
    assert (p.relation, p.form, p.alone) == ("P", Form.NONLINEAR, False)
    assert (q.relation, q.form, q.target, [scan.relation for scan in q.steps]) == ("Q", Form.LEFT, 1, ["S"])


def test_nonlinear_is_preferred() -> None:
    assert closure(BASE + "T(x, z) :- T(x, y), E(y, z).\n" + TRANSITIVE).form is Form.NONLINEAR


def test_several_steps() -> None:
    found = closure(BASE + "T(x, z) :- T(x, y), E(y, z).\nT(x, z) :- T(x, y), F(y, z).")
    assert [scan.relation for scan in found.steps] == ["E", "F"]
    assert not found.exact


def test_inside_a_wider_relation() -> None:
    per_graph = closure("T(g, x, y) :- E(g, x, y).\nT(g, x, z) :- T(g, x, y), T(g, y, z).")
    assert (per_graph.source, per_graph.target, per_graph.partition) == (1, 2, (0,))
    triples = closure("T(x, p, y) :- E(x, p, y).\nT(x, 4, z) :- T(x, 4, y), T(y, 4, z).")
    assert (triples.source, triples.target, triples.constants) == (0, 2, ((1, Const(4, BIGINT)),))
    assert none("T(g, x, y) :- E(g, x, y).\nT(g, x, z) :- T(g, x, y), T(h, y, z).")
    linear = closure("T(g, x, y) :- E(g, x, y).\nT(g, x, z) :- T(g, x, y), F(y, z).")
    assert linear.target == 2
    assert sorted((linear.source, *linear.partition)) == [0, 1]

"""The rewrites of rules that need no types: each example is a text before, and the text that means the same after."""

import pytest

from tidelog.base.diagnostic import Report
from tidelog.base.span import Source
from tidelog.lang.parse.parse import parse_rules
from tidelog.lang.syntax import Assign, Condition, Expr, ImperativeRule, RuleDef
from tidelog.logic.names.patterns import without_names
from tidelog.logic.rewrite.expand_disjunction import expand_disjunction
from tidelog.logic.rewrite.imperative_rules import imperative_rules
from tidelog.logic.rewrite.lift_expressions import lift_expressions
from tidelog.logic.rewrite.replace_aggregates import replace_aggregates
from tidelog.logic.rewrite.split_heads import split_heads


def rules(text: str) -> tuple[RuleDef, ...]:
    report = Report()
    parsed = parse_rules(Source("test", text), report)
    assert not report.diagnostics
    return tuple(rule for rule in parsed if isinstance(rule, RuleDef))


def rule(text: str) -> RuleDef:
    (only,) = rules(text)
    return only


def imperative(text: str) -> ImperativeRule:
    report = Report()
    (only,) = parse_rules(Source("test", text), report)
    assert not report.diagnostics
    assert isinstance(only, ImperativeRule)
    return only


def test_split_heads() -> None:
    assert split_heads(rule("A(x), B(x, 1) :- C(x).")) == rules("A(x) :- C(x). B(x, 1) :- C(x).")


def test_a_rule_with_one_head_stays() -> None:
    one = rule("A(x) :- C(x).")
    assert split_heads(one) == (one,)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A(x) :- B(x), (C(x); D(x), E(x)).", "A(x) :- B(x), C(x). A(x) :- B(x), D(x), E(x)."),
        (
            "A(x) :- (B(x); C(x)), (D(x); E(x)).",
            "A(x) :- B(x), D(x). A(x) :- C(x), D(x). A(x) :- B(x), E(x). A(x) :- C(x), E(x).",
        ),
        ("A(x) :- (B(x); (C(x); D(x)), E(x)).", "A(x) :- B(x). A(x) :- C(x), E(x). A(x) :- D(x), E(x)."),
        (
            "A(k, n) :- B(x, k), (C(x); D(x)), var n = x.group_by(k).count().",
            "A(k, n) :- (B(x, k), C(x); B(x, k), D(x)), var n = x.group_by(k).count().",
        ),
        (
            "A(x) :- B(x), (x == 1; x > 5, x < 9), (C(x); x > 7).",
            "A(x) :- B(x), x == 1 or (x > 5 and x < 9), C(x). A(x) :- B(x), x == 1 or (x > 5 and x < 9), x > 7.",
        ),
        (
            "A(k, n) :- B(x, k), (x > 1; x > 2), var n = x.group_by(k).count(), (n > 3; n < 2).",
            "A(k, n) :- (B(x, k), x > 1; B(x, k), x > 2), var n = x.group_by(k).count(), n > 3 or n < 2.",
        ),
        (
            "A(k, n) :- B(x, k), var n = x.group_by(k).count(), (n > 3; C(k)).",
            (
                "A(k, n) :- B(x, k), var n = x.group_by(k).count(), n > 3."
                "A(k, n) :- B(x, k), var n = x.group_by(k).count(), C(k)."
            ),
        ),
        (
            "A(k) :- (B(x, k); C(x, k)), (x.group_by(k).count() > 1; D(k)).",
            "A(k) :- (B(x, k); C(x, k)), x.group_by(k).count() > 1. A(k) :- B(x, k), D(k). A(k) :- C(x, k), D(k).",
        ),
    ],
)
def test_expand_disjunction(before: str, after: str) -> None:
    assert expand_disjunction(rule(before)) == rules(after)


def test_lift_expressions() -> None:
    before = rule("A(x) :- B(y), C((x, y + 1), z + 1), (D[E{.f = (f(y), 3)}]; not D(Some{g(y)}, _)).")
    after = rule(
        "A(x) :- B(y), C((x, e1), z + 1), e1 = y + 1, (D[E{.f = (e2, 3)}], e2 = f(y); not D(Some{e3}, _), e3 = g(y))."
    )
    assert repr(lift_expressions(before)) == repr((after,)).replace("'e", "'#e")


def test_patterns_and_expressions_stay() -> None:
    one = rule("A(x) :- B((x, Some{1}), y + 1), (x, z) = y.")
    assert lift_expressions(one) == (one,)


def test_replace_aggregates() -> None:
    before = rule("A(k, n) :- B(k, x), var n = Aggregate((k, 1), count(x)).")
    assert replace_aggregates(before) == rules("A(k, n) :- B(k, x), var n = x.group_by((k, 1)).count().")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("for (x in R) A(x.a)", "A(x.a) :- x in R."),
        ("for (x in R(y) if y > 3) { A(x); B(y) }", "A(x) :- x in R(y), y > 3. B(y) :- x in R(y), y > 3."),
        ("for (R(x)) if (x > 1) A(x) else B(x)", "A(x) :- R(x), x > 1. B(x) :- R(x), not (x > 1)."),
        ("for (R(x)) for (S(x, y)) var z = x + y in A(z)", "A(z) :- R(x), S(x, y), var z = x + y."),
        ("for (R(x)) { skip; if (x > 1) skip else A(x) }", "A(x) :- R(x), not (x > 1)."),
    ],
)
def test_imperative_rules(before: str, after: str) -> None:
    assert imperative_rules(imperative(before), Report()) == rules(after)


def test_only_the_first_arm_that_fits_is_taken() -> None:
    made = imperative_rules(imperative("for (R(e)) match (e) { Some{x} -> A(x), _ -> B(e) }"), Report())
    after = rules(
        """
        A(x) :- R(e), var m = e, Some{x} = m.
        B(e) :- R(e), var m = e, match (m) { Some{_} -> false, _ -> true }.
        """
    )
    assert repr(made) == repr(after).replace("'m'", "'#match1'")


def test_without_names() -> None:
    names = target("A() :- (x, C{.f = var y, .g = 3}, z @ (_, 1), w: bool) = e.")
    assert without_names(names) == target("A() :- (_, C{.f = _, .g = 3}, (_, 1), _) = e.")


def target(text: str) -> Expr:
    (clause,) = rule(text).body
    assert isinstance(clause, Condition)
    assert isinstance(clause.expression, Assign)
    return clause.expression.target

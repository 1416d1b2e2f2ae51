"""Delta variants find every derivation that a change touches, once; re-derivation finds those of given heads."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from tests.plan.evaluate import Tuples, derivations, evaluate, versions
from tests.plan.random_rules import facts, rules
from tests.plan.small import plan, rule
from tidelog.logic.program import Rule
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.plan_rules import plan_rule
from tidelog.plan.join.spine import scans, spine
from tidelog.plan.join.translate import translate
from tidelog.plan.nodes import Scan, Version
from tidelog.plan.rewrite.rederive import rederive
from tidelog.plan.rewrite.rediscover import rediscover
from tidelog.plan.show.text import show_pipeline


@given(rules(aggregates=False, wildcards=False), facts(), facts())
def test_variants_add_up_to_the_change(rule: Rule, old: Tuples, new: Tuples) -> None:
    planned = plan_rule(rule, "rule", Estimate())
    inserted = {name: [row for row in new[name] if row not in old[name]] for name in new}
    deleted = {name: [row for row in old[name] if row not in new[name]] for name in new}
    change: Counter[tuple[int, ...]] = Counter()
    for variant in planned.variants:
        for delta, sign in ((inserted, 1), (deleted, -1)):
            found = evaluate(variant.tree, versions(old, delta, new))
            for row, count in found.items():
                change[row] += -sign * count if variant.negative else sign * count
    before, after = derivations(planned.body, old), derivations(planned.body, new)
    after.subtract(before)
    assert {row: n for row, n in change.items() if n} == {row: n for row, n in after.items() if n}


@given(rules(), facts())
def test_the_full_variant_is_the_definition(rule: Rule, facts: Tuples) -> None:
    planned = plan_rule(rule, "rule", Estimate())
    assert planned.full.delta is None
    assert derivations(planned.full.tree, facts) == derivations(planned.body, facts)


@given(rules(), facts(), facts())
def test_rederivation_finds_all_derivations_of_the_given_heads(rule: Rule, state: Tuples, heads: Tuples) -> None:
    body = translate(rule)
    derived = derivations(body, state)
    asked = [row for row in derived if sum(row) % 2] + list(heads["C"] if len(body.expressions) == 3 else ())
    for tree in (rederive(body), rediscover(body)):
        found = evaluate(tree, versions(state, {"H": list(dict.fromkeys(asked))}, state))
        assert found == Counter({row: n for row, n in derived.items() if row in asked})


def test_rederivation_reads_what_is_left() -> None:
    tree = rederive(translate(rule("H(x, z + 1, 3) :- R(x, y), S(y, z).")))
    assert show_pipeline(tree) == (
        "scan delta H(x, '1, 3)\njoin new R(x, y) on x\njoin new S(y, z) on y\nselect '1 == z + 1\ngive H(x, z + 1, 3)"
    )


def test_a_divided_filter() -> None:
    """The example of Zhao et al., section 4.2: no projection stands where it could multiply, the whole comes last."""
    tree = rediscover(translate(rule("R(x, y, z) :- A(x, a), B(y, a), C(z, a).")))
    assert show_pipeline(tree) == (
        "scan part R(x, _, _)\njoin new A(x, a) on x\njoin new B(y, a) on a\njoin part R(x, y, _) on x, y\n"
        "join new C(z, a) on a\njoin delta R(x, y, z) on x, y, z\ngive R(x, y, z)"
    )


def test_a_filter_that_is_not_divided() -> None:
    """Where an atom has all variables of the head nothing can be multiplied; where none has any, all would be read."""
    for text in ("H(x, z) :- R(x, y), S(y, z), T(x, z).", "H(x + 1, 3) :- R(x, y)."):
        body = translate(rule(text))
        assert rediscover(body) == rederive(body)


def test_versions_follow_body_order_not_join_order() -> None:
    (planned,) = plan("H(x) :- A(x, y), B(y, z), C(z, x).").strata[0].rules
    seen = {v.delta: {s.relation: s.version for s in scans(v.tree)} for v in planned.variants}
    old, delta, new = Version.OLD, Version.DELTA, Version.NEW
    assert seen == {
        0: {"A": delta, "B": new, "C": new},
        1: {"A": old, "B": delta, "C": new},
        2: {"A": old, "B": old, "C": delta},
    }


def test_an_aggregated_occurrence_has_no_variant() -> None:
    planned = plan_rule(rule("H(k, n) :- P(k), n = count(v) by k of R(k, v), not Q(n)."), "rule", Estimate())
    assert planned.reads == ("P", "R", "Q")
    assert planned.negated == (False, True, True)
    assert planned.aggregated == (False, True, False)
    assert [(variant.delta, variant.negative) for variant in planned.variants] == [(0, False), (2, True)]


def test_a_negated_delta_has_no_antijoin_of_its_own() -> None:
    (planned,) = plan("H(x) :- P(x), not Q(x).").strata[0].rules
    negative = planned.variants[1]
    assert show_pipeline(negative.tree) == "scan delta Q(x)\njoin old P(x) on x\ngive H(x)"
    assert isinstance(spine(negative.tree)[0], Scan)


def test_a_fact_has_no_variants() -> None:
    (planned,) = plan("F(1).").strata[0].rules
    assert list(planned.variants) == []
    assert show_pipeline(planned.full.tree) == "give F(1)"

"""The programs of DRed mean what they say: enough is deleted, and what is put back holds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.plan.evaluate import Tuples, derivations
from tests.plan.random_rules import facts, rules
from tests.plan.small import rule
from tidelog.logic.print import print_rule
from tidelog.logic.program import Rule
from tidelog.plan.join.translate import translate
from tidelog.plan.rewrite.derive_again import derive_again
from tidelog.plan.rewrite.overdelete import overdelete
from tidelog.plan.rewrite.rederive import rederive

Heads = set[tuple[int, ...]]


def test_what_the_paper_does_not_have() -> None:
    made = [print_rule(each) for each in overdelete(rule("H(x) :- A(x), not B(x, 1), y = x + 1, C(x, y)."))]
    assert made == [
        "-H(x) :- -A(x), not B(x, 1), y := x + 1, C(x, y).",
        "-H(x) :- A(x), +B(x, 1), y := x + 1, C(x, y).",
        "-H(x) :- A(x), not B(x, 1), y := x + 1, -C(x, y).",
    ]
    made = [print_rule(each) for each in overdelete(rule("N(k, n) :- n = sum(v) by k of R(k, 3, v)."))]
    assert made == [
        "-N(k, n) :- -R(k, 3, _), group v of R(k, 3, v) by (k): n := sum(group).",
        "-N(k, n) :- +R(k, 3, _), group v of R(k, 3, v) by (k): n := sum(group).",
    ]
    assert overdelete(rule("F(1, 2).")) == ()
    assert print_rule(derive_again(rule("F(1, 2)."))) == "+F(1, 2) :- -F(1, 2)."
    assert print_rule(derive_again(rule("H(x + 1) :- A(x)."))) == "+H(x + 1) :- -H('0), A(x), '0 == x + 1."


@given(rules(wildcards=False), facts(), facts())
def test_what_is_not_deleted_still_holds(rule: Rule, before: Tuples, after: Tuples) -> None:
    names = before.keys() | after.keys()
    gone = {f"-{name}": sorted(set(before.get(name, ())) - set(after.get(name, ()))) for name in names}
    came = {f"+{name}": sorted(set(after.get(name, ())) - set(before.get(name, ()))) for name in names}
    deleted: Heads = set()
    for each in overdelete(rule):
        deleted |= set(derivations(translate(each), {**before, **gone, **came}))
    assert deleted <= heads(rule, before)
    assert heads(rule, before) - deleted <= heads(rule, after)


@given(rules(), facts(), st.sets(st.integers(0, 20)))
def test_what_is_put_back_is_what_is_derived(rule: Rule, left: Tuples, chosen: set[int]) -> None:
    derived = sorted(heads(rule, left))
    wrong = tuple(-1 for _ in rule.arguments)
    deleted = {head for i, head in enumerate(derived) if i in chosen} | {wrong}
    again = set(derivations(translate(derive_again(rule)), {**left, "-H": sorted(deleted)}))
    assert again == deleted & set(derived)
    assert again == set(derivations(rederive(translate(rule)), {**left, "H": sorted(deleted)}))


def heads(rule: Rule, facts: Tuples) -> Heads:
    return set(derivations(translate(rule), facts))

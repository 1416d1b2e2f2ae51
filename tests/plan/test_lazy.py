"""Sequences that are made when somebody looks."""

from __future__ import annotations

import pickle

from tests.plan.small import plan
from tidelog.plan.lazy import Lazy
from tidelog.plan.nodes import Rule


def test_items_are_made_once() -> None:
    calls = []
    lazy = Lazy(lambda: calls.append(1) or "abc")  # type: ignore[func-returns-value, redundant-expr]
    assert not lazy.made
    assert (list(lazy), lazy[1:], len(lazy), lazy[-1]) == (["a", "b", "c"], ("b", "c"), 3, "c")
    assert (lazy.made, len(calls)) == (True, 1)


def test_equality_hash_and_text_are_those_of_the_items() -> None:
    assert Lazy(lambda: (1, 2)) == (1, 2)
    assert Lazy(lambda: (1, 2)) == Lazy(lambda: [1, 2])
    assert Lazy(lambda: (1, 2)) != (1, 3)
    assert Lazy(lambda: (1, 2)) != 5
    assert hash(Lazy(lambda: (1, 2))) == hash((1, 2))
    assert repr(Lazy(lambda: (1, 2))) == "(1, 2)"


def test_a_plan_can_be_sent_to_another_process() -> None:
    planned = plan("T(x, y) :- E(x, y).\nT(x, z) :- T(x, y), E(y, z), not F(x, _).")
    again = pickle.loads(pickle.dumps(planned))
    assert again == planned
    rules: list[Rule] = [rule for stratum in again.strata for rule in stratum.rules]
    assert [rule.variants for rule in rules] == [rule.variants for s in planned.strata for rule in s.rules]

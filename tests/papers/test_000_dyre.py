"""Lima et al., "Incremental Evaluation of Dynamic Datalog Programs as a Higher-order DBSP Program": its examples.

Where the printed example has a slip, the comment beside the test says so.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.papers.rewriting import apply, combine, least_model, product
from tidelog.dbsp import (
    Dyre,
    Fact,
    Rule,
    Stream,
    Streams,
    ZSet,
    ZSets,
    delay,
    eliminate,
    incremental_bilinear,
    integrate,
    introduce,
    lift,
    read,
)
from tidelog.run.dbsp.circuits.tagged import Weighted
from tidelog.run.dbsp.dyre import clause
from tidelog.run.dbsp.rewriting.kit import Kit
from tidelog.run.dbsp.terms import Atom, Var
from tidelog.run.dbsp.zsets.values import Values

PAIRS = ZSets(2)
AB, BC, CD = ("a", "b"), ("b", "c"), ("c", "d")


def rule(text: str) -> Rule:
    found = read(text)
    assert isinstance(found, Rule)
    return found


COPY, STEP = rule("R(x, y) <- P(x, y)"), rule("R(x, z) <- R(x, y), P(y, z)")


def zsets(*values: dict[tuple[str, str], int]) -> Stream[ZSet]:
    return Stream.of(PAIRS, *(ZSet.of(value, 2) for value in values))


class Weights:
    """Z-sets of Python objects as a group of streams: rules and facts of several relations."""

    def zero(self) -> Weighted:
        return Weighted()

    def add(self, a: Weighted, b: Weighted) -> Weighted:
        return a + b

    def negate(self, a: Weighted) -> Weighted:
        return Weighted({thing: -weight for thing, weight in a})

    def is_zero(self, a: Weighted) -> bool:
        return not len(a)


def test_example_3_1_rewriting() -> None:
    # Printed as P("a", "c"), which has z in the place of y.
    rewrite = {"x": "a", "y": "b", "z": "c"}
    assert apply(rewrite, Atom("P", (Var("x"), Var("y")))) == Atom("P", ("a", "b"))


def test_definition_3_1_rewrites_are_a_monoid() -> None:
    a, b, c = {"x": "a"}, {"x": "b", "y": "b"}, {"y": "c", "z": "c"}
    assert combine(a, b) == {"x": "a", "y": "b"}
    assert combine(combine(a, b), c) == combine(a, combine(b, c))
    assert combine(a, {}) == combine({}, a) == a


def test_example_3_2_the_rewrite_product() -> None:
    facts = [Fact("P", AB), Fact("P", BC), Fact("P", CD)]
    found = list(product([{"x": "a"}, {"x": "b"}], Atom("P", (Var("x"), Var("y"))), facts))
    assert found == [{"x": "a", "y": "b"}, {"x": "b", "y": "c"}]


def test_example_4_1_delay_toset_and_todiff() -> None:
    s = zsets({AB: 1}, {BC: 2}, {CD: 1})
    assert lift(ZSet.distinct, PAIRS)(s).take(3) == zsets({AB: 1}, {BC: 1}, {CD: 1}).take(3)
    s = zsets({AB: -1}, {BC: 2}, {CD: -1})
    assert lift(ZSet.to_diff, PAIRS)(s).take(3) == zsets({AB: -1}, {BC: 1}, {CD: -1}).take(3)
    s = zsets({AB: 1}, {BC: 2})
    assert delay(s).take(3) == zsets({}, {AB: 1}, {BC: 2}).take(3)


def test_example_4_2_integration_and_dynamic_interpretation() -> None:
    # The integral is printed with weight 2 for P("b", "c"), of which the stream brings 1.
    facts = zsets({AB: 1}, {BC: 1}, {CD: 1})
    assert integrate(facts).take(3) == zsets({AB: 1}, {AB: 1, BC: 1}, {AB: 1, BC: 1, CD: 1}).take(3)
    dyre = Dyre()
    dyre.push(Fact("P", AB), COPY)
    dyre.poll()
    assert dyre.frontier("P") == [(AB, 1)]
    assert dyre.frontier("R") == [(AB, 1)]
    dyre.push(Fact("P", BC), STEP)
    dyre.poll()
    assert dyre.frontier("P") == [(BC, 1)]
    assert dyre.frontier("R") == [(("a", "c"), 1), (BC, 1)]
    dyre.push(Fact("P", CD))
    dyre.retract(COPY)
    dyre.poll()
    assert dyre.frontier("P") == [(CD, 1)]
    assert dyre.frontier("R") == [(AB, -1), (("a", "c"), -1), (BC, -1)]
    assert dyre.consolidated("R") == []


def test_figure_1_naive_interpretation(monkeypatch: pytest.MonkeyPatch) -> None:
    """The circuit of the example gives what the dynamic interpreter does, on random histories of facts and rules."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "examples" / "naive")
    naive: Any = importlib.import_module("circuit")
    turned = ("R(y, x) <- R(x, y)", "R(x, x) <- P(x, _)")
    statements = [*map(str, (COPY, STEP)), *turned, *(f'P("{a}", "{b}")' for a in "abc" for b in "abc")]
    for seed in range(10):
        random, dyre, held = Random(seed), Dyre(), set[str]()
        facts, rules, found = [], [], []
        for _ in range(4):
            changes = {text: -1 if text in held else 1 for text in random.sample(statements, 3)}
            held ^= changes.keys()
            dyre.push(*(text for text, weight in changes.items() if weight > 0))
            dyre.retract(*(text for text, weight in changes.items() if weight < 0))
            dyre.poll()
            found.append({Fact(name, row): weight for name in "PR" for row, weight in dyre.frontier(name)})
            facts.append({text: weight for text, weight in changes.items() if "<-" not in text})
            rules.append({text: weight for text, weight in changes.items() if "<-" in text})
        told = naive.changes_of_all(naive.stream(*facts), naive.stream(*rules)).take(4)
        assert [{fact: weight for (fact,), weight in change.to_dict().items()} for change in told] == found, seed


def test_example_4_3_evaluation_is_not_bilinear() -> None:
    def derived(rules: Weighted, facts: Weighted) -> Weighted:
        given = {fact for fact, _ in facts}
        return Weighted(dict.fromkeys(least_model([r for r, _ in rules], given) - given, 1))

    group = Weights()
    facts = Stream.of(group, Weighted({Fact("P", AB): 1}), Weighted({Fact("P", BC): 1}))
    rules = Stream.of(group, Weighted({COPY: 1}), Weighted({STEP: 1}))
    r_ab, r_bc, r_ac = (Fact("R", values) for values in (AB, BC, ("a", "c")))
    assert lift(derived, group)(rules, facts).take(2) == [Weighted({r_ab: 1}), Weighted()]
    whole = lift(derived, group)(integrate(rules), integrate(facts))
    assert whole.take(2) == [Weighted({r_ab: 1}), Weighted({r_ab: 1, r_bc: 1, r_ac: 1})]
    changes = incremental_bilinear(derived, group)(rules, facts)
    assert changes.take(2) == [Weighted({r_ab: 1}), Weighted({r_bc: 1})]
    assert integrate(changes)[1] != whole[1]


def test_example_4_4_the_grounding_kit() -> None:
    """Both rules begin with P(x, y): one direction of weight 2, and a provenance that is both end and middle."""
    kit, values = Kit(), Values()
    first, second = (clause(rule(text), 0, values) for text in ("R(x, y) <- P(x, y)", "R(x, z) <- P(x, y), R(y, z)"))
    program = Weighted({first: 1, second: 1})
    to_p, to_r = kit.path(second)
    assert kit.path(first) == [to_p]
    assert to_p.source == kit.root(0)
    assert to_r.source == to_p.target
    assert kit.directions(program) == Weighted({to_p: 2, to_r: 1})
    signals = {(signal.source, signal.relation, signal.terms): weight for signal, weight in kit.signals(program)}
    assert signals == {(to_p.target, "R", ("x", "y")): 1, (to_r.target, "R", ("x", "z")): 1}
    # Taking a rule away is a change of the kit.
    assert kit.directions(Weighted({first: -1})) + kit.directions(program) == Weighted({to_p: 1, to_r: 1})


def test_example_4_5_introduction_and_elimination() -> None:
    nested = Streams(PAIRS)
    s = zsets({AB: 1}, {BC: 1})
    assert introduce(s[0], PAIRS).take(3) == zsets({AB: 1}).take(3)
    inside = lift(lambda value: introduce(value, PAIRS), nested)(s)
    assert [inner.take(2) for inner in inside.take(2)] == [zsets({AB: 1}).take(2), zsets({BC: 1}).take(2)]
    assert eliminate(s) == ZSet.of({AB: 1, BC: 1})
    assert lift(eliminate, PAIRS)(inside).take(2) == s.take(2)
    # The integral of the nested stream itself adds its inner streams, here the two that are not zero.
    assert (inside[0] + inside[1]).take(2) == zsets({AB: 1, BC: 1}).take(2)


def test_example_4_6_a_parallel_with_semi_naive_evaluation() -> None:
    """Lifted integration sums the iterations of one update, the other one iteration of all updates."""
    nested = Streams(PAIRS)
    s = Stream.of(nested, zsets({AB: 1}, {BC: 1}), zsets({CD: 1}, {AB: -1}))
    assert lift(integrate, nested)(s)[1][1] == ZSet.of({CD: 1, AB: -1})
    assert integrate(s)[1][1] == ZSet.of({BC: 1, AB: -1})
    # In the circuit every rewrite meets every fact that fits once, as in semi-naive evaluation: 12 edges, their 78
    # paths as rewrites of R(x, y), and 66 extensions of these.
    dyre = Dyre()
    dyre.push(*(Fact("P", (i, i + 1)) for i in range(12)), COPY, STEP)
    dyre.poll()
    assert len(dyre.consolidated("R")) == 78
    assert dyre.interpreter.product.pairs == 12 + 78 + 66


def test_example_4_7_the_join_order() -> None:
    found = clause(rule("T(x, y) <- E(x, y), T(y, z)"), 0, Values())
    assert Kit().join_orders(Weighted({found: 1})) == Weighted({("E", ()): 1, ("T", (0,)): 1})

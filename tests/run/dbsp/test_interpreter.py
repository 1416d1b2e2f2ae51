"""The dynamic interpreter agrees with the rewriting system after every step, however rules and facts come and go."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from random import Random

import pytest

from tests.papers.rewriting import least_model
from tidelog.dbsp import Atom, Dyre, Fact, Rule, Var, read, to_mermaid
from tidelog.run.dbsp.terms import ANY, levels

RULES = [
    "R(x, y) <- P(x, y)",
    "R(x, z) <- R(x, y), P(y, z)",
    "R(x, z) <- R(x, y), R(y, z)",
    "S(x) <- P(x, x)",
    "S(y) <- P(1, y), R(y, 2)",
    "N(x) <- P(x, y)",
    "N(y) <- P(x, y)",
    "U(x, y) <- N(x), N(y), not R(x, y)",
    "W(x) <- U(x, y), not S(y)",
    "W(3) <- S(x)",
    "R(x, y) <- Q(x, y), P(y, y)",
    "P(y, x) <- S(x), S(y)",
    "S(7) <- W(x), not U(x, x)",
    "N(y) <- P(_, y), Q(_, y)",
    "W(x) <- P(x, _), not Q(_, x)",
    "W(x) <- Q(x, x), not P(_, _)",
]


@pytest.mark.parametrize("seed", range(24))
def test_random_histories(seed: int) -> None:
    random = Random(seed)
    dyre, facts, rules = Dyre(indexed=seed % 2 == 0), set[Fact](), dict[Rule, None]()
    for _ in range(12):
        for _ in range(random.choice((1, 2, 5))):
            if random.random() < 0.3:
                rule = read(random.choice(RULES))
                assert isinstance(rule, Rule)
                held = rule in rules
                (dyre.retract if held else dyre.push)(rule)
                rules = {other: None for other in rules if other != rule} if held else {**rules, rule: None}
            else:
                fact = Fact(random.choice("PPPQ"), (random.randrange(5), random.randrange(5)))
                (dyre.retract if fact in facts else dyre.push)(fact)
                facts ^= {fact}
        try:
            levels(rules)
        except ValueError:
            with pytest.raises(ValueError, match="depends on its own negation"):
                dyre.poll()
            return
        before = {relation: dyre.consolidated(relation) for relation in "PQRSNUW"}
        dyre.poll()
        model = least_model(rules, facts)
        for relation in "PQRSNUW":
            expected = {fact.values for fact in model if fact.relation == relation}
            assert dyre.consolidated(relation) == sorted(expected, key=repr)
            changes = dict(dyre.frontier(relation))
            assert changes == {
                row: 1 if row in expected else -1 for row in expected.symmetric_difference(before[relation])
            }


def test_what_is_there_already_makes_no_change() -> None:
    dyre = Dyre()
    dyre.push('P("a")', "Q(x) <- P(x)")
    dyre.poll()
    dyre.push('P("a")', "Q(x) <- P(x)")
    dyre.retract('P("b")', "Q(x) <- R(x)")
    dyre.poll()
    assert dyre.frontier("P") == dyre.frontier("Q") == []
    assert dyre.consolidated("Q") == [("a",)]


def test_a_fact_may_be_given_and_derived() -> None:
    dyre = Dyre()
    dyre.push('P("a")', 'Q("a")', "Q(x) <- P(x)")
    dyre.poll()
    dyre.retract('Q("a")')
    dyre.poll()
    assert dyre.frontier("Q") == []
    dyre.retract('P("a")')
    dyre.poll()
    assert dyre.frontier("Q") == [(("a",), -1)]


def test_rules_that_begin_alike_share_the_way() -> None:
    """Adding a rule whose body is known costs no product: its rewrites are there."""
    dyre = Dyre()
    dyre.push(*(f"P({i}, {i + 1})" for i in range(20)), "R(x, z) <- P(x, y), P(y, z)")
    dyre.poll()
    before = dyre.interpreter.product.pairs
    dyre.push("S(z, x) <- P(x, y), P(y, z)")
    dyre.poll()
    assert dyre.interpreter.product.pairs == before
    assert len(dyre.consolidated("S")) == 19


def test_the_join_order_index_saves_pairs() -> None:
    """Without it each rewrite is tried on all facts of the relation (section 4.3)."""
    pairs = {}
    for indexed in (True, False):
        dyre = Dyre(indexed=indexed)
        dyre.push(*(f"P({i}, {i + 1})" for i in range(30)), "R(x, y) <- P(x, y)", "R(x, z) <- R(x, y), P(y, z)")
        dyre.poll()
        assert len(dyre.consolidated("R")) == 30 * 31 // 2
        pairs[indexed] = dyre.interpreter.product.pairs
    # The rewrites of R's 465 facts: each fits the one edge that goes on, or meets all 30.
    assert pairs == {True: 30 + 465 + 435, False: 30 + 465 + 465 * 30}


def test_the_circuit_is_drawn() -> None:
    drawn = to_mermaid(Dyre().interpreter.circuit)
    for operator in ("dir", "sig", "jorder", "gatekeep", "product", "ground", "index", "distinct", "z^-1", "delta_0"):
        assert f'"{operator}"' in drawn
    assert '"index"' not in to_mermaid(Dyre(indexed=False).interpreter.circuit)


def test_mistakes_are_told() -> None:
    dyre = Dyre()
    dyre.push('P("a", 1)')
    with pytest.raises(ValueError, match=r"Q\(x\) <- P\(x\): P has 2 columns, not 1"):
        dyre.push("Q(x) <- P(x)")
    with pytest.raises(ValueError, match="no positive atom gives `y` a value"):
        dyre.push("Q(x) <- P(x, z), not R(y)")
    with pytest.raises(ValueError, match="a name was expected, not the end"):
        dyre.push("Q(x) <- ")
    with pytest.raises(ValueError, match="`%` has no meaning here"):
        dyre.push("Q(x) <- %")
    with pytest.raises(ValueError, match="`Q` was not expected"):
        dyre.push("Q(1) Q(2)")
    with pytest.raises(ValueError, match="a term was expected, not `,`"):
        dyre.push("Q(,)")
    dyre.push("Q(x) <- P(x, y), not Q(y)")
    dyre.push('R("a")')
    for _ in range(2):
        with pytest.raises(ValueError, match="Q depends on its own negation"):
            dyre.poll()
        assert dyre.consolidated("P") == dyre.consolidated("R") == []
    dyre.retract("Q(x) <- P(x, y), not Q(y)")
    dyre.poll()
    assert dyre.consolidated("P") == [("a", 1)]
    assert dyre.consolidated("R") == [("a",)]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("Q(_) <- P(x)", "a head says what holds"),
        ("not Q(x) <- P(x)", "a head says what holds"),
        ("Q(x, x, x) <- P(x)", "Q has 2 columns, not 3"),
        ('P("\\x")', "an escape that JSON does not know"),
        (Fact("P", (Var("x"),)), "a fact has values, no variables"),
        (Rule(Atom("Q", (Var("x"),)), ()), "no positive atom gives"),
        (Fact("P", ([1],)), "unhashable"),  # type: ignore[arg-type]
        ("Q(x y) <- P(x, y)", "`,` was expected, not `y`"),
    ],
)
def test_a_refused_push_leaves_nothing(bad: str | Rule | Fact, message: str) -> None:
    dyre = Dyre()
    dyre.push("Q(1, 2)")
    with pytest.raises((ValueError, TypeError), match=message):
        dyre.push("S(1)", "T(x) <- S(x)", bad)
    dyre.push("S(1, 2)")
    dyre.poll()
    assert (dyre.consolidated("S"), dyre.consolidated("T"), dyre.consolidated("P")) == ([(1, 2)], [], [])


def test_wildcards_escapes_and_floats() -> None:
    dyre = Dyre()
    dyre.push(
        r'P("a\\b\n\u00e9", 1.5)', "P(2, -1e3)", "Q(x) <- P(x, _)", "N(x) <- P(x, _), not Q(2)", "M(x) <- P(_, x)"
    )
    dyre.poll()
    assert dyre.consolidated("Q") == [("a\\b\né",), (2,)]
    assert dyre.consolidated("M") == [(-1000.0,), (1.5,)]
    assert dyre.consolidated("N") == []
    for statement in (Fact("P", ('"\\\x01', 2.5, -7)), Rule(Atom("Q", (Var("x"),)), (Atom("P", (Var("x"), ANY)),))):
        assert read(str(statement)) == statement


def test_a_poll_that_is_interrupted_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dyre = Dyre()
    dyre.push("P(1, 2)", "R(x, y) <- P(x, y)", "R(x, z) <- R(x, y), P(y, z)")
    dyre.poll()
    dyre.push("P(2, 3)", "S(x) <- R(x, _)")
    dyre.retract("P(1, 2)")
    for at in range(1, 60):
        asked = count(1)

        def interrupted(_: int, asked: Iterator[int] = asked, at: int = at) -> None:
            if next(asked) == at:
                raise KeyboardInterrupt

        dyre.interpreter.on_facts = interrupted
        try:
            dyre.poll()
        except KeyboardInterrupt:
            assert dyre.consolidated("R") == [(1, 2)]
        else:
            break
    assert at > 2
    assert (dyre.consolidated("R"), dyre.consolidated("S")) == ([(2, 3)], [(2,)])
    assert dyre.frontier("R") == [((1, 2), -1), ((2, 3), 1)]


def test_an_empty_poll_costs_nothing_whatever_the_number_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    dyre = Dyre()
    dyre.push(*(f"R{i}(x) <- P{i}(x)" for i in range(50)), "P1(1)")
    dyre.poll()
    dyre.push("P1(1)")  # it is there
    monkeypatch.setattr(dyre.interpreter, "step", None)
    monkeypatch.setattr(dyre.interpreter, "snapshot", None)
    dyre.poll()
    dyre.poll()
    assert dyre.frontier("R1") == []
    assert dyre.consolidated("R1") == [(1,)]

"""The order of joins: connected, delta first, conditions early, and always the same derivations."""

from __future__ import annotations

from textwrap import dedent

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.plan.evaluate import Tuples, derivations
from tests.plan.random_rules import facts, rules
from tests.plan.small import rule
from tidelog.logic.program import Rule
from tidelog.plan.join.estimate import Constants, constants_of
from tidelog.plan.join.order_joins import order_joins
from tidelog.plan.join.spine import beside, spine
from tidelog.plan.join.translate import translate
from tidelog.plan.nodes import Aggregate, Join, Product, Scan
from tidelog.plan.show.text import show_pipeline


def ordered(text: str, first: int | None = None, sizes: dict[str, int] | None = None) -> str:
    return show_pipeline(order_joins(translate(rule(text)), first, sizes))


def relations(text: str, first: int | None = None, sizes: dict[str, int] | None = None) -> str:
    """The relations of an ordered body, one letter each."""
    tree = order_joins(translate(rule(text)), first, sizes)
    return "".join(leaf.relation for node in spine(tree) if isinstance(leaf := beside(node) or node, Scan))


CASES: dict[tuple[str, int | None], str] = {
    ("H(x, z) :- A(x), B(y, z), C(x, y), z > 3.", None): """
        scan A(x)
        join C(x, y) on x
        join B(y, z) on y
        select z > 3
        give H(x, z)
    """,
    ("H(x, z) :- A(x), B(y, z), C(x, y), z > 3.", 1): """
        scan delta B(y, z)
        select z > 3
        join new C(x, y) on y
        join old A(x) on x
        give H(x, z)
    """,
    # Equalities give two variables one name, and constants go into the scans.
    ("H(x, y) :- R(x, u), S(v, y), u == v, y == 3.", None): """
        scan S(u, 3)
        join R(x, u) on u
        give H(x, 3)
    """,
    # An equation leads from its expression to its variable: S comes first, or a product would be needed.
    ("H(x) :- R(x, w), S(y), x == y + 1.", None): """
        scan S(y)
        let x = y + 1
        join R(x, _) on x
        give H(x)
    """,
    # ... and it compares where its variable is bound already.
    ("H(x) :- S(y), x = y + 1, R(x).", 1): """
        scan delta R(x)
        product with old S(y)
        select x == y + 1
        give H(x)
    """,
    # A constant to look up comes before the relation.
    ("H(y) :- R(x, y), x == g(3).", None): """
        let x = g(3)
        join R(x, y) on x
        give H(y)
    """,
    # A negated atom as delta is joined.
    ("H(x) :- R(x, y), not S(y, 1), T(x).", 1): """
        scan delta S(y, 1)
        join old R(x, y) on y
        join new T(x) on x
        give H(x)
    """,
    # The other occurrences of the same negated relation stay negated.
    ("H(x) :- R(x, y), not S(x), not S(y).", 1): """
        scan delta S(x)
        join old R(x, y) on x
        without new S(y) on y
        give H(x)
    """,
    # An element of a collection that is bound already is unnested beside and compared.
    ("H(x) :- R(y), x in f(y), S(x).", 1): """
        scan delta S(x)
        product with old R(y)
        each x' in f(y)
        select x == x'
        give H(x)
    """,
    # A variable that nothing needs is not read; one that only a condition needs is dropped after it.
    ("H(x) :- R(x, y, z), z > 1.", None): """
        scan R(x, _, z)
        select z > 1
        give H(x)
    """,
    # An aggregate is joined like a relation.
    ("H(k, n) :- n = count(v) by k of R(k, v), P(k), n > 3.", 1): """
        scan delta P(k)
        join group old R(k, v) by k with n = count(v) on k
        select n > 3
        give H(k, n)
    """,
    # As delta it comes first; the engine puts the groups touched in its place.
    ("H(k, n) :- P(k), n = count(v) by k of R(k, v).", 1): """
        group delta R(k, v) by k with n = count(v)
        join old P(k) on k
        give H(k, n)
    """,
    ("H(x) :- R(x, y) , S(y) , 1 > 2.", None): """
        scan R(x, y)
        select 1 > 2
        join S(y) on y
        give H(x)
    """,
}


@pytest.mark.parametrize(("text", "first"), CASES)
def test_order(text: str, first: int | None) -> None:
    assert ordered(text, first) == dedent(CASES[text, first]).strip()


def test_conditions_that_may_fail_wait_for_their_guards() -> None:
    guarded = "H(n) :- R(n, d), S(d, e), not Z(d), n / d > 1."
    for first in (None, 0, 1, 2):
        lines = ordered(guarded, first).split("\n")
        assert lines[-2] == "select n / d > 1"
    free = "H(n) :- R(n, d), d != 0 and n / d > 1, S(d)."
    assert "select d != 0 and n / d > 1\njoin S(d) on d" in ordered(free)
    apart = "H(n) :- R(n, d), S(e), n / d > e."
    assert ordered(apart).split("\n")[-2] == "select n / d > e"


def test_what_may_fail_does_not_wait_for_what_cannot_guard_it() -> None:
    assert ordered("H(x) :- A(x), B(y), z = g(x), C(z, y).").split("\n")[:3] == [
        "scan A(x)",
        "let z = g(x)",
        "join C(z, y) on z",
    ]


def test_a_binding_that_nobody_needs_goes_unless_it_may_fail() -> None:
    assert ordered("H(x) :- A(x), y = x + 1.") == "scan A(x)\ngive H(x)"
    assert ordered("H(x) :- A(x), y = 1 / x.") == "scan A(x)\nlet y = 1 / x\ngive H(x)"


def test_sizes_decide() -> None:
    text = "H(x) :- A(x, y), B(y, z), C(z, x)."
    assert relations(text) == "ABC"
    assert relations(text, sizes={"A": 1000, "B": 1000, "C": 10}) == "CAB"
    assert relations(text, sizes={"A": 10, "B": 10**6, "C": 20}) == "ACB"


def test_distinct_counts_decide() -> None:
    tree = translate(rule("H(x) :- A(x, y), B(x, v), C(x, w)."))
    sizes = {"A": 10, "B": 1000, "C": 1000}
    for best, distinct in {"B": {"B": [1000, 9], "C": [2, 9]}, "C": {"B": [2, 9], "C": [1000, 9]}}.items():
        nodes = spine(order_joins(tree, None, sizes, distinct))
        second = beside(nodes[1])
        assert isinstance(second, Scan)
        assert second.relation == best


def test_constants_that_are_rare_decide() -> None:
    """Hardly any triple says that a property is inverse functional: others are held against that first."""
    text = "H(x, z) :- T(x, p, y), T(z, p, y), T(p, 4, 9)."
    sizes, distinct = {"T": 100_000}, {"T": [20_000, 20, 30_000]}

    def order(fixed: dict[tuple[str, Constants], int] | None) -> list[Constants]:
        tree = order_joins(translate(rule(text)), 0, sizes, distinct, fixed=fixed)
        return [constants_of(leaf) for node in spine(tree) if isinstance(leaf := beside(node) or node, Scan)]

    constants = ((1, 4), (2, 9))
    assert order(None) == [(), (), constants]
    assert order({("T", constants): 0}) == [(), constants, ()]
    assert order({("T", constants): 90_000}) == [(), (), constants]


def test_a_relation_whose_columns_are_all_bound_comes_at_once() -> None:
    assert relations("H(w) :- A(x, y), B(x, w), C(x, y).") == "ACB"


def test_order_of_an_ordered_tree_is_the_same() -> None:
    tree = order_joins(translate(rule("H(x, z) :- A(x), B(y, z), C(x, y), z > 3, w = x + z, not D(w).")))
    assert order_joins(tree) == tree


@given(rules(), facts(), st.data())
def test_every_order_derives_the_same(rule: Rule, facts: Tuples, data: st.DataObject) -> None:
    body = translate(rule)
    expected = derivations(body, facts)
    sizes = data.draw(st.none() | st.fixed_dictionaries({name: st.integers(0, 10**4) for name in "ABCD"}))
    assert derivations(order_joins(body, None, sizes), facts) == expected


@given(rules())
def test_trees_are_left_deep_and_start_with_the_delta(rule: Rule) -> None:
    body = translate(rule)
    atoms = [literal.atom for literal in rule.body if hasattr(literal, "atom")]
    for first in (None, *range(len(atoms))):
        nodes = spine(order_joins(body, first))
        for node in nodes:
            if isinstance(node, Join | Product):
                assert isinstance(node.right, Scan | Aggregate)
        if first is not None:
            leaf = nodes[0].input if isinstance(nodes[0], Aggregate) else nodes[0]
            assert isinstance(leaf, Scan)
            assert leaf.occurrence == first


ATOMS = st.lists(st.lists(st.sampled_from("uvwxyz"), min_size=1, max_size=3, unique=True), min_size=1, max_size=7)


@given(ATOMS, st.data())
def test_no_product_where_a_connected_order_exists(atoms: list[list[str]], data: st.DataObject) -> None:
    reached, rest = set(atoms[0]), atoms[1:]
    while connected := [atom for atom in rest if reached & set(atom)]:
        reached.update(*connected)
        rest = [atom for atom in rest if not reached & set(atom)]
    assume(not rest)
    literals = [f"R{i}({', '.join(atom)})" for i, atom in enumerate(atoms)]
    text = f"H() :- {', '.join(literals)}."
    first = data.draw(st.none() | st.integers(0, len(atoms) - 1))
    assert not any(isinstance(node, Product) for node in spine(order_joins(translate(rule(text)), first)))

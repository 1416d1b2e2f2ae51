"""The fewest column orders that serve all probes."""

from __future__ import annotations

from itertools import permutations
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from tests.plan.small import plan, program, rule
from tidelog.base.diagnostic import Report
from tidelog.base.expr import Var
from tidelog.base.types import BIGINT
from tidelog.logic.program import Atom, Wildcard
from tidelog.logic.program import Index as Declared
from tidelog.plan.join.choose_indexes import chains, orders_for, probes_of
from tidelog.plan.join.order_joins import order_joins
from tidelog.plan.join.translate import translate
from tidelog.plan.nodes import Index
from tidelog.plan.passes import plan_program

SIGNATURES = st.lists(st.integers(1, 15), min_size=1, max_size=7, unique=True)


def prefixes(order: tuple[int, ...]) -> set[int]:
    return {sum(1 << column for column in order[: n + 1]) for n in range(len(order))}


def test_probes_are_the_bound_columns() -> None:
    tree = translate(rule("H(x) :- A(x, 1), B(x, y, x), not C(2, y), n = sum(v) by y of D(v, y), E(z)."))
    assert [(p.relation, p.columns) for p in probes_of([tree])] == [
        ("A", (1,)),
        ("B", (0, 2)),
        ("C", (0, 1)),
        ("D", (1,)),
    ]
    assert probes_of([order_joins(translate(rule("H(x) :- A(x, 1).")), 0)]) == ()


@given(SIGNATURES)
def test_all_probes_are_served(signatures: list[int]) -> None:
    orders = orders_for(signatures, 4)
    assert set(signatures) <= set().union(*map(prefixes, orders))
    assert all(sorted(order) == [0, 1, 2, 3] for order in orders)


@given(SIGNATURES)
def test_no_fewer_orders_would_do(signatures: list[int]) -> None:
    found = len(orders_for(signatures, 4))
    served = [prefixes(order) & set(signatures) for order in permutations(range(4))]
    reached = {frozenset[int]()}
    for _ in range(found - 1):
        reached = {one | more for one in reached for more in served}
    assert frozenset(signatures) not in reached


@given(SIGNATURES, SIGNATURES)
def test_existing_orders_stay(before: list[int], after: list[int]) -> None:
    existing = orders_for(before, 4)
    grown = orders_for(before + after, 4, existing)
    assert grown[: len(existing)] == existing
    assert set(before + after) <= set().union(*map(prefixes, grown))


@given(SIGNATURES, st.randoms())
def test_the_choice_does_not_depend_on_the_order_of_probes(signatures: list[int], random: Random) -> None:
    shuffled = list(signatures)
    random.shuffle(shuffled)
    assert orders_for(shuffled, 4) == orders_for(signatures, 4)


def test_an_order_that_no_probe_needs_goes() -> None:
    assert orders_for([0b01], 2, [(1, 0), (0, 1)]) == [(0, 1)]


def test_chains_of_many_signatures() -> None:
    nested = [(1 << n) - 1 for n in range(1, 300)]
    assert chains(nested) == [nested]


def test_indexes_of_a_program() -> None:
    planned = plan("T(x, y) :- E(x, y).\nT(x, z) :- T(x, y), E(y, z).")
    assert tuple(planned.indexes) == (Index("T", (1, 0)), Index("E", (0, 1)))


def test_a_declared_index_is_a_probe() -> None:
    wildcard, variable = Wildcard(BIGINT), Var("v", BIGINT)
    declared = Declared("by_last", (variable,), Atom("E", (wildcard, variable)))
    planned = plan_program(program("T(x, y) :- E(x, y).", (declared,)), Report())
    assert planned is not None
    assert tuple(planned.indexes) == (Index("E", (1, 0)),)
    assert planned.declared["by_last"].terms == (None, variable)


def test_adding_a_rule_keeps_indexes() -> None:
    text = "T(x, z) :- E(x, y), E(y, z)."
    planned = plan(text)
    assert tuple(planned.indexes) == (Index("E", (0, 1)), Index("E", (1, 0)))
    grown = plan_program(
        program(f"{text}\nS(x, y) :- E(x, y), E(y, x).\nS(x, 1) :- F(1, x)."), Report(), earlier=planned
    )
    assert grown is not None
    assert tuple(grown.indexes) == (*planned.indexes, Index("F", (0, 1)))

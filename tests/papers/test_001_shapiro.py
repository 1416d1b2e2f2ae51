"""The worked examples of "A Back-to-basics Empirical Study of Datalog Materialization" (Shapiro), by their numbers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from textwrap import dedent

import pytest

from tests.generate.pipeline import plan_text
from tests.papers.translation_steps import translation_steps
from tests.plan.small import rule
from tests.plan.trees import show_tree
from tidelog.plan.nodes import Plan
from tidelog.plan.show.dred import show_dred
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Engine
from tidelog.run.reference.algebra import Algebra
from tidelog.run.reference.evaluate import Evaluator
from tidelog.run.tuples.engine import EVALUATORS, TuplesEngine

RELATIONS = "input relation Edge(x: u32, y: u32)  output relation TC(x: u32, y: u32)\n"
NONLINEAR = RELATIONS + "TC(x, y) :- Edge(x, y).  TC(x, z) :- TC(x, y), TC(y, z)."
LINEAR = RELATIONS + "TC(x, z) :- Edge(x, y), TC(y, z).  TC(x, y) :- Edge(x, y)."
EDGES = frozenset({(1, 2), (2, 3), (3, 4)})
ROUNDS = [EDGES, EDGES | {(1, 3), (2, 4)}, EDGES | {(1, 3), (2, 4), (1, 4)}]
Database = dict[str, frozenset[tuple[int, ...]]]


def immediate_consequence(plan: Plan, database: Database) -> Database:
    """The operator of section 3.1: the database, and what one application of every rule adds to it."""
    algebra = Algebra(Evaluator(plan.functions, plan.types), lambda scan: database[scan.relation])
    found = dict(database)
    for stratum in plan.strata:
        for each in stratum.rules:
            found[each.head] = found[each.head].union(algebra.derivations(each.body))
    return found


def test_example_3_5_repeated_application() -> None:
    plan = plan_text(NONLINEAR)
    database: Database = {"Edge": EDGES, "TC": frozenset()}
    for expected in ROUNDS:
        database = immediate_consequence(plan, database)
        assert database == {"Edge": EDGES, "TC": expected}
    assert immediate_consequence(plan, database) == database


ENGINES = [
    pytest.param(partial(ColumnarEngine, closures=False), id="columnar"),
    *(pytest.param(partial(TuplesEngine, evaluator=evaluator), id=evaluator) for evaluator in EVALUATORS),
]


@pytest.mark.parametrize("make", ENGINES)
def test_example_3_5_semi_naive(make: Callable[..., Engine]) -> None:
    engine = make(plan_text(NONLINEAR), strategy="recompute")
    (work,) = engine.update({"Edge": Delta(EDGES)}).work
    assert frozenset(engine.rows("TC")) == ROUNDS[-1]
    # Each derivation once: 3 edges, then (1, 3) and (2, 4), then (1, 4) by way of 2 and by way of 3.
    assert (work.rounds, work.derivations) == (4, 3 + 2 + 2)


STEPS = """
    -- scans and products
    product
      scan TC(x, '0.1)
      scan TC('1.0, z)
    -- constants to selections
    product
      select '0.1 == 9
        scan TC(x, '0.1)
      select '1.0 == 9
        scan TC('1.0, z)
    -- equalities to selections
    product
      select '0.1 == 9
        scan TC(x, '0.1)
      select '1.0 == 9
        scan TC('1.0, z)
    -- projection to the head
    project TC(x, z)
      product
        select '0.1 == 9
          scan TC(x, '0.1)
        select '1.0 == 9
          scan TC('1.0, z)
    -- products to joins
    project TC(x, z)
      product
        select '0.1 == 9
          scan TC(x, '0.1)
        select '1.0 == 9
          scan TC('1.0, z)
"""
EQUAL_STEPS = """
    -- scans and products
    product
      scan TC(x, y)
      scan TC(y'2, z)
    -- constants to selections
    product
      scan TC(x, y)
      scan TC(y'2, z)
    -- equalities to selections
    select y == y'2
      product
        scan TC(x, y)
        scan TC(y'2, z)
    -- projection to the head
    project TC(x, z)
      select y == y'2
        product
          scan TC(x, y)
          scan TC(y'2, z)
    -- products to joins
    project TC(x, z)
      join on y
        scan TC(x, y)
        scan TC(y, z)
"""


def steps(text: str) -> str:
    """The five procedures of section 3.3; the sixth step is not the paper's."""
    return "\n".join(f"-- {title}\n{show_tree(tree)}" for title, tree in translation_steps(rule(text))[:5])


def test_section_3_3_translation_with_a_constant() -> None:
    """The paper's rule, its constant y being 9; two columns that are both 9 need no equality of their own here."""
    assert steps("TC(x, z) :- TC(x, 9), TC(9, z).") == dedent(STEPS).strip()


def test_section_3_3_translation_with_a_variable() -> None:
    assert steps("TC(x, z) :- TC(x, y), TC(y, z).") == dedent(EQUAL_STEPS).strip()


def test_examples_4_1_and_4_2_programs() -> None:
    shown = """
        stratum 0: TC (recursive)
          over-deletion
            -TC(x, z) :- -Edge(x, y), TC(y, z).
            -TC(x, z) :- Edge(x, y), -TC(y, z).
            -TC(x, y) :- -Edge(x, y).
          alternative derivations
            +TC(x, z) :- -TC(x, z), Edge(x, y), TC(y, z).
            +TC(x, y) :- -TC(x, y), Edge(x, y).
    """
    assert show_dred(plan_text(LINEAR)) == dedent(shown).lstrip()


@pytest.mark.parametrize("make", ENGINES)
def test_section_4_deletion(make: Callable[..., Engine]) -> None:
    """Edge(2, 3) goes: TC(2, 3) is over-deleted, and all that depends on it; (2, 4) has another way."""
    engine = make(plan_text(LINEAR), strategy="dred")
    engine.update({"Edge": Delta([*EDGES, (2, 5), (5, 4)])})
    update = engine.update({"Edge": Delta(deleted=[(2, 3)])})
    assert set(update.changes["TC"].deleted) == {(2, 3), (1, 3)}
    assert not update.changes["TC"].inserted
    assert engine.contains("TC", (2, 4))

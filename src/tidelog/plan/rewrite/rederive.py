"""Evaluate a rule backwards, to find the derivations that given head tuples still have.

    H(x, z) :- R(x, y), S(y, z).

    H <- (delta H(x, z)) join (new R) join (new S)

The tuples in question are the delta of the head relation at occurrence -1, first in the order, so everything else reads
`new`: what is left. This plans the alternative-derivation program of DRed (`derive_again`), and is the re-derive phase
of ranked support.
"""

from __future__ import annotations

from tidelog.base.expr import Const, Var
from tidelog.base.tuning.plans import Planning
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.join.estimate import Distinct, Estimate, Fixed, Sizes
from tidelog.plan.join.order_joins import order_body
from tidelog.plan.join.parts import Body, Equation, Part, Present, parts
from tidelog.plan.join.propagate_equalities import propagate_equalities
from tidelog.plan.join.translate import columns_of
from tidelog.plan.nodes import Project, Scan, Version
from tidelog.plan.rewrite.derive_again import head_term

HEAD = -1
"""The occurrence of the head's tuples."""


def rederive(
    tree: Project,
    sizes: Sizes | None = None,
    distinct: Distinct | None = None,
    planning: Planning = DEFAULT.planning,
    fixed: Fixed | None = None,
    free: int | None = None,
) -> Project:
    """Return the tree that finds every derivation of the tuples in the delta of the head relation.

    With a `free` column, those of all tuples that have what these have in the other columns.
    """
    return order_body(backwards(tree, free), HEAD, Estimate(sizes, distinct, planning, fixed))


def backwards(tree: Project, free: int | None = None) -> Body:
    """Return the body of a rule with the delta of its head relation as the first part; a `free` column is not bound."""
    terms: list[Var | Const | None] = []
    equations: list[Part] = []
    for column, expression in enumerate(tree.expressions):
        if column == free:
            terms.append(None)
            continue
        term = head_term(column, expression)
        terms.append(term)
        if term is not expression:
            assert isinstance(term, Var)
            equations.append(Equation(term, expression))
    scan = Scan(tree.relation, tuple(terms), Version.DELTA, HEAD, columns_of(terms))
    kept, expressions = propagate_equalities([Present(scan), *parts(tree), *equations], tree.expressions)
    return Body(kept, tree.relation, expressions)

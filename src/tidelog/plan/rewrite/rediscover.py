"""Evaluate a rule backwards with the given head tuples divided by variable (Zhao et al., section 4.2).

    R(x, y, z) :- R1(x, a), R2(y, a), R3(z, a).

    delta R(x, y, z), R1(x, a), R2(y, a), R3(z, a)                                   whole: `rederive`
    part R(x), R1(x, a), R2(y, a), part R(x, y), R3(z, a), delta R(x, y, z)          divided

Whole, the tuples of R1 with one x are matched once for every tuple in question with that x. Divided, the tuples in
question are projected on variables of the head, and each projection, being a set, only filters: it "cannot multiply the
work of the other atoms". The first stands before its atom, the others as soon as their variables are bound, "to prevent
a cross-product with the previous atom".

The paper projects on each variable alone: x, y, z. Here a projection is on all variables of the head that are bound so
far, which lets through no more than those of the single variables do, and the last one is the tuples themselves. The
paper's rule as printed lacks that check: it would find derivations of tuples that were not deleted, whose values are.

The first atom is one with most variables of the head, among those the one from which fewest rows are expected. If it
has them all, nothing can be multiplied and the rule is not divided; nor is it if no atom has any.
"""

from __future__ import annotations

from tidelog.base.expr import Var
from tidelog.base.tuning.plans import Planning
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.join.assemble import assemble
from tidelog.plan.join.estimate import Distinct, Estimate, Fixed, Sizes
from tidelog.plan.join.order_joins import order_body, order_from
from tidelog.plan.join.parts import Body, Part, Present
from tidelog.plan.join.translate import columns_of
from tidelog.plan.nodes import Project, Scan, Version
from tidelog.plan.rewrite.rederive import HEAD, backwards


def rediscover(
    tree: Project,
    sizes: Sizes | None = None,
    distinct: Distinct | None = None,
    planning: Planning = DEFAULT.planning,
    fixed: Fixed | None = None,
) -> Project:
    """Return the tree that finds every derivation of the tuples in the delta of the head relation, part by part."""
    body, estimate = backwards(tree), Estimate(sizes, distinct, planning, fixed)
    firsts = _first_atoms(body)
    if not firsts:
        return order_body(body, HEAD, estimate)
    orders = [_order(body, first, estimate) for first in firsts]
    best = min(orders, key=lambda order: _rows(body, order, estimate))
    divided = _with_parts(body, best)
    return assemble(divided, range(len(divided.parts)), HEAD)


def _first_atoms(body: Body) -> list[int]:
    """Return the atoms that have most variables of the head; none if that is all or none of them."""
    head = body.gives[0]
    shared = {
        i: body.gives[i] & head
        for i, part in enumerate(body.parts)
        if i and isinstance(part, Present) and isinstance(part.node, Scan)
    }
    most = max((variables.bit_count() for variables in shared.values()), default=0)
    if most in (0, head.bit_count()):
        return []
    return [i for i, variables in shared.items() if variables.bit_count() == most]


def _order(body: Body, first: int, estimate: Estimate) -> list[int]:
    """Return an order of a body that begins with an atom by its part of the head's tuples."""
    begun = Body((_part(body, body.gives[first]), *body.parts[1:]), body.relation, body.expressions)
    return order_from(begun, [0, first], estimate)


def _part(body: Body, variables: int) -> Present:
    """Return the projection of the head's tuples on those of its variables that are in a set."""
    head = body.parts[0]
    assert isinstance(head, Present), "the head's tuples come first"
    scan = head.scan
    terms = [None if isinstance(t, Var) and not body.bits[t.name] & variables else t for t in scan.terms]
    version = Version.PART if None in terms else Version.DELTA
    return Present(Scan(scan.relation, tuple(terms), version, HEAD, columns_of(terms)))


def _rows(body: Body, order: list[int], estimate: Estimate) -> float:
    """Return how many rows all steps of an order are expected to make for a row of the first."""
    rows, total, bound = 1.0, 0.0, body.gives[order[1]] & body.gives[0]
    for i in order[1:]:
        part = body.parts[i]
        if isinstance(part, Present):
            rows *= estimate.rows(part.node, body.bits, bound)
            total += rows
        bound |= body.gives[i]
    return total


def _with_parts(body: Body, order: list[int]) -> Body:
    """Return the parts of a body in order, with a projection wherever more variables of the head are bound."""
    head = body.gives[0]
    bound = body.gives[order[1]]
    made: list[Part] = [_part(body, bound)]
    for i in order[1:]:
        before = bound & head
        bound |= body.gives[i]
        made.append(body.parts[i])
        if bound & head != before:
            made.append(_part(body, bound))
    return Body(made, body.relation, body.expressions)

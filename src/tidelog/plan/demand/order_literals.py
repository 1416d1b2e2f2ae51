"""Sideways information passing: a rule's literals in the order in which the planner would join them.

    Reach(a, c) :- Open(b, c), Reach(a, b).     with `a` given: Reach(a, b) first, which gives `b`, then Open(b, c)

The atom that gives some of the head's columns (`guard`) comes first, and relations that are asked for come after those
that give some of their columns. Equal variables get one name, and constants are
put in for variables that are known, so that an atom is asked for as little as possible.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.logic.literals import atoms
from tidelog.logic.program import (
    Atom,
    Bind,
    Condition,
    Literal,
    Negative,
    Positive,
    Relation,
    Rule,
    Unnest,
    Wildcard,
)
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.order_joins import best_order, order_from, simplify
from tidelog.plan.join.parts import Absent, Body, Element, Equation, Filter, Part, Present
from tidelog.plan.join.translate import parts_of
from tidelog.plan.nodes import Aggregate, Scan


@record
class Asking(Estimate):
    """Expected row counts where some relations are asked for: without a column given they come last.

    `usable` tells whether asking for a relation by some columns is of use; None for one that is not demanded.
    """

    usable: Callable[[str, tuple[int, ...]], bool | None] = lambda *_: None

    def rows(self, node: Scan | Aggregate, bits: Mapping[str, int], bound: int) -> float:
        """Return the expected number of rows for one binding of the variables in the bit set `bound`."""
        rows = Estimate.rows(self, node, bits, bound)
        if not isinstance(node, Scan):
            return rows
        given = [
            column
            for column, term in enumerate(node.terms)
            if isinstance(term, Const) or (isinstance(term, Var) and bits[term.name] & bound)
        ]
        use = self.usable(node.relation, tuple(given))
        if use is None:
            return rows
        return rows * float(self.planning.asking if use else self.planning.unasked)


def order_literals(rule: Rule, relations: Mapping[str, Relation], estimate: Estimate, *, guarded: bool) -> Rule:
    """Return the rule with its body in the order found; of a guarded one the first literal stays the first."""
    spans = [atom.span for atom in atoms(rule.body)]
    body = simplify(Body(tuple(parts_of(rule.body)), rule.head, rule.arguments))
    order = order_from(body, [body.part_of(0)], estimate) if guarded else best_order(body, estimate)
    literals = tuple([_literal(body.parts[i], relations, spans) for i in order])
    return Rule(rule.head, tuple(body.expressions), literals, rule.origin)


def may_fail(rule: Rule) -> bool:
    """Tell whether evaluating some literal may stop with an error that others before it prevent."""
    return bool(Body(tuple(parts_of(rule.body)), rule.head, rule.arguments).guards)


def _literal(part: Part, relations: Mapping[str, Relation], spans: list[Span]) -> Literal:
    match part:
        case Present(Scan() as scan):
            return Positive(_atom(scan, relations, spans))
        case Absent(scan):
            return Negative(_atom(scan, relations, spans))
        case Filter(condition):
            return Condition(condition)
        case Equation(variable, expression):
            return Bind(variable, expression)
        case Element(variable, expression):
            return Unnest(variable, expression)
        case Present():
            raise AssertionError("an aggregate has a rule of its own")
        case _:
            assert_never(part)


def _atom(scan: Scan, relations: Mapping[str, Relation], spans: list[Span]) -> Atom:
    columns = relations[scan.relation].columns
    terms = [Wildcard(column.type) if term is None else term for term, column in zip(scan.terms, columns, strict=True)]
    return Atom(scan.relation, tuple(terms), span=spans[scan.occurrence])

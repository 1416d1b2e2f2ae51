"""Translate a rule to algebra, in body order: the definition of what it derives.

    H(x, z) :- R(x, y), S(y, z, 1), not T(z), z > 3.

becomes, all scans reading the current state,

    project H(x, z)
      select z > 3
        antijoin on z
          join on y
            scan R(x, y)
            scan S(y, z, 1)
          scan T(z)

This goes to the result in one step. Tests compare it with the steps of the Shapiro paper (section 3.3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.logic import program as logic
from tidelog.plan.join.assemble import assemble
from tidelog.plan.join.parts import Absent, Body, Element, Equation, Filter, Part, Present
from tidelog.plan.nodes import Aggregate, Project, Scan, Version


def translate(rule: logic.Rule) -> Project:
    """Return the tree of a rule in body order."""
    body = Body(tuple(parts_of(rule.body)), rule.head, rule.arguments)
    return assemble(body, range(len(body.parts)), prune=False)


def parts_of(literals: Iterable[logic.Literal]) -> Iterator[Part]:
    """The parts of a body, in its order; atoms are numbered as occurrences."""
    occurrence = 0
    for literal in literals:
        match literal:
            case logic.Positive(atom):
                yield Present(scan_of(atom, occurrence))
                occurrence += 1
            case logic.Negative(atom):
                yield Absent(scan_of(atom, occurrence))
                occurrence += 1
            case logic.Condition(expression):
                yield Filter(expression)
            case logic.Bind(variable, expression):
                yield Equation(variable, expression)
            case logic.Unnest(variable, expression):
                yield Element(variable, expression)
            case logic.Aggregate():
                yield Present(aggregate_of(literal, occurrence))
                occurrence += 1
            case _:
                assert_never(literal)


def scan_of(atom: logic.Atom, occurrence: int) -> Scan:
    """Return the scan of an atom: constants and repeated variables select, wildcards drop their column."""
    terms = tuple([term if isinstance(term, Var | Const) else None for term in atom.arguments])
    return Scan(atom.relation, terms, Version.ALL, occurrence, columns_of(terms))


def columns_of(terms: Iterable[Var | Const | None]) -> tuple[Var, ...]:
    """Return the distinct variables of a scan's terms, in order."""
    return tuple({term.name: term for term in terms if isinstance(term, Var)}.values())


def aggregate_of(literal: logic.Aggregate, occurrence: int) -> Aggregate:
    """Return the grouping of an aggregate literal over the scan of its atom."""
    scan = scan_of(literal.atom, occurrence)
    columns = columns_of((*literal.keys, literal.result))
    return Aggregate(scan, literal.keys, literal.value, literal.group, literal.reduce, literal.result, columns)

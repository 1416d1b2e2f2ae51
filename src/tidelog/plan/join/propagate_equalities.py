"""Give variables that are equal one name, and put constants in where a variable is known.

Before: `H(x, y) :- R(x, u), S(v, y), u == v, y == 3.` needs the product of R and S.
After:  `H(x, 3) :- R(x, u), S(u, 3).` is a join, and S is read by its constant.

A variable that an aggregate or a collection binds keeps its name, since those cannot bind a constant; the equation then
stays as it is. Equality is the language's own in both forms, so the derivations are the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.free import substitute
from tidelog.plan.join.assemble import equal
from tidelog.plan.join.parts import Absent, Element, Equation, Filter, Part, Present
from tidelog.plan.nodes import Scan

Known = dict[str, Var | Const]


def propagate_equalities(
    parts: Sequence[Part], expressions: tuple[Expr, ...]
) -> tuple[Sequence[Part], tuple[Expr, ...]]:
    """Return the parts without the equations that others can express, and the head's expressions to match."""
    if not any(isinstance(part, Equation) and isinstance(part.expression, Var | Const) for part in parts):
        return parts, expressions
    known, used = _solve(parts)
    if not known:
        return parts, expressions
    by = {name: _find(known, value) for name, value in known.items()}
    kept = [_replace(part, by) for i, part in enumerate(parts) if i not in used]
    return kept, tuple(substitute(expression, by) for expression in expressions)


def _solve(parts: Sequence[Part]) -> tuple[Known, set[int]]:
    """Return what each variable is replaced by, and the numbers of the equations this makes superfluous."""
    fixed, order = _fixed(parts), _order(parts)
    known: Known = {}
    used: set[int] = set()
    for i, part in enumerate(parts):
        if not isinstance(part, Equation) or not isinstance(part.expression, Var | Const):
            continue
        left, right = _find(known, part.variable), _find(known, part.expression)
        if isinstance(left, Var) and isinstance(right, Var) and order.get(left.name, i) < order.get(right.name, i):
            left, right = right, left  # the variable that occurs first in the body gives its name
        if left == right:
            used.add(i)
        elif isinstance(left, Var) and left.name not in fixed:
            known[left.name] = right
            used.add(i)
        elif isinstance(right, Var) and right.name not in fixed:
            known[right.name] = left
            used.add(i)
    return known, used


def _order(parts: Sequence[Part]) -> dict[str, int]:
    """Return the number of the first part that binds each variable in an atom; an equation counts as itself."""
    order: dict[str, int] = {}
    for i, part in enumerate(parts):
        if isinstance(part, Present):
            for variable in part.node.columns:
                order.setdefault(variable.name, i)
    return order


def _fixed(parts: Sequence[Part]) -> set[str]:
    fixed: set[str] = set()
    for part in parts:
        match part:
            case Present(node) if not isinstance(node, Scan):
                fixed.update(variable.name for variable in node.columns)
            case Element(variable):
                fixed.add(variable.name)
            case _:
                pass
    return fixed


def _find(known: Known, term: Var | Const) -> Var | Const:
    while isinstance(term, Var) and term.name in known:
        term = known[term.name]
    return term


def _replace(part: Part, by: Known) -> Part:
    match part:
        case Present(Scan() as scan):
            return Present(_scan(scan, by))
        case Present():
            return part
        case Absent(scan):
            return Absent(_scan(scan, by))
        case Filter(condition):
            return Filter(substitute(condition, by))
        case Equation(variable, expression):
            value = substitute(expression, by)
            match by.get(variable.name, variable):
                case Var() as other:
                    return Equation(other, value)
                case Const() as constant:
                    return Equation(value, constant) if isinstance(value, Var) else Filter(equal(constant, value))
        case Element(variable, expression):
            return Element(variable, substitute(expression, by))
        case _:
            assert_never(part)


def _scan(scan: Scan, by: Known) -> Scan:
    if not any(variable.name in by for variable in scan.columns):
        return scan
    terms = tuple([by.get(term.name, term) if isinstance(term, Var) else term for term in scan.terms])
    columns = tuple({term.name: term for term in terms if isinstance(term, Var)}.values())
    return Scan(scan.relation, terms, scan.version, scan.occurrence, columns)

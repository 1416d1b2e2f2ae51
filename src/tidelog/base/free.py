"""Which variables an expression reads from outside, and putting other expressions in their place.

Names of locals are unique within a rule (see `base.expr`), so a name that the expression itself declares anywhere is
never also one of its free variables, and a substitution cannot capture.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from tidelog.base import expr
from tidelog.base.expr import Expr, Pattern, Var
from tidelog.base.walk import Walk

EXPRESSIONS: Walk[Expr] = Walk(get_args(Expr), "Expr")
PATTERNS: Walk[Pattern] = Walk(get_args(Pattern), "Pattern")
parts, with_parts, subexpressions = EXPRESSIONS.parts, EXPRESSIONS.with_parts, EXPRESSIONS.everything
"""The direct subexpressions, in order of evaluation; the expression with each of them changed; it and all inside it."""


def free_variables(expression: Expr) -> Mapping[str, Var]:
    """The variables that the expression reads and does not declare, by name, in order of first use.

    >>> from tidelog.base.types import BOOL
    >>> list(free_variables(expr.Operate("and", (Var("y", BOOL), Var("x", BOOL)), BOOL)))
    ['y', 'x']
    """
    if isinstance(expression, expr.Const):
        return {}
    if isinstance(expression, Var):
        return {expression.name: expression}
    used: dict[str, Var] = {}
    declared: set[str] = set()
    stack: list[Expr] = [expression]
    while stack:
        current = stack.pop()
        match current:
            case Var(name):
                used.setdefault(name, current)
            case expr.Lambda(parameters):
                declared.update(p.name for p in parameters)
            case expr.Match(_, arms):
                declared.update(v.name for pattern, _ in arms for v in pattern_variables(pattern))
            case expr.Declare(pattern) | expr.For(pattern):
                declared.update(v.name for v in pattern_variables(pattern))
            case _:
                pass
        stack.extend(reversed(parts(current)))
    return {name: var for name, var in used.items() if name not in declared} if declared else used


def pattern_variables(pattern: Pattern) -> list[Var]:
    """The variables that a pattern binds."""
    return [Var(p.name, p.type) for p in PATTERNS.everything(pattern) if isinstance(p, expr.VarPattern)]


def substitute(expression: Expr, by: Mapping[str, Expr]) -> Expr:
    """Replace free variables by other expressions of the same type."""
    if isinstance(expression, Var):
        return by.get(expression.name, expression)
    return with_parts(expression, lambda part: substitute(part, by))

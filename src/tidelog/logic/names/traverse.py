"""Walking and rebuilding expressions of the syntax tree, for the rewrites that look for one construct anywhere.

Typed expressions have their own walk in `base.free`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from tidelog.base.walk import Walk
from tidelog.lang import syntax
from tidelog.lang.syntax import Expr

EXPRESSIONS: Walk[Expr] = Walk(get_args(Expr), "Expr", "Argument", through=(syntax.Argument,))
children, subexpressions = EXPRESSIONS.parts, EXPRESSIONS.everything
"""The direct subexpressions, from left to right; an expression and everything inside it, outer before inner."""


def rewrite(expression: Expr, by: Callable[[Expr], Expr | None]) -> Expr:
    """Replace each subexpression for which `by` gives another one; what it replaces is not looked into."""
    replaced = by(expression)
    return EXPRESSIONS.with_parts(expression, lambda e: rewrite(e, by)) if replaced is None else replaced


def is_grouping(expression: Expr) -> bool:
    """Tell whether the expression is `e.group_by(k)`."""
    return isinstance(expression, syntax.MethodCall) and expression.function == ("group_by",)


def groupings(clause: syntax.Clause) -> list[Expr]:
    """The `e.group_by(k)` of a clause, outermost first."""
    match clause:
        case syntax.Condition(expression) | syntax.FlatMap(_, expression):
            return [e for e in subexpressions(expression) if is_grouping(e)]
        case _:
            return []


def ends_group(clause: syntax.Clause) -> bool:
    """Tell whether the clause groups what stands before it in the body."""
    return isinstance(clause, syntax.OldAggregate) or bool(groupings(clause))

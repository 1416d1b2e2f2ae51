"""Walking and rebuilding expressions of the syntax tree, for those who look for one construct anywhere in them.

Typed expressions have their own walk in `base.free`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from tidelog.base.walk import Walk
from tidelog.lang.syntax.expressions import Argument, Expr, TypeExpr

TYPES: Walk[TypeExpr] = Walk(get_args(TypeExpr), "TypeExpr")
EXPRESSIONS: Walk[Expr] = Walk(get_args(Expr), "Expr", "Argument", through=(Argument,))
children, subexpressions = EXPRESSIONS.parts, EXPRESSIONS.everything
"""The direct subexpressions, from left to right; an expression and everything inside it, outer before inner."""


def rewrite(expression: Expr, by: Callable[[Expr], Expr | None]) -> Expr:
    """Replace each subexpression for which `by` gives another one; what it replaces is not looked into."""
    replaced = by(expression)
    return EXPRESSIONS.with_parts(expression, lambda e: rewrite(e, by)) if replaced is None else replaced

"""Walking and rebuilding expressions of the syntax tree, for the rewrites that look for one construct anywhere.

Which fields of a node hold expressions is read off its class, so a new node needs no change here. Typed expressions
have their own walk in `base.free`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from typing import Any, cast, get_args

from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Expr

_EXPRESSIONS: tuple[type, ...] = get_args(Expr)
_INNER = (*_EXPRESSIONS, syntax.Argument, tuple)


_PARTS: dict[type, tuple[str, ...]] = {
    kind: tuple(f.name for f in fields(kind) if f.name not in {"span", "path", "type", "parameters", "result"})
    for kind in _EXPRESSIONS
}


def children(expression: Expr) -> Iterator[Expr]:
    """The direct subexpressions, from left to right."""
    for name in _PARTS[type(expression)]:
        yield from _expressions(getattr(expression, name))


def _expressions(value: Any) -> Iterator[Expr]:
    if isinstance(value, _EXPRESSIONS):
        yield cast(Expr, value)
    elif isinstance(value, syntax.Argument):
        yield value.value
    elif isinstance(value, tuple) and not isinstance(value, Span):
        for item in value:
            yield from _expressions(item)


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """The expression and everything inside it, outer before inner."""
    stack = [expression]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(list(children(current))))


def rewrite(expression: Expr, by: Callable[[Expr], Expr | None]) -> Expr:
    """Replace each subexpression for which `by` gives another one; what it replaces is not looked into."""
    replaced = by(expression)
    if replaced is not None:
        return replaced
    changed = {}
    for name in _PARTS[type(expression)]:
        value = getattr(expression, name)
        if isinstance(value, _INNER):
            new = _rewrite_value(value, by)
            if new is not value:
                changed[name] = new
    return replace(expression, **changed) if changed else expression


def _rewrite_value(value: Any, by: Callable[[Expr], Expr | None]) -> Any:
    if isinstance(value, _EXPRESSIONS):
        return rewrite(cast(Expr, value), by)
    if isinstance(value, syntax.Argument):
        inner = rewrite(value.value, by)
        return value if inner is value.value else replace(value, value=inner)
    if isinstance(value, tuple):
        items = tuple(_rewrite_value(item, by) for item in value)
        return value if all(a is b for a, b in zip(items, value, strict=True)) else items
    return value


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

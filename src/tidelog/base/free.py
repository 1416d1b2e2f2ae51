"""Which variables an expression reads from outside, and putting other expressions in their place.

Names of locals are unique within a rule (see `base.expr`), so a name that the expression itself declares anywhere is
never also one of its free variables, and a substitution cannot capture.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from tidelog.base import expr
from tidelog.base.expr import Expr, Pattern, Var


def parts(expression: Expr) -> tuple[Expr, ...]:
    """The direct subexpressions, in order of evaluation."""
    match expression:
        case expr.Const() | Var() | expr.FunctionValue() | expr.Break() | expr.Continue():
            return ()
        case expr.MakeTuple(items) | expr.MakeVec(items) | expr.Sequence(items):
            return items
        case expr.Construct(_, arguments) | expr.Call(_, arguments):
            return arguments
        case expr.MakeMap(pairs):
            return tuple(part for pair in pairs for part in pair)
        case expr.Project(of) | expr.Is(of):
            return (of,)
        case expr.Operate(_, operands):
            return operands
        case expr.Apply(function, arguments):
            return (function, *arguments)
        case expr.Lambda(_, body):
            return (body,)
        case expr.If(condition, then, otherwise):
            return (condition, then, otherwise)
        case expr.Match(subject, arms):
            return (subject, *(value for _, value in arms))
        case expr.Declare(_, value) | expr.Assign(_, value) | expr.Return(value):
            return (value,)
        case expr.For(_, iterable, body):
            return (iterable, body)
        case _:
            assert_never(expression)


def with_parts(expression: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """Return the expression with each direct subexpression changed, in the order of `parts`."""
    match expression:
        case expr.Const() | Var() | expr.FunctionValue() | expr.Break() | expr.Continue():
            return expression
        case expr.MakeTuple(items) | expr.MakeVec(items) | expr.Sequence(items):
            return replace(expression, items=tuple(map(change, items)))
        case expr.Construct(_, arguments) | expr.Call(_, arguments):
            return replace(expression, arguments=tuple(map(change, arguments)))
        case expr.MakeMap(pairs):
            return replace(expression, pairs=tuple((change(key), change(value)) for key, value in pairs))
        case expr.Project(of) | expr.Is(of):
            return replace(expression, of=change(of))
        case expr.Operate(_, operands):
            return replace(expression, operands=tuple(map(change, operands)))
        case expr.Apply(function, arguments):
            return replace(expression, function=change(function), arguments=tuple(map(change, arguments)))
        case expr.Lambda(_, body):
            return replace(expression, body=change(body))
        case expr.If(condition, then, otherwise):
            return replace(expression, condition=change(condition), then=change(then), otherwise=change(otherwise))
        case expr.Match(subject, arms):
            changed = change(subject)
            return replace(expression, subject=changed, arms=tuple((pattern, change(value)) for pattern, value in arms))
        case expr.Declare(_, value) | expr.Assign(_, value) | expr.Return(value):
            return replace(expression, value=change(value))
        case expr.For(_, iterable, body):
            return replace(expression, iterable=change(iterable), body=change(body))
        case _:
            assert_never(expression)


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """The expression and everything inside it, outer before inner, left before right."""
    stack = [expression]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(parts(current)))


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
                declared.update(name for pattern, _ in arms for name in pattern_variables(pattern))
            case expr.Declare(pattern) | expr.For(pattern):
                declared.update(pattern_variables(pattern))
            case _:
                pass
        stack.extend(reversed(parts(current)))
    return {name: var for name, var in used.items() if name not in declared} if declared else used


def pattern_variables(pattern: Pattern) -> Iterator[str]:
    """The names that a pattern binds."""
    match pattern:
        case expr.AnyPattern() | expr.ConstPattern():
            pass
        case expr.VarPattern(name, _, inner):
            yield name
            yield from pattern_variables(inner)
        case expr.TuplePattern(items) | expr.ConstructorPattern(_, items):
            for item in items:
                yield from pattern_variables(item)
        case _:
            assert_never(pattern)


def substitute(expression: Expr, by: Mapping[str, Expr]) -> Expr:
    """Replace free variables by other expressions of the same type."""
    if isinstance(expression, Var):
        return by.get(expression.name, expression)
    return with_parts(expression, lambda part: substitute(part, by))

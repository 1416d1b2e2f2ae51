"""Walking typed expressions: their parts, their free variables, putting expressions in for variables.

Names of locals are unique within a rule or function body (see `base.expr`), so a variable is free exactly if nothing
inside the expression declares its name, and nothing can be captured by a substitution.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from tidelog.base.expr import (
    AnyPattern,
    Apply,
    Assign,
    Break,
    Call,
    Const,
    ConstPattern,
    Construct,
    ConstructorPattern,
    Continue,
    Declare,
    Expr,
    For,
    FunctionValue,
    If,
    Is,
    Lambda,
    MakeMap,
    MakeTuple,
    MakeVec,
    Match,
    Operate,
    Pattern,
    Project,
    Return,
    Sequence,
    TuplePattern,
    Var,
    VarPattern,
)


def children(expression: Expr) -> tuple[Expr, ...]:
    """Return the direct subexpressions, in order of evaluation.

    >>> from tidelog.base.types import BOOL
    >>> x = Var("x", BOOL)
    >>> children(Operate("not", (x,), BOOL)) == (x,)
    True
    """
    match expression:
        case Const() | Var() | FunctionValue() | Break() | Continue():
            return ()
        case MakeTuple(items=items) | MakeVec(items=items) | Sequence(items=items) | Operate(operands=items):
            return items
        case Construct(arguments=arguments) | Call(arguments=arguments):
            return arguments
        case MakeMap(pairs=pairs):
            return tuple(part for pair in pairs for part in pair)
        case Project(of=of) | Is(of=of):
            return (of,)
        case Apply(function=function, arguments=arguments):
            return (function, *arguments)
        case Lambda(body=body):
            return (body,)
        case If(condition, then, otherwise):
            return (condition, then, otherwise)
        case Match(subject, arms):
            return (subject, *(body for _, body in arms))
        case Declare(value=value) | Assign(value=value) | Return(value=value):
            return (value,)
        case For(iterable=iterable, body=body):
            return (iterable, body)
        case _:
            assert_never(expression)


def subexpressions(expression: Expr) -> Iterator[Expr]:
    """The expression and everything inside it, outer before inner, left before right."""
    stack = [expression]
    while stack:
        current = stack.pop()
        yield current
        stack.extend(reversed(children(current)))


def free_variables(expression: Expr) -> frozenset[str]:
    """Return the names of the variables that the expression takes from outside.

    >>> from tidelog.base.types import BIGINT, Function
    >>> x, y = Var("x", BIGINT), Var("y", BIGINT)
    >>> sorted(free_variables(Lambda((x,), Operate("+", (x, y), BIGINT), Function((BIGINT,), BIGINT, (False,)))))
    ['y']
    """
    if isinstance(expression, Var):
        return frozenset((expression.name,))
    if isinstance(expression, Const):
        return frozenset()
    used: set[str] = set()
    declared: set[str] = set()
    for part in subexpressions(expression):
        match part:
            case Var(name):
                used.add(name)
            case Lambda(parameters=parameters):
                declared.update(parameter.name for parameter in parameters)
            case Declare(pattern=pattern) | For(pattern=pattern):
                declared.update(pattern_variables(pattern))
            case Match(arms=arms):
                declared.update(name for pattern, _ in arms for name in pattern_variables(pattern))
            case _:
                pass
    return frozenset(used - declared)


def pattern_variables(pattern: Pattern) -> Iterator[str]:
    """The names that a pattern binds, from left to right."""
    match pattern:
        case AnyPattern() | ConstPattern():
            return
        case VarPattern(name, _, inner):
            yield name
            yield from pattern_variables(inner)
        case TuplePattern(items) | ConstructorPattern(_, items):
            for item in items:
                yield from pattern_variables(item)
        case _:
            assert_never(pattern)


def substitute(expression: Expr, by: Mapping[str, Expr]) -> Expr:
    """Put expressions in for the variables of these names.

    >>> from tidelog.base.types import BIGINT
    >>> substitute(Operate("neg", (Var("x", BIGINT),), BIGINT), {"x": Const(1, BIGINT)})
    Operate(operator='neg', operands=(Const(value=1, type=BigInt()),), type=BigInt())
    """
    if isinstance(expression, Var):
        return by.get(expression.name, expression)
    return rebuild(expression, lambda part: substitute(part, by))


def rebuild(expression: Expr, by: Callable[[Expr], Expr]) -> Expr:
    """Apply a function to each direct subexpression; the same object if none changes."""
    before = children(expression)
    after = tuple(map(by, before))
    if all(new is old for new, old in zip(after, before, strict=True)):
        return expression
    match expression:
        case Const() | Var() | FunctionValue() | Break() | Continue():
            return expression
        case MakeTuple() | MakeVec() | Sequence():
            return replace(expression, items=after)
        case Operate():
            return replace(expression, operands=after)
        case Construct() | Call():
            return replace(expression, arguments=after)
        case MakeMap():
            return replace(expression, pairs=tuple(zip(after[::2], after[1::2], strict=True)))
        case Project() | Is():
            return replace(expression, of=after[0])
        case Apply():
            return replace(expression, function=after[0], arguments=after[1:])
        case Lambda():
            return replace(expression, body=after[0])
        case If():
            return replace(expression, condition=after[0], then=after[1], otherwise=after[2])
        case Match(arms=arms):
            kept = tuple((pattern, body) for (pattern, _), body in zip(arms, after[1:], strict=True))
            return replace(expression, subject=after[0], arms=kept)
        case Declare() | Assign() | Return():
            return replace(expression, value=after[0])
        case For():
            return replace(expression, iterable=after[0], body=after[1])
        case _:
            assert_never(expression)

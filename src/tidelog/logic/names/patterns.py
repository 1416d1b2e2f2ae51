"""Which expressions are patterns, and which names they bind.

A pattern is built from variables, wildcards, constants, tuples, constructors, references (`&p`), `x @ p` and type
annotations. Everything else is an expression that is computed and compared.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Expr
from tidelog.lang.syntax.walk import rewrite


def is_pattern(e: syntax.Expr) -> bool:
    """Tell whether an expression is a pattern: variables, wildcards, literals, tuples, constructors, `&`, `@`, `:`.

    >>> is_pattern(syntax.TupleExpr((syntax.Name(("x",)), syntax.Wildcard())))
    True
    """
    match e:
        case syntax.Name(path):
            return len(path) == 1
        case syntax.Wildcard() | syntax.IntLiteral() | syntax.BoolLiteral() | syntax.VarDecl() | syntax.FloatLiteral():
            return True
        case syntax.StringLiteral(parts):
            return all(isinstance(part, str) for part in parts)
        case syntax.TupleExpr(items):
            return all(is_pattern(item) for item in items)
        case syntax.Construct(_, arguments):
            return all(is_pattern(argument.value) for argument in arguments)
        case syntax.Annotated(operand, _) | syntax.At(_, operand) | syntax.Unary("&", operand):
            return is_pattern(operand)
        case syntax.Unary("-", syntax.IntLiteral() | syntax.FloatLiteral()):
            return True
        case _:
            return False


def pattern_names(pattern: Expr) -> Iterator[tuple[str, Span]]:
    """The variables that a pattern binds, with their places; expressions inside a pattern bind nothing.

    >>> [name for name, _ in pattern_names(syntax.TupleExpr((syntax.Name(("x",)), syntax.VarDecl("y"))))]
    ['x', 'y']
    """
    match pattern:
        case syntax.Name((name,), span=span) | syntax.VarDecl(name, span=span):
            yield name, span
        case syntax.TupleExpr(items):
            for item in items:
                yield from pattern_names(item)
        case syntax.Construct(_, arguments):
            for argument in arguments:
                yield from pattern_names(argument.value)
        case syntax.At(name, inner, span=span):
            yield name, span
            yield from pattern_names(inner)
        case syntax.Annotated(inner, _) | syntax.Unary("&", inner):
            yield from pattern_names(inner)
        case _:
            pass


def without_names(pattern: Expr) -> Expr:
    """Return a pattern that fits the same values and binds nothing."""

    def drop(expression: Expr) -> Expr | None:
        match expression:
            case syntax.Name((_,), span=span) | syntax.VarDecl(_, span=span):
                return syntax.Wildcard(span=span)
            case syntax.At(_, inner, span=_):
                return without_names(inner)
            case syntax.Annotated(syntax.Name() | syntax.VarDecl() | syntax.Wildcard(), _, span=span):
                return syntax.Wildcard(span=span)
            case _:
                return None

    return rewrite(pattern, drop)

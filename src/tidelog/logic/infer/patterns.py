"""Patterns, inferred for values of a known or unknown type."""

from __future__ import annotations

from tidelog.base import types
from tidelog.base.expr import AnyPattern, ConstPattern, ConstructorPattern, Pattern, TuplePattern, VarPattern
from tidelog.base.types import BOOL, STRING, Named, Tuple, Type
from tidelog.lang import syntax
from tidelog.logic.infer import access as infer_access
from tidelog.logic.infer import literals as infer_literals
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.patterns import is_pattern
from tidelog.logic.names.scope import Origin, Scope
from tidelog.logic.names.unify import ERROR

ANY = AnyPattern()


def pattern(inference: Inference, e: syntax.Expr, scope: Scope, expected: Type, origin: Origin, binds: bool) -> Pattern:
    """Infer a pattern; variables it declares have the origin given."""
    match e:
        case syntax.Name((_,)):
            return _bare_name(inference, e, scope, expected, origin, binds)
        case syntax.Wildcard():
            return ANY
        case syntax.VarDecl(name, span=span):
            return VarPattern(inference.declare(name, expected, origin, scope, span), expected)
        case syntax.TupleExpr():
            return _tuple(inference, e, scope, expected, origin, binds)
        case syntax.Construct():
            return _constructor(inference, e, scope, expected, origin, binds)
        case syntax.Annotated(operand, written, span=_):
            type = inference.resolve_type(written)
            inference.unify(expected, type, written.span, "the annotation says so")
            return pattern(inference, operand, scope, type, origin, binds)
        case syntax.At(name, inner, span=span):
            unique = _at_name(inference, e, scope, expected, origin)
            return VarPattern(unique, expected, pattern(inference, inner, scope, expected, origin, binds))
        case syntax.Unary("&", operand):
            return pattern(inference, operand, scope, _referred(inference, e, expected), origin, binds)
        case _:
            return _constant(inference, e, scope, expected)


def _bare_name(
    inference: Inference, e: syntax.Name, scope: Scope, expected: Type, origin: Origin, binds: bool
) -> Pattern:
    name = e.path[0]
    if scope.rule or not binds:
        known = scope.lookup(name)
        if known is not None:
            inference.unify(expected, known.type, e.span, f"`{name}` has this type elsewhere in the rule")
            return VarPattern(known.unique, known.type)
        if not binds:
            infer_access.unknown_variable(inference, e, scope)
            return ANY
    return VarPattern(inference.declare(name, expected, origin, scope, e.span), expected)


def _at_name(inference: Inference, e: syntax.At, scope: Scope, expected: Type, origin: Origin) -> str:
    known = scope.lookup(e.name) if scope.rule else None
    if known is None:
        return inference.declare(e.name, expected, origin, scope, e.span)
    inference.unify(expected, known.type, e.span, f"`{e.name}` has this type elsewhere in the rule")
    return known.unique


def _tuple(
    inference: Inference, e: syntax.TupleExpr, scope: Scope, expected: Type, origin: Origin, binds: bool
) -> Pattern:
    wanted = inference.types.resolve(expected)
    fits = True
    if isinstance(wanted, Tuple) and len(wanted.items) == len(e.items):
        parts = wanted.items
    else:
        parts = tuple([inference.fresh() for _ in e.items])
        fits = inference.unify(expected, Tuple(parts), e.span, "the pattern must fit the value")
        parts = parts if fits else (ERROR,) * len(e.items)
    items = [pattern(inference, i, scope, part, origin, binds) for i, part in zip(e.items, parts, strict=True)]
    return TuplePattern(tuple(items)) if fits else ANY


def _constructor(
    inference: Inference, e: syntax.Construct, scope: Scope, expected: Type, origin: Origin, binds: bool
) -> Pattern:
    constructor = inference.environment.constructor(e.path, e.span, inference.report)
    if constructor is None:
        for argument in e.arguments:
            pattern(inference, argument.value, scope, ERROR, origin, binds)
        return ANY
    made, fields = infer_access.instantiate_constructor(inference, constructor)
    fits = inference.unify(expected, made, e.span, "the pattern must fit the value")
    if not fits:
        fields = (ERROR,) * len(fields)
    if any(a.name is None for a in e.arguments) and len(e.arguments) < len(fields):
        _too_few(inference, e, constructor)
    given = infer_access.arrange(inference, e.arguments, constructor)
    items = [
        ANY if argument is None else pattern(inference, argument, scope, type, origin, binds)
        for argument, type in zip(given, fields, strict=True)
    ]
    return ConstructorPattern(constructor, tuple(items)) if fits else ANY


def _too_few(inference: Inference, e: syntax.Construct, constructor: types.Constructor) -> None:
    plain = constructor.name.removeprefix("std::")
    inference.report.add(
        "E0313",
        f"`{plain}` has {len(constructor.fields)} fields, not {len(e.arguments)}",
        e.span,
        note="a pattern names the fields it cares for, lists all of them, or has none",
        hint=f"write `{plain}{{.{constructor.fields[0].name} = ...}}`, or `_` for the others",
    )


def _referred(inference: Inference, e: syntax.Unary, expected: Type) -> Type:
    match inference.types.resolve(expected):
        case Named(types.REF | types.INTERN, (content,)):
            return content
        case _:
            content = inference.fresh()
            inference.unify(expected, Named(types.REF, (content,)), e.span, "`&` fits references")
            return content


def _constant(inference: Inference, e: syntax.Expr, scope: Scope, expected: Type) -> Pattern:
    match e:
        case syntax.IntLiteral():
            made = infer_literals.integer(inference, e, scope, expected)
        case syntax.Unary("-", syntax.IntLiteral() as literal):
            made = infer_literals.negated(inference, literal, expected, e.span)
        case syntax.FloatLiteral():
            made = infer_literals.real(inference, e, None, expected)
        case syntax.Unary("-", syntax.FloatLiteral() as number):
            made = infer_literals.real(inference, number, None, expected, "-")
        case syntax.BoolLiteral(value, span=span):
            inference.unify(expected, BOOL, span, "the pattern must fit the value")
            return ConstPattern(value, BOOL)
        case syntax.StringLiteral(parts, interned, span=span) if is_pattern(e):
            type = infer_literals.INTERNED_STRING if interned else STRING
            inference.unify(expected, type, span, "the pattern must fit the value")
            return ConstPattern("".join(part for part in parts if isinstance(part, str)), type)
        case _:
            inference.report.add(
                "E0317",
                "this is not a pattern",
                e.span,
                note="patterns are made of variables, `_`, constants, tuples, constructors, `&` and `@`",
                hint="bind a variable here and compare it afterwards",
            )
            return ANY
    inference.unify(expected, made.type, e.span, "the pattern must fit the value")
    return ConstPattern(made.value, made.type)

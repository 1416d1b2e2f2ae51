"""Functions as values, lambdas, and `?`, which leaves the function with a failure."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.base import types
from tidelog.base.expr import Construct, ConstructorPattern, Expr, FunctionValue, Lambda, Match, Return, Var, VarPattern
from tidelog.base.types import Function, Named, Type
from tidelog.lang import syntax
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.environment import Signature
from tidelog.logic.names.scope import Origin, Scope
from tidelog.logic.names.unify import ERROR

OPTION, RESULT = "std::Option", "std::Result"


def function_value(
    inference: Inference, e: syntax.Name, signatures: Sequence[Signature], expected: Type | None
) -> Expr:
    """A declared function used as a value; of several, the one that fits what is expected."""
    result = inference.fresh()
    if expected is not None:
        inference.types.unify(result, expected)

    def attempt(final: bool) -> Expr | None:
        fits = [s for s in signatures if inference.types.fits(s.type, result)]
        if len(fits) == 1 or (fits and final):
            by: dict[str, Type] = {v: inference.fresh() for v in fits[0].type_variables}
            type = types.substitute(fits[0].type, by)
            inference.unify(result, type, e.span)
            return FunctionValue(inference.use(fits[0], by, e.span), type, span=e.span)
        if fits:
            return None
        inference.report.add(
            "E0504",
            f"no function `{'::'.join(e.path)}` of type `{inference.types.show(result)}`",
            e.span,
            note="declared: " + ", ".join(f"`{s.show()}`" for s in signatures[:4]),
        )
        return inference.mistake(e.span)

    return inference.defer(result, e.span, attempt)


def lambda_(inference: Inference, e: syntax.Lambda, scope: Scope, expected: Type | None) -> Expr:
    """`|x| e`: parameter types are written, or told by what is expected."""
    wanted = inference.types.resolve(expected) if expected is not None else None
    known: Sequence[Type | None] = [None] * len(e.parameters)
    result: Type = inference.resolve_type(e.result) if e.result is not None else inference.fresh()
    mutable = tuple([p.mutable for p in e.parameters])
    if isinstance(wanted, Function) and len(wanted.parameters) == len(e.parameters):
        known = wanted.parameters
        mutable = tuple([w or p.mutable for w, p in zip(wanted.mutable, e.parameters, strict=True)])
        if e.result is None:
            result = wanted.result
    inner = scope.lambda_child(result)
    parameters: list[Var] = []
    for parameter, told, is_mutable in zip(e.parameters, known, mutable, strict=True):
        type: Type = told if told is not None else inference.fresh()
        if parameter.type is not None:
            written = inference.resolve_type(parameter.type)
            inference.unify(type, written, parameter.type.span)
            type = written
        origin: Origin = "mutable" if is_mutable else "parameter"
        unique = inference.declare(parameter.name, type, origin, inner, parameter.span)
        parameters.append(Var(unique, type, span=parameter.span))
    body = inference.expression(e.body, inner, result)
    return Lambda(tuple(parameters), body, Function(tuple([p.type for p in parameters]), result, mutable), span=e.span)


def try_(inference: Inference, e: syntax.Try, scope: Scope, *_: object) -> Expr:
    """`x?`: `match (x) { Some{v} -> v, None -> return None }`, or the same with `Ok` and `Err`.

    In a function that returns an Option, the failure of a Result is None.
    """
    subject = inference.expression(e.operand, scope)
    returns = scope.returns
    if returns is None:
        inference.report.add("E0506", "`?` outside a function", e.span, note="`?` leaves the function it stands in")
        return inference.mistake(e.span)
    result = inference.fresh()
    names = scope.unique("value"), scope.unique("error")

    def attempt(final: bool) -> Expr | None:
        type = inference.types.resolve(subject.type)
        if inference.is_open(type) and not final:
            return None
        made = _try_known(inference, e, subject, type, returns, names)
        inference.types.unify(result, made.type)
        return made

    return inference.defer(result, e.span, attempt)


def _try_known(
    inference: Inference, e: syntax.Try, subject: Expr, type: Type, returns: Type, names: tuple[str, str]
) -> Expr:
    span = e.span
    value_name, error_name = names
    into_option = _is(inference, returns, OPTION)
    failure: Expr
    match type:
        case Named("std::Option", (value,)):
            none, good = inference.environment.definition(OPTION).constructors
            wanted = Named(OPTION, (inference.fresh(),))
            failed, failure = ConstructorPattern(none, ()), Construct(none, (), returns, span=span)
        case Named("std::Result", (value, error)):
            good, bad = inference.environment.definition(RESULT).constructors
            failed = ConstructorPattern(bad, (VarPattern(error_name, error),))
            if into_option:
                none, _ = inference.environment.definition(OPTION).constructors
                wanted = Named(OPTION, (inference.fresh(),))
                failure = Construct(none, (), returns, span=span)
            else:
                wanted = Named(RESULT, (inference.fresh(), error))
                failure = Construct(bad, (Var(error_name, error, span=span),), returns, span=span)
        case _:
            if type is not ERROR:
                shown = inference.types.show(type)
                note = "`?` takes the value out of an `Option` or `Result`"
                inference.report.add("E0506", f"`?` on `{shown}`", span, note=note)
            return inference.mistake(span)
    if not inference.types.unify(wanted, returns):
        inference.report.add(
            "E0506",
            f"`?` returns `{inference.types.show(wanted)}`, but the function `{inference.types.show(returns)}`",
            span,
            note="`?` leaves the function with the failure it finds, so the function returns such a value",
            hint="use `match` or `unwrap_or(...)`",
        )
        return inference.mistake(span)
    arms = (
        (ConstructorPattern(good, (VarPattern(value_name, value),)), Var(value_name, value, span=span)),
        (failed, Return(failure, value, span=span)),
    )
    return Match(subject, arms, value, span=span)


def _is(inference: Inference, type: Type, name: str) -> bool:
    known = inference.types.resolve(type)
    return isinstance(known, Named) and known.name == name

"""Calls: `f(a)` and `x.f(a)`, overloads, `mut` arguments, function values applied.

A function that is not seen from here is found in the modules in which the types of its arguments are declared.
Arguments that are lambdas are inferred after the others, when the parameter types they need are known. A call whose
overload cannot be chosen yet waits; its result is an unknown type until then.
"""

from __future__ import annotations

from collections.abc import Sequence as Items

from tidelog.base import types
from tidelog.base.expr import Apply, Call, Declare, Expr, Operate, Place, Sequence, Var, VarPattern
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import STRING, Function, Type, TypeVariable
from tidelog.lang import syntax
from tidelog.logic.infer import literals as infer_literals
from tidelog.logic.infer import places as infer_places
from tidelog.logic.infer.inference import Inference
from tidelog.logic.infer.overload import (
    Closure,
    Known,
    choose,
    fitting,
    number_of_arguments,
    same_parameters,
    without_interned,
)
from tidelog.logic.names.environment import Signature
from tidelog.logic.names.scope import Scope, Variable
from tidelog.logic.names.unify import ERROR


@record
class Site:
    """A call as written: `f(a, b)`, or `a.f(b)` with the receiver as first argument."""

    path: syntax.Path
    arguments: tuple[syntax.Expr, ...]
    scope: Scope
    span: Span
    name_span: Span


def call(inference: Inference, e: syntax.Call | syntax.MethodCall, scope: Scope, expected: Type | None) -> Expr:
    """A call of a function or of a function value."""
    match e:
        case syntax.MethodCall(receiver, path, arguments, span=span):
            site = Site(path, (receiver, *arguments), scope, span, span)
        case syntax.Call(syntax.Name(path, span=name_span), arguments, span=span):
            site = Site(path, arguments, scope, span, name_span)
        case syntax.Call(function, arguments, span=span):
            return apply(inference, inference.expression(function, scope), Site((), arguments, scope, span, span))
    signatures = inference.environment.functions(site.path)
    variable = scope.lookup(site.path[0]) if len(site.path) == 1 else None
    if variable is not None and _calls_variable(inference, variable, signatures):
        return apply(inference, variable.use(site.name_span), site)
    possible = [s for s in signatures if len(s.parameters) == len(site.arguments)]
    if not possible and site.arguments and len(site.path) == 1 and inference.environment.is_elsewhere(site.path[0]):
        return _call_overloaded(inference, signatures, site, expected)
    if not signatures:
        _unknown_function(inference, site)
        return _give_up(inference, site)
    if not possible:
        _wrong_count(inference, site, signatures)
        return _give_up(inference, site)
    if len(possible) == 1:
        return call_known(inference, possible[0], site, [None] * len(site.arguments), expected)
    return _call_overloaded(inference, possible, site, expected)


def _calls_variable(inference: Inference, variable: Variable, signatures: Items[Signature]) -> bool:
    return not signatures or isinstance(inference.types.resolve(variable.type), Function)


def _unknown_function(inference: Inference, site: Site) -> None:
    if site.path == ("group_by",):
        inference.report.add(
            "E0503",
            "`group_by` cannot stand here",
            site.span,
            note="it groups the tuples of a rule's body, so it stands in a rule, in `var x = e.group_by(k)`",
        )
    else:
        inference.environment.unknown("function", site.path, site.name_span, inference.report)


def _wrong_count(inference: Inference, site: Site, signatures: Items[Signature]) -> None:
    shown = "::".join(site.path)
    inference.report.add(
        "E0501",
        f"`{shown}` takes {number_of_arguments(signatures)}, not {len(site.arguments)}",
        site.span,
        note="declared: " + ", ".join(f"`{s.show()}`" for s in signatures[:4]) + (", ..." if signatures[4:] else ""),
    )


def _give_up(inference: Inference, site: Site) -> Expr:
    """Infer the arguments of a call that has a mistake, for their own mistakes."""
    for argument in site.arguments:
        if not _is_function_like(inference, argument, site.scope):
            inference.expression(argument, site.scope)
    return inference.mistake(site.span)


# --- a known function ------------------------------------------------------------------------------------------------


def call_known(
    inference: Inference, signature: Signature, site: Site, done: Items[Expr | None], expected: Type | None
) -> Expr:
    """Infer the call of a function; `done` has arguments that were inferred already."""
    by: dict[str, Type] = {v: inference.fresh() for v in signature.type_variables}
    result = types.substitute(signature.result, by) if by else signature.result
    if expected is not None and by and inference.types.fits(signature.result, expected):
        inference.types.unify(result, expected)
    wanted = [types.substitute(p.type, by) if by else p.type for p in signature.parameters]
    arguments = _arguments(inference, signature, site, done, wanted)
    places: list[Place] = []
    for parameter, argument, type in zip(signature.parameters, site.arguments, wanted, strict=True):
        if parameter.mutable:
            place = infer_places.mutable_argument(inference, argument, site.scope, type, parameter.name)
            if place is not None:
                places.append(place)
    name = inference.use(signature, by, site.span)
    made = Call(name, tuple(arguments), result, tuple(places), span=site.span)
    return _with_changes(made, [p.mutable for p in signature.parameters], site) if places else made


def _with_changes(made: Call | Apply, mutable: Items[bool], site: Site) -> Expr:
    """Return a call, followed by what else its `mut` arguments change (see `infer_places`)."""
    changes: list[Expr] = []
    for written, is_mutable in zip(site.arguments, mutable, strict=True):
        if is_mutable:
            changes += infer_places.then_change_whole(written, site.scope, site.span)
    if not changes:
        return made
    result = Var(site.scope.unique("result"), made.type, span=site.span)
    kept = Declare(VarPattern(result.name, made.type), made, span=site.span)
    return Sequence((kept, *changes, result), made.type, span=site.span)


def _arguments(
    inference: Inference, signature: Signature, site: Site, done: Items[Expr | None], wanted: Items[Type]
) -> list[Expr]:
    arguments = list(done)
    order = sorted(range(len(wanted)), key=lambda i: _is_function_like(inference, site.arguments[i], site.scope))
    for i in order:
        parameter = signature.parameters[i]
        written = site.arguments[i]
        why = f"`{signature.name.removeprefix('std::')}` declares `{parameter.name}: {types.show(parameter.type)}`"
        ready = arguments[i]
        if ready is None:
            arguments[i] = inference.expression(written, site.scope, wanted[i], why)
        elif not inference.unify(wanted[i], ready.type, written.span, why):
            arguments[i] = inference.mistake(written.span)
    return [a for a in arguments if a is not None]


def _is_function_like(inference: Inference, e: syntax.Expr, scope: Scope) -> bool:
    """Tell whether an argument is a lambda or the name of a function, which need to know what is expected."""
    match e:
        case syntax.Lambda():
            return True
        case syntax.Name(path):
            is_variable = len(path) == 1 and scope.lookup(path[0]) is not None
            return not is_variable and bool(inference.environment.functions(path))
        case _:
            return False


# --- overloaded functions --------------------------------------------------------------------------------------------


def _call_overloaded(inference: Inference, signatures: Items[Signature], site: Site, expected: Type | None) -> Expr:
    ready: list[Expr | None] = []
    for argument in site.arguments:
        waits = _is_function_like(inference, argument, site.scope)
        ready.append(None if waits else inference.expression(argument, site.scope))
    known: list[Known] = []
    for argument, inferred in zip(site.arguments, ready, strict=True):
        if inferred is not None:
            known.append(inferred.type)
        else:
            known.append(Closure(len(argument.parameters)) if isinstance(argument, syntax.Lambda) else None)
    result = inference.fresh()
    if expected is not None:
        inference.types.unify(result, expected)

    def attempt(final: bool) -> Expr | None:
        fits = fitting(inference.types, signatures, known) or _fitting_elsewhere(inference, site, known)
        chosen = _choose(inference, fits, known, result) if fits else None
        if chosen is None and fits and final:
            assumed = [inference.types.assumed(a) if isinstance(a, TypeVariable) else a for a in known]
            likely = without_interned(fitting(inference.types, fits, assumed))
            chosen = _choose(inference, likely, assumed, result) if likely else None
        if chosen is not None:
            made = call_known(inference, chosen, site, ready, result)
            same = inference.unify(result, made.type, site.span, f"`{chosen.show()}` is called")
            return made if same else inference.mistake(site.span)
        if (
            (fits or _may_fit_elsewhere(inference, site, known))
            and not final
            and not any(a is not None and a.type is ERROR for a in ready)
        ):
            return None
        made = _no_overload(inference, signatures, fits, site, ready)
        inference.types.unify(result, made.type)
        return made

    return inference.defer(result, site.span, attempt)


def _fitting_elsewhere(inference: Inference, site: Site, known: Items[Known]) -> list[Signature]:
    if len(site.path) > 1:
        return []
    of = [inference.types.zonk(a) for a in known if not isinstance(a, Closure | None)]
    return fitting(inference.types, inference.environment.near(site.path[0], *of), known)


def _may_fit_elsewhere(inference: Inference, site: Site, known: Items[Known]) -> bool:
    """Tell whether a type that is still open may lead to a module with a function that fits."""
    opened = any(not isinstance(a, Closure | None) and inference.is_open(inference.types.resolve(a)) for a in known)
    return opened and len(site.path) == 1 and inference.environment.is_elsewhere(site.path[0])


def _choose(inference: Inference, fits: Items[Signature], known: Items[Known], result: Type) -> Signature | None:
    return choose(inference.types, fits, known, result, inference.environment.module)


def _no_overload(
    inference: Inference,
    signatures: Items[Signature],
    fits: Items[Signature],
    site: Site,
    ready: Items[Expr | None],
) -> Expr:
    text = _generic_text(inference, site, ready)
    if text is not None:
        return text
    if not any(len(s.parameters) == len(site.arguments) for s in signatures):
        if signatures:
            _wrong_count(inference, site, signatures)
        else:
            _unknown_function(inference, site)
        return _give_up_ready(inference, site, ready)
    if not any(a is not None and inference.types.resolve(a.type) is ERROR for a in ready):
        shown = ", ".join("function" if a is None else inference.types.show(a.type) for a in ready)
        name = "::".join(site.path)
        listed = fits or signatures
        message = f"`{name}({shown})` could be several functions" if fits else f"no function `{name}({shown})`"
        inference.report.add(
            "E0504",
            message,
            site.span,
            note="declared: " + ", ".join(f"`{s.show()}`" for s in listed[:4]) + (", ..." if listed[4:] else ""),
            hint=_which(fits) if fits else inference.environment.import_hint(site.path),
        )
    return _give_up_ready(inference, site, ready)


def _give_up_ready(inference: Inference, site: Site, ready: Items[Expr | None]) -> Expr:
    for inferred in ready:
        if inferred is not None:
            inference.types.give_up(inferred.type)
    for argument, inferred in zip(site.arguments, ready, strict=True):
        if inferred is None and isinstance(argument, syntax.Lambda) and not argument.parameters:
            inference.expression(argument, site.scope)
    return inference.mistake(site.span)


def _which(fits: Items[Signature]) -> str:
    if same_parameters(fits):
        return f"name its module: `{fits[0].name}(...)`"
    return "tell an argument's type: `(e: T)`"


def _generic_text(inference: Inference, site: Site, ready: Items[Expr | None]) -> Expr | None:
    """`to_string(x)` of a built-in or generic type that no declared function fits."""
    if site.path[-1] != "to_string" or len(ready) != 1 or ready[0] is None:
        return None
    type = inference.types.resolve(ready[0].type)
    if infer_literals.is_built_in(type) or (isinstance(type, TypeVariable) and not type.name.startswith("?")):
        return Operate("string", (ready[0],), STRING, span=site.span)
    return None


# --- function values -------------------------------------------------------------------------------------------------


def apply(inference: Inference, function: Expr, site: Site) -> Expr:
    """A call of a function value."""
    type = inference.types.resolve(function.type)
    if inference.is_open(type) and inference.types.class_of(type) == "any":
        type = Function(
            tuple([inference.fresh() for _ in site.arguments]), inference.fresh(), (False,) * len(site.arguments)
        )
        inference.types.unify(function.type, type)
    if not isinstance(type, Function):
        if type is not ERROR:
            shown = inference.types.show(type)
            inference.report.add(
                "E0505", f"`{shown}` is not a function", function.span, note="only functions are called"
            )
        return _give_up(inference, site)
    if len(type.parameters) != len(site.arguments):
        count = len(type.parameters)
        inference.report.add(
            "E0501",
            f"this function takes {count or 'no'} argument{'' if count == 1 else 's'}, not {len(site.arguments)}",
            site.span,
            note=f"it is of type `{inference.types.show(type)}`",
        )
        return _give_up(inference, site)
    arguments = [inference.expression(a, site.scope, p) for a, p in zip(site.arguments, type.parameters, strict=True)]
    places: list[Place] = []
    for written, parameter, mutable in zip(site.arguments, type.parameters, type.mutable, strict=True):
        if mutable:
            place = infer_places.mutable_argument(inference, written, site.scope, parameter, "")
            if place is not None:
                places.append(place)
    made = Apply(function, tuple(arguments), type.result, tuple(places), span=site.span)
    return _with_changes(made, type.mutable, site) if places else made

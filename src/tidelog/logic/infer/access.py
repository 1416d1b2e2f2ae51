"""Names, fields, tuple components and constructors.

A field is found when the type of what it belongs to is known; references and interned values are looked through.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tidelog.base import types
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.expr import Construct, Expr, Project
from tidelog.base.span import Span
from tidelog.base.types import Constructor, Named, Tuple, Type
from tidelog.lang import syntax
from tidelog.logic.infer import lambdas as infer_lambdas
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.scope import Scope
from tidelog.logic.names.unify import ERROR


def name(inference: Inference, e: syntax.Name, scope: Scope, expected: Type | None) -> Expr:
    """A variable, or a function used as a value."""
    path = e.path
    variable = scope.lookup(path[0]) if len(path) == 1 else None
    if variable is not None:
        return variable.use(e.span)
    signatures = inference.environment.functions(path)
    if signatures:
        return infer_lambdas.function_value(inference, e, signatures, expected)
    return unknown_variable(inference, e, scope)


def unknown_variable(inference: Inference, e: syntax.Name, scope: Scope, otherwise: str = "") -> Expr:
    """Report a name that is no variable; `otherwise` is the hint if no name is like it."""
    shown = "::".join(e.path)
    hint = did_you_mean(shown, [v.name for v in scope.visible()]) or otherwise
    inference.report.add("E0201", f"unknown variable `{shown}`", e.span, hint=hint)
    return inference.mistake(e.span)


class FieldPlace(NamedTuple):
    """A field that all constructors of a type have: its type, and its position in each of them."""

    type: Type
    positions: tuple[int, ...]


def field(inference: Inference, e: syntax.FieldAccess, scope: Scope, *_: object) -> Expr:
    """`x.f`."""

    def find(of: Expr, owner: Type) -> Expr:
        place = find_field(inference, owner, e.name, e.span)
        if place is None:
            return inference.mistake(e.span)
        positions = place.positions if len(place.positions) > 1 else ()
        return Project(of, place.positions[0], place.type, positions, span=e.span)

    return _member(inference, e, scope, f"what has the field `{e.name}`", find)


def _member(
    inference: Inference,
    e: syntax.FieldAccess | syntax.TupleAccess,
    scope: Scope,
    what: str,
    find: Callable[[Expr, Type], Expr],
) -> Expr:
    """A part of a value, found once the type of the value is known; `what` is asked for if it never is."""
    of = inference.expression(e.of, scope)
    result = inference.fresh()

    def attempt(final: bool) -> Expr | None:
        owner = content(inference, of.type)
        if not inference.is_open(owner):
            found = find(of, owner)
        elif final:
            found = inference.unknown_type(what, e.of.span, owner)
        else:
            return None
        inference.types.unify(result, found.type)
        return found

    return inference.defer(result, e.span, attempt)


def content(inference: Inference, type: Type) -> Type:
    """Return a type without the references and interning around it."""
    type = inference.types.resolve(type)
    while isinstance(type, Named) and type.name in (types.REF, types.INTERN):
        type = inference.types.resolve(type.arguments[0])
    return type


def find_field(inference: Inference, owner: Type, name: str, span: Span) -> FieldPlace | None:
    """Find a field by name, reporting one that is not there or not in all constructors."""
    if owner is ERROR:
        return None
    constructors = constructors_of(inference, owner)
    holders = [c for c in constructors if name in c.index]
    shown = inference.types.show(owner)
    if not holders:
        known = [f.name for c in constructors for f in c.fields]
        hint = did_you_mean(name, known) or (
            f"its components are `.0` to `.{len(owner.items) - 1}`" if isinstance(owner, Tuple) and owner.items else ""
        )
        inference.report.add(
            "E0307", f"`{shown}` has no field `{name}`", span, hint=hint or _method_hint(inference, name)
        )
        return None
    if len(holders) < len(constructors):
        lacking = next(c for c in constructors if name not in c.index)
        inference.report.add(
            "E0308",
            f"only some values of `{shown}` have the field `{name}`",
            span,
            note=f"`{lacking.name.removeprefix('std::')}` has none",
            hint=f"take it out with `match`: `{holders[0].name.removeprefix('std::')}{{.{name} = {name}}} -> ...`",
        )
        return None
    assert isinstance(owner, Named)
    inner = types.field_types(holders[0], inference.environment.definition(owner.name), owner.arguments)
    return FieldPlace(inner[holders[0].index[name]], tuple([c.index[name] for c in constructors]))


def _method_hint(inference: Inference, name: str) -> str:
    return f"`{name}` is a function: write `.{name}()`" if inference.environment.functions((name,)) else ""


def constructors_of(inference: Inference, type: Type) -> tuple[Constructor, ...]:
    """Return the constructors of a struct or union; none for other types."""
    return inference.environment.definition(type.name).constructors if isinstance(type, Named) else ()


def component(inference: Inference, e: syntax.TupleAccess, scope: Scope, *_: object) -> Expr:
    """`x.0`."""

    def find(of: Expr, owner: Type) -> Expr:
        type = find_component(inference, owner, e.index, e.span)
        return inference.mistake(e.span) if type is ERROR else Project(of, e.index, type, span=e.span)

    return _member(inference, e, scope, f"what has the component `.{e.index}`", find)


def find_component(inference: Inference, owner: Type, index: int, span: Span) -> Type:
    """Return the type of a component of a tuple, reporting one that is not there."""
    if isinstance(owner, Tuple) and index < len(owner.items):
        return owner.items[index]
    if owner is not ERROR:
        hint = ""
        constructors = constructors_of(inference, owner)
        if isinstance(owner, Tuple):
            hint = f"it has {len(owner.items)} components, counted from `.0`"
        elif len(constructors) == 1 and index < len(constructors[0].fields):
            hint = f"fields have names: `.{constructors[0].fields[index].name}`"
        inference.report.add("E0307", f"`{inference.types.show(owner)}` has no component `.{index}`", span, hint=hint)
    return ERROR


def construct(inference: Inference, e: syntax.Construct, scope: Scope, expected: Type | None) -> Expr:
    """A constructor with all its fields, by position or by name."""
    constructor = inference.environment.constructor(e.path, e.span, inference.report)
    if constructor is None:
        for argument in e.arguments:
            inference.expression(argument.value, scope)
        return inference.mistake(e.span)
    type, fields = instantiate_constructor(inference, constructor)
    if expected is not None and inference.types.fits(inference.types.zonk(type), expected):
        inference.types.unify(type, expected)
    given = arrange(inference, e.arguments, constructor)
    values: list[Expr] = []
    missing: list[str] = []
    for declared, field_type, value in zip(constructor.fields, fields, given, strict=True):
        if value is None:
            missing.append(declared.name)
        else:
            why = f"`{_plain(constructor)}` declares `{declared.name}: {types.show(declared.type)}`"
            values.append(inference.expression(value, scope, field_type, why))
    if missing:
        if len(e.arguments) == len(values):
            _report_missing(inference, constructor, missing, e.span)
        return inference.mistake(e.span)
    return Construct(constructor, tuple(values), type, span=e.span)


def _plain(constructor: Constructor) -> str:
    return constructor.name.removeprefix("std::")


def _report_missing(inference: Inference, constructor: Constructor, missing: Sequence[str], span: Span) -> None:
    shown = ", ".join(f"`{name}`" for name in missing)
    fields = ", ".join(f"{f.name}: {types.show(f.type)}" for f in constructor.fields)
    inference.report.add(
        "E0313",
        f"`{_plain(constructor)}` lacks {shown}",
        span,
        note=f"it is declared as `{_plain(constructor)}{{{fields}}}`; only patterns may leave fields out",
    )


def instantiate_constructor(inference: Inference, constructor: Constructor) -> tuple[Type, tuple[Type, ...]]:
    """Return the type that a constructor makes and the types of its fields, type variables replaced by unknowns."""
    definition = inference.environment.definition(constructor.type_name)
    arguments = tuple([inference.fresh() for _ in definition.parameters])
    return Named(constructor.type_name, arguments), types.field_types(constructor, definition, arguments)


def arrange(
    inference: Inference, arguments: tuple[syntax.Argument, ...], constructor: Constructor
) -> list[syntax.Expr | None]:
    """Return the argument for each field, None where there is none; reports arguments that fit no field."""
    given: list[syntax.Expr | None] = [None] * len(constructor.fields)
    plain = _plain(constructor)
    for position, argument in enumerate(arguments):
        at: int | None = position
        if argument.name is not None:
            at = constructor.index.get(argument.name)
            if at is None:
                hint = did_you_mean(argument.name, constructor.index)
                inference.report.add("E0307", f"`{plain}` has no field `{argument.name}`", argument.span, hint=hint)
                continue
        assert at is not None
        if at >= len(given):
            count = len(given)
            inference.report.add(
                "E0313",
                f"`{plain}` has {count or 'no'} field{'' if count == 1 else 's'}, not {len(arguments)}",
                argument.span,
            )
            break
        if given[at] is not None:
            inference.report.add("E0313", f"field `{constructor.fields[at].name}` is given twice", argument.span)
        given[at] = argument.value
    return given

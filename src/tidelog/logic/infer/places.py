"""Places: what can be assigned. A local variable or `mut` parameter, or a field or component of one.

What a `match` arm binds of such a place can be assigned too, and changes the place:

    match (o) { Some{x} -> { x = 1 }, ... }      x = 1, then, if o still is a Some, o.0 = x
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.base import expr, types
from tidelog.base.free import PATTERNS
from tidelog.base.span import Span
from tidelog.base.types import UNIT, Named, Type, TypeVariable
from tidelog.lang import syntax
from tidelog.logic.infer import access as infer_access
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.scope import Part, Scope, Variable
from tidelog.logic.names.unify import ERROR


def place(inference: Inference, e: syntax.Expr, scope: Scope) -> expr.Place | None:
    """Return the place an expression denotes, or None after reporting why it is none."""
    match e:
        case syntax.Name((name,)):
            variable = scope.lookup(name)
            if variable is None:
                infer_access.unknown_variable(inference, e, scope, f"declare it: `var {name} = ...`")
                return None
            return expr.Place(variable.unique, variable.type) if _assignable(inference, variable, e, scope) else None
        case syntax.FieldAccess(of, name):
            outer = place(inference, of, scope)
            if outer is None or not _owns(inference, outer.type, of):
                return None
            found = infer_access.find_field(inference, inference.types.resolve(outer.type), name, e.span)
            return None if found is None else _field_place(inference, e, outer, found)
        case syntax.TupleAccess(of, index):
            outer = place(inference, of, scope)
            if outer is None or not _owns(inference, outer.type, of):
                return None
            type = infer_access.find_component(inference, inference.types.resolve(outer.type), index, e.span)
            return None if type is ERROR else expr.Place(outer.name, type, (*outer.path, index))
        case syntax.Annotated(operand, written):
            inner = place(inference, operand, scope)
            if inner is not None:
                inference.unify(inference.resolve_type(written), inner.type, operand.span)
            return inner
        case _:
            inference.report.add(
                "E0507",
                "this cannot be assigned",
                e.span,
                note="assignments and `mut` arguments need a variable, or a field or component of one",
                hint="put it into a variable first: `var x = ...`",
            )
            return None


def _field_place(
    inference: Inference, e: syntax.FieldAccess, outer: expr.Place, found: infer_access.FieldPlace
) -> expr.Place | None:
    if len(set(found.positions)) > 1:
        inference.report.add(
            "E0507",
            f"field `{e.name}` cannot be assigned: its position differs between constructors",
            e.span,
            hint="use `match` and make the value anew",
        )
        return None
    return expr.Place(outer.name, found.type, (*outer.path, found.positions[0]))


def _owns(inference: Inference, type: Type, e: syntax.Expr) -> bool:
    """Tell whether parts of a value can be assigned: not of references, and only if the type is known."""
    match inference.types.resolve(type):
        case Named(types.REF | types.INTERN, _):
            inference.report.add(
                "E0508",
                "what a reference refers to cannot be changed",
                e.span,
                note="references and interned values are shared",
                hint="make a new one from a changed copy",
            )
            return False
        case unknown if inference.is_open(unknown):
            inference.unknown_type("what is assigned", e.span, unknown)
            return False
        case known:
            return known is not ERROR


_WHY = {
    "rule": ("variables of a rule keep the value that the body gives them", ""),
    "parameter": ("parameters cannot be assigned unless they are `mut`", "declare it `{name}: mut {type}`"),
    "loop": ("a loop variable keeps its element", "copy it: `var y = {name}`"),
    "match": ("parts of what cannot be changed cannot be changed either", "copy it: `var y = {name}`"),
}


def _assignable(inference: Inference, variable: Variable, e: syntax.Name, scope: Scope) -> bool:
    if scope.is_captured(variable.name):
        note, hint = "a lambda sees copies of the variables around it", "return the new value instead"
    elif variable.origin in _WHY and variable.part is None:
        note, hint = _WHY[variable.origin]
        hint = hint.format(name=variable.name, type=inference.types.show(variable.type))
    else:
        return True
    inference.report.add("E0508", f"variable `{variable.name}` cannot be changed", e.span, note=note, hint=hint)
    return False


def mutable_argument(
    inference: Inference, e: syntax.Expr, scope: Scope, expected: Type, parameter: str
) -> expr.Place | None:
    """Return the place that receives the final value of a `mut` parameter."""
    found = place(inference, e, scope)
    if found is not None:
        named = f"`{parameter}`" if parameter else "this argument"
        inference.unify(expected, found.type, e.span, f"{named} is `mut`")
    return found


# --- parts of a place, bound by a match arm --------------------------------------------------------------------------


def bind_parts(
    inference: Inference,
    written: syntax.Expr,
    pattern: expr.Pattern,
    scope: Scope,
    subject: expr.Expr,
    whole: tuple[Variable, expr.Place],
) -> None:
    """Let the variables that an arm declared in `scope` be parts of the place that is matched."""
    of, base = whole
    skeleton = _without_names(pattern)
    for name, path in _parts(inference, written, ()):
        variable = scope.variables.get(name)
        if variable is not None:
            variable.part = Part(of, expr.Place(base.name, variable.type, base.path + path), subject, skeleton)


def changeable(inference: Inference, e: syntax.Expr, scope: Scope) -> tuple[Variable, expr.Place] | None:
    """Return the place that an expression denotes and its variable, or None if there is none; reports nothing."""
    match e:
        case syntax.Name((name,)):
            variable = scope.lookup(name)
            if variable is None or scope.is_captured(name) or (variable.origin in _WHY and variable.part is None):
                return None
            return variable, expr.Place(variable.unique, variable.type)
        case syntax.FieldAccess(of) | syntax.TupleAccess(of):
            outer = changeable(inference, of, scope)
            if outer is None:
                return None
            match inference.types.resolve(outer[1].type):
                case Named(types.REF | types.INTERN, _):
                    return None
                case TypeVariable():
                    return None
                case _:
                    found = place(inference, e, scope)
                    return None if found is None else (outer[0], found)
        case _:
            return None


def _parts(inference: Inference, e: syntax.Expr, path: tuple[int, ...]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The variables of a pattern with their place in the value, except those behind references."""
    match e:
        case syntax.Name((name,)) | syntax.VarDecl(name):
            yield name, path
        case syntax.At(name, inner):
            yield name, path
            yield from _parts(inference, inner, path)
        case syntax.Annotated(inner):
            yield from _parts(inference, inner, path)
        case syntax.TupleExpr(items):
            for i, item in enumerate(items):
                yield from _parts(inference, item, (*path, i))
        case syntax.Construct(name_path, arguments, span=span):
            constructor = inference.environment.constructor(name_path, span, inference.report)
            given = infer_access.arrange(inference, arguments, constructor) if constructor is not None else []
            for i, argument in enumerate(given):
                if argument is not None:
                    yield from _parts(inference, argument, (*path, i))
        case _:
            pass


def _without_names(pattern: expr.Pattern) -> expr.Pattern:
    while isinstance(pattern, expr.VarPattern):
        pattern = pattern.inner
    return PATTERNS.with_parts(pattern, _without_names)


def then_change_whole(target: syntax.Expr, scope: Scope, span: Span) -> list[expr.Expr]:
    """Return what follows a change of a variable that is part of another one: the change of that one."""
    while isinstance(target, syntax.FieldAccess | syntax.TupleAccess):
        target = target.of
    if isinstance(target, syntax.Annotated):
        return then_change_whole(target.operand, scope, span)
    variable = scope.lookup(target.path[0]) if isinstance(target, syntax.Name) else None
    changes: list[expr.Expr] = []
    while variable is not None and variable.part is not None:
        part = variable.part
        change = expr.Assign(part.place, variable.use(span), span=span)
        arms = ((part.pattern, change), (expr.AnyPattern(), expr.MakeTuple((), UNIT, span=span)))
        changes.append(expr.Match(part.subject, arms, UNIT, span=span))
        variable = part.of
    return changes

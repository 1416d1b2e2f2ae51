"""Places: what can be assigned. A local variable or `mut` parameter, or a field or component of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidelog.base import types
from tidelog.base.expr import Place
from tidelog.base.types import Named, Type
from tidelog.lang import syntax
from tidelog.logic import infer_access
from tidelog.logic.scope import Scope, Variable
from tidelog.logic.unify import ERROR

if TYPE_CHECKING:
    from tidelog.logic.infer import Inference


def place(inference: Inference, e: syntax.Expr, scope: Scope) -> Place | None:
    """Return the place an expression denotes, or None after reporting why it is none."""
    match e:
        case syntax.Name((name,)):
            variable = scope.lookup(name)
            if variable is None:
                infer_access.unknown_variable(inference, e, scope, f"declare it: `var {name} = ...`")
                return None
            return Place(variable.unique, variable.type) if _assignable(inference, variable, e, scope) else None
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
            return None if type is ERROR else Place(outer.name, type, (*outer.path, index))
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
    inference: Inference, e: syntax.FieldAccess, outer: Place, found: infer_access.FieldPlace
) -> Place | None:
    if len(set(found.positions)) > 1:
        inference.report.add(
            "E0507",
            f"field `{e.name}` cannot be assigned: its position differs between constructors",
            e.span,
            hint="use `match` and make the value anew",
        )
        return None
    return Place(outer.name, found.type, (*outer.path, found.positions[0]))


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
    "match": ("variables of a pattern keep what they matched", "copy it: `var y = {name}`"),
}


def _assignable(inference: Inference, variable: Variable, e: syntax.Name, scope: Scope) -> bool:
    if scope.is_captured(variable.name):
        note, hint = "a lambda sees copies of the variables around it", "return the new value instead"
    elif variable.origin in _WHY:
        note, hint = _WHY[variable.origin]
        hint = hint.format(name=variable.name, type=inference.types.show(variable.type))
    else:
        return True
    inference.report.add("E0508", f"variable `{variable.name}` cannot be changed", e.span, note=note, hint=hint)
    return False


def mutable_argument(
    inference: Inference, e: syntax.Expr, scope: Scope, expected: Type, parameter: str
) -> Place | None:
    """Return the place that receives the final value of a `mut` parameter."""
    found = place(inference, e, scope)
    if found is not None:
        named = f"`{parameter}`" if parameter else "this argument"
        inference.unify(expected, found.type, e.span, f"{named} is `mut`")
    return found

"""Extern functions: what the program declares against what Python registered."""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.base import types
from tidelog.base.diagnostic import Report, did_you_mean, render
from tidelog.base.extern import Extern, Externs
from tidelog.base.span import Source
from tidelog.base.types import Type, TypeVariable, parts, same_form
from tidelog.lang.parse.parse import parse_type
from tidelog.logic.names.environment import Signature
from tidelog.logic.names.resolve import free_variables, resolve_type


def check_extern(signature: Signature, extern: Extern | None, externs: Sequence[Externs], report: Report) -> None:
    """Report an extern function that nobody registered, or that was registered with another type."""
    span = signature.definition.span
    if extern is None:
        known = [name for table in externs for name in table]
        report.add(
            "E0510",
            f"extern function `{signature.name}` is not registered",
            span,
            note="an extern function is a Python function, registered under its name before the program is checked",
            hint=did_you_mean(signature.name, known) or f'register it: `@externs.register("{signature.name}")`',
        )
    elif extern.signature is not None:
        registered = _registered(signature, extern.signature, report)
        declared = signature.type
        if registered is not None and not same_up_to_names(declared, registered):
            report.add(
                "E0511",
                f"extern function `{signature.name}` is registered with another type",
                span,
                note=f"declared `{types.show(declared)}`, registered `{types.show(registered)}`",
            )


def _registered(signature: Signature, text: str, report: Report) -> Type | None:
    own = Report()
    written = parse_type(Source(f"type of {signature.name}", text), own)
    resolved = None
    if written is not None:
        resolved = resolve_type(signature.environment, written, own, frozenset(free_variables(written)))
    if own.errors:
        report.add(
            "E0511",
            f"extern function `{signature.name}` is registered with a type that cannot be read: `{text}`",
            signature.definition.span,
            note=render(own.errors[0]).splitlines()[0],
        )
        return None
    return resolved


def same_up_to_names(a: Type, b: Type) -> bool:
    """Tell whether two types are equal but for the names of their type variables.

    >>> same_up_to_names(types.Tuple((TypeVariable("A"), types.BOOL)), types.Tuple((TypeVariable("X"), types.BOOL)))
    True
    """
    there: dict[str, str] = {}
    back: dict[str, str] = {}

    def same(a: Type, b: Type) -> bool:
        if isinstance(a, TypeVariable) and isinstance(b, TypeVariable):
            return there.setdefault(a.name, b.name) == b.name and back.setdefault(b.name, a.name) == a.name
        return same_form(a, b) and all(map(same, parts(a), parts(b)))

    return same(a, b)

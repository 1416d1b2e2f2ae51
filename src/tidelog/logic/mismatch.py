"""How a type mismatch is explained: what was expected, what was found, and a way to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tidelog.base import types
from tidelog.base.expr import Const, Expr, If
from tidelog.base.span import Span
from tidelog.base.types import BOOL, STRING, UNIT, Double, Float, Named, Type, is_number

if TYPE_CHECKING:
    from tidelog.logic.infer import Inference


def explain(
    inference: Inference, expected: Type, found: Type, span: Span, why: str = "", expression: Expr | None = None
) -> None:
    """Report that an expression has another type than its place needs."""
    shown_expected, shown_found = inference.types.show(expected), inference.types.show(found)
    if shown_expected == shown_found:
        shown_expected, shown_found = _apart(inference, expected, found)
    if isinstance(expression, If) and expression.type == UNIT and expression.otherwise.type == UNIT:
        why = "an `if` without `else` has the value `()`"
    inference.report.add(
        "E0301",
        f"expected `{shown_expected}`, found `{shown_found}`",
        span,
        note=why,
        hint=_hint(inference, expected, found, expression),
    )


def _apart(inference: Inference, expected: Type, found: Type) -> tuple[str, str]:
    """Write two types that look equal so that they differ: by the full names of their modules."""
    return repr_type(inference.types.zonk(expected)), repr_type(inference.types.zonk(found))


def repr_type(type: Type) -> str:
    """Write a type with the full names of its modules."""
    match type:
        case Named(name, arguments) if arguments:
            return f"{name}<{', '.join(map(repr_type, arguments))}>"
        case Named(name, _):
            return name
        case _:
            return types.show(type)


def _hint(inference: Inference, expected: Type, found: Type, expression: Expr | None) -> str:
    expected, found = inference.types.resolve(expected), inference.types.resolve(found)
    if inference.types.class_of(found) == "integer" and isinstance(expected, Float | Double):
        written = expression.value if isinstance(expression, Const) else 1
        return f"write `{written}.0`" if isinstance(written, int) else ""
    if is_number(expected) and is_number(found):
        return f"convert it: `... as {types.show(expected)}`"
    if expected == STRING and (is_number(found) or found == BOOL):
        return 'make it text: `"${...}"`'
    match expected, found:
        case Named(types.REF, (content,)), _ if inference.types.fits(content, found):
            return "make a reference: `&...` or `ref_new(...)`"
        case Named(types.INTERN, (content,)), _ if inference.types.fits(content, found):
            return 'intern it: `i"..."` for a string, else `intern(...)`'
        case _, Named(types.REF, (content,)) if inference.types.fits(content, expected):
            return "take what it refers to: `deref(...)`, or `&pattern` in a pattern"
        case _, Named(types.INTERN, (content,)) if inference.types.fits(content, expected):
            return "take its value: `ival(...)`"
        case _, Named("std::Option", (content,)) if inference.types.fits(content, expected):
            return "take the value out: `match`, `?`, or `unwrap_or(...)`"
        case Named("std::Option", (content,)), _ if inference.types.fits(content, found):
            return "wrap it: `Some{...}`"
        case _:
            return ""

"""How a type mismatch is explained: what was expected, what was found, and a way to mend it."""

from __future__ import annotations

from tidelog.base import types
from tidelog.base.diagnostic import Report
from tidelog.base.expr import Const, Expr, If
from tidelog.base.span import Span
from tidelog.base.text.terms import TERM
from tidelog.base.types import BOOL, STRING, UNIT, Double, Float, Named, Type, is_number
from tidelog.logic.names.unify import Unifier


def explain(
    known: Unifier,
    report: Report,
    expected: Type,
    found: Type,
    span: Span,
    why: str = "",
    expression: Expr | None = None,
) -> None:
    """Report that an expression has another type than its place needs."""
    shown_expected, shown_found = known.show(expected), known.show(found)
    if shown_expected == shown_found:
        # By the full names of their modules.
        shown_expected, shown_found = repr_type(known.zonk(expected)), repr_type(known.zonk(found))
    if isinstance(expression, If) and expression.type == UNIT and expression.otherwise.type == UNIT:
        why = "an `if` without `else` has the value `()`"
    report.add(
        "E0301",
        f"expected `{shown_expected}`, found `{shown_found}`",
        span,
        note=why,
        hint=_hint(known, expected, found, span, expression),
    )


def repr_type(type: Type) -> str:
    """Write a type with the full names of its modules."""
    match type:
        case Named(name, arguments) if arguments:
            return f"{name}<{', '.join(map(repr_type, arguments))}>"
        case Named(name, _):
            return name
        case _:
            return types.show(type)


def _hint(known: Unifier, expected: Type, found: Type, span: Span, expression: Expr | None) -> str:
    expected, found = known.resolve(expected), known.resolve(found)
    fits = known.fits
    if known.class_of(found) == "integer" and isinstance(expected, Float | Double):
        written = expression.value if isinstance(expression, Const) else 1
        return f"write `{written}.0`" if isinstance(written, int) else ""
    this = _quote(span)
    if is_number(expected) and is_number(found):
        return f"convert it: `{this} as {types.show(expected)}`"
    if expected == STRING and (is_number(found) or found == BOOL):
        return f'make it text: `"${{{this}}}"`'
    if expected == Named(TERM):
        return _term_hint(found, this)
    match expected, found:
        case Named(types.REF, (content,)), _ if fits(content, found):
            return f"make a reference: `&{this}`"
        case Named(types.INTERN, (content,)), _ if fits(content, found):
            return f"intern it: `i{this}`" if this.startswith('"') else f"intern it: `intern({this})`"
        case _, Named(types.REF, (content,)) if fits(content, expected):
            return f"take what it refers to: `deref({this})`, or `&pattern` in a pattern"
        case _, Named(types.INTERN, (content,)) if fits(content, expected):
            return f"take its value: `ival({this})`"
        case _, Named("std::Option", (content,)) if fits(content, expected):
            return "take the value out: with `match`, `?`, or `.unwrap_or(...)`"
        case Named("std::Option", (content,)), _ if fits(content, found):
            return f"wrap it: `Some{{{this}}}`"
        case _:
            return ""


def _term_hint(found: Type, this: str) -> str:
    """Say how a literal of RDF is written, where a text or a number stands."""
    if found == STRING:
        return f"write `{this}^^xsd:string` or `{this}@en`" if this.startswith('"') else f"`string_literal({this})`"
    if this.isdecimal() or is_number(found):
        return f'write `"{this}"^^xsd:integer`' if this.isdecimal() else f"`rdf::integer_literal({this})`, for instance"
    return ""


def _quote(span: Span) -> str:
    """Return the text of a short expression, for a hint that repeats it; `...` stands for a longer one."""
    text = span.text
    if not text or len(text) > _SHORT or "\n" in text or "`" in text:
        return "..."
    return text if text.isidentifier() or text[0] in '"([' or " " not in text else f"({text})"


_SHORT = 24

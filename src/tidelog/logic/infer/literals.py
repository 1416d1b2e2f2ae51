"""Literals: numbers take their type from where they stand, strings may hold expressions, tuples, vectors and maps."""

from __future__ import annotations

import math

from tidelog.base import expr, types
from tidelog.base.conform import bounds
from tidelog.base.expr import Const, Expr, MakeMap, MakeTuple, MakeVec, Operate
from tidelog.base.span import Span
from tidelog.base.text.integers import show_integer
from tidelog.base.types import STRING, Bit, Double, Float, Named, Signed, Tuple, Type, TypeVariable, is_number
from tidelog.base.values import Value, single
from tidelog.base.values import real as real_value
from tidelog.lang import syntax
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.resolve import MAX_WIDTH, resolve_width
from tidelog.logic.names.scope import Scope
from tidelog.logic.names.unify import ERROR

INTERNED_STRING = Named(types.INTERN, (STRING,))


def integer(inference: Inference, literal: syntax.IntLiteral, _: Scope, expected: Type | None) -> Const:
    """An integer literal, of its written width or of a type of numbers told by its place."""
    return whole(inference, _stated(literal), literal, expected, literal.span)


def negated(inference: Inference, literal: syntax.IntLiteral, expected: Type | None, span: Span) -> Const:
    """An integer literal behind `-`."""
    lowest = literal.width is not None and literal.value == 1 << (literal.width - 1)
    return whole(inference, -(literal.value if lowest else _stated(literal)), literal, expected, span)


def _stated(literal: syntax.IntLiteral) -> int:
    """Return the value of a literal: `8'shff` is -1, since digits of bits write down two's complement."""
    width, value = literal.width, literal.value
    if not literal.signed or literal.radix == 10 or not width or width > MAX_WIDTH:
        return value
    return value - (1 << width) if value.bit_length() == width else value


def whole(inference: Inference, value: int, literal: syntax.IntLiteral, expected: Type | None, span: Span) -> Const:
    """An integer literal with its value."""
    if literal.width is not None:
        written = resolve_width(literal.signed, literal.width, span, inference.report)
        check_range(inference, value, written, span)
        return Const(value, written, span=span)
    wanted = inference.types.resolve(expected) if expected is not None else None
    if wanted is not None and is_number(wanted):
        check_range(inference, value, wanted, span)
        return Const(of_type(value, wanted), wanted, span=span)
    type = inference.types.fresh("literal")
    inference.at_end(lambda: check_range(inference, value, type, span))
    return Const(value, type, span=span)


def of_type(value: Value, type: Type) -> Value:
    """Return the value of a literal in the type that it turned out to have; too large ones are reported elsewhere."""
    if not isinstance(type, Float | Double) or not isinstance(value, int | float):
        return value
    try:
        real = real_value(float(value))
    except OverflowError:
        return math.inf
    return single(real) if isinstance(type, Float) else real


def check_range(inference: Inference, value: int, type: Type, span: Span) -> None:
    """Report a literal that its type cannot hold."""
    type = inference.types.resolve(type)
    if isinstance(type, Float | Double) and of_type(value, type) in (math.inf, -math.inf):
        message = f"`{show_integer(value)}` does not fit `{types.show(type)}`"
        inference.report.add("E0309", message, span, note="it is larger than all numbers of this type")
    if not isinstance(type, Bit | Signed):
        return
    low, high = bounds(type)
    if low <= value <= high:
        return
    inference.report.add(
        "E0309",
        f"`{show_integer(value)}` does not fit `{types.show(type)}`",
        span,
        note=f"`{types.show(type)}` has the values {low} to {high}",
        hint="use a signed type" if value < 0 and isinstance(type, Bit) else "",
    )


def boolean(_inference: Inference, literal: syntax.BoolLiteral, *_: object) -> Const:
    """`true` or `false`."""
    return Const(literal.value, types.BOOL, span=literal.span)


def real(
    inference: Inference, literal: syntax.FloatLiteral, _: Scope | None, expected: Type | None, sign: str = ""
) -> Const:
    """A floating point literal, perhaps negated: double, or float if its place or width says so."""
    value = real_value(float(sign + literal.text))
    if literal.width is not None:
        return (
            Const(single(value), types.FLOAT, span=literal.span)
            if literal.width == 32
            else Const(value, types.DOUBLE, span=literal.span)
        )
    wanted = inference.types.resolve(expected) if expected is not None else None
    if isinstance(wanted, Float | Double):
        return Const(single(value) if isinstance(wanted, Float) else value, wanted, span=literal.span)
    return Const(value, inference.types.fresh("real"), span=literal.span)


def string(inference: Inference, literal: syntax.StringLiteral, scope: Scope, *_: object) -> Expr:
    """A string; embedded expressions are turned into text and joined."""
    span = literal.span
    pieces: list[Expr] = []
    for part in literal.parts:
        if isinstance(part, str):
            pieces.append(Const(part, STRING, span=span))
        else:
            pieces.append(text_of(inference, inference.expression(part, scope), part.span))
    if not pieces:
        pieces.append(Const("", STRING, span=span))
    joined = pieces[0]
    for piece in pieces[1:]:
        joined = Operate("++", (joined, piece), STRING, span=span)
    if not literal.interned:
        return joined
    if isinstance(joined, Const):
        return Const(joined.value, INTERNED_STRING, span=span)
    # An interned value is its content, so only the type changes.
    return expr.Sequence((joined,), INTERNED_STRING, span=span)


def text_of(inference: Inference, e: Expr, span: Span) -> Expr:
    """Return the text of a value: itself, built in, or through the visible function `to_string` for its type."""

    def attempt(final: bool) -> Expr | None:
        type = inference.types.resolve(e.type)
        if type is ERROR:
            return inference.mistake(span)
        if inference.is_open(type):
            return inference.unknown_type("this text", span, type) if final else None
        return _text_of_known(inference, e, type, span)

    return inference.defer(STRING, span, attempt, (e.type,))


def _text_of_known(inference: Inference, e: Expr, type: Type, span: Span) -> Expr:
    if type == STRING:
        return e
    if is_built_in(type) or isinstance(type, TypeVariable):
        # Of a generic type: decided when the function is instantiated.
        return Operate("string", (e,), STRING, span=span)
    environment = inference.environment
    zonked = inference.types.zonk(type)
    for signature in (*environment.functions(("to_string",)), *environment.near("to_string", zonked)):
        if len(signature.parameters) == 1 and inference.types.fits(signature.parameters[0].type, type):
            by: dict[str, Type] = {v: inference.fresh() for v in signature.type_variables}
            inference.unify(types.substitute(signature.parameters[0].type, by), type, span)
            inference.unify(STRING, types.substitute(signature.result, by), span, "`to_string` returns a string")
            return expr.Call(inference.use(signature, by, span), (e,), STRING, span=span)
    shown = inference.types.show(type)
    inference.report.add(
        "E0502",
        f"no function `to_string` for `{shown}`",
        span,
        note="`${...}` and the right side of `++` show built-in types themselves, others through `to_string`",
        hint=f"declare `function to_string(x: {shown}): string`",
    )
    return inference.mistake(span)


def is_built_in(type: Type) -> bool:
    """Tell whether the operator `string` shows values of the type."""
    return isinstance(type, types.Bool | types.String | types.BigInt | Bit | Signed | Float | Double)


def tuple_(inference: Inference, e: syntax.TupleExpr, scope: Scope, expected: Type | None) -> Expr:
    """A tuple; what is expected of it is handed to its components."""
    wanted = inference.types.resolve(expected) if expected is not None else None
    parts: tuple[Type | None, ...] = (None,) * len(e.items)
    if isinstance(wanted, Tuple) and len(wanted.items) == len(e.items):
        parts = wanted.items
    items = tuple([inference.expression(item, scope, part) for item, part in zip(e.items, parts, strict=True)])
    return MakeTuple(items, Tuple(tuple([item.type for item in items])), span=e.span)


def vector(inference: Inference, e: syntax.VecLiteral, scope: Scope, expected: Type | None) -> Expr:
    """A vector literal; all elements have one type."""
    match inference.types.resolve(expected) if expected is not None else None:
        case Named(types.VEC, (element,)):
            pass
        case _:
            element = inference.fresh()
    why = "the elements of a vector have one type"
    items = tuple([inference.expression(item, scope, element, why) for item in e.items])
    return MakeVec(items, Named(types.VEC, (element,)), span=e.span)


def map_(inference: Inference, e: syntax.MapLiteral, scope: Scope, expected: Type | None) -> Expr:
    """A map literal; all keys have one type, and all values."""
    match inference.types.resolve(expected) if expected is not None else None:
        case Named(types.MAP, (key, value)):
            pass
        case _:
            key, value = inference.fresh(), inference.fresh()
    pairs = tuple(
        [
            (
                inference.expression(k, scope, key, "the keys of a map have one type"),
                inference.expression(v, scope, value, "the values of a map have one type"),
            )
            for k, v in e.pairs
        ]
    )
    return MakeMap(pairs, Named(types.MAP, (key, value)), span=e.span)

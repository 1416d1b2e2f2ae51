"""The built-in operators on single values, as Python functions chosen once by operator and type.

Used where an expression cannot run on whole columns. `operator_function` returns a function of the operand values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tidelog.base import types as t
from tidelog.base.errors import EvaluationError
from tidelog.base.expr import Operate
from tidelog.base.process.growth import before_integers, joined
from tidelog.base.process.meter import ask
from tidelog.base.text.integers import show_integer
from tidelog.base.text.write import show_real, show_single
from tidelog.base.types import Type
from tidelog.base.values import LONGEST, order_key, real, single

Unary = Callable[[Any], Any]


def wrap(type: Type) -> Unary:
    """Return the function that brings a result into the range of a numeric type."""
    match type:
        case t.Bit(width):
            mask = (1 << width) - 1
            return lambda n: n & mask
        case t.Signed(width):
            half, size = 1 << (width - 1), 1 << width
            return lambda n: n if -half <= n < half else (n + half) % size - half
        case t.Float():
            return single
        case t.Double():
            return real
        case _:
            return lambda n: n


def divide(a: Any, b: Any) -> Any:
    """Divide integers, toward zero."""
    if b == 0:
        raise EvaluationError(f"{show_integer(a)} / 0: division by zero")
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def remainder(a: Any, b: Any) -> Any:
    """Return what integer division leaves; it has the sign of the dividend."""
    if b == 0:
        raise EvaluationError(f"{show_integer(a)} % 0: division by zero")
    return a - b * divide(a, b)


def divide_real(a: float, b: float) -> float:
    """Divide floating point numbers as IEEE 754 does."""
    if b != 0:
        return a / b
    return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)


def remainder_real(a: float, b: float) -> float:
    """Return the floating point remainder with the sign of the dividend."""
    return math.nan if b == 0 or math.isinf(a) or math.isnan(a) or math.isnan(b) else math.fmod(a, b)


def shift_amount(amount: int, type: Type) -> int:
    """Return by how many bits a value is shifted: the amount modulo its width, rounded up to a power of 2."""
    match type:
        case t.Bit(width) | t.Signed(width):
            return amount % (1 << (width - 1).bit_length())
        case _ if amount > LONGEST:
            raise ValueError(f"a shift by {amount} bits: more than {LONGEST}")
        case _:
            ask(amount >> 3)
            return amount


def _numeric(operator: str, type: Type) -> Callable[..., Any]:
    fit = wrap(type)
    floating = isinstance(type, t.Float | t.Double)
    match operator:
        case "+":
            return lambda a, b: fit(a + b)
        case "-":
            return lambda a, b: fit(a - b)
        case "*":
            return lambda a, b: fit(a * b)
        case "/":
            return (lambda a, b: fit(divide_real(a, b))) if floating else (lambda a, b: fit(divide(a, b)))
        case "%":
            return (lambda a, b: fit(remainder_real(a, b))) if floating else (lambda a, b: fit(remainder(a, b)))
        case "neg":
            return lambda a: fit(-a)
        case "~":
            return lambda a: fit(~a)
        case "&":
            return lambda a, b: a & b
        case "|":
            return lambda a, b: a | b
        case "^":
            return lambda a, b: a ^ b
        case "<<":
            return lambda a, b: fit(a << shift_amount(b, type))
        case ">>":
            return lambda a, b: a >> shift_amount(b, type)
        case _:
            raise AssertionError(f"no operator {operator}")


_PLAIN = t.Bool | t.String | t.BigInt | t.Bit | t.Signed


def _comparison(operator: str, type: Type) -> Callable[[Any, Any], bool]:
    if operator == "==":
        return lambda a, b: a is b or a == b
    if operator == "!=":
        return lambda a, b: not (a is b or a == b)
    key: Unary = (lambda v: v) if isinstance(type, _PLAIN) else order_key
    match operator:
        case "<":
            return lambda a, b: bool(key(a) < key(b))
        case "<=":
            return lambda a, b: not key(b) < key(a)
        case ">":
            return lambda a, b: bool(key(b) < key(a))
        case _:
            return lambda a, b: not key(a) < key(b)


def show(type: Type) -> Unary:
    """Return the function that writes a value of a built-in type as interpolation shows it."""
    match type:
        case t.Bool():
            return lambda v: "true" if v else "false"
        case t.Float():
            return show_single
        case t.Double():
            return show_real
        case t.Named(name, (inner,)) if name in (t.REF, t.INTERN):
            return show(inner)
        case t.BigInt():
            return _weighed("string", show_integer)
        case _:
            return str


def cast(source: Type, target: Type) -> Unary:
    """Return the function that converts numbers from one type to another."""
    fit = wrap(target)
    if t.is_integer(target) and not t.is_integer(source):
        return lambda v: fit(_saturated(v, target))
    if t.is_integer(source) and not t.is_integer(target):
        return lambda v: fit(_to_float(v))
    return fit


def _to_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _saturated(number: float, type: Type) -> int:
    """Convert to an integer as Rust does: toward zero, NaN to 0, out of range to the nearest value of the type."""
    match type:
        case t.Bit(width):
            low, high = 0, (1 << width) - 1
        case t.Signed(width):
            low, high = -(1 << (width - 1)), (1 << (width - 1)) - 1
        case _:
            if not math.isfinite(number):
                raise ValueError(f"{show_real(number)} as bigint: not a finite number")
            return int(number)
    if math.isnan(number):
        return 0
    if math.isinf(number):
        return high if number > 0 else low
    return max(low, min(high, int(number)))


def operator_function(node: Operate) -> Callable[..., Any]:
    """Return the function of an operator's operand values. `and`, `or` and `=>` are not here: they are lazy."""
    first = node.operands[0].type
    match node.operator:
        case "==" | "!=" | "<" | "<=" | ">" | ">=":
            return _comparison(node.operator, first)
        case "not":
            return lambda a: not a
        case "++" if isinstance(node.type, t.Bit):
            second = node.operands[1].type
            assert isinstance(second, t.Bit)
            width = second.width
            return lambda a, b: (a << width) | b
        case "++":
            return joined
        case "slice":
            return lambda a, high, low: (a >> low) & ((1 << (high - low + 1)) - 1)
        case "as":
            return cast(first, node.type)
        case "string":
            return show(first)
        case _:
            function = _numeric(node.operator, node.type)
            return _weighed(node.operator, function) if isinstance(node.type, t.BigInt) else function


def _weighed(operator: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an operation on integers without bound that asks before large ones."""

    def weighed(a: int, *b: int) -> Any:
        before_integers(operator, a, *b)
        return function(a, *b)

    return weighed

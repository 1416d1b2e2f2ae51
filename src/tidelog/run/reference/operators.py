"""What the built-in operators mean. Integers with a width wrap; floating point is IEEE 754 with one NaN.

The operands' types were checked, so an operator only looks at the type where its meaning depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tidelog.base.conform import bounds
from tidelog.base.expr import Expr, Operate
from tidelog.base.process.growth import before_integers, joined
from tidelog.base.process.meter import ask
from tidelog.base.text.integers import show_integer
from tidelog.base.text.write import show_real
from tidelog.base.types import BigInt, Bit, Double, Float, Signed, String, Type, is_integer, show
from tidelog.base.values import LONGEST, Value, order_key, real, single


class Failure(Exception):  # noqa: N818  # not an error of its own: the engine adds the rule and raises EvaluationError
    """An operation has no result; the message says which and why."""


def fit(number: Value, type: Type) -> Value:
    """Return the value of a numeric type that a mathematical result stands for.

    >>> fit(256, Bit(8)), fit(128, Signed(8))
    (0, -128)
    """
    match type:
        case Bit(width):
            return number % (1 << width)
        case Signed(width):
            half = 1 << (width - 1)
            return (number + half) % (1 << width) - half
        case Float():
            return single(number)
        case Double():
            return real(number)
        case _:
            return number


def operate(node: Operate, values: Sequence[Value]) -> Value:
    """Apply an operator to the values of its operands.

    `and`, `or` and `=>` are not here, as they may need only one operand, nor is `string`, which needs types.
    """
    match node.operator, values:
        case "==", (a, b):
            return same(a, b)
        case "!=", (a, b):
            return not same(a, b)
        case "<", (a, b):
            return order_key(a) < order_key(b)
        case "<=", (a, b):
            return not order_key(b) < order_key(a)
        case ">", (a, b):
            return order_key(b) < order_key(a)
        case ">=", (a, b):
            return not order_key(a) < order_key(b)
        case "not", (a,):
            return not a
        case "++", (a, b):
            return concatenate(a, b, node.operands[1].type)
        case "as", (a,):
            return cast(a, node.type)
        case "slice", (a, high, low):
            return a >> low & ((1 << (high - low + 1)) - 1)
        case _:
            if isinstance(node.type, BigInt):
                before_integers(node.operator, *values)
            return fit(calculate(node, values), node.type)


def calculate(node: Operate, values: Sequence[Value]) -> Value:
    """Compute a number, before it is made to fit its type."""
    match node.operator, values:
        case "+", (a, b):
            return a + b
        case "-", (a, b):
            return a - b
        case "*", (a, b):
            return a * b
        case "/" | "%", (a, b):
            return (divide_integers if is_integer(node.type) else divide_reals)(node.operator, a, b)
        case "neg", (a,):
            return -a
        case "~", (a,):
            return ~a
        case "&", (a, b):
            return a & b
        case "|", (a, b):
            return a | b
        case "^", (a, b):
            return a ^ b
        case "<<", (a, b):
            return a << shift(node.operands[0], b)
        case ">>", (a, b):
            return a >> shift(node.operands[0], b)
        case _:
            raise AssertionError(f"no operator {node.operator} of {len(values)} operands")


def same(a: Value, b: Value) -> bool:
    """Tell whether two values of one type are equal; NaN equals itself."""
    return a is b or bool(a == b)


def divide_integers(operator: str, a: int, b: int) -> int:
    """Divide, truncating toward zero; the remainder has the sign of the dividend."""
    if b == 0:
        raise Failure(f"{show_integer(a)} {operator} 0: division by zero")
    quotient = abs(a) // abs(b)
    quotient = quotient if (a < 0) == (b < 0) else -quotient
    return quotient if operator == "/" else a - quotient * b


def divide_reals(operator: str, a: float, b: float) -> float:
    """Divide as IEEE 754 does: by zero gives an infinity or NaN. There is no negative zero."""
    if operator == "%":
        return math.fmod(a, b) if b != 0 and math.isfinite(a) else math.nan
    if b == 0:
        return math.nan if a == 0 or math.isnan(a) else math.copysign(math.inf, a)
    return a / b


def shift(left: Expr, amount: int) -> int:
    """Return how far to shift: modulo the width of the left operand rounded up to a power of two."""
    match left.type:
        case Bit(width) | Signed(width):
            return amount % (1 << (width - 1).bit_length())
        case _ if amount > LONGEST:
            raise Failure(f"a shift by {amount} bits: more than {LONGEST}")
        case _:
            ask(amount >> 3)
            return amount


def concatenate(a: Value, b: Value, type: Type) -> Value:
    """Join strings, or bit vectors with the left one as the high bits."""
    match type:
        case Bit(width):
            return a << width | b
        case _:
            return joined(a, b)


def cast(value: Value, type: Type) -> Value:
    """Convert a number to another numeric type: integers wrap, floating point rounds.

    A floating point number becomes the integer toward zero, or if there is none the nearest of the type; NaN is 0.
    """
    match type:
        case Bit() | Signed() if isinstance(value, float):
            low, high = bounds(type)
            return 0 if math.isnan(value) else low if value <= low else high if value >= high else math.trunc(value)
        case BigInt() if isinstance(value, float):
            if not math.isfinite(value):
                raise Failure(f"{show_real(value)} as bigint: not a finite number")
            return math.trunc(value)
        case Float() | Double():
            try:
                return fit(float(value), type)
            except OverflowError:
                return math.inf if value > 0 else -math.inf
        case Bit() | Signed() | BigInt():
            return fit(value, type)
        case String():
            return value
        case _:
            raise AssertionError(f"no cast to {show(type)}")

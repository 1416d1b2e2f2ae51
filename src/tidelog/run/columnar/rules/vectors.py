"""Operators on whole columns of numbers and truth values.

A column of codes is *read* into the natural array of its type (bool, uint64, int64, float64), operators work on those,
and the result is *written* back to codes. `operate` returns None where it has no whole-column form; the caller then
goes value by value. A bigint column reads as int64 only while all its values are small; an operation that might leave
that range returns None.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tidelog.base import types as t
from tidelog.base.types import Type
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.columnar.storage.dictionary import SMALL, Codec, code_floats, code_signed, read_floats, read_signed
from tidelog.run.columnar.storage.layout import MIDDLE

Vector = npt.NDArray[Any]


def read(codes: Words, type: Type) -> Vector | None:
    """Return the natural array of a column of codes, or None if the type has none."""
    match type:
        case t.Bool():
            return codes.astype(bool)
        case t.Bit(width) if width <= 64:
            return codes
        case t.Signed(width) if width <= 64:
            return read_signed(codes)
        case t.Float() | t.Double():
            return read_floats(codes)
        case t.BigInt():
            return read_signed(codes) if not (codes >= U(MIDDLE + SMALL)).any() else None
        case _:
            return None


def write(vector: Vector, type: Type, codec: Codec) -> Words:
    """Return the codes of a natural array."""
    match type:
        case t.Bool():
            return vector.astype(U)
        case t.Bit():
            return vector
        case t.Signed():
            return code_signed(vector)
        case t.Float() | t.Double():
            return code_floats(vector)
        case _:
            if ((vector < SMALL) & (vector > -SMALL)).all():
                return code_signed(vector)
            return codec.codes(vector.tolist(), type)


def operate(operator: str, operands: list[Vector], types: list[Type], type: Type) -> Vector | None:
    """Apply an operator to whole columns, or return None."""
    if operator in _COMPARISONS:
        return _compare(operator, operands[0], operands[1], types[0])
    match operator:
        case "not":
            return ~operands[0]
        case "as":
            return _cast(operands[0], types[0], type)
        case "++":
            return _concatenate(operands[0], operands[1], types[1], type)
    if isinstance(type, t.Float | t.Double):
        return _floating(operator, operands, type)
    if isinstance(type, t.BigInt):
        return _big(operator, operands)
    with np.errstate(all="ignore"):
        result = _integer(operator, operands, type)
    return None if result is None else fit(result, type)


def fit(vector: Vector, type: Type) -> Vector:
    """Bring integers into the range of a fixed width by dropping high bits."""
    match type:
        case t.Bit(width) if width < 64:
            return vector & U((1 << width) - 1)
        case t.Signed(width) if width < 64:
            unused = np.int64(64 - width)
            return (vector << unused) >> unused
        case _:
            return vector


_COMPARISONS = {
    "==": np.equal,
    "!=": np.not_equal,
    "<": np.less,
    "<=": np.less_equal,
    ">": np.greater,
    ">=": np.greater_equal,
}


def _compare(operator: str, a: Vector, b: Vector, type: Type) -> Vector:
    if isinstance(type, t.Float | t.Double):
        a, b = code_floats(a), code_floats(b)
    return np.asarray(_COMPARISONS[operator](a, b))


def _integer(operator: str, operands: list[Vector], type: Type) -> Vector | None:
    a = operands[0]
    b = operands[-1]
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "neg":
            return np.zeros_like(a) - a
        case "~":
            return ~a
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "/" | "%":
            return _divide(operator, a, b, isinstance(type, t.Bit))
        case "<<" | ">>":
            return _shift(operator, a, b, type)
        case _:
            return None


def _divide(operator: str, a: Vector, b: Vector, unsigned: bool) -> Vector:
    if not b.all():
        raise ZeroDivisionError
    if unsigned:
        return a // b if operator == "/" else a % b
    quotient = a // b
    quotient += (quotient * b != a) & ((a < 0) != (b < 0))
    return quotient if operator == "/" else a - quotient * b


def _shift(operator: str, a: Vector, b: Vector, type: Type) -> Vector | None:
    if not isinstance(type, t.Bit | t.Signed):
        return None
    amount = (b % U(1 << (type.width - 1).bit_length())).astype(a.dtype)
    shifted: Vector = np.left_shift(a, amount) if operator == "<<" else np.right_shift(a, amount)
    return shifted


def _big(operator: str, operands: list[Vector]) -> Vector | None:
    a, b = operands[0], operands[-1]
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "neg":
            negated: Vector = np.negative(a)
            return negated
        case "*":
            largest = [int(np.abs(v).max()) if v.size else 0 for v in (a, b)]
            return a * b if largest[0] * largest[1] < SMALL else None
        case "/" | "%":
            return _divide(operator, a, b, unsigned=False)
        case _:
            return None


def _floating(operator: str, operands: list[Vector], type: Type) -> Vector | None:
    a, b = operands[0], operands[-1]
    with np.errstate(all="ignore"):
        match operator:
            case "+":
                result = a + b
            case "-":
                result = a - b
            case "*":
                result = a * b
            case "/":
                result = a / b
            case "neg":
                result = -a
            case _:
                return None
        if isinstance(type, t.Float):
            result = result.astype(np.float32).astype(np.float64)
    return result + 0.0


def _cast(a: Vector, source: Type, target: Type) -> Vector | None:
    if isinstance(source, t.Bool | t.Float | t.Double):
        return None
    match target:
        case t.Bit(width) if width <= 64:
            return fit(a.astype(np.int64).view(U) if a.dtype != U else a, target)
        case t.Signed(width) if width <= 64:
            return fit(a.view(np.int64) if a.dtype == U else a, target)
        case t.BigInt() if a.dtype == U:
            return a.astype(np.int64) if not (a >= U(SMALL)).any() else None
        case t.BigInt():
            return a if ((a < SMALL) & (a > -SMALL)).all() else None
        case t.Double():
            return a.astype(np.float64)
        case _:
            return None


def _concatenate(a: Vector, b: Vector, second: Type, type: Type) -> Vector | None:
    if not isinstance(type, t.Bit) or type.width > 64 or not isinstance(second, t.Bit) or second.width >= 64:
        return None
    return (a << U(second.width)) | b


def slice_bits(a: Vector, high: int, low: int) -> Vector:
    """Return bits `low` to `high` of unsigned numbers."""
    return (a >> U(low)) & U((1 << (high - low + 1)) - 1)

"""Module `fp`: mathematics of floating point numbers, each function for float (`_f`) and double (`_d`)."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from tidelog.base.values import NAN, NONE, Variant, err, ok, real, single, some

_NUMBER = re.compile(
    r"[+-]?([0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)


def round_half_away(x: float) -> float:
    """Round to an integer, halves away from zero."""
    whole = _whole(math.trunc, x)
    return whole + math.copysign(1.0, x) if abs(x - whole) >= 0.5 else whole


def _whole(rounding: Callable[[float], int], x: float) -> float:
    return float(rounding(x)) if math.isfinite(x) else x


def signum(x: float) -> float:
    """Return 1 or -1; 1 for zero, NaN for NaN."""
    return x if math.isnan(x) else 1.0 if x >= 0 else -1.0


def log(x: float, base: float) -> float:
    """Return the logarithm to a base."""
    return ln(x) / ln(base)


def ln(x: float) -> float:
    """Return the natural logarithm; that of zero is minus infinity."""
    return -math.inf if x == 0 else math.log(x)


def mul_add(a: float, b: float, c: float) -> float:
    """Return `a * b + c`, rounded once."""
    if not (math.isfinite(a) and math.isfinite(b) and math.isfinite(c)):
        return a * b + c
    (an, ad), (bn, bd), (cn, cd) = a.as_integer_ratio(), b.as_integer_ratio(), c.as_integer_ratio()
    numerator = an * bn * cd + cn * ad * bd
    try:
        return numerator / (ad * bd * cd)
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def power(x: float, exponent: float) -> float:
    """Raise to a power; zero to a negative power is infinite."""
    if x == 0 and exponent < 0:
        return math.inf
    try:
        return math.pow(x, exponent)
    except OverflowError:
        return -math.inf if x < 0 and exponent % 2 else math.inf


def parse(text: str) -> Variant:
    """Read a number."""
    return ok(float(text)) if _NUMBER.fullmatch(text) else err(f"not a number: {text}")


_PLAIN = (
    "sqrt", "exp", "exp2", "cbrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh",
    "asinh", "acosh",
)  # fmt: skip
_FUNCTIONS: dict[str, Callable[..., float]] = {
    **{name: getattr(math, name) for name in _PLAIN},
    "floor": lambda x: _whole(math.floor, x),
    "ceil": lambda x: _whole(math.ceil, x),
    "round": round_half_away,
    "trunc": lambda x: _whole(math.trunc, x),
    "fract": lambda x: x - _whole(math.trunc, x),
    "abs": abs,
    "signum": signum,
    "ln": ln,
    "log2": lambda x: -math.inf if x == 0 else math.log2(x),
    "log10": lambda x: -math.inf if x == 0 else math.log10(x),
    "atanh": lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x),
    "recip": lambda x: math.inf if x == 0 else 1 / x,
    "to_degrees": math.degrees,
    "to_radians": math.radians,
    "powi": power,
    "powf": power,
    "log": log,
    "mul_add": mul_add,
    "nan": lambda: NAN,
}


def _total(function: Callable[..., float], rounded: Callable[[float], float]) -> Callable[..., float]:
    """Return the function with NaN where Python has a domain error, and an infinity where it has an overflow."""

    def call(*arguments: float) -> float:
        try:
            return rounded(function(*arguments))
        except (ValueError, ZeroDivisionError):
            return NAN
        except OverflowError:
            return -math.inf if arguments[0] < 0 and function is not math.cosh else math.inf

    return call


def _kind(suffix: str, rounded: Callable[[float], float]) -> dict[str, Callable[..., Any]]:
    return {
        **{f"{name}_{suffix}": _total(function, rounded) for name, function in _FUNCTIONS.items()},
        f"is_nan_{suffix}": math.isnan,
        f"is_infinite_{suffix}": math.isinf,
        f"is_finite_{suffix}": math.isfinite,
        f"int_from_{suffix}": lambda x: some(math.trunc(x)) if math.isfinite(x) else NONE,
        f"parse_{suffix}": lambda text: _rounded(parse(text), rounded),
    }


def _rounded(result: Variant, rounded: Callable[[float], float]) -> Variant:
    return ok(rounded(result.fields[0])) if result.position == 0 else result


FUNCTIONS: dict[str, Callable[..., Any]] = {**_kind("f", single), **_kind("d", real)}

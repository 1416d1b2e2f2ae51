"""Ratios of integers as Python's fractions."""

from fractions import Fraction

from tidelog.base.extern import Externs

EXTERNS = externs = Externs()


@externs.register("ratio")
def ratio(a: int, b: int) -> Fraction:
    """Return a / b."""
    return Fraction(a, b)


@externs.register("text")
def text(r: Fraction) -> str:
    """Return the ratio as text."""
    return f"{r.numerator}/{r.denominator}"

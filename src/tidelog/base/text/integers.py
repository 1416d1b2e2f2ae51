"""Integers as text, of any length: by halves, since Python refuses to convert more than some thousand digits at once.

The refusal guards against conversions that take quadratic time; halves take less. It is a setting of the whole
interpreter, which a library leaves alone.
"""

from __future__ import annotations

from typing import Final

DIGITS: Final = 4000
"""How many digits are converted at once; Python allows 4,300 unless told otherwise."""
_SMALL: Final = 10**DIGITS


def show_integer(number: int) -> str:
    """Write an integer in decimal.

    >>> show_integer(-42), len(show_integer(10**10000))
    ('-42', 10001)
    """
    if -_SMALL < number < _SMALL:
        return str(number)
    return "-" + _digits(-number) if number < 0 else _digits(number)


def read_integer(text: str, radix: int = 10) -> int:
    """Read an integer in some radix; raise `ValueError` if it is none.

    >>> read_integer("-42"), read_integer("ff", 16), read_integer("1" + "0" * 10000) == 10**10000
    (-42, 255, True)
    """
    if radix != 10 or len(text) <= DIGITS:
        return int(text, radix)
    if text[0] in "+-":
        return -read_integer(text[1:]) if text[0] == "-" else read_integer(text[1:])
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"not an integer: {text[:20]}...")
    half = len(text) // 2
    unit: int = 10**half
    return read_integer(text[:-half]) * unit + read_integer(text[-half:])


def _digits(number: int) -> str:
    """Write a number that is not negative."""
    if number < _SMALL:
        return str(number)
    half = number.bit_length() * 30103 // 200000
    high, low = divmod(number, 10**half)
    return _digits(high) + _digits(low).zfill(half)

"""The prelude's functions of any value, of numbers and of strings."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable
from hashlib import blake2b
from operator import itemgetter
from sys import getsizeof
from typing import Any

from tidelog.base import types as t
from tidelog.base.conform import wrapped
from tidelog.base.defaults import some_value
from tidelog.base.extern import Signature
from tidelog.base.process.growth import NUMBER, POINTER, TEXT, before_integers
from tidelog.base.process.meter import LARGE, ask, step
from tidelog.base.text.write import show_value
from tidelog.base.values import (
    LONGEST,
    NONE,
    AnyValue,
    FrozenMap,
    Value,
    Variant,
    err,
    in_order,
    ok,
    real,
    single,
    some,
)

# --- any value -------------------------------------------------------------------------------------------------------


def default(signature: Signature) -> Value:
    """Return the default value of the result type."""
    return some_value(signature.result, signature.types.get, itemgetter(0), _no_default)


def _no_default(type: t.Type) -> Value:
    raise TypeError(f"type {t.show(type)} has no default value")


def encoding(value: Value) -> bytes:
    """Write a value as bytes, injectively among values of one type; what `hash64` and its kin digest.

    >>> encoding((1, "a", True))
    b'(1;1:a1;)'
    """
    match value:
        case bool() | int():
            return b"%d;" % value
        case str():
            step()
            ask(2 * len(value))
            data = value.encode("utf-8", "surrogatepass")
            return b"%d:%s" % (len(data), data)
        case float():
            return struct.pack(">d", value)
        case tuple():
            step()
            return b"(%s)" % b"".join(map(encoding, value))
        case Variant():
            step()
            return b"%d{%s}" % (value.position, b"".join(map(encoding, value.fields)))
        case frozenset():
            return b"[%s]" % b"".join(map(encoding, in_order(value)))
        case FrozenMap():
            return b"[%s]" % b"".join(encoding(k) + encoding(v) for k, v in value.items())
        case AnyValue():
            return encoding((str(value.type), value.value))
        case _:
            raise TypeError(f"a value like {value!r} has no hash")


def digest(value: Value, size: int) -> int:
    """Return a hash of `size` bytes."""
    return int.from_bytes(blake2b(encoding(value), digest_size=size).digest(), "big")


def from_any(signature: Signature, given: AnyValue) -> Variant:
    """Return the value, if it is of the type that the result has."""
    assert isinstance(signature.result, t.Named)
    return some(given.value) if given.type == signature.result.arguments[0] else NONE


# --- numbers ---------------------------------------------------------------------------------------------------------


def pow32(signature: Signature, base: Value, exponent: int) -> Value:
    """Raise a number to a power; wraps."""
    match signature.result:
        case (t.Bit() | t.Signed()) as type:
            return wrapped(pow(base, exponent, 1 << type.width), type)
        case t.BigInt():
            if base.bit_length() * exponent > LONGEST:
                raise ValueError(f"the power has more than {LONGEST} bits")
            before_integers("*", 1 << (base.bit_length() * exponent // 2), base)
            return base**exponent
        case t.Float() | t.Double() as type:
            try:
                power = float(base**exponent)
            except OverflowError:
                power = float("-inf") if base < 0 and exponent % 2 else float("inf")
            return single(power) if isinstance(type, t.Float) else real(power)
        case type:
            raise TypeError(f"pow32 needs a number, not a value of type {t.show(type)}")


def range_vec(signature: Signature, start: int, stop: int, step: int) -> tuple[int, ...]:
    """Return integers from `start` until `stop`."""
    if not t.is_integer(signature.parameters[0]):
        raise TypeError(f"range_vec needs integers, not values of type {t.show(signature.parameters[0])}")
    numbers = range(start, stop, step) if step else ()
    if step and (stop - start) // step > LONGEST:
        raise ValueError(f"more than {LONGEST} numbers")
    ask(NUMBER * len(numbers))
    return tuple(numbers)


def hexadecimal(signature: Signature, number: Value) -> str:
    """Return hexadecimal digits, those of the two's complement if the type has a width."""
    match signature.parameters[0]:
        case t.Signed(width):
            return f"{number % (1 << width):x}"
        case type if t.is_integer(type):
            return f"{number:x}"
        case type:
            raise TypeError(f"hex needs an integer, not a value of type {t.show(type)}")


def parse_decimal(text: str, low: int, high: int) -> Variant:
    """Read a decimal integer between two bounds."""
    if not re.fullmatch(r"[+-]?[0-9]{1,100}", text) or (text[0] == "-" and not low):
        return NONE
    number = int(text)
    return some(number) if low <= number <= high else NONE


LONG = 256
"""Texts from which on a replacement is measured before: as long as that they may become large."""

# --- strings ---------------------------------------------------------------------------------------------------------


def split(text: str, separator: str) -> tuple[str, ...]:
    """Return the parts between separators; without one, between characters."""
    if len(text) > LARGE:
        ask(TEXT * text.count(separator))
    return tuple(text.split(separator)) if separator else ("", *text, "")


def replace(text: str, part: str, by: str) -> str:
    """Return a text with every occurrence of a part replaced."""
    if len(text) + len(by) > LONG:
        ask(getsizeof(text) + getsizeof(by) * text.count(part))
    return text.replace(part, by)


def join(strings: Iterable[str], separator: str) -> str:
    """Return texts as one, with a separator between them."""
    parts = tuple(strings)
    ask(len(separator) * len(parts) + sum(map(len, parts)))
    return separator.join(parts)


def to_bytes(text: str) -> tuple[int, ...]:
    """Return the bytes of a text in UTF-8."""
    ask(POINTER * len(text))
    return tuple(text.encode())


def decode(data: Iterable[int], width: int, encoding: str) -> Variant:
    """Return the text that code units encode, or what is wrong with them."""
    try:
        return ok(b"".join(unit.to_bytes(width, "big") for unit in data).decode(encoding))
    except UnicodeDecodeError as error:
        return err(f"not {encoding}: {error.reason} at byte {error.start}")


def encode_utf16(text: str) -> tuple[int, ...]:
    """Return the UTF-16 code units of a text."""
    ask(NUMBER * len(text))
    data = text.encode("utf-16-be")
    return struct.unpack(f">{len(data) // 2}H", data)


TYPED: dict[str, Callable[..., Any]] = {
    "default": default,
    "to_string_debug": lambda signature, value: show_value(value, signature.parameters[0], signature.types),
    "to_any": lambda signature, value: AnyValue(signature.parameters[0], value),
    "from_any": from_any,
    "pow32": pow32,
    "range_vec": range_vec,
    "hex": hexadecimal,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "hash32": lambda value: digest(value, 4),
    "hash64": lambda value: digest(value, 8),
    "hash128": lambda value: digest(value, 16),
    "parse_dec_u64": lambda text: parse_decimal(text, 0, 2**64 - 1),
    "parse_dec_i64": lambda text: parse_decimal(text, -(2**63), 2**63 - 1),
    "string_len": len,
    "string_contains": lambda text, part: part in text,
    "string_starts_with": str.startswith,
    "string_ends_with": str.endswith,
    "string_substr": lambda text, start, end: text[start:end],
    "string_replace": replace,
    "string_split": split,
    "string_join": join,
    "string_trim": str.strip,
    "string_to_lowercase": str.lower,
    "string_to_uppercase": str.upper,
    "string_reverse": lambda text: text[::-1],
    "string_to_bytes": to_bytes,
    "from_utf8": lambda data: decode(data, 1, "UTF-8"),
    "encode_utf16": encode_utf16,
    "from_utf16": lambda data: decode(data, 2, "UTF-16-BE"),
    "ref_new": lambda value: value,
    "deref": lambda value: value,
    "intern": lambda value: value,
    "ival": lambda value: value,
}

"""DDlog's hashes: XXH64, by Yann Collet, of the bytes that Rust's `Hash` makes of a value of its type."""

from __future__ import annotations

from tidelog.base import types as t
from tidelog.base.conform import Types, fields_of
from tidelog.base.process.meter import step
from tidelog.base.values import Value, in_order

SEED1, SEED2 = 0x23B691A751D0E108, 0x20B09801DCE5FF84
_MASK = (1 << 64) - 1
_PRIMES = (
    0x9E3779B185EBCA87,
    0xC2B2AE3D27D4EB4F,
    0x165667B19E3779F9,
    0x85EBCA77C2B2AE63,
    0x27D4EB2F165667C5,
)


def xxhash64(data: bytes, seed: int) -> int:
    """Return a hash of 64 bits.

    >>> f"{xxhash64(b'', 0):x}", f"{xxhash64(b'abc', 0):x}"
    ('ef46db3751d8e999', '44bc2cf5ad770999')
    """
    one, two, three, four, five = _PRIMES
    length = len(data)
    place = 0
    if length >= 32:
        lanes = [(seed + one + two) & _MASK, (seed + two) & _MASK, seed, (seed - one) & _MASK]
        while place + 32 <= length:
            for i in range(4):
                lanes[i] = _round(lanes[i], int.from_bytes(data[place + 8 * i : place + 8 * i + 8], "little"))
            place += 32
        found = sum(_rotated(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18), strict=True)) & _MASK
        for lane in lanes:
            found = ((found ^ _round(0, lane)) * one + four) & _MASK
    else:
        found = (seed + five) & _MASK
    found = (found + length) & _MASK
    while place + 8 <= length:
        found ^= _round(0, int.from_bytes(data[place : place + 8], "little"))
        found = (_rotated(found, 27) * one + four) & _MASK
        place += 8
    if place + 4 <= length:
        found ^= int.from_bytes(data[place : place + 4], "little") * one & _MASK
        found = (_rotated(found, 23) * two + three) & _MASK
        place += 4
    for byte in data[place:]:
        found = _rotated(found ^ byte * five & _MASK, 11) * one & _MASK
    found = (found ^ found >> 33) * two & _MASK
    found = (found ^ found >> 29) * three & _MASK
    return found ^ found >> 32


def _round(lane: int, given: int) -> int:
    return _rotated((lane + given * _PRIMES[1]) & _MASK, 31) * _PRIMES[0] & _MASK


def _rotated(number: int, by: int) -> int:
    return (number << by | number >> (64 - by)) & _MASK


def hashed_bytes(value: Value, type: t.Type, types: Types) -> bytes:
    """Return what Rust's `Hash` feeds to a hasher."""
    match type:
        case t.Bool():
            return bytes((value,))
        case t.String():
            step()
            text: bytes = value.encode("utf-8", "surrogatepass")
            return text + b"\xff"
        case t.Bit(width) | t.Signed(width):
            return _integer(value, next(size for size in (8, 16, 32, 64, 128, width) if size >= width))
        case t.BigInt():  # its sign, and its digits of 64 bits
            digits = -(-abs(value).bit_length() // 64)
            sign = _integer(1 + (value > 0) - (value < 0), 64)
            return sign + _integer(digits, 64) + abs(value).to_bytes(8 * digits, "little") if value else sign
        case t.Tuple(items):
            step()
            return b"".join(hashed_bytes(x, item, types) for x, item in zip(value, items, strict=True))
        case t.Named(name, (item,)) if name in {t.VEC, t.SET}:
            elements = value if name == t.VEC else in_order(value)
            return _integer(len(value), 64) + b"".join(hashed_bytes(x, item, types) for x in elements)
        case t.Named(t.MAP, (key, item)):
            pairs = (hashed_bytes(k, key, types) + hashed_bytes(x, item, types) for k, x in value.items())
            return _integer(len(value), 64) + b"".join(pairs)
        case t.Named(t.REF | t.INTERN, (inner,)):
            return hashed_bytes(value, inner, types)
        case t.Named(name) if (definition := types.get(name)) is not None and definition.constructors:
            step()
            constructor = definition.constructors[value.position]
            inside = fields_of(type, constructor, types)
            fields = b"".join(hashed_bytes(x, kind, types) for x, kind in zip(value.fields, inside, strict=True))
            return (_integer(value.position, 64) if len(definition.constructors) > 1 else b"") + fields
        case _:
            raise TypeError(f"a value of type {t.show(type)} has no hash like DDlog's")


def _integer(number: int, width: int) -> bytes:
    return (number % (1 << width)).to_bytes(width // 8, "little")

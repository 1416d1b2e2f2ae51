"""Modules `base64`, `net::ipv6` and `uuid`: bytes, addresses and identifiers as text."""

from __future__ import annotations

import binascii
import hashlib
import re
import string
from collections.abc import Callable
from typing import Any

from tidelog.base.values import Variant, err, ok

_BASE64 = frozenset(f"{string.ascii_letters}{string.digits}+/=".encode())


def decode(text: str) -> Variant:
    """Read base64; a mistake says which byte is wrong and where, as DDlog does."""
    wrong = next(((i, byte) for i, byte in enumerate(text.encode()) if byte not in _BASE64), None)
    if wrong is not None:
        return err(f"Invalid byte {wrong[1]} at position {wrong[0]}")
    try:
        return ok(tuple(binascii.a2b_base64(text.encode("ascii"), strict_mode=True)))
    except binascii.Error as error:
        return err(f"not base64: {error}")


def ipv6_from_str(text: str) -> Variant:
    """Read an IPv6 address."""
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415  # slow to load, and rarely needed

    try:
        address = IPv6Address(text)
    except AddressValueError as error:
        return err(f"not an IPv6 address: {error}")
    if address.scope_id is not None:
        return err(f"an IPv6 address with a scope: {text}")
    return ok(Variant("net::ipv6::Ipv6Addr", 0, (int(address),)))


def ipv6_to_string(address: Variant) -> str:
    """Write an IPv6 address as RFC 5952 says: the longest run of zeros is left out, a mapped address has dots."""
    number: int = address.fields[0]
    if number >> 32 == 0xFFFF:
        return "::ffff:" + ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    segments = [number >> shift & 0xFFFF for shift in range(112, -1, -16)]
    runs = [(end - start, -start) for start in range(8) for end in range(start + 2, 9) if not any(segments[start:end])]
    shown = [f"{segment:x}" for segment in segments]
    if not runs:
        return ":".join(shown)
    length, start = max(runs)
    return f"{':'.join(shown[:-start])}::{':'.join(shown[length - start :])}"


def uuid_parse(text: str) -> Variant:
    """Read an identifier: 32 hexadecimal digits, simple or 8-4-4-4-12, the latter also in braces or as a URN."""
    found = _UUID.fullmatch(text)
    return ok(int(re.sub("urn:uuid:|[-{}]", "", text), 16)) if found else err(f"not a UUID: {text}")


def uuid_from_bytes(data: tuple[int, ...]) -> Variant:
    """Take 16 bytes as an identifier."""
    return ok(int.from_bytes(bytes(data), "big")) if len(data) == 16 else err(f"a UUID has 16 bytes, not {len(data)}")


def uuid_of_name(namespace: int, name: tuple[int, ...]) -> int:
    """Make the identifier of version 5 of a name."""
    digest = hashlib.sha1(namespace.to_bytes(16, "big") + bytes(name), usedforsecurity=False).digest()
    number = int.from_bytes(digest[:16], "big")
    return number & ~(0xF << 76) & ~(3 << 62) | 5 << 76 | 2 << 62


def uuid_to_string(number: int) -> str:
    """Write an identifier with hyphens."""
    digits = f"{number:032x}"
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


_HYPHENATED = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_UUID = re.compile(rf"[0-9a-fA-F]{{32}}|(?:urn:uuid:)?{_HYPHENATED}|\{{{_HYPHENATED}\}}")

BASE64_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "encode": lambda data: binascii.b2a_base64(bytes(data), newline=False).decode("ascii"),
    "decode": decode,
}
IPV6_FUNCTIONS: dict[str, Callable[..., Any]] = {"ipv6_from_str": ipv6_from_str, "ipv6Addr2string": ipv6_to_string}
UUID_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "new_v5": uuid_of_name,
    "from_u128_le": lambda number: int.from_bytes(number.to_bytes(16, "little"), "big"),
    "from_bytes": uuid_from_bytes,
    "parse_str": uuid_parse,
    "to_hyphenated_lower": uuid_to_string,
}

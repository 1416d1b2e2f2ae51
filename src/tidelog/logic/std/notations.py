"""Modules `base64` and `net::ipv6`: bytes and addresses as text."""

from __future__ import annotations

import binascii
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


BASE64_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "encode": lambda data: binascii.b2a_base64(bytes(data), newline=False).decode("ascii"),
    "decode": decode,
}
IPV6_FUNCTIONS: dict[str, Callable[..., Any]] = {"ipv6_from_str": ipv6_from_str, "ipv6Addr2string": ipv6_to_string}

"""The hosts of URLs: domains, addresses of both versions, and what other schemes have in their place."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote_to_bytes

_FORBIDDEN = frozenset("\0\t\n\r #/<>?@[\\]^|:")
_FORBIDDEN_IN_DOMAINS = _FORBIDDEN | {*map(chr, range(32)), "%", "\x7f"}
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")


class HostError(ValueError):
    """A text is not a URL; the message says why in the words of Rust's crate `url`."""


def read_host(text: str, *, special: bool) -> tuple[str, bool]:
    """Return a host as a URL has it, and whether it is a domain."""
    if text.startswith("["):
        return f"[{_ipv6(text[1:-1])}]", False
    if not special:
        if _FORBIDDEN & {*text}:
            raise HostError("invalid domain character")
        return quote(text, safe="!\"$%&'()*+,-.;=_`{}~"), bool(text)
    domain = _domain(text)
    last = domain.removesuffix(".").rpartition(".")[2]
    if _NUMBER.fullmatch(last):
        return _ipv4(domain), False
    return domain, True


def _domain(text: str) -> str:
    try:
        decoded = unquote_to_bytes(text).decode()
        domain = decoded.lower() if decoded.isascii() else decoded.encode("idna").decode().lower()
    except UnicodeError:
        raise HostError("invalid international domain name") from None
    if _FORBIDDEN_IN_DOMAINS & {*domain}:
        raise HostError("invalid domain character")
    if not domain:
        raise HostError("empty host")
    return domain


def _ipv4(text: str) -> str:
    """Read an address of up to four numbers, each decimal, octal or hexadecimal; the last fills what is left."""
    parts = text.removesuffix(".").split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        raise HostError("invalid IPv4 address")
    try:
        *first, last = (_number(part) for part in parts)
    except ValueError:
        raise HostError("invalid IPv4 address") from None
    if any(number > 255 for number in first) or last >= 256 ** (4 - len(first)):
        raise HostError("invalid IPv4 address")
    address = last + sum(number << 8 * (3 - i) for i, number in enumerate(first))
    return ".".join(str(address >> shift & 255) for shift in (24, 16, 8, 0))


def _number(text: str) -> int:
    if text[:2] in {"0x", "0X"}:
        return int(text[2:] or "0", 16)
    return int(text, 8 if text[0] == "0" and len(text) > 1 else 10)


def _ipv6(text: str) -> str:
    from ipaddress import AddressValueError, IPv6Address  # noqa: PLC0415  # slow to load, and rarely needed

    try:
        address = IPv6Address(text)
    except AddressValueError:
        raise HostError("invalid IPv6 address") from None
    if address.scope_id is not None:
        raise HostError("invalid IPv6 address")
    return address.compressed

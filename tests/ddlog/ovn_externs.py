"""In Python what OVN's northd has in Rust and C: addresses, and arithmetic of bits.

Written after what `ovn.rs`, `bitwise.rs` and OVN's `lib/ovn-util.c` say of these functions.
"""

import ipaddress
import json
import re
from collections.abc import Callable
from typing import Any

import tidelog

externs = tidelog.Externs()
WIDTHS = (8, 16, 32, 64, 128)
warnings: list[str] = []


def register(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    return externs.register(f"ovn::{name}")


# --- bitwise.dl ------------------------------------------------------------------------------------------------------


def next_power(x: int, width: int) -> int:
    power = 1 << (x - 1).bit_length() if x > 1 else 1
    return power if power < 1 << width else 0


def swapped(x: int, width: int) -> int:
    return int.from_bytes(x.to_bytes(width // 8, "little"), "big")


def rotated(x: int, amount: int, width: int) -> int:
    amount %= width
    return (x << amount | x >> (width - amount)) & ((1 << width) - 1)


def trailing(x: int, width: int) -> int:
    return (x & -x).bit_length() - 1 if x else width


def bitwise(width: int) -> None:
    every = (1 << width) - 1
    functions: dict[str, Callable[..., Any]] = {
        "next_power_of_two": lambda x: next_power(x, width) or None,
        "wrapping_next_power_of_two": lambda x: next_power(x, width),
        "count_ones": int.bit_count,
        "count_zeros": lambda x: width - x.bit_count(),
        "leading_zeros": lambda x: width - x.bit_length(),
        "leading_ones": lambda x: width - (x ^ every).bit_length(),
        "trailing_zeros": lambda x: trailing(x, width),
        "trailing_ones": lambda x: trailing(x ^ every, width),
        "reverse_bits": lambda x: int(f"{x:0{width}b}"[::-1], 2),
        "swap_bytes": lambda x: swapped(x, width),
        "from_be": lambda x: swapped(x, width),
        "to_be": lambda x: swapped(x, width),
        "from_le": lambda x: x,
        "to_le": lambda x: x,
        "rotate_left": lambda x, n: rotated(x, n, width),
        "rotate_right": lambda x, n: rotated(x, width - n % width, width),
    }
    for name, function in functions.items():
        externs.register(f"bitwise::u{width}_{name}")(function)


for each in WIDTHS:
    bitwise(each)


# --- Ethernet --------------------------------------------------------------------------------------------------------

OCTET = "([0-9a-fA-F]{1,2})"


def ethernet(text: str, octets: int, *, whole: bool) -> dict[str, int] | None:
    pattern = re.compile(":".join([OCTET] * octets))
    found = pattern.fullmatch(text) if whole else pattern.match(text)
    return {"ha": int("".join(octet.zfill(2) for octet in found.groups()), 16) << 8 * (6 - octets)} if found else None


@register("eth_addr_from_string")
def eth_addr_from_string(text: str) -> Any:
    found = ethernet(text, 6, whole=True)
    return found if found and found["ha"] else None


@register("scan_eth_addr")
def scan_eth_addr(text: str) -> Any:
    return ethernet(text, 6, whole=False)


@register("scan_eth_addr_prefix")
def scan_eth_addr_prefix(text: str) -> Any:
    return ethernet(text, 3, whole=False)


@register("eth_addr2string")
def eth_addr2string(address: dict[str, int]) -> str:
    return ":".join(f"{address['ha'] >> shift & 255:02x}" for shift in range(40, -1, -8))


# --- IP --------------------------------------------------------------------------------------------------------------


def left(text: str) -> dict[str, str]:
    return {"tag": "Left", "l": text}


def right(value: Any) -> dict[str, Any]:
    return {"tag": "Right", "r": value}


def four(text: str) -> int | None:
    try:
        return int(ipaddress.IPv4Address(text))
    except ValueError:
        return None


def six(text: str) -> int | None:
    try:
        return int(ipaddress.IPv6Address(text))
    except ValueError:
        return None


def mask_of(length: int, width: int) -> int:
    return (1 << width) - (1 << (width - length))


def masked(text: str, parse: Callable[[str], int | None], width: int, field: str) -> Any:
    """Read `address`, `address/length` or `address/mask`."""
    address, _, rest = text.partition("/")
    number = parse(address)
    if number is None:
        return left(f"{text}: invalid IP address")
    if not _:
        mask: int | None = mask_of(width, width)
    elif rest.isdecimal():
        mask = mask_of(int(rest), width) if int(rest) <= width else None
    else:
        mask = parse(rest)
    return left(f"{text}: bad mask") if mask is None else right(({field: number}, {field: mask}))


def cidr(text: str, parse: Callable[[str], int | None], width: int, field: str) -> Any:
    found = masked(text, parse, width, field)
    if found["tag"] == "Left":
        return found
    address, mask = found["r"]
    inverse = mask[field] ^ ((1 << width) - 1)
    if inverse & (inverse + 1):
        return left(f"{text}: CIDR network required")
    return right((address, width - inverse.bit_length()))


@register("ip_parse")
def ip_parse(text: str) -> Any:
    number = four(text)
    return None if number is None else {"a": number}


@register("ipv6_parse")
def ipv6_parse(text: str) -> Any:
    number = six(text)
    return None if number is None else {"aaaa": number}


register("ip_parse_masked")(lambda text: masked(text, four, 32, "a"))
register("ip_parse_cidr")(lambda text: cidr(text, four, 32, "a"))
register("ipv6_parse_masked")(lambda text: masked(text, six, 128, "aaaa"))
register("ipv6_parse_cidr")(lambda text: cidr(text, six, 128, "aaaa"))


@register("scan_static_dynamic_ip")
def scan_static_dynamic_ip(text: str) -> Any:
    found = re.fullmatch(r"dynamic\s+([0-9.]+)", text)
    return ip_parse(found[1]) if found else None


@register("inet6_ntop")
def inet6_ntop(address: dict[str, int]) -> str:
    return str(ipaddress.IPv6Address(address["aaaa"]))


@register("string_mapped")
def string_mapped(address: dict[str, int]) -> str:
    number = ipaddress.IPv6Address(address["aaaa"])
    return str(number.ipv4_mapped or number)


@register("parse_ip_list")
def parse_ip_list(text: str) -> Any:
    ranges = []
    for one in re.sub(r"\s*\.\.\s*", "..", text).split():
        start, _, end = one.partition("..")
        ends = [ip_parse(word) for word in (start, end) if word]
        if None in ends:
            return left(f'invalid IP address: "{one}"')
        ranges.append((ends[0], ends[1] if len(ends) > 1 else None))
    return right(ranges)


# --- addresses of ports ----------------------------------------------------------------------------------------------


def networks(words: list[str]) -> tuple[list[Any], list[Any]] | None:
    """Read addresses with or without lengths: those of IPv4 and those of IPv6."""
    fours: list[Any] = []
    sixes: list[Any] = []
    for word in words:
        for parse, width, field, found in ((four, 32, "a", fours), (six, 128, "aaaa", sixes)):
            read = cidr(word, parse, width, field)
            if read["tag"] == "Right":
                address, length = read["r"]
                found.append({"addr": address, "plen": length})
                break
        else:
            return None
    return fours, sixes


def port(ethernet: Any, words: list[str]) -> Any:
    found = networks(words)
    return found and {"ea": ethernet, "ipv4_addrs": found[0], "ipv6_addrs": found[1]}


@register("extract_lsp_addresses")
def extract_lsp_addresses(text: str) -> Any:
    words = text.split()
    first = ethernet(words[0], 6, whole=True) if words else None
    if first is None:
        return None
    read = []
    for word in words[1:]:  # what is no address ends the list
        if networks([word]) is None:
            break
        read.append(word)
    return port(first, read)


register("extract_addresses")(extract_lsp_addresses)


@register("extract_lrp_networks")
def extract_lrp_networks(mac: str, given: frozenset[str]) -> Any:
    first = ethernet(mac, 6, whole=True)
    return None if first is None else port(first, sorted(given))


@register("extract_ip_addresses")
def extract_ip_addresses(text: str) -> Any:
    return port({"ha": 0}, text.split())


@register("is_dynamic_lsp_address")
def is_dynamic_lsp_address(text: str) -> bool:
    words = text.split()
    if words[:1] == ["dynamic"]:
        return len(words) == 1 or all(four(w) is not None or six(w) is not None for w in words[1:])
    return len(words) == 2 and words[1] == "dynamic" and ethernet(words[0], 6, whole=True) is not None


@register("split_addresses")
def split_addresses(text: str) -> Any:
    found: tuple[set[str], set[str]] = (set(), set())
    for word in text.split():
        found[":" in word].add(word)
    return found


@register("ip_address_and_port_from_lb_key")
def ip_address_and_port_from_lb_key(key: str) -> Any:
    found = re.fullmatch(r"\[([^\]]*)\](?::(\d+))?|([^:]*)(?::(\d+))?|([0-9a-fA-F:.]+)", key)
    if found is None:
        return None
    address, number = found[1] or found[3] or found[5] or "", int(found[2] or found[4] or 0)
    if (ipv4 := four(address)) is not None:
        return {"tag": "IPv4", "ipv4": {"a": ipv4}}, number
    if (ipv6 := six(address)) is not None:
        return {"tag": "IPv6", "ipv6": {"aaaa": ipv6}}, number
    return None


# --- the rest --------------------------------------------------------------------------------------------------------


@register("warn")
def warn(message: str) -> tuple[()]:
    warnings.append(message)
    return ()


@register("abort")
def abort(message: str) -> None:
    raise RuntimeError(message)


register("ovn_internal_version")(lambda: "24.03.0-20.33.0-72.6")
register("json_string_escape")(lambda text: json.dumps(text, ensure_ascii=False))

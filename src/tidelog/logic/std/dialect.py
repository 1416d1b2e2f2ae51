"""The dialect `ddlog`: functions that take the place of the library's where DDlog's do something else.

A wrong pattern is an error in Tidelog and matches nothing in DDlog; texts of values and of addresses are those of Rust;
`asinh_f` is rounded after each of its steps; a field that is missing in JSON is missing where its object ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

from tidelog.base import types as t
from tidelog.base.conform import Types, fields_of
from tidelog.base.extern import Externs, Signature
from tidelog.base.process.meter import step
from tidelog.base.text.write import show_value
from tidelog.base.values import NONE, Value, Variant, err, in_order, single
from tidelog.logic.std.texts import documents, notations, patterns
from tidelog.logic.std.texts.hashes import SEED1, SEED2, hashed_bytes, xxhash64
from tidelog.logic.std.texts.rust_patterns import PatternError

DDLOG = Externs()


def _lenient(name: str, nothing: Callable[..., Any]) -> None:
    function = patterns.FUNCTIONS[name]

    def call(*arguments: Any) -> Any:
        try:
            return function(*arguments)
        except PatternError:
            return nothing(*arguments)

    DDLOG.register(f"regex::{name}", trusted=True)(call)


_lenient("regex_match", lambda *_: False)
_lenient("regex_first_match", lambda *_: NONE)
_lenient("regex_all_matches", lambda *_: ())
_lenient("regex_captures", lambda *_: NONE)
_lenient("regex_replace", lambda _, text, __: text)
_lenient("regex_set_match", lambda *_: False)


@DDLOG.register("std::to_string_debug", typed=True, trusted=True)
def to_string_debug(signature: Signature, value: Value) -> str:
    """Write a value as Rust's `Debug` does of the code that DDlog generates: fields without names or blanks."""
    return _debug(value, signature.parameters[0], signature.types)


def _debug(value: Value, type: t.Type, types: Types) -> str:
    match type:
        case t.Tuple(items):
            step()
            return f"({', '.join(_debug(x, item, types) for x, item in zip(value, items, strict=True))})"
        case t.Named(name, (inner,)) if name in {t.REF, t.INTERN}:
            return _debug(value, inner, types)
        case t.Named(name, (item,)) if name in {t.VEC, t.SET}:
            elements = value if name == t.VEC else in_order(value)
            return f"[{', '.join(_debug(x, item, types) for x in elements)}]"
        case t.Named(name) if (definition := types.get(name)) is not None and definition.constructors:
            step()
            constructor = definition.constructors[value.position]
            inside = fields_of(type, constructor, types)
            fields = ",".join(_debug(x, kind, types) for x, kind in zip(value.fields, inside, strict=True))
            prefix = "ddlog_" * constructor.name.startswith("std::")
            return f"{prefix}{constructor.name}{{{fields}}}"
        case _:
            return show_value(value, type, types)


@DDLOG.register("net::ipv6::ipv6Addr2string", trusted=True)
def ipv6_to_string(address: Variant) -> str:
    """Write an IPv6 address; one that stands for an IPv4 address has dots."""
    number: int = address.fields[0]
    if number >> 32 == 0 and number > 1:
        return "::" + ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0))
    return notations.ipv6_to_string(address)


@DDLOG.register("fp::asinh_f", trusted=True)
def asinh_f(number: float) -> float:
    """Return the inverse hyperbolic sine as Rust computed it: each step is rounded."""
    if not math.isfinite(number):
        return number
    size = single(abs(number) + single(math.sqrt(single(single(number * number) + 1))))
    return math.copysign(single(math.log(size)), number) if number else number


@DDLOG.register("json::from_json_string", typed=True, trusted=True)
def from_json_string(signature: Signature, text: str) -> Variant:
    """Read a document; if the outermost object lacks a field, say where it ends."""
    result: Variant = documents.TYPED["from_json_string"](signature, text)
    (found,) = result.fields
    if result.position == 0 or not re.fullmatch("missing field `[^`]*`", found):
        return result
    before = text.rstrip()
    return err(f"{found} at line {before.count(chr(10)) + 1} column {len(before) - before.rfind(chr(10)) - 1}")


def _hash_of(name: str, digest: Callable[[bytes], int]) -> None:
    def call(signature: Signature, value: Value) -> int:
        return digest(hashed_bytes(value, signature.parameters[0], signature.types))

    DDLOG.register(f"std::{name}", typed=True, trusted=True)(call)


_hash_of("hash64", lambda data: xxhash64(data, SEED1))
_hash_of("hash128", lambda data: xxhash64(data, SEED1) << 64 | xxhash64(data, SEED2))

"""Module `json`: values as JSON by their type.

Between text and values stand Python's own objects (None, bool, numbers, str, list, dict), called *plain* here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any, assert_never

from tidelog.base import types as t
from tidelog.base.conform import Types, bounds, fields_of
from tidelog.base.extern import Signature
from tidelog.base.process.meter import ask, current, step
from tidelog.base.values import NONE, FrozenMap, Value, Variant, err, in_order, ok, real, single, some

Plain = Any
OPTION, JSON_VALUE, JSON_NUMBER, WRAPPER = "std::Option", "json::JsonValue", "json::JsonNum", "json::JsonWrapper"
JSON_NULL = Variant("json::JsonNull", 0, ())
READ = 20
"""Bytes that a character of JSON text may become, and nanoseconds that it may take: as many empty arrays."""
WRITTEN = 8
"""Characters of a number, with the comma."""


class MisfitError(ValueError):
    """A document or value does not fit; the message says where."""


# --- values to plain objects -----------------------------------------------------------------------------------------


def to_plain(value: Value, type: t.Type, types: Types) -> Plain:
    """Return what stands for a value in JSON."""
    step()
    match type:
        case t.Bool() | t.String() | t.BigInt() | t.Bit() | t.Signed():
            return value
        case t.Float() | t.Double():
            if not math.isfinite(value):
                raise MisfitError("JSON has no NaN and no infinities")
            return value
        case t.Tuple(items):
            return [to_plain(x, item, types) for x, item in zip(value, items, strict=True)] if items else None
        case t.Named():
            return _named_to_plain(value, type, types)
        case t.Function() | t.TypeVariable():
            raise MisfitError(f"JSON has no values of type {t.show(type)}")
        case _:
            assert_never(type)


def _named_to_plain(value: Value, type: t.Named, types: Types) -> Plain:
    match type:
        case t.Named(name, (item,)) if name == OPTION:
            return to_plain(value.fields[0], item, types) if value.fields else None
        case t.Named(name, (item,)) if name == t.VEC:
            return [to_plain(x, item, types) for x in value]
        case t.Named(name, (item,)) if name == t.SET:
            return [to_plain(x, item, types) for x in in_order(value)]
        case t.Named(name, (key, item)) if name == t.MAP and _is_string(key):
            return {k: to_plain(x, item, types) for k, x in value.items()}
        case t.Named(name, (key, item)) if name == t.MAP:
            return [[to_plain(k, key, types), to_plain(x, item, types)] for k, x in value.items()]
        case t.Named(name, (inner,)) if name in {t.REF, t.INTERN}:
            return to_plain(value, inner, types)
        case t.Named(name) if name == JSON_VALUE:
            return document(value)
        case t.Named(name) if name == JSON_NUMBER:
            return value.fields[0]
        case t.Named(name, (inner,)) if name == WRAPPER:
            return to_plain(value.fields[0], inner, types)
        case _:
            return _constructed_to_plain(value, type, types)


def _constructed_to_plain(value: Value, type: t.Named, types: Types) -> Plain:
    constructors = () if type.name == t.GROUP else types[type.name].constructors
    if not constructors:
        raise MisfitError(f"JSON has no values of type {t.show(type)}")
    constructor = constructors[value.position]
    fields: dict[str, Plain] = {}
    for field, x, kind in zip(constructor.fields, value.fields, fields_of(type, constructor, types), strict=True):
        plain = to_plain(x, kind, types)
        if field.form == "flat" and isinstance(plain, dict):
            fields |= plain
        else:
            fields[field.json or field.name] = write(plain) if field.form == "text" else plain
    if len(constructors) == 1:
        return fields
    name = constructor.json or _local(constructor.name)
    if constructor.tag:
        return {constructor.tag: name, **fields}
    return {name: fields} if fields else name


def document(value: Variant) -> Plain:
    """Return the plain object of a JsonValue."""
    step()
    match value.position:
        case 0:
            return None
        case 2:
            return value.fields[0].fields[0]
        case 4:
            return [document(x) for x in value.fields[0]]
        case 5:
            return {key: document(x) for key, x in value.fields[0].items()}
        case _:
            return value.fields[0]


# --- plain objects to values -----------------------------------------------------------------------------------------


def from_plain(plain: Plain, type: t.Type, types: Types, place: str = "") -> Value:
    """Return the value that a plain object stands for; `place` says where it is in the document."""
    step()
    match type:
        case t.Bool():
            return _expect(plain, bool, "a bool", place)
        case t.String():
            return _expect(plain, str, "a string", place)
        case t.BigInt() | t.Bit() | t.Signed():
            return _integer(plain, type, place)
        case t.Float() | t.Double():
            if isinstance(plain, bool) or not isinstance(plain, int | float):
                raise _misfit(plain, "a number", place)
            return single(float(plain)) if isinstance(type, t.Float) else real(float(plain))
        case t.Tuple(()):
            return () if plain is None else _expect((), list, "null", place)
        case t.Tuple(items):
            parts = _expect(plain, list, f"an array of {len(items)}", place)
            if len(parts) != len(items):
                raise _misfit(plain, f"an array of {len(items)}", place)
            pairs = enumerate(zip(parts, items, strict=True))
            return tuple(from_plain(x, item, types, f"{place}[{i}]") for i, (x, item) in pairs)
        case t.Named():
            return _named_from_plain(plain, type, types, place)
        case t.Function() | t.TypeVariable():
            raise MisfitError(f"JSON has no values of type {t.show(type)}")
        case _:
            assert_never(type)


def _named_from_plain(plain: Plain, type: t.Named, types: Types, place: str) -> Value:
    match type:
        case t.Named(name, (item,)) if name == OPTION:
            return NONE if plain is None else some(from_plain(plain, item, types, place))
        case t.Named(name, (item,)) if name in {t.VEC, t.SET}:
            parts = enumerate(_expect(plain, list, "an array", place))
            return (tuple if name == t.VEC else frozenset)(
                [from_plain(x, item, types, f"{place}[{i}]") for i, x in parts]
            )
        case t.Named(name, (key, item)) if name == t.MAP and isinstance(plain, dict) and _is_string(key):
            return FrozenMap({k: from_plain(x, item, types, f"{place}.{k}") for k, x in plain.items()})
        case t.Named(name, (key, item)) if name == t.MAP:
            pairs = enumerate(_expect(plain, list, "an object or an array of pairs", place))
            return FrozenMap([from_plain(x, t.Tuple((key, item)), types, f"{place}[{i}]") for i, x in pairs])
        case t.Named(name, (inner,)) if name in {t.REF, t.INTERN}:
            return from_plain(plain, inner, types, place)
        case t.Named(name) if name == JSON_VALUE:
            return json_value(plain)
        case t.Named(name) if name == JSON_NUMBER:
            if isinstance(plain, bool) or not isinstance(plain, int | float):
                raise _misfit(plain, "a number", place)
            return _number(plain)
        case t.Named(name, (inner,)) if name == WRAPPER:
            return Variant(name, 0, (from_plain(plain, inner, types, place),))
        case _:
            return _constructed_from_plain(plain, type, types, place)


def _constructed_from_plain(plain: Plain, type: t.Named, types: Types, place: str) -> Variant:
    constructors = () if type.name == t.GROUP else types[type.name].constructors
    if not constructors:
        raise MisfitError(f"JSON has no values of type {t.show(type)}")
    by_name = {c.json or _local(c.name): c for c in constructors}
    tag = constructors[0].tag
    if len(constructors) == 1:
        (constructor,), fields = constructors, plain
    elif tag:
        fields = _expect(plain, dict, f"an object with `{tag}`", place)
        if tag not in fields:
            raise MisfitError(f"missing field `{tag}`{f' in {place}' if place else ''}")
        if fields[tag] not in by_name:
            raise _misfit(fields[tag], f"one of {', '.join(by_name)}", f"{place}.{tag}")
        constructor = by_name[fields[tag]]
    elif isinstance(plain, str) and plain in by_name and not by_name[plain].fields:
        constructor, fields = by_name[plain], {}
    elif isinstance(plain, dict) and len(plain) == 1 and next(iter(plain)) in by_name:
        ((name, fields),) = plain.items()
        constructor, place = by_name[name], f"{place}.{name}"
    else:
        raise _misfit(plain, f"one of {', '.join(by_name)}", place)
    given = _expect(fields, dict, f"an object with the fields of {_local(constructor.name)}", place)
    values = []
    for field, kind in zip(constructor.fields, fields_of(type, constructor, types), strict=True):
        name = field.json or field.name
        if field.form == "flat":
            values.append(from_plain(given, kind, types, place))
            continue
        if name not in given and not (isinstance(kind, t.Named) and kind.name == OPTION):
            raise MisfitError(f"missing field `{name}`{f' in {place}' if place else ''}")
        inner = _unquoted(given.get(name), f"{place}.{name}") if field.form == "text" else given.get(name)
        values.append(from_plain(inner, kind, types, f"{place}.{name}"))
    return Variant(constructor.name, constructor.position, tuple(values))


def _unquoted(plain: Plain, place: str) -> Plain:
    """Return what stands in quotes: a number or a truth value."""
    text = _expect(plain, str, "a text", place)
    try:
        return read(text)
    except ValueError:
        return text


def json_value(plain: Plain) -> Variant:
    """Return the JsonValue of a plain object."""
    step()
    match plain:
        case None:
            return JSON_NULL
        case bool():
            return Variant("json::JsonBool", 1, (plain,))
        case int() | float():
            return Variant("json::JsonNumber", 2, (_number(plain),))
        case str():
            return Variant("json::JsonString", 3, (plain,))
        case list():
            return Variant("json::JsonArray", 4, (tuple(map(json_value, plain)),))
        case _:
            return Variant("json::JsonObject", 5, (FrozenMap({k: json_value(x) for k, x in plain.items()}),))


def _number(plain: float) -> Variant:
    if isinstance(plain, int) and -(2**127) <= plain < 2**127:
        return Variant("json::JsonInt", 0, (plain,))
    return Variant("json::JsonFloat", 1, (real(float(plain)),))


def _integer(plain: Plain, type: t.BigInt | t.Bit | t.Signed, place: str) -> int:
    if isinstance(plain, bool) or not isinstance(plain, int):
        raise _misfit(plain, "an integer", place)
    if not isinstance(type, t.BigInt) and not bounds(type)[0] <= plain <= bounds(type)[1]:
        raise _misfit(plain, f"a {t.show(type)}", place)
    return plain


def _expect(plain: Plain, kind: type, wanted: str, place: str) -> Any:
    if not isinstance(plain, kind):
        raise _misfit(plain, wanted, place)
    return plain


def _misfit(plain: Plain, wanted: str, place: str) -> MisfitError:
    shown = json.dumps(plain, ensure_ascii=False)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return MisfitError(f"expected {wanted}{f' at {place}' if place else ''}, found {shown}")


def _is_string(type: t.Type) -> bool:
    return isinstance(type, t.String) or (
        isinstance(type, t.Named) and type.name == t.INTERN and _is_string(type.arguments[0])
    )


def _local(name: str) -> str:
    return name.rpartition("::")[2]


# --- text ------------------------------------------------------------------------------------------------------------


def read(text: str) -> Plain:
    """Parse JSON text."""
    ask(READ * len(text))
    try:
        return json.loads(text, parse_constant=_refuse)
    except json.JSONDecodeError as error:
        raise MisfitError(f"{error.msg} at line {error.lineno} column {error.colno}") from None


def _refuse(constant: str) -> Plain:
    raise MisfitError(f"JSON has no {constant}")


def write(plain: Plain) -> str:
    """Write JSON text, without spaces."""
    if current.get() is not None:
        ask(_length(plain))
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def _length(plain: Plain) -> int:
    """Return about how long the text of a plain object is, whose parts may be few objects that occur many times."""
    match plain:
        case str():
            return len(plain)
        case list():
            step(len(plain))
            return WRITTEN * len(plain) + sum(map(_length, plain))
        case dict():
            step(len(plain))
            return sum([WRITTEN + len(key) + _length(value) for key, value in plain.items()])
        case _:
            return WRITTEN


def _attempt(make: Callable[[], Value]) -> Variant:
    try:
        return ok(make())
    except (ValueError, OverflowError) as error:
        return err(str(error))
    except RecursionError:
        return err("nested too deeply")


def _decoded(signature: Signature, plain: Plain) -> Value:
    assert isinstance(signature.result, t.Named)
    return from_plain(plain, signature.result.arguments[0], signature.types)


def _encoded(signature: Signature, value: Value) -> Plain:
    return to_plain(value, signature.parameters[0], signature.types)


# --- pointers --------------------------------------------------------------------------------------------------------


def set_by_ptr(value: Variant, pointer: tuple[Variant, ...], new: Variant) -> tuple[Variant, Variant]:
    """Put a value at a place in a JsonValue."""
    try:
        return ok(()), _with(value, pointer, new)
    except MisfitError as error:
        return err(str(error)), value


def _with(value: Variant, pointer: tuple[Variant, ...], new: Variant) -> Variant:
    if not pointer:
        return new
    (step,), kind = pointer[0].fields, 5 if pointer[0].position == 0 else 4
    if value.position not in {0, kind}:
        raise MisfitError(f"not a JSON {'object' if kind == 5 else 'array'}")
    if kind == 5:
        pairs = dict(value.fields[0]) if value.fields else {}
        pairs[step] = _with(pairs.get(step, JSON_NULL), pointer[1:], new)
        return Variant("json::JsonObject", 5, (FrozenMap(pairs),))
    items = list(value.fields[0]) if value.fields else []
    if step >= len(items) + 1_000_000:
        raise MisfitError(f"position {step} is too far behind the end of a JSON array")
    items += [JSON_NULL] * (step + 1 - len(items))
    items[step] = _with(items[step], pointer[1:], new)
    return Variant("json::JsonArray", 4, (tuple(items),))


TYPED: dict[str, Callable[..., Any]] = {
    "from_json_string": lambda signature, text: _attempt(lambda: _decoded(signature, read(text))),
    "to_json_string": lambda signature, value: _attempt(lambda: write(_encoded(signature, value))),
    "from_json_value": lambda signature, value: _attempt(lambda: _decoded(signature, document(value))),
    "to_json_value": lambda signature, value: _attempt(lambda: json_value(_encoded(signature, value))),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {"set_by_ptr": set_by_ptr}

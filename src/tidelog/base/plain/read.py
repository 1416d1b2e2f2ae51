"""Readers of plain values, by the kind of type: each checks what it is given and returns the proper value."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from decimal import Decimal
from operator import index
from typing import Any

from tidelog.base import types
from tidelog.base.arguments import brief
from tidelog.base.conform import bounds
from tidelog.base.errors import DataError
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.write import short, tag_name
from tidelog.base.text.read import read_value
from tidelog.base.text.terms import LANG_STRING, STRING, blank, iri, literal
from tidelog.base.types import Constructor, Named, Type, TypeDefinition
from tidelog.base.values import FrozenMap, Value, Variant, real, single

Read = Callable[[Any], Value]

_REALS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}
DIGITS = 4300
"""Digits of a decimal that may be an integer: as many as Python reads in a text."""
_NO_RECORDS = (tuple, list, set, frozenset, bytes, int, float, bool)


def _unwrap(value: Any) -> Any:
    """Return a numpy scalar as the Python value it stands for."""
    return value.item() if hasattr(value, "dtype") and hasattr(value, "item") else value


def read_bool(value: Any) -> bool:
    """Read a truth value."""
    value = _unwrap(value)
    if isinstance(value, bool):
        return value
    raise Misfit("bool", value)


def read_string(value: Any) -> str:
    """Read a text."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise Misfit("string (Unicode text)", value) from None
        return str(value)
    raise Misfit("string", value)


def integer_reader(type: Type) -> Read:
    """Return the reader of an integer type."""
    shown, limits = types.show(type), bounds(type) if isinstance(type, types.Bit | types.Signed) else None
    wide = limits is None or limits[1] >= 1 << 64

    def read(value: Any) -> int:
        number = value
        if number.__class__ is not int:
            try:
                number = _integer(_unwrap(value), text=wide)
            except (TypeError, ValueError, ArithmeticError):
                raise Misfit(shown, value) from None
        if limits is not None and not limits[0] <= number <= limits[1]:
            raise Misfit(f"{shown} ({limits[0]} to {limits[1]})", value)
        return int(number)

    return read


def _integer(value: Any, *, text: bool) -> int:
    """Return an integer given in another way: a decimal, or as text where Arrow has no other way to hold it."""
    if isinstance(value, bool):
        raise TypeError
    if isinstance(value, Decimal):
        if value != value.to_integral_value() or value.adjusted() >= DIGITS:
            raise ValueError
        return int(value)
    if isinstance(value, str) and text:
        return int(value)
    return index(value)


def real_reader(type: Type) -> Read:
    """Return the reader of a floating-point type."""
    shown, rounded = types.show(type), single if isinstance(type, types.Float) else real

    def read(value: Any) -> float:
        given = _REALS.get(value) if isinstance(value, str) else _unwrap(value)
        if isinstance(given, bool) or not isinstance(given, int | float):
            raise Misfit(shown, value)
        try:
            return rounded(float(given))
        except OverflowError:
            raise Misfit(shown, value) from None

    return read


def tuple_reader(type: types.Tuple, readers: Sequence[Read]) -> Read:
    """Return the reader of a tuple type, from those of its components."""
    shown, keys = types.show(type), [str(i) for i in range(len(readers))]

    def read(value: Any) -> tuple[Value, ...]:
        if value is None and not readers:
            return ()
        items = [value[key] for key in keys] if isinstance(value, Mapping) and set(value) == set(keys) else value
        if not isinstance(items, tuple | list) or len(items) != len(readers):
            raise Misfit(shown, value)
        return tuple(_read_at(f".{i}", readers[i], item) for i, item in enumerate(items))

    return read


def items_reader(type: Named, read_item: Read, make: Callable[[list[Value]], Value]) -> Read:
    """Return the reader of a Vec or Set type, from that of its elements."""
    shown = types.show(type)

    def read(value: Any) -> Value:
        items = value.tolist() if hasattr(value, "dtype") and hasattr(value, "tolist") else value
        if not isinstance(items, tuple | list | (AbstractSet if make is frozenset else tuple)):
            raise Misfit(shown, value)
        return make([_read_at(f"[{i}]", read_item, item) for i, item in enumerate(items)])

    return read


def map_reader(type: Named, read_key: Read, read_value: Read) -> Read:
    """Return the reader of a Map type, from those of keys and values."""
    shown = types.show(type)

    def read_pair(pair: Any) -> tuple[Value, Value]:
        if isinstance(pair, Mapping) and set(pair) == {"key", "value"}:  # as Arrow gives it
            key, value = pair["key"], pair["value"]
        elif isinstance(pair, tuple | list) and len(pair) == 2:
            key, value = pair
        else:
            raise Misfit(f"a pair of {shown}", pair)
        return _read_at(" (key)", read_key, key), _read_at(f"[{brief(key, 30)}]", read_value, value)

    def read(value: Any) -> FrozenMap:
        pairs = list(value.items()) if isinstance(value, Mapping) else value
        if not isinstance(pairs, tuple | list):
            raise Misfit(shown, value)
        return FrozenMap([read_pair(pair) for pair in pairs])

    return read


def refuse(type: Type) -> Read:
    """Return a reader that refuses everything: for types whose values cannot come from outside."""

    def read(value: Any) -> Value:
        raise Misfit(f"nothing: values of {types.show(type)} cannot be stored", value)

    return read


def _read_at(step: str, read: Read, value: Any) -> Value:
    try:
        return read(value)
    except Misfit as misfit:
        raise misfit.inside(step) from None


def option_reader(union: Read, constructors: Sequence[Constructor], read_some: Read) -> Read:
    """Return the reader of an Option that may be written without its constructor."""
    none, some = sorted(constructors, key=lambda c: len(c.fields))
    absent = Variant(none.name, none.position, ())

    def read(value: Any) -> Variant:
        if value is None:
            return absent
        if isinstance(value, Variant) and short(value.name) in {short(none.name), short(some.name)}:
            return union(value)  # type: ignore[no-any-return]
        return Variant(some.name, some.position, (read_some(value),))

    return read


def union_reader(
    kind: Named, constructors: Sequence[Constructor], readers: Sequence[Sequence[tuple[str, Read]]]
) -> Read:
    """Return the reader of a struct or union, from those of its fields by constructor.

    An object with the fields as attributes serves, of a union's if its class is called like the constructor.
    """
    shown, tag = types.show(kind), tag_name(constructors)
    by_name = {name: c for c in constructors for name in (c.name, short(c.name))}
    names = ", ".join(short(c.name) for c in constructors)

    def fields_of(value: Any) -> tuple[Constructor, Sequence[Any]]:
        if isinstance(value, Variant):
            c = by_name.get(value.name)
            if c is not None and len(value.fields) == len(c.fields):
                return c, value.fields
        elif isinstance(value, Mapping):
            c = constructors[0] if len(constructors) == 1 and tag not in value else by_name.get(value.get(tag, ""))
            # Arrow gives every field of the union, null where the constructor has none of that name.
            if c is not None and all(key in c.index or key == tag or value[key] is None for key in value):
                return c, [value.get(field.name) for field in c.fields]
        elif isinstance(value, str):
            c = by_name.get(value)
            if c is not None and not c.fields:
                return c, ()
        elif not isinstance(value, _NO_RECORDS):
            c = constructors[0] if len(constructors) == 1 else by_name.get(type(value).__name__)
            if c is not None and c.fields and all(hasattr(value, field.name) for field in c.fields):
                return c, [getattr(value, field.name) for field in c.fields]
        raise Misfit(f"{shown} (one of {names})" if len(constructors) > 1 else shown, value)

    def read(value: Any) -> Variant:
        c, given = fields_of(value)
        fields = readers[c.position]
        return Variant(
            c.name,
            c.position,
            tuple(_read_at(f".{name}", read, v) for (name, read), v in zip(fields, given, strict=True)),
        )

    return read


def term_reader(type: Named, definitions: Mapping[str, TypeDefinition], union: Read) -> Read:
    """Return the reader of terms of RDF: their text in N-Triples, what libraries for RDF have, or a union's form."""
    expected = f'{types.show(type)}, as <http://a>, _:b or "c"@en'

    def read(value: Any) -> Value:
        if isinstance(value, str) and hasattr(value, "n3"):
            return _of_rdflib(value)
        text = str(value) if value.__class__.__module__.startswith("pyoxigraph") else value
        if not isinstance(text, str):
            return union(value)
        try:
            return read_value(text, type, definitions)
        except DataError:
            raise Misfit(expected, value) from None

    return read


def _of_rdflib(value: Any) -> Variant:
    """Return a term of rdflib, which is a text of a kind of its own."""
    kind = value.__class__.__name__
    if kind == "Literal" and value.language:
        return literal(str(value), LANG_STRING, value.language.lower())
    if kind == "Literal":
        return literal(str(value), str(value.datatype or STRING))
    return blank(str(value)) if kind == "BNode" else iri(str(value))

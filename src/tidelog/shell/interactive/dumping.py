"""Rows as DDlog prints them, so that its scripts can be compared.

Values have the display form of `base.text.write` with three differences: constructors of the library show its name
there (`ddlog_std::Some{.x = 1}`), floating point numbers have no exponent, and strings are escaped as Rust does.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal

from tidelog.base.conform import fields_of
from tidelog.base.text.write import show_real, show_single, show_value
from tidelog.base.types import (
    INTERN,
    MAP,
    REF,
    SET,
    VEC,
    Double,
    Field,
    Float,
    Named,
    String,
    Tuple,
    Type,
    TypeDefinition,
    content,
)
from tidelog.base.values import Value, in_order, order_key

_ESCAPES = {"\0": "\\0", "\t": "\\t", "\r": "\\r", "\n": "\\n", '"': '\\"', "\\": "\\\\"}
_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}


class Dumper:
    """Writes values of the types of one program."""

    def __init__(self, types: Mapping[str, TypeDefinition]) -> None:
        self._types = types

    def row(self, row: Sequence[Value], columns: Sequence[Field], element: Type) -> str:
        """Write a row: a struct by the name of its constructor, any other element as itself."""
        element = content(element)
        definition = self._types.get(element.name) if isinstance(element, Named) else None
        if definition is not None and len(definition.constructors) == 1:
            return self._struct(definition.constructors[0].name, columns, row)
        return self.value(row[0], columns[0].type)

    def changes(
        self, changes: Iterable[tuple[Sequence[Value], int]], columns: Sequence[Field], element: Type
    ) -> Iterator[str]:
        """Write rows with their weights, inserted and deleted ones together in order."""
        for row, weight in sorted(changes, key=lambda change: order_key(tuple(change[0]))):
            yield f"{self.row(row, columns, element)}: {weight:+}"

    def value(self, value: Value, type: Type) -> str:
        """Write a value."""
        match type:
            case String():
                return quote(value)
            case Float() | Double():
                return decimal(value, type)
            case Tuple(items):
                return f"({', '.join(map(self.value, value, items))})"
            case Named(name, (item,)) if name == VEC:
                return f"[{', '.join(self.value(x, item) for x in value)}]"
            case Named(name, (item,)) if name == SET:
                return f"[{', '.join(self.value(x, item) for x in in_order(value))}]"
            case Named(name, arguments) if name == MAP:
                return f"[{', '.join(self.value(pair, Tuple(arguments)) for pair in value.items())}]"
            case Named(name, (inner,)) if name in {REF, INTERN}:
                return self.value(value, inner)
            case Named(name) if name in self._types and self._types[name].constructors:
                constructor = self._types[name].constructors[value.position]
                inner_types = fields_of(type, constructor, self._types)
                fields = [Field(f.name, t) for f, t in zip(constructor.fields, inner_types, strict=True)]
                return self._struct(constructor.name, fields, value.fields)
            case _:
                return show_value(value, type, self._types)

    def _struct(self, name: str, fields: Sequence[Field], values: Sequence[Value]) -> str:
        shown = (f".{f.name} = {self.value(x, f.type)}" for f, x in zip(fields, values, strict=True))
        return f"{ddlog_name(name)}{{{', '.join(shown)}}}"


def ddlog_name(name: str) -> str:
    """Return the name that a relation or constructor has in DDlog.

    >>> ddlog_name("std::Some")
    'ddlog_std::Some'
    """
    return f"ddlog_{name}" if name.startswith("std::") else name


def decimal(number: float, type: Float | Double) -> str:
    """Write a number without exponent: the shortest digits that read back as the same number.

    >>> decimal(1e22, Double()), decimal(0.000001, Double())
    ('10000000000000000000000', '0.000001')
    """
    text = show_single(number) if isinstance(type, Float) else show_real(number)
    return format(Decimal(text), "f") if math.isfinite(number) else text


def quote(text: str) -> str:
    r"""Write a string in quotes.

    >>> print(quote('a "b"\n'))
    "a \"b\"\n"
    """
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return '"' + "".join(map(_escape, text)) + '"'


def _escape(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    hidden = character != " " and unicodedata.category(character) in _INVISIBLE
    return f"\\u{{{ord(character):x}}}" if hidden else character

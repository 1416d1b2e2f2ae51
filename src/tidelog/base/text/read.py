"""Reading values from text by their type: the other direction of `base.text.write`, which describes the form."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar, assert_never

from tidelog.base import types as t
from tidelog.base.conform import Types, bounds, fields_of
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import DataError
from tidelog.base.text.integers import read_integer
from tidelog.base.text.terms import TERM, TERM_TEXT, term_of
from tidelog.base.values import FrozenMap, Value, Variant, real, single

_SPACE = re.compile(r"\s*")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_WORD = re.compile(r"[A-Za-z_]\w*")
_INTEGER = re.compile(r"([+-]?)\s*(?:0x([0-9A-Fa-f_]+)|(?:[0-9]+'s?([dhob]))?([0-9A-Fa-f_]*[0-9A-Fa-f]))(?![\w.])")
_REAL = re.compile(r"[+-]?(?:(?:32|64)'f)?(?:[0-9][0-9_]*(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+|inf|NaN|nan)(?!\w)")
_STRING = re.compile(r'i?"((?:[^"\\]++|\\.)*+)"', re.DOTALL)
_RAW = re.compile(r"\[\|(.*?)\|\]", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_MEANING = dict(zip("abfnrtv0\"'\\$", "\a\b\f\n\r\t\v\0\"'\\$", strict=True))
_RADIX = {None: 10, "d": 10, "h": 16, "o": 8, "b": 2}

Item = TypeVar("Item")


def read_value(text: str, type: t.Type, types: Types) -> Value:
    """Read a value of a type from the whole of a text; `DataError` says what was expected where.

    >>> read_value("(0x10, 2)", t.Tuple((t.Bit(8), t.Signed(8))), {})
    (16, 2)
    """
    reader = Reader(text, types)
    value = reader.value(type)
    reader.end()
    return value


def read_cell(text: str, type: t.Type, types: Types) -> Value:
    """Read a cell of a table: a string is the text as it stands."""
    return text if isinstance(t.content(type), t.String) else read_value(text, type, types)


class Reader:
    """A text and how far it has been read."""

    def __init__(self, text: str, types: Types, position: int = 0) -> None:
        self.text = text
        self.types = types
        self.position = position

    def value(self, type: t.Type) -> Value:
        """Read a value of a type."""
        match type:
            case t.Bool():
                return self._bool()
            case t.String():
                return self._string()
            case t.BigInt() | t.Bit() | t.Signed():
                return self._integer(type)
            case t.Float():
                return single(self._real(type))
            case t.Double():
                return real(self._real(type))
            case t.Tuple(items):
                return self._tuple(type, items)
            case t.Named():
                return self._named(type)
            case t.Function() | t.TypeVariable():
                raise self.error(f"nothing, as values of type {t.show(type)} cannot be written")
            case _:
                assert_never(type)

    def row(self, columns: t.Constructor) -> tuple[Value, ...]:
        """Read the arguments of a constructor or relation, by position or by name, after the opening bracket."""
        return self._arguments(columns, tuple(field.type for field in columns.fields), ")")

    def end(self) -> None:
        """Check that everything has been read."""
        if self._peek():
            raise self.error("the end")

    def take(self, symbol: str) -> bool:
        """Skip a symbol if it comes next, and tell whether it did."""
        self._skip()
        if not self.text.startswith(symbol, self.position):
            return False
        self.position += len(symbol)
        return True

    def error(self, expected: str) -> DataError:
        """Return the error that says what should stand here."""
        self._skip()
        rest = self.text[self.position : self.position + 20]
        found = f"`{rest}`" if rest else "the end"
        return DataError(f"expected {expected} at character {self.position + 1} of `{self.text}`, found {found}")

    def _peek(self) -> str:
        self._skip()
        return self.text[self.position : self.position + 1]

    def _skip(self) -> None:
        found = _SPACE.match(self.text, self.position)
        self.position = found.end() if found else self.position

    def _expect(self, symbol: str) -> None:
        if not self.take(symbol):
            raise self.error(f"`{symbol}`")

    def _match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        self._skip()
        found = pattern.match(self.text, self.position)
        if found:
            self.position = found.end()
        return found

    def _bool(self) -> bool:
        start = self.position
        word = self._match(_WORD)
        if not word or word[0] not in {"true", "false"}:
            self.position = start
            raise self.error("true or false")
        return word[0] == "true"

    def _integer(self, type: t.BigInt | t.Bit | t.Signed) -> int:
        start = self.position
        found = self._match(_INTEGER)
        if not found:
            raise self.error(f"a {t.show(type)}")
        sign, hexadecimal, radix, digits = found.groups()
        try:
            number = int(hexadecimal, 16) if hexadecimal else read_integer(digits, _RADIX[radix])
        except ValueError:
            self.position = start
            raise self.error(f"a {t.show(type)}") from None
        number = -number if sign == "-" else number
        if not isinstance(type, t.BigInt):
            low, high = bounds(type)
            if not low <= number <= high:
                self.position = start
                raise self.error(f"a {t.show(type)}, between {low} and {high},")
        return number

    def _real(self, type: t.Type) -> float:
        found = self._match(_REAL)
        if not found:
            raise self.error(f"a {t.show(type)}")
        return float(re.sub(r"(32|64)'f|_", "", found[0]))

    def _string(self) -> str:
        raw = self._match(_RAW)
        if raw:
            return raw[1]
        start = self.position
        found = self._match(_STRING)
        if not found:
            raise self.error("a string in quotes" if self._peek() != '"' else "a string that ends with a quote")
        return _ESCAPE.sub(lambda escape: self._unescape(escape, start), found[1])

    def _unescape(self, escape: re.Match[str], start: int) -> str:
        code, byte, letter = escape.groups()
        if letter is None:
            number = int(code or byte, 16)
            if number < 0x110000:
                return chr(number)
        elif letter in _MEANING:
            return _MEANING[letter]
        self.position = start
        raise self.error(f"a string with known escapes (not `{escape[0]}`)")

    def _tuple(self, type: t.Tuple, items: tuple[t.Type, ...]) -> tuple[Value, ...]:
        if not self.take("("):
            raise self.error(f"a {t.show(type)}, which starts with `(`")
        values = []
        for i, item in enumerate(items):
            if i:
                self._expect(",")
            values.append(self.value(item))
        self._expect(")")
        return tuple(values)

    def _named(self, type: t.Named) -> Value:
        match type:
            case t.Named(name, (item,)) if name == t.VEC:
                return tuple(self._items(type, lambda: self.value(item)))
            case t.Named(name, (item,)) if name == t.SET:
                return frozenset(self._items(type, lambda: self.value(item)))
            case t.Named(name, (key, item)) if name == t.MAP:
                return FrozenMap(self._items(type, lambda: self._pair(key, item)))
            case t.Named(name, (inner,)) if name in {t.REF, t.INTERN}:
                self.take("&")
                return self.value(inner)
            case _ if type.name != t.GROUP and type.name in self.types and self.types[type.name].constructors:
                return self._constructed(type)
            case _:
                raise self.error(f"nothing, as values of type {t.show(type)} cannot be written")

    def _items(self, type: t.Type, item: Callable[[], Item]) -> list[Item]:
        if not self.take("["):
            raise self.error(f"a {t.show(type)}, which starts with `[`")
        found: list[Item] = []
        while not self.take("]"):
            if found:
                self._expect(",")
            found.append(item())
        return found

    def _pair(self, key: t.Type, value: t.Type) -> tuple[Value, Value]:
        """Read `(key, value)` or `key -> value`; a key may be a tuple, so the bracket alone does not tell."""
        start = self.position
        try:
            first, second = self._tuple(t.Tuple((key, value)), (key, value))
        except DataError:
            self.position = start
        else:
            if self._peek() != "-":
                return first, second
            self.position = start
        first = self.value(key)
        self._expect("->")
        return first, self.value(value)

    def _constructed(self, type: t.Named) -> Variant:
        start = self.position
        if type.name == TERM and self._peek() in {"<", '"', "_"}:
            return self._term()
        # The type is known, so the last part of a name tells the constructor, however a module was called.
        constructors = {c.name.rpartition("::")[2]: c for c in self.types[type.name].constructors}
        found = self._match(_NAME)
        name = found[0].rpartition("::")[2] if found else ""
        constructor = constructors.get(name)
        if constructor is None:
            self.position = start
            known = list(constructors)
            hint = did_you_mean(name, known)
            raise self.error(f"a {t.show(type)} ({', '.join(known)}{'; ' if hint else ''}{hint})")
        inner = fields_of(type, constructor, self.types)
        fields = self._arguments(constructor, inner, "}") if self.take("{") else self._none(constructor)
        return Variant(constructor.name, constructor.position, fields)

    def _term(self) -> Variant:
        found = self._match(TERM_TEXT)
        try:
            if found:
                return term_of(found)
            reason = 'a term: <an absolute IRI>, _:label or "text", perhaps with @language or ^^<datatype>,'
        except ValueError as error:
            reason = f"a term ({error})"
        raise self.error(reason)

    def _none(self, constructor: t.Constructor) -> tuple[Value, ...]:
        if constructor.fields:
            raise self.error(f"`{{` and the fields of {constructor.name}")
        return ()

    def _arguments(self, constructor: t.Constructor, inner: tuple[t.Type, ...], close: str) -> tuple[Value, ...]:
        if self._peek() == ".":
            return self._by_name(constructor, inner, close)
        values = []
        for i, (field, type) in enumerate(zip(constructor.fields, inner, strict=True)):
            if i and not self.take(","):
                raise self.error(f"`,` and field {field.name} of {constructor.name}")
            values.append(self.value(type))
        self._expect(close)
        return tuple(values)

    def _by_name(self, constructor: t.Constructor, inner: tuple[t.Type, ...], close: str) -> tuple[Value, ...]:
        values: dict[str, Value] = {}
        while not self.take(close):
            if values:
                self._expect(",")
            self._expect(".")
            start = self.position
            word = self._match(_WORD)
            if not word or word[0] not in constructor.index or word[0] in values:
                self.position = start
                left = [f.name for f in constructor.fields if f.name not in values]
                raise self.error(f"a field of {constructor.name} ({', '.join(left) or 'all are given'})")
            self._expect("=")
            values[word[0]] = self.value(inner[constructor.index[word[0]]])
        missing = [f.name for f in constructor.fields if f.name not in values]
        if missing:
            raise self.error(f"field {missing[0]} of {constructor.name} before this, which")
        return tuple(values[f.name] for f in constructor.fields)

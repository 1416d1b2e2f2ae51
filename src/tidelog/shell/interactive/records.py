r"""Values as they stand in a command, before anybody has asked for their types.

    true   -5   0xff   2.5   "text\n"   %"file"   @json"[1]"   (1, 2)   [1, 2]   C   C{1, 2}   C{.x = 1, .y = 2}

Only structure is read here; `conversion` makes values of a type of it. A command may arrive line by line, so a text
that could go on is told apart (`IncompleteError`) from one that is wrong (`CommandError`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tidelog.base.errors import UserError
from tidelog.base.record import record
from tidelog.base.text.integers import read_integer

_SPACE = re.compile(r"(?:\s|#[^\n]*\n)*")
_NAME = re.compile(r"[A-Za-z_]\w*(?:::\w+)*")
_REAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*(?:[eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)|\.[0-9]+(?:[eE][+-]?[0-9]+)?)")
_INTEGER = re.compile(r"([+-]?)\s*(?:0[xX]([0-9A-Fa-f][0-9A-Fa-f_]*)|([0-9][0-9_]*))")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u\{([0-9A-Fa-f]{1,6})\}|(.))", re.DOTALL)
_MEANING = dict(zip("abfnrtv0\"'\\?$", "\a\b\f\n\r\t\v\0\"'\\?$", strict=True))

Item = TypeVar("Item")


class CommandError(UserError):
    """A command that cannot be understood."""


class IncompleteError(CommandError):
    """A command that ends too early; more text may complete it."""


@record
class Items:
    """`(a, b)`, or `[a, b]` if it is an array."""

    items: tuple[Record, ...]
    array: bool


@record
class Struct:
    """A constructor with its fields by position or, if `names` are given, by name."""

    name: str
    fields: tuple[Record, ...] = ()
    names: tuple[str, ...] | None = None


@record
class Serialized:
    """`@json"text"`: a value in another notation."""

    notation: str
    text: str


Record = bool | int | float | str | Items | Struct | Serialized


def skip_space(text: str, position: int) -> int:
    """Return the place behind white space and comments."""
    found = _SPACE.match(text, position)
    assert found is not None, "the pattern fits nothing at all, too"
    return found.end()


class RecordReader:
    """A text and how far it has been read. White space and comments are skipped before everything.

    >>> RecordReader("C{.x = -1, .y = [true]}").record()
    Struct(name='C', fields=(-1, Items(items=(True,), array=True)), names=('x', 'y'))
    """

    def __init__(self, text: str, position: int = 0) -> None:
        self.text = text
        self.position = position

    def record(self) -> Record:
        """Read a value."""
        match self.peek():
            case '"':
                return self.string()
            case "%":
                return self.string()
            case "@":
                self.expect("@")
                return Serialized(self.name("a notation, as in `@json`"), self.string())
            case "(":
                return Items(self.sequence("(", ")", self.record), array=False)
            case "[":
                return Items(self.sequence("[", "]", self.record), array=True)
            case character if character.isalpha() or character == "_":
                return self._named()
            case _:
                return self._number()

    def arguments(self, name: str, opening: str, closing: str) -> Struct:
        """Read the fields of a constructor or relation, by position or by name, with their brackets."""
        start = self.position
        self.expect(opening)
        by_name = self.peek() == "."
        self.position = start
        if not by_name:
            return Struct(name, self.sequence(opening, closing, self.record))
        fields = self.sequence(opening, closing, self._field)
        return Struct(name, tuple(value for _, value in fields), tuple(field for field, _ in fields))

    def sequence(self, opening: str, closing: str, item: Callable[[], Item]) -> tuple[Item, ...]:
        """Read items between brackets, separated by commas."""
        self.expect(opening)
        found: list[Item] = []
        while not self.take(closing):
            if found and not self.take(","):
                raise self.error(f"`,` or `{closing}`")
            found.append(item())
        return tuple(found)

    def name(self, expected: str) -> str:
        """Read a name, with the path of its module."""
        found = self.match(_NAME)
        if found is None:
            raise self.error(expected)
        return found[0]

    def integer(self) -> int:
        """Read an integer, decimal or hexadecimal."""
        found = self.match(_INTEGER)
        if found is None:
            raise self.error("an integer")
        sign, hexadecimal, decimal = found.groups()
        number = (
            read_integer(hexadecimal.replace("_", ""), 16) if hexadecimal else read_integer(decimal.replace("_", ""))
        )
        return -number if sign == "-" else number

    def string(self) -> str:
        """Read a string in quotes, or one that is in a file."""
        if self.take("%"):
            path = self.string()
            try:
                return Path(path).read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"cannot read a string from {path}: {error}") from None
        found = self.match(_STRING)
        if found is None:
            if self.peek() == '"':
                raise IncompleteError("a string without its closing quote")
            raise self.error("a string in quotes")
        return _ESCAPE.sub(_unescape, found[1])

    def peek(self) -> str:
        """Return the next character, which is empty at the end."""
        self.skip()
        return self.text[self.position : self.position + 1]

    def take(self, symbol: str) -> bool:
        """Skip a symbol if it comes next, and tell whether it did."""
        self.skip()
        if not self.text.startswith(symbol, self.position):
            return False
        self.position += len(symbol)
        return True

    def expect(self, symbol: str) -> None:
        """Skip a symbol that must come next."""
        if not self.take(symbol):
            raise self.error(f"`{symbol}`")

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Read what fits a pattern, if it comes next."""
        self.skip()
        found = pattern.match(self.text, self.position)
        if found is not None:
            self.position = found.end()
        return found

    def skip(self) -> None:
        """Skip white space and comments."""
        self.position = skip_space(self.text, self.position)

    def error(self, expected: str) -> CommandError:
        """Return the error that says what should stand here."""
        found = self.peek() and self.text[self.position : self.position + 20].partition("\n")[0]
        if not found or (found.startswith("#") and "\n" not in self.text[self.position :]):
            return IncompleteError(f"expected {expected}, found the end")
        return CommandError(f"expected {expected}, found `{found}`")

    def _named(self) -> Record:
        name = self.name("a name")
        if name in {"true", "false"}:
            return name == "true"
        return self.arguments(name, "{", "}") if self.peek() == "{" else Struct(name)

    def _field(self) -> tuple[str, Record]:
        self.expect(".")
        name = self.name("the name of a field")
        self.expect("=")
        return name, self.record()

    def _number(self) -> int | float:
        real = self.match(_REAL)
        if real is not None:
            return float(real[0])
        if self.match(_INTEGER_START) is None:
            raise self.error("a value")
        self.position -= 1
        return self.integer()


_INTEGER_START = re.compile(r"[0-9+-]")


def _unescape(escape: re.Match[str]) -> str:
    code, letter = escape.groups()
    if code is not None and int(code, 16) < 0x110000:
        return chr(int(code, 16))
    if letter in _MEANING:
        return _MEANING[letter]
    raise CommandError(f"a string has the unknown escape `{escape[0]}`")

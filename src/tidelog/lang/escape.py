r"""Escape sequences of quoted strings, both ways.

| sequence | stands for |
| --- | --- |
| `\n \r \t \a \b \f \v \0` | the control characters of C |
| `\\ \" \' \$` | the character itself; `\$` keeps `${` from embedding an expression |
| `\xHH`, `\u{H...}` | the character with that code |
| `\`, white space with a line break, `\` | nothing: the string goes on there; the second `\` may be omitted |
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "&": ""}
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|(\s+\\?)|u\{[^}\"]*\}?|([\s\S]))")
_UNPRINTED: Final = {character: f"\\{letter}" for letter, character in _CONTROL.items() if character}


@dataclass(slots=True)
class Unescaped:
    """A text without its escapes; `where[i]` is the place of its character i in the text it came from."""

    text: str
    where: list[int]
    dollars: set[int] = field(default_factory=set)
    mistakes: list[tuple[int, int]] = field(default_factory=list)

    def find_interpolation(self, start: int) -> int:
        """Return where the next `${` is whose dollar was not escaped, or -1."""
        position = self.text.find("${", start)
        while position in self.dollars:
            position = self.text.find("${", position + 1)
        return position


def unescape(text: str, start: int, end: int) -> Unescaped:
    r"""Resolve the escapes of a part of a text.

    >>> unescape(r"a\tb\u{e9}", 0, 10).text
    'a\tbé'
    """
    if text.find("\\", start, end) < 0:
        return Unescaped(text[start:end], list(range(start, end + 1)))
    result = Unescaped("", [])
    pieces: list[str] = []
    position, length = start, 0
    for found in _ESCAPE.finditer(text, start, end):
        piece = _meaning(found)
        if piece is None:
            result.mistakes.append((found.start(), found.end() - found.start()))
            piece = found[0][1:]
        before = text[position : found.start()]
        pieces += [before, piece]
        result.where += range(position, found.start())
        result.where += [found.start()] * len(piece)
        length += len(before) + len(piece)
        if piece == "$":
            result.dollars.add(length - 1)
        position = found.end()
    pieces.append(text[position:end])
    result.where += range(position, end + 1)
    result.text = "".join(pieces)
    return result


def _meaning(found: re.Match[str]) -> str | None:
    digits = found[1] or found[2]
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code <= 0xDFFF else None
    if found[3]:
        return "" if "\n" in found[3] else None
    letter = found[4]
    if letter is None:
        return None
    return _CONTROL.get(letter, letter if letter in "\\\"'$" else None)


def escape(text: str) -> str:
    r"""Write a text so that it can stand between double quotes.

    >>> print(escape('a "b" \n ${c} $d'))
    a \"b\" \n \${c} $d
    """
    return "".join(
        _escaped(character, text[i + 1 : i + 2]) if character in '\\"$' or not character.isprintable() else character
        for i, character in enumerate(text)
    )


def _escaped(character: str, following: str) -> str:
    if character in '\\"':
        return f"\\{character}"
    if character == "$":
        return "\\$" if following == "{" else "$"
    return _UNPRINTED.get(character) or f"\\u{{{ord(character):x}}}"

"""Numbers and strings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from tidelog.base.text.integers import read_integer
from tidelog.lang.parse.lex import FLOAT, STRING, Tokens
from tidelog.lang.parse.types import TypeParser
from tidelog.lang.syntax import Expr, FloatLiteral, IntLiteral, StringLiteral

_RADIX: Final = {"d": 10, "h": 16, "o": 8, "b": 2}


class LiteralParser(TypeParser, ABC):
    """Productions of literals."""

    @abstractmethod
    def expression(self) -> Expr:
        """Parse an expression, which may stand in a string; see `expressions`."""

    def number(self) -> Expr:
        """Parse the production below.

        `number = real | [ decimal ] "'" ( [ "s" ] ( "d" | "h" | "o" | "b" ) digits | "f" ( decimal | real ) )`
        """
        first = self.at
        self.at = first + 1
        word = self.words[first]
        if self.kinds[first] == FLOAT:
            return FloatLiteral(word, None, span=self.since(first))
        size, _, rest = word.partition("'")
        width = read_integer(size.replace("_", "")) if size else None
        if rest[0] == "f":
            return FloatLiteral(rest[1:], width, span=self.since(first))
        signed = rest[0] == "s"
        digits = rest[1:] if signed else rest
        radix = _RADIX[digits[0]]
        return IntLiteral(
            read_integer(digits[1:].replace("_", ""), radix), width, signed, radix, span=self.since(first)
        )

    def string(self) -> StringLiteral:
        """Parse `string = string_token { string_token }`."""
        first = self.at
        parts: list[str | Expr] = []
        while self.kinds[self.at] == STRING:
            for part in self.tokens.strings[self.at]:
                if isinstance(part, Tokens):
                    parts.append(self._embedded(part))
                elif part and parts and isinstance(parts[-1], str):
                    parts[-1] += part
                elif part:
                    parts.append(part)
            self.at += 1
        interned = self.words[first][0] == "i"
        return StringLiteral(tuple(parts), interned, span=self.since(first))

    def _embedded(self, tokens: Tokens) -> Expr:
        """Parse the expression in `${}`."""
        inner = type(self)(tokens, self.report, "`}`")
        inner.depth = self.depth + 1
        found = inner.expression()
        if inner.at < len(inner.kinds) - 1:
            inner.expected("an operator or `}`")
        self.comments += inner.comments
        return found

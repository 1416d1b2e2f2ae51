"""Python functions offered to programs, registered by name with their types.

A program declares `extern function f(x: string): u32`; the callable comes from an `Externs` table. A signature given
at registration is compared with the declaration when the program is checked. What a callable returns is checked
against the declared type when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import NoneType
from typing import Any, TypeVar

from tidelog.base.arguments import expect
from tidelog.base.record import record
from tidelog.base.types import Type, TypeDefinition

Callback = TypeVar("Callback", bound=Callable[..., Any])


@record
class Signature:
    """What a `typed` callable is given first: the concrete types of this call, and what every named type means."""

    parameters: tuple[Type, ...]
    result: Type
    types: Mapping[str, TypeDefinition]


@record
class Extern:
    """A registered callable; see `base.expr.Function` for how it is called."""

    python: Callable[..., Any]
    signature: str | None = None
    typed: bool = False
    trusted: bool = False
    """The library's own functions: results are not checked."""
    proper: bool = False
    """Takes and returns the values that rows have, not plain ones."""

    @property
    def plain(self) -> bool:
        """Whether it takes and returns plain values (`base.plain.call`)."""
        return not (self.typed or self.trusted or self.proper)


class Externs:
    """A table of Python functions by their (qualified) name in the language.

    >>> externs = Externs()
    >>> @externs.register("shout", "function(string): string")
    ... def shout(text: str) -> str:
    ...     return text.upper()
    >>> externs["shout"].python("tide")
    'TIDE'
    """

    def __init__(self) -> None:
        self._table: dict[str, Extern] = {}

    def register(
        self,
        name: str,
        signature: str | None = None,
        *,
        typed: bool = False,
        trusted: bool = False,
        proper: bool = False,
    ) -> Callable[[Callback], Callback]:
        """Return a decorator that registers a function under a name, with its type in the language.

        The function takes plain values: None or what is in an Option, dictionaries for structs. It may return such
        values, objects with the fields as attributes, and the values that rows have (docs/language.md). With `proper`
        it takes the latter, too, which costs less; `typed` and `trusted` are for Tidelog's library.
        """
        expect(name, str, "name", "the name of a function")
        expect(signature, (str, NoneType), "signature", "a type of the language")

        def decorate(python: Callback) -> Callback:
            expect(python, Callable, name, "a function")  # type: ignore[arg-type]  # it can be asked for all the same
            self._table[name] = Extern(python, signature, typed, trusted, proper)
            return python

        return decorate

    def __getitem__(self, name: str) -> Extern:
        return self._table[name]

    def __contains__(self, name: str) -> bool:
        return name in self._table

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

"""Where something stands in a source text.

A `Source` is a named text (a file, a string given to the API, a line of the shell). A `Span` is a half-open range of
character offsets in it. Line and column are computed only when somebody asks, since nearly all spans are never shown.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import NamedTuple

from tidelog.base.record import record

ADDED = "<rules "
"""How the names of texts begin that were added to a program; a number follows."""


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """A named program text; two sources are equal only if they are the same object."""

    name: str
    text: str
    _starts: list[int] = field(default_factory=list, repr=False)

    def _lines(self) -> list[int]:
        """Return where each line starts."""
        if not self._starts:
            self._starts.append(0)
            self._starts.extend(i + 1 for i, c in enumerate(self.text) if c == "\n")
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        r"""Return the 1-based line and column of a character offset.

        >>> Source("a.dl", "one\ntwo").position(5)
        (2, 2)
        """
        starts = self._lines()
        line = bisect_right(starts, offset)
        return line, offset - starts[line - 1] + 1

    def line(self, number: int) -> str:
        """Return the text of a 1-based line, without its line break."""
        starts = self._lines()
        end = starts[number] - 1 if number < len(starts) else len(self.text)
        return self.text[starts[number - 1] : end].rstrip("\r")


class Span(NamedTuple):
    """Characters `start` to `end` (exclusive) of a source."""

    source: Source
    start: int
    end: int

    @property
    def text(self) -> str:
        """The characters the span covers."""
        return self.source.text[self.start : self.end]

    def to(self, other: Span) -> Span:
        """Return the span from the start of this one to the end of the other."""
        return Span(self.source, self.start, max(self.end, other.end))

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"


NOWHERE = Span(Source("<built-in>", ""), 0, 0)


@record
class Placed:
    """What stands somewhere in a text; where takes no part in equality."""

    span: Span = field(default=NOWHERE, compare=False, repr=False, kw_only=True)

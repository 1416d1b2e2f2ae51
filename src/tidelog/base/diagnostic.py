"""A mistake of the user, as data: a stable code, a message, where, the rule of the language behind it, and a hint.

Passes collect diagnostics in a `Report` and go on, so that all mistakes of a program are shown together. What the codes
mean is in `docs/diagnostics.md`; each has an example in `tests/errors`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Literal

from tidelog.base.record import record
from tidelog.base.span import Span

Severity = Literal["error", "warning"]
WIDEST = 160
"""Characters of a source line that are shown."""
LONGEST = 1000
"""Characters of a message that are."""
CUT = "..."


@record
class Label:
    """A second place that helps to understand a mistake."""

    span: Span
    message: str


@record
class Diagnostic:
    """One mistake. `note` states the rule of the language, `hint` a way to mend it."""

    code: str
    message: str
    span: Span
    note: str = ""
    hint: str = ""
    labels: tuple[Label, ...] = ()
    severity: Severity = "error"


@dataclass(slots=True)
class Report:
    """Collects diagnostics, without repeating one; `mistakes` counts errors, repeated ones too."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    mistakes: int = 0
    _seen: set[tuple[str, Span, str]] = field(default_factory=set)

    def add(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        note: str = "",
        hint: str = "",
        labels: Iterable[Label] = (),
        severity: Severity = "error",
    ) -> None:
        """Record a mistake."""
        self.mistakes += severity == "error"
        message, note, hint = shortened(message), shortened(note), shortened(hint)
        key = (code, span, message)
        if key not in self._seen:
            self._seen.add(key)
            self.diagnostics.append(Diagnostic(code, message, span, note, hint, tuple(labels), severity))

    @property
    def errors(self) -> list[Diagnostic]:
        """The diagnostics that refuse the program, by position."""
        return [d for d in self.sorted() if d.severity == "error"]

    @property
    def warnings(self) -> list[Diagnostic]:
        """The diagnostics that do not refuse it, by position."""
        return [d for d in self.sorted() if d.severity == "warning"]

    def sorted(self) -> list[Diagnostic]:
        """Return all diagnostics by source and position."""
        return sorted(self.diagnostics, key=lambda d: (d.span.source.name, d.span.start, d.span.end, d.code))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest known word, or nothing.

    >>> did_you_mean("Rech", ["Reach", "Open"])
    'did you mean `Reach`?'
    """
    close = get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f"did you mean `{close[0]}`?" if close else ""


def shortened(text: str, longest: int = LONGEST) -> str:
    """Return a text without its middle if it is too long to be read.

    >>> shortened("no such relation `" + "x" * 1000 + "`", 40)
    'no such relation `...xxxxxxxxxxxxxxxxx`'
    """
    half = (longest - len(CUT)) // 2
    return text if len(text) <= longest else text[:half] + CUT + text[len(text) - half :]


def render(diagnostic: Diagnostic) -> str:
    """Write a diagnostic with its source line and carets, as compilers do."""
    lines = [f"{diagnostic.severity}[{diagnostic.code}]: {diagnostic.message}", *_excerpt(diagnostic.span, "^")]
    for label in diagnostic.labels:
        lines += [f"  {label.message}:", *_excerpt(label.span, "-")]
    if diagnostic.note:
        lines.append(f"  note: {diagnostic.note}")
    if diagnostic.hint:
        lines.append(f"  hint: {diagnostic.hint}")
    return "\n".join(lines)


def _excerpt(span: Span, mark: str) -> list[str]:
    if not span.source.text:
        return [f"  --> {span.source.name}"]
    number, column = span.source.position(span.start)
    line = span.source.line(number)
    width = max(1, min(span.end - span.start, len(line) - column + 1))
    if len(line) > WIDEST:
        line, column = _around(line, column)
        width = min(width, len(line) - column + 1)
    gutter = " " * len(str(number))
    pad = "".join("\t" if c == "\t" else " " for c in line[: column - 1])
    return [f"  --> {span}", f"{gutter} |", f"{number} | {line}", f"{gutter} | {pad}{mark * width}"]


def _around(line: str, column: int) -> tuple[str, int]:
    """Return the part of a long line around a column, and which column that is in it."""
    start = max(0, min(column - 1 - WIDEST // 4, len(line) - WIDEST))
    end = start + WIDEST
    before, after = CUT if start else "", CUT if end < len(line) else ""
    return before + line[start:end] + after, column - start + len(before)

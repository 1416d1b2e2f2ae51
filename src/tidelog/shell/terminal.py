"""What reaches the terminal: escaped, so that data cannot command it, and coloured only where somebody looks."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from tidelog.base.diagnostic import Diagnostic, render
from tidelog.base.errors import CacheWarning, ProgramError, UserError

# Control characters except line break and tab; those that change the direction of the text around them; and halves of
# characters, which names of files may have.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u206f\ud800-\udfff]"
)
_HEADLINE = re.compile(r"^(error|warning)(\[\w+\])?:")
_MARKS = re.compile(r"^ *\| [\s]*[\^-]+$")


def escape(text: str) -> str:
    r"""Return the text with control characters made visible.

    >>> escape("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def escape_line(text: str) -> str:
    r"""Return the text as one line, with control characters made visible.

    >>> escape_line("one\ntwo")
    'one\\ntwo'
    """
    return escape(text).replace("\n", "\\n").replace("\t", "\\t")


def escape_json(text: str) -> str:
    r"""Return JSON that means the same, in which control characters are escaped.

    >>> escape_json('["a\x9b\u202e"]')
    '["a\\u009b\\u202e"]'
    """
    # They can only be in strings. Most text has none, which is seen faster than looked for.
    if text.isascii() and "\x7f" not in text:
        return text
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say_json(value: Any, indent: int | None = None) -> None:
    """Print a value as JSON to standard output."""
    click.echo(escape_json(json.dumps(value, indent=indent, ensure_ascii=False)))


def say(text: str) -> None:
    """Print to standard output."""
    click.echo(escape(text))


_LOG = {"form": "text"}
"""How standard error is written: `text` for people, or `json`, an object a line."""


def log_as(form: str) -> None:
    """Write what goes to standard error as `text` or as `json` from now on."""
    _LOG["form"] = form


def logs_json() -> bool:
    """Tell whether standard error is for programs."""
    return _LOG["form"] == "json"


def log(level: str, **content: Any) -> None:
    """Write an object to standard error."""
    at = datetime.now(UTC).isoformat(timespec="milliseconds")
    click.echo(escape_json(json.dumps({"at": at, "level": level, **content}, ensure_ascii=False)), err=True)


def _logged(level: str, text: str) -> bool:
    if logs_json():
        log(level, message=text)
    return logs_json()


def say_note(text: str) -> None:
    """Print a remark to standard error."""
    if _logged("note", text):
        return
    click.echo(_style(f"note: {escape(text)}", dim=True), err=True)


def say_warning(text: str) -> None:
    """Print a warning to standard error."""
    if _logged("warning", text):
        return
    click.echo(_coloured(f"warning: {escape(text)}"), err=True)


def say_error(text: str) -> None:
    """Print an error to standard error."""
    if _logged("error", text):
        return
    click.echo(_coloured(f"error: {escape(text)}"), err=True)


@contextmanager
def kind_warnings() -> Iterator[None]:
    """Within the block, print what Tidelog warns of in Python as warnings for people; others are Python's affair."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str, category: type[Warning], filename: str, lineno: int, *rest: Any, **more: Any
        ) -> None:
            if issubclass(category, CacheWarning):
                say_warning(str(message))
            else:
                usual(message, category, filename, lineno, *rest, **more)

        warnings.showwarning = show
        yield


def say_diagnostics(diagnostics: Iterable[Diagnostic]) -> None:
    """Print diagnostics to standard error, an empty line between them."""
    shown = [escape(render(diagnostic)) for diagnostic in diagnostics]
    if shown:
        click.echo("\n\n".join(map(_coloured, shown)), err=True)


def fail(error: UserError) -> None:
    """Print what is wrong."""
    if _logged("error", str(error)):
        return
    if isinstance(error, ProgramError):
        say_diagnostics(error.diagnostics)
    else:
        for line in str(error).split("\n"):
            say_error(line) if not line.startswith(" ") else click.echo(escape(line), err=True)


def _coloured(text: str) -> str:
    return "\n".join(map(_coloured_line, text.split("\n")))


def _coloured_line(line: str) -> str:
    headline = _HEADLINE.match(line)
    if headline is not None:
        colour = "red" if headline[1] == "error" else "yellow"
        return _style(headline[0], fg=colour, bold=True) + _style(line[headline.end() :], bold=True)
    if _MARKS.match(line):
        return _style(line, fg="red" if "^" in line else "blue")
    if line.startswith(("  note:", "  hint:")):
        return _style(line[:7], fg="cyan") + line[7:]
    return line


def _style(text: str, fg: str | None = None, *, bold: bool | None = None, dim: bool | None = None) -> str:
    # click itself removes styles when the stream is not a terminal.
    return text if os.environ.get("NO_COLOR") else click.style(text, fg=fg, bold=bold, dim=dim)

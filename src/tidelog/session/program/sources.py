"""Where a program's text comes from."""

from __future__ import annotations

from pathlib import Path

from tidelog.base.arguments import expect
from tidelog.base.errors import UserError
from tidelog.base.span import Source


def program_source(program: str | Path | Source) -> Source:
    """Return the text of a program given as text or as the path of a file."""
    expect(program, (str, Path, Source), "program", "a text, or the path of a file")
    if isinstance(program, Source):
        return program
    if isinstance(program, str) and ("\n" in program or not program.endswith(".dl")):
        return Source("<program>", program)
    return read_source(Path(program))


def read_source(path: Path) -> Source:
    """Return the text of a file."""
    try:
        return Source(str(path), path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UserError(f"cannot read {path}: it is not UTF-8 text (byte {error.start})") from None

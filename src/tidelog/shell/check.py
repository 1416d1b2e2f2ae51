"""`tidelog check`: tell all mistakes of a program, without running it.

Diagnostics go to standard error with carets. With `--json` standard output is one object
`{"errors": N, "warnings": N, "diagnostics": [{code, severity, message, file, line, column, end_line, end_column, note,
hint, labels}, ...]}`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from tidelog.base.diagnostic import Diagnostic
from tidelog.base.span import Span
from tidelog.session.program.static import check_program
from tidelog.shell.options import (
    externs_option,
    json_option,
    library_option,
    load_externs,
    load_source,
    program_argument,
)
from tidelog.shell.terminal import say_diagnostics, say_json


@click.command("check")
@program_argument
@json_option
@library_option
@externs_option
@click.pass_context
def command(
    context: click.Context, program: Path, as_json: bool, library: tuple[Path, ...], externs: Path | None
) -> None:
    """Report all mistakes of PROGRAM; exit status 1 if it has any."""
    diagnostics = check_program(load_source(program), library, load_externs(externs))
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    if as_json:
        shown = [_as_json(diagnostic) for diagnostic in diagnostics]
        summary = {"errors": errors, "warnings": len(diagnostics) - errors, "diagnostics": shown}
        say_json(summary, indent=2)
    else:
        say_diagnostics(diagnostics)
    context.exit(1 if errors else 0)


def _as_json(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity,
        "message": diagnostic.message,
        **_place(diagnostic.span),
        "note": diagnostic.note,
        "hint": diagnostic.hint,
        "labels": [{"message": label.message, **_place(label.span)} for label in diagnostic.labels],
    }


def _place(span: Span) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.source.position(span.end)
    return {"file": span.source.name, "line": line, "column": column, "end_line": end_line, "end_column": end_column}

"""`tidelog shell`: speak to a living database, from a script on standard input or at a terminal.

A script stops at its first mistake, with exit status 1; at a terminal, and with `--keep-going`, the mistake is told and
the session goes on.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tidelog.session.database import Database
from tidelog.session.engines import Dialect, EngineName, StrategyName
from tidelog.shell.interactive.interpreter import Interpreter
from tidelog.shell.interactive.recording import Recording
from tidelog.shell.interactive.scripts import run_script
from tidelog.shell.limits import limit_options, limits_of
from tidelog.shell.options import (
    FOLDER,
    ddlog_option,
    externs_option,
    header_option,
    library_option,
    load_externs,
    load_source,
    program_argument,
)
from tidelog.shell.terminal import escape, say_diagnostics, say_note, say_warning


@click.command("shell")
@program_argument
@click.option("--engine", metavar="ENGINE", help="Engine to use; `tidelog doctor` lists them.")
@click.option("--strategy", default="auto", show_default=True, help="How derived relations follow changes.")
@click.option("--facts", type=FOLDER, metavar="DIR", help="Read input relations from a folder, as `tidelog run` does.")
@header_option
@library_option
@externs_option
@ddlog_option
@click.option("--init-snapshot/--no-init-snapshot", default=True, help="Show what is true at the beginning.")
@click.option(
    "--output-internal-relations", "internal", is_flag=True, help="Show internal relations like output relations."
)
@click.option(
    "--record",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the commands that are executed to a file, a script that does the same again.",
)
@click.option("--keep-going", is_flag=True, help="Tell a mistake in a script and go on; the exit status is 1 then.")
@limit_options
def command(
    program: Path,
    engine: EngineName | None,
    strategy: StrategyName,
    library: tuple[Path, ...],
    externs: Path | None,
    init_snapshot: bool,
    internal: bool,
    **bounds: Any,
) -> None:
    """Execute commands on the living database of PROGRAM; `:help` lists them."""
    source, facts, header = load_source(program), bounds.pop("facts"), bounds.pop("header")
    record, keep_going = bounds.pop("record"), bounds.pop("keep_going")
    dialect: Dialect = "ddlog" if bounds.pop("ddlog") else "tidelog"
    limits = limits_of(bounds)
    functions = load_externs(externs)
    database = Database(
        source,
        facts=facts,
        header=header,
        engine=engine,
        strategy=strategy,
        limits=limits,
        externs=functions,
        library=library,
        dialect=dialect,
    )
    say_diagnostics(database.warnings)
    for text in database.remarks.warnings:
        say_warning(text)
    for text in database.remarks.notes:
        say_note(text)
    interpreter = Interpreter(database, say, ("output", "internal") if internal else ("output",))
    recording = Recording(interpreter, record)
    if init_snapshot:
        interpreter.snapshot()
    try:
        if sys.stdin.isatty():
            from tidelog.shell.interactive.terminal_shell import converse  # noqa: PLC0415  (loads readline)

            converse(recording)
        elif not run_script(recording, sys.stdin, keep_going=keep_going):
            sys.exit(1)
    finally:
        interpreter.close()
        recording.close()


def say(text: str) -> None:
    """Print to standard output; what a terminal would obey is escaped if one is there."""
    click.echo(escape(text) if sys.stdout.isatty() else text)

"""`tidelog shell`: speak to a living database, from a script on standard input or at a terminal.

A script stops at its first mistake, with exit status 1; at a terminal, and with `--keep-going`, the mistake is
shown and the session goes on.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from tidelog.shell.interactive.interpreter import Interpreter
from tidelog.shell.interactive.recording import Recording
from tidelog.shell.interactive.scripts import run_script
from tidelog.shell.opening import database_options, engine_option, opened, say_remarks
from tidelog.shell.options import ddlog_option
from tidelog.shell.terminal import escape


@click.command("shell")
@database_options
@engine_option
@click.option("--strategy", default="auto", show_default=True, help="How derived relations follow changes.")
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
@ddlog_option
def command(init_snapshot: bool, internal: bool, record: Path | None, keep_going: bool, **given: Any) -> None:
    """Execute commands on the living database of PROGRAM; `:help` lists them."""
    database = opened(given)
    say_remarks(database)
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

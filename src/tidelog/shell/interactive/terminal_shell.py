"""The shell at a terminal: a prompt, statements of several lines, history and completion where readline is there.

Ctrl-C drops what has been typed, or stops a command; a commit that is stopped has changed nothing. Ctrl-D leaves.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType

import click

from tidelog.base.errors import UserError
from tidelog.session.database import plan_of
from tidelog.shell.interactive.commands import COMMANDS
from tidelog.shell.interactive.interpreter import Interpreter
from tidelog.shell.interactive.own_commands import HELP
from tidelog.shell.interactive.recording import Recording
from tidelog.shell.interactive.scripts import Lines
from tidelog.shell.terminal import fail

PROMPT, MORE, INSIDE = ">> ", ".. ", "*> "
"""Prompts: for a command, for the rest of one, for a command inside a transaction."""
HISTORY = 1000
DELIMITERS = " \t\n;,(){}[]=<"


def converse(recording: Recording, read: Callable[[str], str] = input) -> None:
    """Read and execute commands until `exit` or the end of input; mistakes are shown."""
    interpreter = recording.interpreter
    readline = _readline()
    if readline is not None:
        _set_up(readline, lambda: words(interpreter))
    click.echo("`:help` lists the commands, `exit;` or Ctrl-D leaves.")
    arrived = Lines()
    try:
        while not interpreter.finished:
            try:
                line = read(_prompt(interpreter, arrived))
            except KeyboardInterrupt:
                arrived.forget()
                click.echo()
                continue
            except EOFError:
                click.echo()
                return
            arrived.add(line + "\n")
            _execute(recording, arrived)
    finally:
        if readline is not None:
            _save(readline)


def _execute(recording: Recording, arrived: Lines) -> None:
    try:
        for command in arrived.take():
            recording.execute(command, arrived.taken)
            if recording.interpreter.finished:
                return
    except UserError as error:
        fail(error)
        arrived.forget()
    except KeyboardInterrupt:
        click.echo("stopped", err=True)
        arrived.forget()


def _prompt(interpreter: Interpreter, arrived: Lines) -> str:
    if not arrived.empty:
        return MORE
    return PROMPT if interpreter.transaction is None else INSIDE


def words(interpreter: Interpreter) -> list[str]:
    """Return what can be completed: commands, relations and indexes."""
    own = {line.split()[0] for line in HELP.split("\n") if line.startswith(":")}
    relations = [view.name for view in interpreter.database.relations()]
    return sorted({*COMMANDS, "dump_changes", *own, *relations, *plan_of(interpreter.database).declared})


def complete(text: str, known: list[str]) -> list[str]:
    """Return the words that begin with a text.

    >>> complete("du", ["commit", "dump", "dump_index"])
    ['dump', 'dump_index']
    """
    return [word for word in known if word.startswith(text)]


def _readline() -> ModuleType | None:
    try:
        return import_module("readline")
    except ImportError:
        return None


def _set_up(readline: ModuleType, known: Callable[[], list[str]]) -> None:
    def completer(text: str, state: int) -> str | None:
        found = complete(text, known())
        return found[state] if state < len(found) else None

    readline.set_completer(completer)
    readline.set_completer_delims(DELIMITERS)
    readline.parse_and_bind("tab: complete")
    try:
        readline.read_history_file(_history())
    except OSError:
        return  # there is none yet, or it cannot be read


def _save(readline: ModuleType) -> None:
    readline.set_history_length(HISTORY)
    try:
        _history().parent.mkdir(parents=True, exist_ok=True)
        readline.write_history_file(_history())
    except OSError:
        return  # a home that cannot be written is no reason to fail


def _history() -> Path:
    state = os.environ.get("XDG_STATE_HOME")
    return (Path(state) if state else Path.home() / ".local" / "state") / "tidelog" / "history"

"""A script of commands, executed as it arrives, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.base.errors import ProgramError, UserError
from tidelog.shell.interactive.commands import Command, read_command
from tidelog.shell.interactive.recording import Recording
from tidelog.shell.interactive.records import CommandError, IncompleteError, skip_space
from tidelog.shell.terminal import fail, say_warning


class Lines:
    """Lines that have arrived and are not yet executed."""

    def __init__(self) -> None:
        self._text = ""
        self._position = 0
        self._line = 1
        self.taken = ""
        """The text of the command that was taken last."""

    @property
    def line(self) -> int:
        """The number of the line on which the command at work begins."""
        return self._line

    @property
    def empty(self) -> bool:
        """Whether everything has been taken."""
        return self._position == len(self._text)

    def add(self, text: str) -> None:
        """Append what has arrived."""
        self._text = self._text[self._position :] + text
        self._position = 0

    def take(self) -> Iterator[Command]:
        """Yield the commands that are complete. What follows a `CommandError` is to be forgotten."""
        while not self.empty:
            self._advance(skip_space(self._text, self._position))
            try:
                command, end = read_command(self._text, self._position)
            except IncompleteError:
                return
            start, self._position = self._position, end
            if command is not None:
                self.taken = self._text[start:end]
                yield command
            self._line += self._text.count("\n", start, end)

    def forget(self) -> None:
        """Drop what has arrived."""
        self._advance(len(self._text))

    def _advance(self, position: int) -> None:
        self._line += self._text.count("\n", self._position, position)
        self._position = position


def run_script(recording: Recording, lines: Iterable[str], *, keep_going: bool = False) -> bool:
    """Execute a script; stop at the first mistake, naming its line, or tell it and go on. Return if there was none."""
    arrived, interpreter, sound = Lines(), recording.interpreter, True
    for line in lines:
        arrived.add(line)
        if keep_going:
            sound &= _go_on(recording, arrived)
        else:
            for command in _taken(arrived):
                _execute(recording, command, arrived)
        if interpreter.finished:
            return sound
    if interpreter.transaction is not None:
        say_warning("the script ends inside a transaction, which is dropped")
    if not arrived.empty:
        say_warning(f"line {arrived.line}: the last command has no `;` and was not executed")
    return sound


def _taken(arrived: Lines) -> Iterator[Command]:
    """Yield the commands that are complete; a mistake in one names its line."""
    try:
        yield from arrived.take()
    except CommandError as error:
        raise UserError(f"line {arrived.line}: {error}") from error


def _execute(recording: Recording, command: Command, arrived: Lines) -> None:
    if recording.interpreter.finished:
        return
    try:
        recording.execute(command, arrived.taken)
    except ProgramError:
        raise
    except UserError as error:
        raise UserError(f"line {arrived.line}: {error}") from error


def _go_on(recording: Recording, arrived: Lines) -> bool:
    """Execute what is complete, telling every mistake; return if there was none."""
    sound = True
    try:
        for command in _taken(arrived):
            try:
                _execute(recording, command, arrived)
            except UserError as error:
                fail(error)
                sound = False
    except UserError as error:  # what cannot be read ends with its line
        fail(error)
        arrived.forget()
        sound = False
    return sound

"""A script of commands, executed as it arrives, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.base.errors import ProgramError, UserError
from tidelog.shell.commands import Command, read_command
from tidelog.shell.interpreter import Interpreter
from tidelog.shell.records import CommandError, IncompleteError
from tidelog.shell.terminal import say_warning


class Lines:
    """Lines that have arrived and are not yet executed."""

    def __init__(self) -> None:
        self._text = ""
        self._line = 1

    @property
    def line(self) -> int:
        """The number of the line on which the next command begins."""
        return self._line

    @property
    def empty(self) -> bool:
        """Whether everything has been taken."""
        return not self._text

    def add(self, text: str) -> None:
        """Append what has arrived."""
        self._text += text

    def take(self) -> Iterator[Command]:
        """Yield the commands that are complete. After a `CommandError` the rest of what arrived is forgotten."""
        while self._text:
            try:
                command, end = read_command(self._text)
            except IncompleteError:
                return
            except CommandError:
                self.forget()
                raise
            start = len(self._text) - len(self._text.lstrip())
            self._line += self._text.count("\n", 0, start)
            done = self._text[start:end]
            self._text = self._text[end:]
            if command is not None:
                yield command
            self._line += done.count("\n")

    def forget(self) -> None:
        """Drop what has arrived."""
        self._line += self._text.count("\n")
        self._text = ""


def run_script(interpreter: Interpreter, lines: Iterable[str]) -> None:
    """Execute a script; stop at the first mistake, naming its line."""
    arrived = Lines()
    for line in lines:
        arrived.add(line)
        number = arrived.line
        try:
            for command in arrived.take():
                number = arrived.line
                interpreter.execute(command)
                if interpreter.finished:
                    return
                number = arrived.line
        except ProgramError:
            raise
        except UserError as error:
            raise UserError(f"line {number}: {error}") from error
    if not arrived.empty:
        say_warning(f"line {arrived.line}: the last command has no `;` and was not executed")

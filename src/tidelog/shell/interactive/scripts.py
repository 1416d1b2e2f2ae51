"""A script of commands, executed as it arrives, line by line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tidelog.base.errors import ProgramError, UserError
from tidelog.shell.interactive.commands import Command, read_command
from tidelog.shell.interactive.interpreter import Interpreter
from tidelog.shell.interactive.records import CommandError, IncompleteError, skip_space
from tidelog.shell.terminal import say_warning


class Lines:
    """Lines that have arrived and are not yet executed."""

    def __init__(self) -> None:
        self._text = ""
        self._position = 0
        self._line = 1

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
        """Yield the commands that are complete. After a `CommandError` the rest of what arrived is forgotten."""
        while not self.empty:
            self._advance(skip_space(self._text, self._position))
            try:
                command, end = read_command(self._text, self._position)
            except IncompleteError:
                return
            except CommandError:
                self._position = len(self._text)
                raise
            start, self._position = self._position, end
            if command is not None:
                yield command
            self._line += self._text.count("\n", start, end)

    def forget(self) -> None:
        """Drop what has arrived."""
        self._advance(len(self._text))

    def _advance(self, position: int) -> None:
        self._line += self._text.count("\n", self._position, position)
        self._position = position


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
    if interpreter.transaction is not None:
        say_warning("the script ends inside a transaction, which is dropped")
    if not arrived.empty:
        say_warning(f"line {arrived.line}: the last command has no `;` and was not executed")

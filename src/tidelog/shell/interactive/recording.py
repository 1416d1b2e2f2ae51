"""Commands written to a file as they are executed, so that the file is a script that does the same again.

What was refused is not in it: not the batch with a mistake, and of a commit that failed a `rollback;` in its place.
"""

from __future__ import annotations

from pathlib import Path

from tidelog.base.errors import UserError
from tidelog.shell.interactive.commands import Command, Commit, Exit, Update
from tidelog.shell.interactive.interpreter import Interpreter


class Recording:
    """A file of commands; without a path they are executed and not written."""

    def __init__(self, interpreter: Interpreter, path: Path | None = None) -> None:
        self.interpreter = interpreter
        self._batch: list[str] = []
        try:
            self._file = path.open("w", encoding="utf-8") if path is not None else None
        except OSError as error:
            raise UserError(f"cannot write {path}: {error.strerror}") from None

    def execute(self, command: Command, text: str) -> None:
        """Execute a command, whose text this is, and write it if nothing is wrong with it."""
        try:
            self.interpreter.execute(command)
        except BaseException:
            self._batch.clear()
            if isinstance(command, Commit) and self.interpreter.transaction is None:
                self._write("rollback;")
            raise
        self._batch.append(text)
        if not isinstance(command, Update) or command.last:
            for each in self._batch:
                if not isinstance(command, Exit):
                    self._write(each)
            self._batch.clear()

    def _write(self, text: str) -> None:
        if self._file is not None:
            self._file.write(text.strip() + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()

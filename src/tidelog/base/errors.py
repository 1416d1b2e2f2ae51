"""What Tidelog raises. A user's mistake is a `UserError`; anything else that escapes is a defect of Tidelog.

The command line exits with the `status` of a `UserError`, which is 1 but for a few, and 2 for everything else.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidelog.base.diagnostic import Diagnostic, render


class TidelogError(Exception):
    """Root of all errors of this package."""


class UserError(TidelogError):
    """A mistake in what was given to Tidelog; the message says what was expected and what to do."""

    status = 1
    """With which the command line exits."""


class ProgramError(UserError):
    """A program was refused; `diagnostics` has every mistake found, in order of position."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n\n".join(render(d) for d in self.diagnostics))


class DataError(UserError):
    """Facts do not fit the relation they are meant for."""


class EvaluationError(UserError):
    """An expression or function of the program failed while running; the message names the rule and arguments."""


class LimitError(UserError):
    """A limit on rounds, tuples, memory or time stopped the evaluation; the last commit still stands."""


class CacheWarning(UserWarning):
    """Compiled code could not be kept for the next run, or what was kept could not be used; nothing else is wrong."""


class ExpectationError(UserError):
    """Rows are there that are not expected: the pipeline's last version stands."""

    status = 3


class BusyError(UserError):
    """Another process is at work, or has been meanwhile: nothing is wrong, and a later attempt may succeed."""

    status = 75


class SinkError(DataError):
    """A version was made, but a sink could not be written: the next run does it."""

    status = 75


class MissingExtraError(UserError):
    """An optional dependency is needed and absent."""

    def __init__(self, package: str, extra: str) -> None:
        super().__init__(f"this needs {package}, which is not installed: pip install 'tidelog[{extra}]'")

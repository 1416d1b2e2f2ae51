"""The functions of a program: bodies checked once, generic ones too; none recursive; externs bound to Python.

`Functions` is made after `declare`; `check` reports the mistakes of all function bodies of the program's own modules,
and `instantiate` returns what the rules' calls reach, generic functions at their type arguments.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tidelog.base.diagnostic import Report
from tidelog.base.expr import Function
from tidelog.base.extern import Externs
from tidelog.logic.environment import Declarations


class Functions:
    """The checked functions; `externs` are searched in order for the callables of extern functions."""

    def __init__(self, declarations: Declarations, externs: tuple[Externs, ...], report: Report) -> None:
        self.declarations = declarations
        self.externs = externs
        self.report = report

    def check(self) -> None:
        """Check the bodies of all functions outside the standard library."""
        raise NotImplementedError

    def instantiate(self, names: Iterable[str]) -> Mapping[str, Function]:
        """Return the functions reached from calls (`Call.function`, `FunctionValue.function`), instantiated."""
        raise NotImplementedError

"""Expressions of rules as Python functions of the values of their variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidelog.base.errors import LimitError
from tidelog.base.expr import Expr, Function
from tidelog.base.free import free_variables
from tidelog.base.record import record
from tidelog.base.types import TypeDefinition
from tidelog.run.scalar.closures import Closures
from tidelog.run.scalar.failure import ScalarError


@record
class Scalar:
    """An expression: the variables it reads, and the function from their values, in this order, to its value."""

    names: tuple[str, ...]
    value: Callable[..., Any]


class Scalars:
    """Compiles the expressions of one program."""

    def __init__(self, functions: Mapping[str, Function], types: Mapping[str, TypeDefinition]) -> None:
        self._closures = Closures(functions, types)

    def compile(self, expression: Expr) -> Scalar:
        """Return an expression as a function; when it fails, a `ScalarError` has the values that led to it."""
        names = tuple(free_variables(expression))
        closure = self._closures.compile(expression)

        def value(*values: Any) -> Any:
            try:
                return closure(dict(zip(names, values, strict=True)))
            except LimitError:
                raise
            except Exception as error:
                raise ScalarError(error, expression, dict(zip(names, values, strict=True))) from error

        return Scalar(names, value)

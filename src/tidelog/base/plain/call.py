"""Python functions that programs call with plain values.

An argument is what rows have for it, except that an Option is None or the value in it, a struct a dictionary, a value
of a union one with the constructor's name under "tag", and where no constructor has fields that name alone. Elements
of sets and keys of maps are left as they are: dictionaries cannot be there. Results may be plain or proper.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tidelog.base import types as t
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import Plain
from tidelog.base.plain.read import Read
from tidelog.base.plain.write import Write, same
from tidelog.base.types import Named, Type
from tidelog.base.values import Value


class Calls(Plain):
    """Arguments and results of Python functions, of the types of one program."""

    def function(
        self, python: Callable[..., Any], given: Sequence[Type], results: Sequence[Type]
    ) -> Callable[..., Any]:
        """Return a function of proper values that calls one of plain values.

        With several results, which are the result and the final values of `mut` parameters, both return a tuple. The
        function made raises `Misfit` where a result does not fit its type.
        """
        write, read = [self.write(type) or same for type in given], [self.read(type) for type in results]

        def call(*arguments: Value) -> Any:
            outcome = python(*[show(argument) for show, argument in zip(write, arguments, strict=True)])
            if len(read) == 1:
                return read[0](outcome)
            if not isinstance(outcome, tuple) or len(outcome) != len(read):
                raise Misfit(f"a tuple of the result and {len(read) - 1} written parameters", outcome)
            return tuple([proper(value) for proper, value in zip(read, outcome, strict=True)])

        return call

    def _make_reader(self, type: Type) -> Read:
        match type:
            case t.Function():
                return _callable
            case _:
                return super()._make_reader(type)

    def _make_writer(self, type: Type) -> Write | None:
        match type:
            case t.Tuple(items) | Named(t.VEC | t.SET, items) if not any(self.write(item) for item in items):
                return None
            case t.Tuple(items):
                writers = [self.write(item) or same for item in items]
                return lambda value: tuple([write(item) for write, item in zip(writers, value, strict=True)])
            case Named(t.VEC, (inner,)):
                write = self.write(inner) or same
                return lambda value: tuple([write(item) for item in value])
            case Named(t.SET):
                return None
            case Named(t.MAP, (_, inner)):
                of_value = self.write(inner)
                return None if of_value is None else _map_writer(of_value)
            case t.Function(parameters, result, mutable) if not any(mutable):
                return self._function_writer(parameters, result)
            case _:
                return super()._make_writer(type)

    def _function_writer(self, parameters: Sequence[Type], result: Type) -> Write:
        read, write = [self.read(type) for type in parameters], self.write(result) or same
        return lambda function: lambda *given: write(function(*[r(x) for r, x in zip(read, given, strict=True)]))


def _map_writer(write: Write) -> Write:
    return lambda value: {key: write(item) for key, item in value.items()}


def _callable(value: Any) -> Value:
    if not callable(value):
        raise Misfit("a function", value)
    return value

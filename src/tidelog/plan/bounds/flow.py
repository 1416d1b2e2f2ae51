"""How the value of an expression moves as bounds get better: a least value falls, a greatest one rises.

A rule is monotone if what it derives only gets better then. That is seen on the typed expression: sums and products
with what has no sign, `min` and `max`, conditionals on other things, tuples and structs, whose order is that of their
first different part, comparisons, and functions that a program declares to be `#[monotone]`. Whatever is not known to
move in one direction may be anything (`ANYHOW`). Sums are taken not to overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from tidelog.base import expr as e
from tidelog.base.conform import bounds
from tidelog.base.expr import Expr, Function
from tidelog.base.free import free_variables
from tidelog.base.record import record
from tidelog.base.types import BigInt, Bit, Bool, Double, Float, Signed, Type, is_integer


class Flow(Enum):
    """How a value moves as bounds get better."""

    FIXED = "fixed"
    FALLS = "falls"
    RISES = "rises"
    ANYHOW = "anyhow"

    def __or__(self, other: Flow) -> Flow:
        """How what grows with two values moves."""
        if self is other or other is Flow.FIXED:
            return self
        return other if self is Flow.FIXED else Flow.ANYHOW

    def turned(self) -> Flow:
        """How what shrinks with a value moves."""
        return _TURNED.get(self, self)


_TURNED = {Flow.FALLS: Flow.RISES, Flow.RISES: Flow.FALLS}
_LESSER = frozenset({"std::min", "std::max"})


@record
class Flows:
    """How expressions over variables move that move as given; a variable that is not there is fixed."""

    variables: Mapping[str, Flow]
    functions: Mapping[str, Function]

    def of(self, expression: Expr) -> Flow:
        """Return how an expression's value moves."""
        match expression:
            case e.Const():
                return Flow.FIXED
            case e.Var(name):
                return self.variables.get(name, Flow.FIXED)
            case e.MakeTuple(items) | e.Construct(_, items):
                return self._together(*items)
            case e.Project(of, 0, positions=()):
                return self.of(of)  # the first part decides the order of the whole
            case e.Operate():
                return self._operation(expression)
            case e.If(condition, then, otherwise) if self.of(condition) is Flow.FIXED:
                return self._together(then, otherwise)
            case e.Call(name, arguments, places=()) if self._grows(name, arguments):
                return self._together(*arguments)
            case _:
                return self._unknown(expression)

    def _together(self, *expressions: Expr) -> Flow:
        flow = Flow.FIXED
        for one in expressions:
            flow |= self.of(one)
        return flow

    def _grows(self, name: str, arguments: tuple[Expr, ...]) -> bool:
        function = self.functions.get(name)
        of_library = name.partition("<")[0] in _LESSER and len(arguments) == 2
        return of_library or (function is not None and function.monotone)

    def _unknown(self, expression: Expr) -> Flow:
        moving = (name for name in free_variables(expression) if self.variables.get(name, Flow.FIXED) is not Flow.FIXED)
        return Flow.ANYHOW if any(moving) else Flow.FIXED

    def _operation(self, operation: e.Operate) -> Flow:
        match operation.operator, operation.operands:
            case (("+" | "and" | "or"), (a, b)):
                return self.of(a) | self.of(b)
            case "not", (a,):
                return self.of(a).turned()
            case "neg", (a,) if not isinstance(operation.type, Bit):
                return self.of(a).turned()
            case "=>", (a, b):
                return self.of(a).turned() | self.of(b)
            case "-", (a, b) if not isinstance(operation.type, Bit):
                return self.of(a) | self.of(b).turned()
            case "*", (a, b) if _has_no_sign(a) and _has_no_sign(b):
                return self.of(a) | self.of(b)
            case "*", (a, b):
                return self._scaled(operation, a, b)
            case (("/" | ">>"), (a, b)) if _has_no_sign(b) and self.of(b) is Flow.FIXED and is_integer(operation.type):
                return self.of(a)
            case (("<" | "<="), (a, b)):
                return self.of(a).turned() | self.of(b)
            case ((">" | ">="), (a, b)):
                return self.of(a) | self.of(b).turned()
            case "as", (a,) if _holds(operation.type, a.type):
                return self.of(a)
            case _:
                return self._unknown(operation)

    def _scaled(self, operation: Expr, a: Expr, b: Expr) -> Flow:
        """A product with a fixed factor that has no sign."""
        if _has_no_sign(b) and self.of(b) is Flow.FIXED:
            return self.of(a)
        if _has_no_sign(a) and self.of(a) is Flow.FIXED:
            return self.of(b)
        return self._unknown(operation)


def _has_no_sign(expression: Expr) -> bool:
    """Tell whether a number is surely not negative."""
    match expression:
        case e.Const(value):
            return isinstance(value, int | float) and value >= 0
        case e.Operate("as", (a,)):
            return _has_no_sign(a) and _holds(expression.type, a.type)
        case _:
            return isinstance(expression.type, Bit)


def _holds(type: Type, other: Type) -> bool:
    """Tell whether a cast of one numeric type to another keeps the order of all values."""
    match type, other:
        case ((Float() | Double()), (Float() | Double() | Bit() | Signed())):
            return True
        case BigInt(), (Bit() | Signed() | BigInt()):
            return True
        case ((Bit() | Signed()), (Bit() | Signed())):
            (low, high), (least, greatest) = bounds(type), bounds(other)
            return low <= least and greatest <= high
        case _:
            return isinstance(type, Bool) and isinstance(other, Bool)

"""Rewrite typed expressions: one class that rebuilds trees, with hooks for types, functions and some nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

from tidelog.base import expr
from tidelog.base.expr import Expr, Pattern, Place
from tidelog.base.span import Span
from tidelog.base.types import Type
from tidelog.base.walk import Walk


class Rewriter:
    """Rebuilds trees; a subclass says what becomes of types (`type`), of function names (`function`) and variables."""

    def type(self, type: Type) -> Type:
        """Return the new type."""
        return type

    def function(self, name: str, span: Span) -> str:
        """Return the new name of a called function."""
        return name

    def variable(self, e: expr.Var) -> Expr:
        """Return what stands for a variable."""
        return expr.Var(e.name, self.type(e.type), span=e.span)

    def operate(self, e: expr.Operate) -> Expr:
        """Return what stands for an operator."""
        return expr.Operate(e.operator, self.exprs(e.operands), self.type(e.type), span=e.span)

    def constant(self, e: expr.Const) -> Expr:
        """Return what stands for a constant."""
        return expr.Const(e.value, self.type(e.type), span=e.span)

    def exprs(self, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Rebuild several expressions."""
        return tuple([self.expr(item) for item in items])

    def expr(self, e: Expr) -> Expr:
        """Rebuild an expression."""
        match e:
            case expr.Var():
                return self.variable(e)
            case expr.Const():
                return self.constant(e)
            case expr.Operate():
                return self.operate(e)
            case expr.Call(function) | expr.FunctionValue(function):
                name = self.function(function, e.span)
                e = e if name == function else replace(e, function=name)
        rebuilt: Expr = _TREES.with_parts(e, self._part)
        return rebuilt

    def pattern(self, p: Pattern) -> Pattern:
        """Rebuild a pattern."""
        rebuilt: Pattern = _TREES.with_parts(p, self._part)
        return rebuilt

    def _part(self, part: Any) -> Any:
        kind = type(part)
        if kind in _TYPES:
            return self.type(part)
        if kind is Place:
            return _TREES.with_parts(part, self._part)
        return self.pattern(part) if kind in _PATTERNS else self.expr(part)


_TYPES, _PATTERNS = frozenset(get_args(Type)), frozenset(get_args(Pattern))
_TREES: Walk[Any] = Walk({*get_args(Expr), *_PATTERNS, *_TYPES, Place}, "Expr", "Pattern", "Place", "Type", "Var")


class _Calls(Rewriter):
    def __init__(self) -> None:
        self.found: dict[str, None] = {}

    def function(self, name: str, span: Span) -> str:
        self.found[name] = None
        return name


def called_functions(*expressions: Expr) -> Iterator[str]:
    """The names of functions that expressions call or use as values, each once."""
    calls = _Calls()
    for e in expressions:
        calls.expr(e)
    return iter(calls.found)

"""Rewrite typed expressions: one class that rebuilds trees, with hooks for types, functions and some nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tidelog.base import expr
from tidelog.base.expr import Expr, Pattern, Place
from tidelog.base.span import Span
from tidelog.base.types import Type


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
        return expr.Var(e.name, self.type(e.type), e.span)

    def operate(self, e: expr.Operate) -> Expr:
        """Return what stands for an operator."""
        return expr.Operate(e.operator, self.exprs(e.operands), self.type(e.type), e.span)

    def constant(self, e: expr.Const) -> Expr:
        """Return what stands for a constant."""
        return expr.Const(e.value, self.type(e.type), e.span)

    def exprs(self, items: tuple[Expr, ...]) -> tuple[Expr, ...]:
        """Rebuild several expressions."""
        return tuple([self.expr(item) for item in items])

    def place(self, place: Place) -> Place:
        """Rebuild a place."""
        return Place(place.name, self.type(place.type), place.path)

    def expr(self, e: Expr) -> Expr:
        """Rebuild an expression."""
        match e:
            case expr.Var():
                return self.variable(e)
            case expr.Const():
                return self.constant(e)
            case expr.Operate():
                return self.operate(e)
            case expr.Call(function, arguments, type, places, span):
                name = self.function(function, span)
                new_places = tuple([self.place(p) for p in places])
                return expr.Call(name, self.exprs(arguments), self.type(type), new_places, span)
            case expr.Project(of, index, type, positions, span):
                return expr.Project(self.expr(of), index, self.type(type), positions, span)
            case expr.Construct(constructor, arguments, type, span):
                return expr.Construct(constructor, self.exprs(arguments), self.type(type), span)
            case expr.MakeTuple(items, type, span):
                return expr.MakeTuple(self.exprs(items), self.type(type), span)
            case expr.If(condition, then, otherwise, type, span):
                return expr.If(self.expr(condition), self.expr(then), self.expr(otherwise), self.type(type), span)
            case expr.Match(subject, arms, type, span):
                new_arms = tuple([(self.pattern(p), self.expr(v)) for p, v in arms])
                return expr.Match(self.expr(subject), new_arms, self.type(type), span)
            case expr.Sequence(items, type, span):
                return expr.Sequence(self.exprs(items), self.type(type), span)
            case _:
                return self._rarer(e)

    def _rarer(self, e: Expr) -> Expr:
        match e:
            case expr.MakeVec(items, type, span):
                return expr.MakeVec(self.exprs(items), self.type(type), span)
            case expr.MakeMap(pairs, type, span):
                new_pairs = tuple([(self.expr(k), self.expr(v)) for k, v in pairs])
                return expr.MakeMap(new_pairs, self.type(type), span)
            case expr.Is(of, constructor, span):
                return expr.Is(self.expr(of), constructor, span)
            case expr.Apply(callee, arguments, type, places, span):
                new_places = tuple([self.place(p) for p in places])
                return expr.Apply(self.expr(callee), self.exprs(arguments), self.type(type), new_places, span)
            case expr.Lambda(parameters, body, type, span):
                new = tuple([expr.Var(p.name, self.type(p.type), p.span) for p in parameters])
                return expr.Lambda(new, self.expr(body), self.type(type), span)
            case expr.FunctionValue(name, type, span):
                return expr.FunctionValue(self.function(name, span), self.type(type), span)
            case expr.Declare(pattern, value, span):
                return expr.Declare(self.pattern(pattern), self.expr(value), span)
            case expr.Assign(place, value, span):
                return expr.Assign(self.place(place), self.expr(value), span)
            case expr.For(pattern, iterable, body, span):
                return expr.For(self.pattern(pattern), self.expr(iterable), self.expr(body), span)
            case expr.Break(type, span):
                return expr.Break(self.type(type), span)
            case expr.Continue(type, span):
                return expr.Continue(self.type(type), span)
            case expr.Return(value, type, span):
                return expr.Return(self.expr(value), self.type(type), span)
            case (
                expr.Const() | expr.Var() | expr.MakeTuple() | expr.Construct() | expr.Project() | expr.Operate()
                | expr.Call() | expr.If() | expr.Match() | expr.Sequence()
            ):  # fmt: skip
                raise AssertionError(e)
            case _:
                assert_never(e)

    def pattern(self, p: Pattern) -> Pattern:
        """Rebuild a pattern."""
        match p:
            case expr.VarPattern(name, type, inner):
                return expr.VarPattern(name, self.type(type), self.pattern(inner))
            case expr.AnyPattern():
                return p
            case expr.ConstPattern(value, type):
                return expr.ConstPattern(value, self.type(type))
            case expr.TuplePattern(items):
                return expr.TuplePattern(tuple([self.pattern(item) for item in items]))
            case expr.ConstructorPattern(constructor, items):
                return expr.ConstructorPattern(constructor, tuple([self.pattern(item) for item in items]))
            case _:
                assert_never(p)


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

"""Typed expressions and values as text, close to the language, for plans, profiles and messages.

Meant for people: the text of an expression is not promised to parse. Values are written as `dump` writes them:
strings quoted, constructors with their fields in braces, collections in brackets.
"""

from __future__ import annotations

import json
from typing import assert_never

from tidelog.base import expr as e
from tidelog.base.text.terms import written_term
from tidelog.base.types import show
from tidelog.base.values import AnyValue, FrozenMap, Group, Value, Variant, in_order

PRECEDENCE = {
    "=>": 1,
    "or": 2,
    "and": 3,
    "|": 4,
    "^": 5,
    "&": 6,
    "==": 7, "!=": 7, "<": 7, "<=": 7, ">": 7, ">=": 7,
    "++": 8,
    "<<": 9, ">>": 9,
    "+": 10, "-": 10,
    "*": 11, "/": 11, "%": 11,
}  # fmt: skip
"""How tightly the binary operators of the language bind; all associate to the left."""
_PREFIX = {"neg": "-", "~": "~", "not": "not "}
_TIGHT = 12


def show_value(value: Value) -> str:
    """Write a value.

    >>> show_value((1, "a", Variant("Some", 0, (True,))))
    '(1, "a", Some{true})'
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case tuple():
            return f"({', '.join(map(show_value, value))})"
        case Variant(name=name) if name.startswith("rdf::") and (text := written_term(value)) is not None:
            return text
        case Variant():
            return f"{_plain(value.name)}{{{', '.join(map(show_value, value.fields))}}}"
        case frozenset():
            return f"[{', '.join(map(show_value, in_order(value)))}]"
        case FrozenMap():
            return f"[{', '.join(f'{show_value(k)} -> {show_value(v)}' for k, v in value.items())}]"
        case AnyValue(value=inner):
            return show_value(inner)
        case Group():
            return f"group {show_value(value.key)}"
        case _:
            return str(value)


def show_expression(expression: e.Expr) -> str:
    """Write an expression on one line.

    >>> from tidelog.base.types import BIGINT
    >>> x, y = e.Var("x", BIGINT), e.Var("y", BIGINT)
    >>> show_expression(e.Operate("*", (x, e.Operate("+", (x, y), BIGINT)), BIGINT))
    'x * (x + y)'
    """
    return _show(expression, 0)


def _show(expression: e.Expr, outer: int) -> str:
    """Write an expression as an operand of an operator of strength `outer`."""
    match expression:
        case e.Const(value):
            return show_value(value)
        case e.Var(name) | e.FunctionValue(name):
            return name
        case e.MakeTuple(items):
            return f"({_list(items)})"
        case e.Construct(constructor, arguments):
            return f"{_plain(constructor.name)}{{{_list(arguments)}}}"
        case e.MakeVec(items):
            return f"[{_list(items)}]"
        case e.MakeMap(pairs):
            return f"[{', '.join(f'{show_expression(k)} -> {show_expression(v)}' for k, v in pairs)}]"
        case e.Project(of, index):
            return f"{_show(of, _TIGHT)}.{index}"
        case e.Is(of, constructor):
            return _enclose(f"{_show(of, _TIGHT)} is {_plain(constructor.name)}", outer > PRECEDENCE["=="])
        case e.Operate():
            return _operation(expression, outer)
        case e.Call(function, arguments):
            return f"{function}({_list(arguments)})"
        case e.Apply(function, arguments):
            return f"{_show(function, _TIGHT)}({_list(arguments)})"
        case e.Lambda(parameters, body):
            names = ", ".join(parameter.name for parameter in parameters)
            return _enclose(f"|{names}| {show_expression(body)}", outer > 0)
        case e.If(condition, then, otherwise):
            chosen = f"{show_expression(then)} else {show_expression(otherwise)}"
            return _enclose(f"if ({show_expression(condition)}) {chosen}", outer > 0)
        case e.Match(subject, arms):
            shown = ", ".join(f"{show_pattern(pattern)} -> {show_expression(body)}" for pattern, body in arms)
            return f"match ({show_expression(subject)}) {{{shown}}}"
        case e.Sequence(items):
            return f"{{{'; '.join(map(show_expression, items))}}}"
        case e.Declare(pattern, value):
            return f"var {show_pattern(pattern)} = {show_expression(value)}"
        case e.Assign(place, value):
            return f"{_place(place)} = {show_expression(value)}"
        case e.For(pattern, iterable, body):
            return f"for ({show_pattern(pattern)} in {show_expression(iterable)}) {show_expression(body)}"
        case e.Break():
            return "break"
        case e.Continue():
            return "continue"
        case e.Return(value):
            return f"return {show_expression(value)}"
        case _:
            assert_never(expression)


def _operation(operation: e.Operate, outer: int) -> str:
    operator, operands = operation.operator, operation.operands
    if operator in _PREFIX:
        return _enclose(_PREFIX[operator] + _show(operands[0], _TIGHT), outer >= _TIGHT)
    if operator == "slice":
        of, high, low = operands
        return f"{_show(of, _TIGHT)}[{show_expression(high)}:{show_expression(low)}]"
    if operator == "as":
        return _enclose(f"{_show(operands[0], _TIGHT)} as {show(operation.type)}", outer > 0)
    if operator in PRECEDENCE and len(operands) == 2:
        strength = PRECEDENCE[operator]
        text = f"{_show(operands[0], strength)} {operator} {_show(operands[1], strength + 1)}"
        return _enclose(text, outer > strength)
    return f"{operator}({_list(operands)})"


def show_pattern(pattern: e.Pattern) -> str:
    """Write a pattern."""
    match pattern:
        case e.AnyPattern():
            return "_"
        case e.VarPattern(name, _, e.AnyPattern()):
            return name
        case e.VarPattern(name, _, inner):
            return f"{name} @ {show_pattern(inner)}"
        case e.ConstPattern(value):
            return show_value(value)
        case e.TuplePattern(items):
            return f"({', '.join(map(show_pattern, items))})"
        case e.ConstructorPattern(constructor, items):
            return f"{_plain(constructor.name)}{{{', '.join(map(show_pattern, items))}}}"
        case _:
            assert_never(pattern)


def _list(expressions: tuple[e.Expr, ...]) -> str:
    return ", ".join(map(show_expression, expressions))


def _place(place: e.Place) -> str:
    return ".".join((place.name, *map(str, place.path)))


def _plain(name: str) -> str:
    return name.removeprefix("std::")


def _enclose(text: str, needed: bool) -> str:
    return f"({text})" if needed else text

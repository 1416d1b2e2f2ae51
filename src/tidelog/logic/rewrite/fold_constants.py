"""Constant subexpressions computed, conditions that are always true dropped, rules that can never hold removed.

    A(x + (2 * 3)) :- B(x, -1), 1 < 2.      A(x + 6) :- B(x, -1).
    A(x) :- B(x), 1 > 2.                    (no rule)

Only built-in operators on constants are computed, and only if they cannot fail: a division by zero stays, to fail when
and if it is reached. Floating point is left to the engines.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tidelog.base import expr
from tidelog.base.conform import wrapped
from tidelog.base.expr import Const, Expr, Operate, Var
from tidelog.base.free import parts, with_parts
from tidelog.base.types import BOOL, STRING, BigInt, Bit, Bool, Named, Signed, String, Type
from tidelog.base.values import Variant, real
from tidelog.logic.literals import with_expressions
from tidelog.logic.program import Condition, Literal, Rule

_CONNECTIVES = frozenset({"and", "or", "=>"})
_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_INTEGER: dict[str, Callable[[int, int], int]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "&": operator.and_,
    "|": operator.or_,
    "^": operator.xor,
}


def fold_constants(rule: Rule) -> Rule | None:
    """Return the rule with constant parts computed, or None if its body never holds."""
    body: list[Literal] = []
    for literal in rule.body:
        folded = with_expressions(literal, fold_expression)
        match folded:
            case Condition(Const(True)):
                continue
            case Condition(Const(False)):
                return None
            case _:
                body.append(folded)
    return Rule(rule.head, tuple(map(fold_expression, rule.arguments)), tuple(body), rule.origin)


def fold_expression(expression: Expr) -> Expr:
    """Compute the constant subexpressions of an expression.

    >>> fold_expression(Operate("+", (Const(250, Bit(8)), Const(10, Bit(8))), Bit(8)))
    Const(value=4, type=Bit(width=8))
    """
    if isinstance(expression, Const | Var):
        return expression
    before = parts(expression)
    folded = [fold_expression(part) for part in before]
    if any(a is not b for a, b in zip(before, folded, strict=True)):
        following = iter(folded)
        expression = with_parts(expression, lambda _: next(following))
    match expression:
        case Operate():
            return _operate(expression)
        case expr.If(Const(condition), then, otherwise):
            return then if condition else otherwise
        case expr.MakeTuple(items) | expr.MakeVec(items) if _constant(items):
            return Const(_values(items), expression.type, span=expression.span)
        case expr.Construct(constructor, arguments) if _constant(arguments) and isinstance(expression.type, Named):
            value = Variant(constructor.name, constructor.position, _values(arguments))
            return Const(value, expression.type, span=expression.span)
        case expr.Project(of, index, type, positions, span=span):
            return _project(of, index, type, positions, span) or expression
        case expr.Is(Const(Variant() as value), constructor, span=span):
            return Const(value.position == constructor.position, BOOL, span=span)
        case _:
            return expression


def _constant(items: tuple[Expr, ...]) -> bool:
    return all(isinstance(item, Const) for item in items)


def _values(items: tuple[Expr, ...]) -> tuple[Any, ...]:
    return tuple(item.value for item in items if isinstance(item, Const))


def _project(of: Expr, index: int, type: Type, positions: tuple[int, ...], span: Any) -> Expr | None:
    match of:
        case Const(tuple() as items):
            return Const(items[index], type, span=span)
        case Const(Variant() as value):
            return Const(value.fields[positions[value.position] if positions else index], type, span=span)
        case expr.MakeTuple(parts_of) if all(isinstance(part, Const | Var) for part in parts_of):
            return parts_of[index]
        case expr.Construct(constructor, parts_of) if all(isinstance(part, Const | Var) for part in parts_of):
            return parts_of[positions[constructor.position] if positions else index]
        case _:
            return None


def _operate(expression: Operate) -> Expr:
    value = _logic(expression)
    if value is not None:
        return value
    if not _constant(expression.operands):
        return expression
    result = _compute(expression.operator, expression.operands, expression.type)
    return expression if result is None else Const(result, expression.type, span=expression.span)


def _logic(expression: Operate) -> Expr | None:
    """Simplify a connective of which one side is known, if what is dropped is never reached anyway."""
    if expression.operator not in _CONNECTIVES:
        return None
    match expression.operator, expression.operands:
        case "and", (Const(left), right):
            return right if left else Const(False, BOOL, span=expression.span)
        case "or", (Const(left), right):
            return Const(True, BOOL, span=expression.span) if left else right
        case "=>", (Const(left), right):
            return right if left else Const(True, BOOL, span=expression.span)
        case ("and", (left, Const(True))) | ("or", (left, Const(False))):
            return left
        case _:
            return None


def _compute(operation: str, operands: tuple[Expr, ...], type: Type) -> Any:
    """Return the value of an operator on constants, or None if it is left to the engines."""
    of = operands[0].type
    values = _values(operands)
    match operation, of, values:
        case "not", Bool(), (value,):
            return not value
        case (("==" | "!=" | "<" | "<=" | ">" | ">="), (Bool() | String() | BigInt() | Bit() | Signed()), (a, b)):
            return _COMPARE[operation](a, b)
        case "++", String(), (a, b) if operands[1].type == STRING:
            return a + b
        case "string", String(), (value,):
            return value
        case "string", (BigInt() | Bit() | Signed()), (value,):
            return str(value)
        case "neg", _, (float() as value,):
            return real(-value)
        case _, (BigInt() | Bit() | Signed()), _ if all(isinstance(value, int) for value in values):
            return _integers(operation, values, operands, type)
        case _:
            return None


def _integers(operation: str, values: tuple[int, ...], operands: tuple[Expr, ...], type: Type) -> int | None:
    match operation, values:
        case (("+" | "-" | "*" | "&" | "|" | "^"), (a, b)):
            return wrapped(_INTEGER[operation](a, b), type)
        case "/", (a, b) if b != 0:
            quotient = abs(a) // abs(b)
            return wrapped(quotient if (a < 0) == (b < 0) else -quotient, type)
        case "%", (a, b) if b != 0:
            return wrapped(abs(a) % abs(b) * (-1 if a < 0 else 1), type)
        case "neg", (a,):
            return wrapped(-a, type)
        case "~", (a,):
            return wrapped(~a, type)
        case "as", (a,) if isinstance(type, BigInt | Bit | Signed):
            return wrapped(a, type)
        case "slice", (a, high, low):
            return (a >> low) & ((1 << (high - low + 1)) - 1)
        case "++", (a, b) if isinstance(operands[1].type, Bit):
            return (a << operands[1].type.width) | b
        case _:
            return None

"""Expressions as Spark Columns, where Spark surely computes the same; None where it may not.

Nothing here can fail on any row: division, wide arithmetic and everything on structured values is left to Python
(`worker`), which evaluates row by row and names the rule and the arguments when it fails. Arithmetic is done in longs
only for widths at which it cannot overflow, then brought back into the width.
"""

from __future__ import annotations

from collections.abc import Mapping
from operator import ge, gt, le, lt

from pyspark.sql import Column
from pyspark.sql import functions as f

from tidelog.base import expr as e
from tidelog.base import types as t
from tidelog.base.types import Type
from tidelog.run.spark.frames.encode import SIGN, Cells, content, spark_type

_ORDER = {"<": lt, "<=": le, ">": gt, ">=": ge}
_SUM_WIDTH = 62
_PRODUCT_WIDTH = 31


def constant(value: object, type: Type, cells: Cells) -> Column:
    """Return a constant as a Column."""
    return f.lit(cells.cell(value, type)).cast(spark_type(type))


def column(node: e.Expr, scope: Mapping[str, Column], cells: Cells) -> Column | None:
    """Return an expression over columns that hold variables, or None."""
    match node:
        case e.Var(name):
            return scope.get(name)
        case e.Const(value, type):
            return constant(value, type, cells)
        case e.Operate():
            return _operate(node, scope, cells)
        case e.If(condition, then, otherwise):
            test, yes, no = (column(part, scope, cells) for part in (condition, then, otherwise))
            return None if test is None or yes is None or no is None else f.when(test, yes).otherwise(no)
        case _:
            return None


def _operate(node: e.Operate, scope: Mapping[str, Column], cells: Cells) -> Column | None:
    operands: list[Column] = []
    for operand in node.operands:
        made = column(operand, scope, cells)
        if made is None:
            return None
        operands.append(made)
    kind = content(node.operands[0].type)
    match node.operator, operands:
        case "and", [a, b]:
            return a & b
        case "or", [a, b]:
            return a | b
        case "=>", [a, b]:
            return ~a | b
        case "not", [a]:
            return ~a
        case "==", [a, b] if not _holds_functions(kind):
            return a == b
        case "!=", [a, b] if not _holds_functions(kind):
            return a != b
        case ("<" | "<=" | ">" | ">=") as operator, [a, b]:
            return _compare(operator, a, b, kind)
        case ("+" | "-" | "*") as operator, [a, b]:
            return _arithmetic(operator, a, b, content(node.type))
        case "++", [a, b] if kind == t.STRING == content(node.operands[1].type):
            return f.concat(a, b)
        case _:
            return None


def _compare(operator: str, a: Column, b: Column, type: Type) -> Column | None:
    match type:
        case t.Bit(64):  # wrapped: flipping the sign bit restores the order
            flip = f.lit(-SIGN)
            a, b = a.bitwiseXOR(flip), b.bitwiseXOR(flip)
        case t.Bit(width) | t.Signed(width) if width <= 64:
            pass
        case t.Bool() | t.String() | t.Float() | t.Double():
            pass
        case _:
            return None
    compared: Column = _ORDER[operator](a, b)
    return compared


def _arithmetic(operator: str, a: Column, b: Column, type: Type) -> Column | None:
    if not isinstance(type, t.Bit | t.Signed) or type.width > (_PRODUCT_WIDTH if operator == "*" else _SUM_WIDTH):
        return None
    result = a + b if operator == "+" else a - b if operator == "-" else a * b
    mask = f.lit((1 << type.width) - 1)
    if isinstance(type, t.Bit):
        return result.bitwiseAND(mask)
    half = f.lit(1 << (type.width - 1))
    return (result + half).bitwiseAND(mask) - half


def _holds_functions(type: Type) -> bool:
    match type:
        case t.Function():
            return True
        case t.Tuple(items):
            return any(map(_holds_functions, items))
        case t.Named(_, arguments):
            return any(map(_holds_functions, arguments))
        case _:
            return False

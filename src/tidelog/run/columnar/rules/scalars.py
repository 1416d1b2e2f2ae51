"""Expressions over bindings: on whole columns where the operators allow it, otherwise once per distinct argument.

The parts of an expression that are not numbers or truth values are evaluated by closures, for each distinct
combination of the variables they read; results are remembered, so a pure function runs once for each argument in the
life of the store. `and`, `or`, `=>` and `if` evaluate their later parts only for the rows that need them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tidelog.base import expr as e
from tidelog.base import types as t
from tidelog.base.errors import LimitError
from tidelog.base.free import free_variables
from tidelog.base.process.growth import counted
from tidelog.base.process.meter import ask, step
from tidelog.base.record import record
from tidelog.base.types import Type, TypeDefinition
from tidelog.run.columnar.arrays.table import Mask, Places, U, Words
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.rules.bindings import Table
from tidelog.run.columnar.rules.vectors import Vector, operate, read, slice_bits, write
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.scalar.closures import Closure, Closures, elements
from tidelog.run.scalar.failure import ScalarError

_LAZY = ("and", "or", "=>")
REMEMBERED = 300
"""Bytes that the values of a binding and what an expression gives for them take, about."""


@record
class Elements:
    """The codes of the elements of each row's collection: where they start in `codes`, and how many they are."""

    codes: Words
    starts: Places
    counts: Places

    def part(self, start: int, end: int, arrays: Arrays) -> tuple[Places, Words]:
        """Return the elements of some of the rows: the place of the row, and the code."""
        starts = self.starts[start:end]
        places, chosen = arrays(end - start).expand(starts, starts + self.counts[start:end])
        return places + start, self.codes[chosen]


class Scalars:
    """Evaluates the expressions of one program."""

    def __init__(
        self, codec: Codec, functions: Mapping[str, e.Function], types: Mapping[str, TypeDefinition], arrays: Arrays
    ) -> None:
        self.arrays = arrays
        self.codec = codec
        self._closures = Closures(functions, types)
        self._memory: dict[e.Expr, tuple[Closure, dict[Any, Any]]] = {}

    def codes(self, expression: e.Expr, table: Table) -> Words:
        """Return the codes of an expression for each row."""
        match expression:
            case e.Var(name):
                return table.codes(name)
            case e.Const(value, type):
                return np.full(table.count, self.codec.code(value, type), U)
        vector = self._vector(expression, table)
        if vector is not None:
            return write(vector, expression.type, self.codec)
        distinct, inverse = self._distinct(expression, table)
        return np.array(self._one_by_one(expression, distinct, expression.type), U)[inverse]

    def mask(self, condition: e.Expr, table: Table) -> Mask:
        """Return whether a condition holds for each row."""
        vector = self._vector(condition, table)
        return self.codes(condition, table).astype(bool) if vector is None else vector.astype(bool, copy=False)

    def elements(self, expression: e.Expr, type: Type, table: Table) -> Elements:
        """Return the elements of a collection for each row."""
        distinct, inverse = self._distinct(expression, table)
        collections = self._one_by_one(expression, distinct, None)
        lists = [self.codec.codes(list(counted(elements(collection))), type) for collection in collections]
        lengths = np.array([len(codes) for codes in lists], np.int64)
        flat = np.concatenate(lists) if lists else np.empty(0, U)
        starts = np.cumsum(lengths) - lengths
        return Elements(flat, starts[inverse], lengths[inverse])

    def value(self, expression: e.Expr, environment: dict[str, Any]) -> Any:
        """Return the value of an expression in one environment."""
        return self._closure(expression)[0](environment)

    # --- whole columns -----------------------------------------------------------------------------------------------

    def _vector(self, node: e.Expr, table: Table) -> Vector | None:
        match node:
            case e.Var(name, type):
                return read(table.codes(name), type)
            case e.Const(value, type):
                return read(np.full(table.count, self.codec.code(value, type), U), type)
            case e.Operate(operator) if operator in _LAZY:
                return self._lazy(node, table)
            case e.Operate():
                return self._operate(node, table)
            case e.If(condition, then, otherwise, type) if _is_number(type):
                return self._if(condition, then, otherwise, table)
            case _ if _is_number(node.type):
                distinct, inverse = self._distinct(node, table)
                return read(np.array(self._one_by_one(node, distinct, node.type), U)[inverse], node.type)
            case _:
                return None

    def _operate(self, node: e.Operate, table: Table) -> Vector | None:
        if node.operator in ("==", "!=") and not _is_number(node.operands[0].type):
            a, b = (self.codes(operand, table) for operand in node.operands)
            return np.equal(a, b) if node.operator == "==" else np.not_equal(a, b)
        if not all(_is_number(operand.type) for operand in node.operands) or not _is_number(node.type):
            return None
        if node.operator == "slice":
            vector = self._vector(node.operands[0], table)
            high, low = (operand.value for operand in node.operands[1:] if isinstance(operand, e.Const))
            return None if vector is None else slice_bits(vector, high, low)
        vectors: list[Vector] = []
        for operand in node.operands:
            vector = self._vector(operand, table)
            if vector is None:
                return None
            vectors.append(vector)
        try:
            return operate(node.operator, vectors, [operand.type for operand in node.operands], node.type)
        except ZeroDivisionError:
            return None  # value by value, the failing row is named

    def _lazy(self, node: e.Operate, table: Table) -> Vector:
        result = self.mask(node.operands[0], table).copy()
        if node.operator == "=>":
            result = ~result
        wanted = result if node.operator == "and" else ~result
        if wanted.any():
            result[wanted] = self.mask(node.operands[1], table.filtered(wanted))
        return result

    def _if(self, condition: e.Expr, then: e.Expr, otherwise: e.Expr, table: Table) -> Vector | None:
        chosen = self.mask(condition, table)
        parts: list[tuple[Mask, Vector]] = []
        for mask, branch in ((chosen, then), (~chosen, otherwise)):
            if mask.any():
                vector = self._vector(branch, table.filtered(mask))
                if vector is None:
                    return None
                parts.append((mask, vector))
        if not parts:
            return None
        result = np.empty(table.count, parts[0][1].dtype)
        for mask, vector in parts:
            result[mask] = vector
        return result

    # --- value by value ----------------------------------------------------------------------------------------------

    def _distinct(self, expression: e.Expr, table: Table) -> tuple[Table, Places]:
        """Return the distinct bindings of the variables an expression reads, and the place of each row's."""
        names = list(free_variables(expression))
        narrow = table.keeping(names, self.arrays)
        functions = self.arrays(narrow.count)
        if narrow.count == 0:
            return narrow, np.empty(0, np.int64)
        order = functions.order(narrow.rows)
        ordered = np.ascontiguousarray(narrow.rows[:, order])
        firsts = functions.firsts(ordered)
        number = np.zeros(narrow.count, np.int64)
        number[firsts[1:]] = 1
        inverse = np.empty(narrow.count, np.int64)
        inverse[order] = np.cumsum(number)
        return Table(narrow.layout, np.ascontiguousarray(ordered[:, firsts])), inverse

    def _one_by_one(self, expression: e.Expr, table: Table, type: Type | None) -> list[Any]:
        """Return the code (or without a type, the value) of an expression for each row."""
        closure, memory = self._closure(expression)
        variables = list(free_variables(expression).values())
        columns = [table.codes(variable.name) for variable in variables]
        keys = list(zip(*(column.tolist() for column in columns), strict=True)) if columns else [()] * table.count
        missing = [place for place, key in enumerate(keys) if key not in memory]
        if missing:
            ask(REMEMBERED * len(missing))
            places = np.array(missing, np.int64)
            decoded = [self.codec.values(c[places], v.type) for c, v in zip(columns, variables, strict=True)]
            for number, place in enumerate(missing):
                environment = {v.name: column[number] for v, column in zip(variables, decoded, strict=True)}
                shown = dict(environment)
                step()
                try:
                    value = closure(environment)
                except LimitError:
                    raise
                except Exception as error:
                    raise ScalarError(error, expression, shown) from error
                memory[keys[place]] = value if type is None else self.codec.code(value, type)
        return [memory[key] for key in keys]

    def _closure(self, expression: e.Expr) -> tuple[Closure, dict[Any, Any]]:
        found = self._memory.get(expression)
        if found is None:
            found = self._memory[expression] = (self._closures.compile(expression), {})
        return found


def _is_number(type: Type) -> bool:
    """Tell whether columns of the type can be read as arrays of numbers or truth values."""
    match type:
        case t.Bool() | t.Float() | t.Double() | t.BigInt():
            return True
        case t.Bit(width) | t.Signed(width):
            return width <= 64
        case _:
            return False

"""A declared index: the rows of a relation by the values of an index's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidelog.base.errors import DataError
from tidelog.base.expr import Const, ConstPattern, ConstructorPattern, Pattern, TuplePattern, Var, VarPattern
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import Plain
from tidelog.base.record import record
from tidelog.base.types import show
from tidelog.base.values import Value, Variant
from tidelog.plan.nodes import DeclaredIndex, Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.frames.tabular import in_row_order


@record
class IndexView:
    """An index of a program: its relation, and its parameters in order with their types as the language writes them."""

    name: str
    relation: str
    parameters: Mapping[str, str]


LookUp = Callable[[str, Mapping[int, Value]], Rows]
"""Gives the rows of a relation that have values in some columns, by their places."""


class Index:
    """A declared index."""

    def __init__(self, declared: DeclaredIndex, relation: Relation, plain: Plain) -> None:
        self.declared = declared
        self._columns = relation.columns
        self._readers = [plain.read(parameter.type) for parameter in declared.parameters]

    def view(self) -> IndexView:
        """Return what users see of the declaration."""
        declared = self.declared
        return IndexView(declared.name, declared.relation, {one.name: show(one.type) for one in declared.parameters})

    def find(self, key: Sequence[Any], look_up: LookUp) -> list[Row]:
        """Return the rows with a key, in order."""
        parameters = self.declared.parameters
        if len(key) != len(parameters):
            wanted = ", ".join(f"{parameter.name}: {show(parameter.type)}" for parameter in parameters)
            raise DataError(f"index {self.declared.name} has the parameters ({wanted}), but {len(key)} were given")
        proper = []
        for parameter, read, value in zip(parameters, self._readers, key, strict=True):
            try:
                proper.append(read(value))
            except Misfit as misfit:
                raise DataError(f"index {self.declared.name}, parameter `{parameter.name}`: {misfit}") from None
        given = dict(zip([parameter.name for parameter in parameters], proper, strict=True))
        bound: dict[int, Value] = {}
        for column, term in enumerate(self.declared.terms):
            if isinstance(term, Const):
                bound[column] = term.value
            elif isinstance(term, Var) and term.name in given:
                bound[column] = given[term.name]
        for column, pattern in self.declared.patterns:
            value = _value(pattern, given)
            if value is not OPEN:
                bound[column] = value
        rows = look_up(self.declared.relation, bound)
        return in_row_order([row for row in rows if self._fits(row, given)], self._columns)

    def all(self, rows: Rows) -> list[Row]:
        """Return the rows that some key finds, in order."""
        return in_row_order([row for row in rows if self._fits(row, {})], self._columns)

    def _fits(self, row: Row, given: Mapping[str, Value]) -> bool:
        """Tell whether a row fits the index's atom, whose parameters may have values."""
        values: dict[str, Any] = {**given}
        for term, value in zip(self.declared.terms, row, strict=True):
            match term:
                case Var(name):
                    if values.setdefault(name, value) != value:
                        return False
                case Const(constant):
                    if constant != value:
                        return False
        return all(_match(pattern, row[column], values) for column, pattern in self.declared.patterns)


OPEN = object()


def _value(pattern: Pattern, given: Mapping[str, Value]) -> Value:
    """Return the only value that fits a pattern, or `OPEN` if there may be several."""
    match pattern:
        case ConstPattern(value):
            return value
        case VarPattern(name, _, inner):
            return given[name] if name in given else _value(inner, given)
        case TuplePattern(items):
            parts = tuple([_value(item, given) for item in items])
            return OPEN if any(part is OPEN for part in parts) else parts
        case ConstructorPattern(constructor, items):
            parts = tuple([_value(item, given) for item in items])
            return (
                OPEN if any(part is OPEN for part in parts) else Variant(constructor.name, constructor.position, parts)
            )
        case _:
            return OPEN


def _match(pattern: Pattern, value: Value, values: dict[str, Value]) -> bool:
    """Tell whether a value fits a pattern; `values` are those of variables so far."""
    match pattern:
        case ConstPattern(constant):
            return bool(value == constant)
        case VarPattern(name, _, inner):
            return bool(values.setdefault(name, value) == value) and _match(inner, value, values)
        case TuplePattern(items):
            return all(_match(item, part, values) for item, part in zip(items, value, strict=True))
        case ConstructorPattern(constructor, items):
            return value.position == constructor.position and all(
                _match(item, part, values) for item, part in zip(items, value.fields, strict=True)
            )
        case _:
            return True

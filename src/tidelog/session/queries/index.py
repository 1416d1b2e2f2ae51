"""A declared index: the rows of a relation by the values of an index's parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from tidelog.base.errors import DataError
from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.base.types import show
from tidelog.plan.nodes import DeclaredIndex, Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.changes import in_row_order
from tidelog.session.frames.misfit import Misfit
from tidelog.session.frames.plain import Plain


@record
class IndexView:
    """An index of a program: its relation, and its parameters in order with their types as the language writes them."""

    name: str
    relation: str
    parameters: Mapping[str, str]


class Index:
    """An index over the rows of one commit; its table is made when first asked."""

    def __init__(self, declared: DeclaredIndex, relation: Relation, rows: Rows, plain: Plain) -> None:
        self.rows = rows
        self.declared = declared
        self._columns = relation.columns
        self._readers = [plain.read(parameter.type) for parameter in declared.parameters]

    def view(self) -> IndexView:
        """Return what users see of the declaration."""
        declared = self.declared
        return IndexView(declared.name, declared.relation, {one.name: show(one.type) for one in declared.parameters})

    def find(self, key: Sequence[Any]) -> list[Row]:
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
        return in_row_order(self._table.get(tuple(proper), ()), self._columns)

    def all(self) -> list[Row]:
        """Return every row that some key finds, in order."""
        return in_row_order([row for rows in self._table.values() for row in rows], self._columns)

    @cached_property
    def _table(self) -> dict[Row, list[Row]]:
        table: dict[Row, list[Row]] = {}
        for row in self.rows:
            key = self._key(row)
            if key is not None:
                table.setdefault(key, []).append(row)
        return table

    def _key(self, row: Row) -> Row | None:
        """Return the values of the parameters in a row; None if it does not fit the index's atom."""
        values: dict[str, Any] = {}
        for term, value in zip(self.declared.terms, row, strict=True):
            match term:
                case Var(name):
                    if values.setdefault(name, value) != value:
                        return None
                case Const(constant):
                    if constant != value:
                        return None
        return tuple(values[parameter.name] for parameter in self.declared.parameters)

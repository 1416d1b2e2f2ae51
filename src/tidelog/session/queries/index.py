"""A declared index: the rows of a relation by the values of an index's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tidelog.base.errors import DataError
from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.base.types import show
from tidelog.base.values import Value
from tidelog.plan.nodes import DeclaredIndex, Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.frames.misfit import Misfit
from tidelog.session.frames.plain import Plain
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
        return self.all(look_up(self.declared.relation, bound))

    def all(self, rows: Rows) -> list[Row]:
        """Return the rows that some key finds, in order."""
        return in_row_order([row for row in rows if self._fits(row)], self._columns)

    def _fits(self, row: Row) -> bool:
        """Tell whether a row fits the index's atom."""
        values: dict[str, Any] = {}
        for term, value in zip(self.declared.terms, row, strict=True):
            match term:
                case Var(name):
                    if values.setdefault(name, value) != value:
                        return False
                case Const(constant):
                    if constant != value:
                        return False
        return True

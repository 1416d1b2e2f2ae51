"""What users give for input relations, checked: rows, keys, changes of columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidelog.base.arguments import expect
from tidelog.base.errors import DataError
from tidelog.base.plain.plain import Plain
from tidelog.base.text.write import show_row
from tidelog.base.tuning.files import Rows as RowThresholds
from tidelog.logic.program import Program, Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.changes import check_known
from tidelog.session.facts.keys import read_keys
from tidelog.session.frames.rows import GivenRows, RowReader, is_frame


class Reading:
    """Reads what is given for the input relations of a program."""

    def __init__(self, program: Program, tuning: RowThresholds) -> None:
        self.program = program
        self.plain = Plain(program.types)
        self._tuning = tuning
        self._readers: dict[str, RowReader] = {}

    def relation(self, name: str) -> Relation:
        """Return the declaration of a relation."""
        check_known(name, self.program.relations)
        return self.program.relations[name]

    def input(self, name: str) -> Relation:
        """Return the declaration of an input relation."""
        found = self.relation(name)
        if found.past is not None:
            raise DataError(f"{name} has rows of the past: it takes no facts")
        if found.role != "input":
            raise DataError(f"{name} is an {found.role} relation: only input relations take facts")
        return found

    def rows(self, relation: str, rows: GivenRows) -> Rows:
        """Return rows given by a user, checked."""
        found = self.input(relation)
        if is_frame(rows):
            from tidelog.session.frames.arrow import TableRows, as_table, read_table  # noqa: PLC0415  (loads pyarrow)

            return rows if isinstance(rows, TableRows) else read_table(as_table(rows, found.columns), found, self.plain)
        if relation not in self._readers:
            self._readers[relation] = RowReader.of(found, self.plain, self._tuning)
        return self._readers[relation].read(rows)

    def keys(self, relation: str, keys: Iterable[Any]) -> list[Any]:
        """Return primary keys given by a user, checked."""
        return read_keys(self.input(relation), keys, self.plain)

    def revised(self, relation: str, row: Row, changes: Mapping[str, Any]) -> Row:
        """Return a row with other values in some columns: values, or functions from the old value to the new one."""
        expect(changes, Mapping, "changes", "values by the name of a column")
        columns = [column.name for column in self.input(relation).columns]
        revised: dict[str, Any] = dict(zip(columns, row, strict=True))
        for name, change in changes.items():
            revised[name] = change(revised[name]) if callable(change) and name in revised else change
        (changed,) = self.rows(relation, [revised])
        return changed

    def show(self, relation: Relation, row: Row) -> str:
        """Write a row as the language does."""
        return show_row(relation.name, relation.columns, row, self.program.types)

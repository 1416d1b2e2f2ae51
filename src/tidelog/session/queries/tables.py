"""Rows of relations by what they have in some columns, for engines that have no indexes of their own to look in.

A table is made when rows are first looked up by its columns, follows each commit at the price of the change, and goes
when many commits have come in which nobody used it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidelog.base.process.growth import counted
from tidelog.base.record import record
from tidelog.run.contract.engine import Delta, Row, Rows
from tidelog.session.queries.goal import key_of

Columns = tuple[int, ...]
UNUSED = 100
"""After how many commits without a look-up a table goes."""


@record
class Table:
    """The rows of a relation by what they have in some columns; `used` has the commit of the last look-up."""

    rows: dict[Row, dict[Row, None]]
    used: list[int]


class Tables:
    """The tables of one database."""

    def __init__(self) -> None:
        self._tables: dict[tuple[str, Columns], Table] = {}

    def find(self, relation: str, columns: Columns, key: Row, commit: int, rows: Callable[[], Rows]) -> list[Row]:
        """Return the rows of a relation with a key; `rows` gives all of them, as of a commit."""
        found = self._tables.get((relation, columns))
        if found is None:
            found = Table({}, [commit])
            for row in counted(rows()):
                found.rows.setdefault(key_of(row, columns), {})[row] = None
            self._tables[relation, columns] = found  # complete before it can be found
        found.used[0] = commit
        return list(found.rows.get(key, ()))

    def follow(self, changes: Mapping[str, Delta], commit: int) -> None:
        """Follow a commit."""
        self._tables = {place: table for place, table in self._tables.items() if commit - table.used[0] <= UNUSED}
        for (relation, columns), table in self._tables.items():
            change = changes.get(relation)
            if change is None:
                continue
            for row in change.deleted:
                key = key_of(row, columns)
                rows = table.rows[key]
                del rows[row]
                if not rows:
                    del table.rows[key]
            for row in change.inserted:
                table.rows.setdefault(key_of(row, columns), {})[row] = None

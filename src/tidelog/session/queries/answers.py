"""The answers to a goal: rows of its variables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tidelog.base.errors import UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.types import Field
from tidelog.plan import nodes
from tidelog.run.contract.engine import Rows
from tidelog.session.frames.tabular import Tabular

if TYPE_CHECKING:
    from tidelog.session.program.static import Plan


class Answers(Tabular):
    """Distinct rows with a column for each variable of a goal; of a goal without variables `()` if it holds.

    >>> import tidelog
    >>> db = tidelog.Database("input relation Edge(a: u8, b: u8)", facts={"Edge": [(1, 2), (1, 3), (2, 3)]})
    >>> db.query("Edge(1, x), not Edge(x, 3)")
    <Answers (x: bit<8>) with 1 row>
    >>> list(_), bool(db.query("Edge(3, 3)"))
    ([(3,)], False)
    """

    def __init__(self, rows: Rows, columns: Sequence[Field], plain: Plain, plan: nodes.Plan | None = None) -> None:
        self._rows = rows
        self.fields = tuple(columns)
        self.plain = plain
        self._plan = plan

    def raw_rows(self) -> Rows:
        """Return the rows unordered and as the engine gave them: columns that are in Arrow stay there."""
        return self._rows

    def head(self, count: int) -> Answers:
        """Return the first rows in the language's order."""
        return Answers(self.rows()[:count], self.fields, self.plain, self._plan)

    @property
    def plan(self) -> Plan:
        """How the goal is computed, with the rules that it asks: print it, or have it drawn."""
        if self._plan is None:
            raise UserError("these rows were looked up: there is no plan")
        from tidelog.session.program.static import Plan  # noqa: PLC0415  (few goals show theirs)

        return Plan(self._plan)

    def __contains__(self, row: object) -> bool:
        return row in self._rows

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {type}" for name, type in self.columns.items())
        return f"<Answers ({columns}) with {len(self)} row{'' if len(self) == 1 else 's'}>"

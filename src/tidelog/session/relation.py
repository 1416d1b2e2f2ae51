"""Looking at a relation: its rows as of the last commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tidelog.base import types
from tidelog.base.errors import DataError
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.changes import in_row_order, to_pandas, to_polars
from tidelog.session.frames.rows import RowReader
from tidelog.session.store import Store

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame as SparkFrame


class RelationView:
    """A relation of a database. Each call sees the last commit at that moment.

    >>> import tidelog
    >>> db = tidelog.Database("input relation Edge(a: u32, b: u32)")
    >>> with db.transaction() as tx:
    ...     tx.insert("Edge", [(2, 3), (1, 2)])
    >>> edges = db.relation("Edge")
    >>> edges.rows(), edges.count(), (1, 2) in edges
    ([(1, 2), (2, 3)], 2, True)
    """

    def __init__(self, relation: Relation, store: Store) -> None:
        self._relation = relation
        self._store = store

    @property
    def name(self) -> str:
        """The relation's name; that of an imported module is qualified, as in `lib::Edge`."""
        return self._relation.name

    @property
    def role(self) -> str:
        """`input`, `output` or `internal`."""
        return self._relation.role

    @property
    def columns(self) -> dict[str, str]:
        """The columns' names, with their types as the language writes them."""
        return {column.name: types.show(column.type) for column in self._relation.columns}

    def rows(self, *, ordered: bool = True) -> list[Row]:
        """Return the rows, in the language's order unless that does not matter."""
        rows = self._store.rows(self.name)
        return in_row_order(rows, self._relation.columns) if ordered else list(rows)

    def raw_rows(self) -> Rows:
        """Return the rows unordered and as the engine keeps them: columns that are in Arrow stay there."""
        return self._store.rows(self.name)

    def count(self) -> int:
        """Return the number of rows."""
        return self._store.count(self.name)

    __len__ = count

    def __contains__(self, row: object) -> bool:
        try:
            (proper,) = RowReader.of(self._relation, self._store.plain).read([row])
        except DataError:
            return False  # what does not fit the columns is not there
        return self._store.contains(self.name, proper)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows())

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {type}" for name, type in self.columns.items())
        return f"{self.role} relation {self.name}({columns}) with {self.count()} rows"

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table, in any order; `session.frames.arrow` says how types are represented."""
        from tidelog.session.frames.arrow import rows_table  # noqa: PLC0415  (loads pyarrow)

        return rows_table(self._store.rows(self.name), self._relation.columns, self._store.plain)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Offer the rows to any library that speaks Arrow."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def to_pandas(self) -> pd.DataFrame:
        """Return the rows as a pandas frame."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return the rows as a polars frame."""
        return to_polars(self.to_arrow())

    def to_spark(self, *, text: bool = False) -> SparkFrame:
        """Return the rows as a Spark DataFrame, which stays in the cluster; the database must run on Spark.

        Structures are structs, arrays and maps; with `text` they are as the language writes them.
        """
        frame: SparkFrame = self._store.frame(self.name)
        if text:
            return frame
        from tidelog.session.frames.structured import structured  # noqa: PLC0415  (loads PyArrow)

        return structured(frame, self._relation.columns, self._store.plain)

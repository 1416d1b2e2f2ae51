"""Looking at a relation: its rows as of the last commit."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tidelog.base.errors import DataError
from tidelog.logic.program import each_of
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.frames.rows import RowReader
from tidelog.session.frames.tabular import Tabular, in_row_order
from tidelog.session.queries.answers import Answers
from tidelog.session.queries.goal import bound_columns
from tidelog.session.store import Store

if TYPE_CHECKING:
    from pyspark.sql import DataFrame as SparkFrame


class RelationView(Tabular):
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
        self.fields = relation.columns
        self.plain = store.plain
        self._store = store

    @property
    def name(self) -> str:
        """The relation's name; that of an imported module is qualified, as in `lib::Edge`."""
        return self._relation.name

    @property
    def role(self) -> str:
        """`input`, `output` or `internal`."""
        return self._relation.role

    def raw_rows(self) -> Rows:
        """Return the rows unordered and as the engine keeps them: columns that are in Arrow stay there."""
        return self._store.rows(self.name)

    def weights(self) -> dict[Row, int]:
        """Return how often each row is there: in a multiset the number of its derivations, otherwise once.

        >>> import tidelog
        >>> db = tidelog.Database("input multiset Coin(cents: u8)")
        >>> with db.transaction() as tx:
        ...     tx.insert("Coin", [(5,), (10,), (5,)])
        >>> db["Coin"].rows(), db["Coin"].weights()
        ([(5,), (10,)], {(5,): 2, (10,): 1})
        """
        if self._relation.kind != "multiset":
            return dict.fromkeys(self.rows(), 1)
        found = Counter(row[:-1] for row in self._store.rows(each_of(self.name)))
        return {row: found[row] for row in in_row_order(found, self.fields)}

    def count(self) -> int:
        """Return the number of rows."""
        return self._store.count(self.name)

    __len__ = count

    def where(self, **values: Any) -> Answers:
        """Return the rows that have these values in some columns; the first look-up builds an index, which stays.

        >>> import tidelog
        >>> db = tidelog.Database("input relation Edge(a: u8, b: u8)", facts={"Edge": [(1, 2), (1, 3), (2, 3)]})
        >>> db["Edge"].where(a=1).rows()
        [(1, 2), (1, 3)]
        """
        bound = bound_columns(self.fields, values, self.name, self.plain)
        return Answers(self._store.look_up(self.name, bound), self.fields, self.plain)

    def __contains__(self, row: object) -> bool:
        try:
            (proper,) = RowReader.of(self._relation, self.plain).read([row])
        except DataError:
            return False  # what does not fit the columns is not there
        return self._store.contains(self.name, proper)

    def __repr__(self) -> str:
        columns = ", ".join(f"{name}: {type}" for name, type in self.columns.items())
        return f"{self.role} relation {self.name}({columns}) with {self.count()} rows"

    def to_spark(self, *, text: bool = False) -> SparkFrame:
        """Return the rows as a Spark DataFrame, which stays in the cluster; the database must run on Spark.

        Structures are structs, arrays and maps; with `text` they are as the language writes them.
        """
        frame: SparkFrame = self._store.frame(self.name)
        if text:
            return frame
        from tidelog.session.frames.structured import structured  # noqa: PLC0415  (loads PyArrow)

        return structured(frame, self._relation.columns, self.plain)

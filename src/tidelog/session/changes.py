"""What a commit did: for each relation the rows that became true and those that became false."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from tidelog.base.arguments import expect
from tidelog.base.diagnostic import did_you_mean
from tidelog.base.errors import MissingExtraError, UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.record import record
from tidelog.plan.nodes import Plan, Relation
from tidelog.run.contract.engine import Delta, Row, Rows, Work
from tidelog.session.frames.tabular import in_row_order, to_pandas, to_polars

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame as SparkFrame
    from pyspark.sql import SparkSession

WEIGHT = "weight"


class Change:
    """The exact change of one relation in one commit; iterating gives (row, weight), +1 for what became true.

    Rows are in the language's order, first all inserted, then all deleted ones. Of a multiset, iterating gives by how
    much the weight of each row changed; inserted and deleted are rows that there were none of before, or are none now.

    >>> import tidelog
    >>> db = tidelog.Database("input relation Edge(a: u8, b: u8)")
    >>> with db.transaction() as tx:
    ...     tx.insert("Edge", [(1, 2), (0, 1)])
    >>> change = tx.result.changes["Edge"]
    >>> list(change), len(change), change.deleted
    ([((0, 1), 1), ((1, 2), 1)], 2, [])
    >>> change.to_arrow().to_pydict()
    {'a': [0, 1], 'b': [1, 2], 'weight': [1, 1]}
    """

    __slots__ = ("_columns", "_deleted", "_inserted", "_plain", "_sorted", "_weights", "commit", "relation")

    def __init__(
        self,
        relation: Relation,
        change: Delta,
        plain: Plain,
        commit: int | None,
        weights: Mapping[Row, int] | None = None,
    ) -> None:
        self.relation = relation.name
        self.commit = commit
        """The number of the commit; None in a preview."""
        self._columns = relation.columns
        self._inserted = change.inserted
        self._deleted = change.deleted
        self._plain = plain
        self._sorted: dict[str, list[Row]] = {}
        self._weights = weights
        """Of a multiset, by how much each weight changed."""

    @property
    def inserted(self) -> list[Row]:
        """The rows that became true."""
        return self._in_order("inserted", self._inserted)

    @property
    def deleted(self) -> list[Row]:
        """The rows that became false."""
        return self._in_order("deleted", self._deleted)

    def _in_order(self, name: str, rows: Collection[Row]) -> list[Row]:
        if name not in self._sorted:
            self._sorted[name] = in_row_order(rows, self._columns)
        return self._sorted[name]

    def __iter__(self) -> Iterator[tuple[Row, int]]:
        if self._weights is not None:
            yield from ((row, self._weights[row]) for row in self._in_order("weights", self._weights.keys()))
            return
        yield from ((row, 1) for row in self.inserted)
        yield from ((row, -1) for row in self.deleted)

    def __len__(self) -> int:
        if self._weights is not None:
            return len(self._weights)
        return len(self._inserted) + len(self._deleted)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many rows became true, and how many false; no row is looked at."""
        return len(self._inserted), len(self._deleted)

    def raw_rows(self) -> tuple[Rows, Rows]:
        """Return the rows that became true, and those that became false, unordered and as the engine keeps them."""
        return self._inserted, self._deleted

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Change) and (self.relation, [*self]) == (other.relation, [*other])

    __hash__ = None  # type: ignore[assignment]  # compared by content, like the lists it holds

    def __repr__(self) -> str:
        return f"Change({self.relation}: +{len(self._inserted)}, -{len(self._deleted)})"

    def to_arrow(self) -> pa.Table:
        """Return an Arrow table of the relation's columns and `weight`."""
        import pyarrow as pa  # noqa: PLC0415  (slow to load)

        from tidelog.session.frames.arrow import make_table  # noqa: PLC0415  (loads pyarrow)

        rows = [row for row, _ in self]
        table = make_table(rows, self._columns, self._plain)
        weights = pa.array([weight for _, weight in self], pa.int64())
        return table.append_column(WEIGHT, weights) if self._columns else pa.table({WEIGHT: weights})

    def to_pandas(self) -> pd.DataFrame:
        """Return a pandas frame of the relation's columns and `weight`."""
        return to_pandas(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """Return a polars frame of the relation's columns and `weight`."""
        return to_polars(self.to_arrow())

    def to_spark(self, spark: SparkSession | None = None, *, text: bool = False) -> SparkFrame:
        """Return a Spark DataFrame of the relation's columns and `weight`; rows in Spark stay there.

        Structures are structs, arrays and maps; with `text` they are as the language writes them.
        """
        try:
            from tidelog.run.spark.frames.frames import signed_frame  # noqa: PLC0415  (loads PySpark)
        except ImportError:
            raise MissingExtraError("pyspark", "spark") from None
        frame = signed_frame(self._inserted, self._deleted, self._columns, self._plain.definitions, WEIGHT, spark)
        if text:
            return frame
        from tidelog.session.frames.structured import structured  # noqa: PLC0415  (loads PyArrow)

        return structured(frame, self._columns, self._plain)


class Changes(Mapping[str, Change]):
    """The changes of a commit by relation, in order of names; a relation that has not changed gives an empty change."""

    def __init__(
        self,
        changes: Mapping[str, Delta],
        plan: Plan,
        plain: Plain,
        commit: int | None,
        weights: Mapping[str, Mapping[Row, int]] | None = None,
    ) -> None:
        self._weights = weights or {}
        self._relations = relations = plan.relations
        self._demanded = plan.demanded
        self._plain = plain
        self._commit = commit
        # No look at all relations: most commits change a few of many. An auxiliary one may have gone with its rule.
        known = (name for name in changes if name in relations and name not in plan.demanded)
        shown = sorted(name for name in known if not relations[name].auxiliary)
        shown = sorted({*(name for name in shown if changes[name]), *self._weights})
        self._changes = {name: self._make(name, changes.get(name, Delta())) for name in shown}

    def _make(self, name: str, change: Delta) -> Change:
        relation = self._relations[name]
        weights = self._weights.get(name, {}) if relation.kind == "multiset" else None
        return Change(relation, change, self._plain, self._commit, weights)

    def __getitem__(self, relation: str) -> Change:
        expect(relation, str, "relation", "the name of a relation")
        found = self._changes.get(relation)
        if found is not None:
            return found
        check_known(relation, self._relations)
        if relation in self._demanded:
            raise UserError(
                f"nobody knows all changes of {relation}, which is computed only as far as it is asked for: follow a"
                " goal with `watch`"
            )
        return self._make(relation, Delta())

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)

    def __contains__(self, relation: object) -> bool:
        return isinstance(relation, str) and relation in self._changes

    def __repr__(self) -> str:
        return f"Changes({', '.join(repr(change) for change in self._changes.values())})"


def check_known(relation: str, known: Mapping[str, Relation]) -> None:
    """Refuse the name of a relation that the program does not have."""
    expect(relation, str, "relation", "the name of a relation")
    if relation not in known:
        hint = did_you_mean(relation, known)
        raise UserError(f"the program has no relation `{relation}`" + (f"; {hint}" if hint else ""))


@record
class Commit:
    """The result of a transaction: its number, how long it took, the exact changes, and the work done by stratum.

    `failures` are the errors raised by subscribers, whose calls cannot undo the commit.
    """

    number: int
    duration: float
    changes: Changes
    profile: tuple[Work, ...] = ()
    failures: list[Exception] = field(default_factory=list, compare=False)
    live: Mapping[str, Delta] = field(default_factory=dict, compare=False, repr=False)
    """Of the goals that are watched what changed, by the names of their relations."""

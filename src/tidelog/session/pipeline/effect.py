"""What a version changes: rows gained and lost by relation, and the signed rows of one on their way to a sink."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base.plain.plain import Plain
from tidelog.base.types import is_simple
from tidelog.plan.nodes import Relation
from tidelog.session.changes import Commit
from tidelog.session.database import Database, plan_of
from tidelog.session.pipeline.config import Sink
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sinks.shapes import not_a_key, refuse_twice, refuse_twice_in_spark
from tidelog.session.pipeline.state.cells import WEIGHT, cells, schema_of, summed
from tidelog.session.pipeline.state.facts import in_cells
from tidelog.session.relation import RelationView

_SHOWN = ("input", "output")


class Effect(Protocol):
    """The change from one version to the next."""

    @property
    def counts(self) -> Mapping[str, tuple[int, int]]: ...
    def output(self, relation: str) -> Output: ...


class CommitEffect:
    """What one transaction did."""

    def __init__(self, commit: Commit, database: Database, spark: Callable[[], Any]) -> None:
        self._commit = commit
        self._database = database
        self._spark = spark
        changes = commit.changes
        self.counts = {name: changes[name].sizes for name in changes}

    def output(self, relation: str) -> Output:
        """Return the signed rows of a relation."""
        gained, lost = self._commit.changes[relation].raw_rows()
        plan = plan_of(self._database)
        columns = plan.relations[relation].columns

        def table() -> pa.Table:
            plain = Plain(plan.types)
            return pa.concat_tables([cells(gained, columns, plain), cells(lost, columns, plain, -1)])

        def frame() -> Any:
            from tidelog.run.spark.frames.frames import signed_frame  # noqa: PLC0415  (loads PySpark)

            return in_cells(signed_frame(gained, lost, columns, plan.types, WEIGHT, self._spark()), schema_of(columns))

        return Output(len(gained) + len(lost), table, frame if self._database.engine == "spark" else None)


def whole(database: Database, relation: str) -> Output:
    """Return all rows of a relation, each with the weight 1."""
    view, found = database.relation(relation), plan_of(database).relations[relation]

    def table() -> pa.Table:
        return cells(view.raw_rows(), found.columns, Plain(plan_of(database).types))

    def frame() -> Any:
        from pyspark.sql import functions as f

        return in_cells(view.to_spark(text=True).withColumn(WEIGHT, f.lit(1)), schema_of(found.columns))

    return Output(view.count(), table, frame if database.engine == "spark" else None)


def check_key(database: Database, sink: Sink, output: Output) -> None:
    """Refuse a key of a sink that two rows of its relation have, of which one is new."""
    relation, key = plan_of(database).relations[sink.relation], list(sink.key)
    every = whole(database, sink.relation)
    few = output.rows <= database.tuning.pipelines.key_rows and every.frame is None
    types = {column.name: column.type for column in relation.columns}
    if few and all(is_simple(types[name]) for name in key):
        view, signed = database.relation(sink.relation), output.table()
        for values in signed.filter(pc.greater(signed.column(WEIGHT), 0)).select(key).to_pylist():
            if len(view.where(**values).rows()) > 1:
                raise not_a_key(sink, values)
    elif every.frame is None:
        refuse_twice(every.table(), sink)
    else:
        refuse_twice_in_spark(every.frame(), sink)


def first_rows(database: Database, relation: str, most: int) -> pa.Table:
    """Return some rows of a relation; of one in Spark no more than these are brought to the driver."""
    view = database.relation(relation)
    if database.engine != "spark":
        return view.to_arrow().slice(0, most)
    return view.to_spark().limit(most).toArrow()


class RebuildEffect:
    """The difference between a database and the one that takes its place, for inputs and outputs of both.

    A relation whose columns differ counts as a new one: all its rows are gained. Small relations are compared on the
    driver, large ones in Spark. Without an old database every relation is a new one.
    """

    def __init__(self, old: Database | None, new: Database, spark: Callable[[], Any]) -> None:
        self._old = old
        self._new = new
        self._spark = spark
        self.output = lru_cache(maxsize=None)(self._output)
        shown = [view for view in new.relations() if old is None or view.role in _SHOWN]
        counted = {view.name: self._count(view) for view in shown}
        self.counts = {name: pair for name, pair in counted.items() if any(pair)}

    def _before(self, view: RelationView) -> Database | None:
        """Return the old database, if it has the relation with the same columns."""
        if self._old is None or view.name not in plan_of(self._old).relations:
            return None
        return self._old if self._old.relation(view.name).columns == view.columns else None

    def _count(self, view: RelationView) -> tuple[int, int]:
        old = self._before(view)
        if old is None:
            return view.count(), 0
        output = self.output(view.name)
        if output.frame is None:
            weights = output.table().column(WEIGHT).to_numpy()
            return int((weights > 0).sum()), int((weights < 0).sum())
        found = {row[WEIGHT]: row["count"] for row in output.frame().groupBy(f"`{WEIGHT}`").count().collect()}
        return found.get(1, 0), found.get(-1, 0)

    def _output(self, relation: str) -> Output:
        view = self._new.relation(relation)
        after, old = whole(self._new, relation), self._before(view)
        if old is None:
            return after
        before = whole(old, relation)
        small = after.rows + before.rows <= self._new.tuning.pipelines.driver_rows
        if small or (after.frame is None and before.frame is None):
            signed = summed(pa.concat_tables([after.table(), _negative(before.table())]))
            return Output(signed.num_rows, lambda: signed)
        new, gone = (one.spark(self._spark()).drop(WEIGHT) for one in (after, before))
        frame = _difference(new, gone, plan_of(self._new).relations[relation])
        return Output(after.rows + before.rows, frame.toArrow, lambda: frame)


def _negative(table: pa.Table) -> pa.Table:
    place = table.column_names.index(WEIGHT)
    return table.set_column(place, WEIGHT, pa.array([-1] * table.num_rows, pa.int64()))


def _difference(after: Any, before: Any, relation: Relation) -> Any:
    from pyspark.sql import functions as f

    gone = before.subtract(after).withColumn(WEIGHT, f.lit(-1))
    both = after.subtract(before).withColumn(WEIGHT, f.lit(1)).unionByName(gone)
    return in_cells(both, schema_of(relation.columns))

"""What a version changes: rows gained and lost by relation, and the signed rows of one as a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from tidelog.run.contract.engine import Delta
from tidelog.session.changes import WEIGHT, Change, Commit
from tidelog.session.database import Database, plan_of
from tidelog.session.frames.plain import Plain
from tidelog.session.relation import RelationView

_SHOWN = ("input", "output")


class Effect(Protocol):
    """The change from one version to the next."""

    @property
    def counts(self) -> Mapping[str, tuple[int, int]]: ...
    def frame(self, relation: str) -> Any: ...


class CommitEffect:
    """What one transaction did."""

    def __init__(self, commit: Commit, spark: Any) -> None:
        self._commit = commit
        self._spark = spark
        changes = commit.changes
        self.counts = {name: changes[name].sizes for name in changes}

    def frame(self, relation: str) -> Any:
        """Return the signed rows of a relation."""
        return self._commit.changes[relation].to_spark(self._spark, text=True)


class RebuildEffect:
    """The difference between a database and the one that takes its place, for inputs and outputs of both.

    A relation whose columns differ counts as a new one: all its rows are gained. Small relations are compared on the
    driver, large ones in Spark. Without an old database every relation is a new one.
    """

    def __init__(self, old: Database | None, new: Database, spark: Any) -> None:
        self._old = old
        self._new = new
        self._spark = spark
        self._small: dict[str, Change] = {}
        self._frame = lru_cache(maxsize=None)(self._difference)
        shown = [view for view in new.relations() if old is None or view.role in _SHOWN]
        counted = {view.name: self._count(view) for view in shown}
        self.counts = {name: pair for name, pair in counted.items() if any(pair)}

    def frame(self, relation: str) -> Any:
        """Return the signed rows of a relation."""
        small = self._small.get(relation)
        return self._frame(relation) if small is None else small.to_spark(self._spark, text=True)

    def _before(self, view: RelationView) -> RelationView | None:
        """Return the relation as it was, if it has the same columns."""
        if self._old is None or view.name not in plan_of(self._old).relations:
            return None
        before = self._old.relation(view.name)
        return before if before.columns == view.columns else None

    def _count(self, view: RelationView) -> tuple[int, int]:
        before = self._before(view)
        if before is None:
            return view.count(), 0
        if view.count() + before.count() <= self._new.tuning.pipelines.driver_rows:
            old, new = set(before.rows(ordered=False)), set(view.rows(ordered=False))
            plan = plan_of(self._new)
            change = Delta(list(new - old), list(old - new))
            self._small[view.name] = Change(plan.relations[view.name], change, Plain(plan.types), None)
            return self._small[view.name].sizes
        found = {row[WEIGHT]: row["count"] for row in self._frame(view.name).groupBy(WEIGHT).count().collect()}
        return found.get(1, 0), found.get(-1, 0)

    def _difference(self, relation: str) -> Any:
        from pyspark.sql import functions as f

        view = self._new.relation(relation)
        after, before = view.to_spark(text=True), self._before(view)
        if before is None:
            return after.withColumn(WEIGHT, f.lit(1).cast("long"))
        gone = before.to_spark(text=True).subtract(after).withColumn(WEIGHT, f.lit(-1).cast("long"))
        return after.subtract(before.to_spark(text=True)).withColumn(WEIGHT, f.lit(1).cast("long")).unionByName(gone)

"""What a version changes: rows gained and lost by relation, and the signed rows of one as a DataFrame."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Protocol

from tidelog.session.changes import WEIGHT, Commit
from tidelog.session.database import Database

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
        return self._commit.changes[relation].to_spark(self._spark)


class RebuildEffect:
    """The difference between a database and the one that takes its place, for inputs and outputs of both.

    A relation whose columns differ counts as a new one: all its rows are gained.
    """

    def __init__(self, old: Database, new: Database) -> None:
        self._old = old
        self._new = new
        self._frame = lru_cache(maxsize=None)(self._difference)
        shown = [view.name for view in new.relations() if view.role in _SHOWN]
        counted = {name: self._count(name) for name in shown}
        self.counts = {name: pair for name, pair in counted.items() if any(pair)}

    def frame(self, relation: str) -> Any:
        """Return the signed rows of a relation."""
        return self._frame(relation)

    def _count(self, relation: str) -> tuple[int, int]:
        found = {row[WEIGHT]: row["count"] for row in self._frame(relation).groupBy(WEIGHT).count().collect()}
        return found.get(1, 0), found.get(-1, 0)

    def _difference(self, relation: str) -> Any:
        from pyspark.sql import functions as f

        view = self._new.relation(relation)
        after = view.to_spark()
        kept = relation in self._old.plan.relations and self._old.relation(relation).columns == view.columns
        if not kept:
            return after.withColumn(WEIGHT, f.lit(1).cast("long"))
        before = self._old.relation(relation).to_spark()
        gained = after.subtract(before).withColumn(WEIGHT, f.lit(1).cast("long"))
        return gained.unionByName(before.subtract(after).withColumn(WEIGHT, f.lit(-1).cast("long")))

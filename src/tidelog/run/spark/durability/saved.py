"""Committed rows in files, so that they outlive the executors that hold them.

What an executor holds is gone with it, and what a run of rounds computed cannot be computed again: plans are cut. So on
a cluster a commit writes down, as Parquet, what it changed: a relation has a first table and later ones, each with the
rows that it set (rank and support null: the tuple is gone). The last that has a tuple counts. A commit writes as many
rows as it touched; tables of like size become one when there are many, and all become one when the later ones outgrow
the first. Rounds write nothing: if they are lost the update starts again from the commit (`recovery`).

Files go to Spark's checkpoint directory, which all machines must see. Where executors are threads of the driver there
are none, and none are needed.
"""

from __future__ import annotations

import tempfile
import uuid
import weakref
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base.errors import UserError
from tidelog.run.limits import tell
from tidelog.run.spark.cluster.session import SHUFFLE, is_local
from tidelog.run.spark.frames.checkpoint import Part, gathered, settle, told, united
from tidelog.run.spark.frames.grouped import GROUP, NODE, Grouped, grouped
from tidelog.run.spark.frames.relation import RANK, SUPPORT, Parts, Relation, Saved, by_hash, last_of_like_size, size_of

_TURN, _LAST = "turn", "last"
_unused: deque[str] = deque()
"""Files that nobody refers to any more. They are deleted later: Python may find out in the middle of a call to Java."""


class Archive:
    """The files of one engine."""

    def __init__(self, spark: SparkSession, directory: str) -> None:
        self._spark = spark
        self._directory = directory
        jvm: Any = spark._jvm  # noqa: SLF001
        self._path = jvm.org.apache.hadoop.fs.Path
        self._files = self._path(self._directory).getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())  # noqa: SLF001
        self._files.mkdirs(self._path(self._directory))
        self._files.deleteOnExit(self._path(self._directory))

    def save(self, before: Relation, after: Relation) -> None:
        """Write down what an update has changed in a relation; `before` still keeps apart what that is."""
        self._delete_unused()
        parts = (*before.removed, *before.inserted, *before.replaced, *before.changes)
        held, touched = size_of(after.settled), size_of(parts)
        groups = grouped(after.settled)
        if not held:
            after.saved = ()
        elif groups is not None:
            same = groups is grouped(before.settled) and bool(before.saved)
            after.saved = before.saved if same else (self._write(groups.nodes, groups.count, grouped=True),)
        elif not before.saved or before.saved[0].grouped or _is_outgrown(before.saved, touched):
            after.saved = (self._write(gathered(after.settled), held),)
        elif not touched:
            after.saved = before.saved
        else:
            rows = _changed(before, parts, after)
            after.saved = self._merged((*before.saved, self._write(rows, touched)), after)

    def read(self, relation: Relation) -> Relation:
        """Return a relation as it was saved, held by the executors there are now."""
        found = relation.emptied()
        found.counted, found.saved = relation.counted, relation.saved
        if not relation.saved:
            return found
        if relation.saved[0].grouped:
            return self._read_groups(relation, found)
        rows = self._latest(relation.saved, relation).where(f.col(RANK).isNotNull())
        found.partitions = int(self._spark.conf.get(SHUFFLE) or "2")
        whole, _ = settle(rows.repartition(found.partitions, *relation.columns))
        self._check(relation, whole.count, size_of(relation.settled))
        found.settled = (whole,)
        return found

    def _read_groups(self, relation: Relation, found: Relation) -> Relation:
        """Let a relation have the groups that were saved of it."""
        schema = s.StructType([field for field in relation.empty.schema.fields if field.name in (NODE, GROUP)])
        nodes, _ = settle(self._spark.read.schema(schema).parquet(relation.saved[0].path))
        self._check(relation, nodes.count, relation.saved[0].count)
        found.settled = (Part(Grouped(nodes.frame, nodes.count), size_of(relation.settled), placed=False, made=False),)
        return found

    def _check(self, relation: Relation, found: int, expected: int) -> None:
        if found != expected:
            raise UserError(
                f"{relation.name} had {expected} rows, but {found} were saved in"
                f" {self._directory}; Spark's checkpoint directory must be one that all machines of the cluster share"
            )

    def _merged(self, saved: tuple[Saved, ...], relation: Relation) -> tuple[Saved, ...]:
        """Make one table of the last ones if there are many; the first is left alone."""
        taken = last_of_like_size([one.count for one in saved[1:]], relation.most_parts)
        if not taken:
            return saved
        last = saved[-taken:]
        return (*saved[:-taken], self._write(self._latest(last, relation), sum(one.count for one in last)))

    def _latest(self, saved: Sequence[Saved], relation: Relation) -> DataFrame:
        """Return for each tuple the row of the last table that has it."""
        tables = [self._spark.read.schema(relation.empty.schema).parquet(one.path) for one in saved]
        if len(tables) == 1:
            return tables[0]
        numbered = united([table.withColumn(_TURN, f.lit(turn)) for turn, table in enumerate(tables)])
        last = f.max_by(f.struct(RANK, SUPPORT), _TURN).alias(_LAST)
        return numbered.groupBy(*relation.columns).agg(last).select(*relation.columns, f"{_LAST}.*")

    def _write(self, rows: DataFrame, count: int, *, grouped: bool = False) -> Saved:
        saved = Saved(f"{self._directory}/{uuid.uuid4()}", count, grouped)
        weakref.finalize(saved, _unused.append, saved.path).atexit = False
        try:
            rows.write.parquet(saved.path)
        except Exception as error:
            raise told(error) from error
        return saved

    def _delete_unused(self) -> None:
        while _unused:
            with suppress(Py4JError, IndexError):
                self._files.delete(self._path(_unused.popleft()), True)


def _is_outgrown(saved: Sequence[Saved], touched: int) -> bool:
    return touched + sum(one.count for one in saved[1:]) > saved[0].count


def _changed(before: Relation, parts: Parts, after: Relation) -> DataFrame:
    """Return the rows that an update has set, with rank and support null if they are gone."""
    if not before.replaced and not before.changes:  # what went did not come
        gone = [
            part.frame.select(*before.columns, *(f.lit(None).cast("long").alias(c) for c in (RANK, SUPPORT)))
            for part in before.removed
        ]
        return united([*gone, *(part.frame for part in before.inserted)])
    keys = united([part.frame.select(*before.columns) for part in parts]).distinct()
    return by_hash(keys).join(gathered(after.settled), before.columns, "left")


def archive_of(spark: SparkSession) -> Archive | None:
    """Return where an engine saves what it commits; None where executors end only with the driver."""
    if is_local(spark):
        return None
    given = spark.sparkContext.getCheckpointDir()
    if given is not None:
        return Archive(spark, f"{given.rstrip('/')}/tidelog-{uuid.uuid4()}")
    if (spark.sparkContext.master or "").startswith("local-cluster["):
        return Archive(spark, f"file:{tempfile.mkdtemp(prefix='tidelog-spark-')}")
    tell("no checkpoint directory: what two executors hold is lost with them (set spark.checkpoint.dir)")
    return None

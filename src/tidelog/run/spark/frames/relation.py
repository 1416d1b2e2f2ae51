"""A relation's tuples as DataFrames: columns `c0`, `c1` ..., with rank and support, hash-partitioned by the tuple.

Rows are never changed in place. During an update a relation keeps apart what changes, and a `View` (as in the columnar
engine) says which of these a scan sees: `settled` rows were there before; `removed` ones hide equal settled rows;
`inserted` rows came; the `delta` is that of the round, on its way in or (`falling`) out. Changes of support are a log
of their own. `finish` makes of it what the next update begins with.

A relation without columns has one that is always true.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base.types import Type
from tidelog.run.phases import AFTER, ALIVE, BEFORE, DELETED, DYING, INSERTED, View
from tidelog.run.spark.frames.checkpoint import Part, collect, gathered, settle, united
from tidelog.run.spark.frames.encode import spark_type
from tidelog.run.spark.frames.named import missing, named, total, truth

RANK, SUPPORT, TIMES, CHANGE, KNOWN = "rank", "support", "times", "change", "known"
TEXTS = "texts"
"""The name under which the bytes of cells that are text are counted."""
_CELL, _TEXT = 8, 24
"""Bytes of a cell: of a number, and of a text nobody has measured yet."""
Parts = tuple[Part, ...]


def column_name(number: int) -> str:
    """Return the name of a relation's column in DataFrames."""
    return f"c{number}"


def columns_of(arity: int) -> list[str]:
    """Return the columns that hold a relation's tuples."""
    return [column_name(number) for number in range(max(1, arity))]


def size_of(parts: Parts) -> int:
    """Return the number of rows of parts."""
    return sum(part.count for part in parts)


def by_hash(frame: DataFrame) -> DataFrame:
    """Let a join make a table of these rows, which are the fewer, rather than sort both sides."""
    return frame.hint("shuffle_hash")


def push(parts: Parts, part: Part, most: int) -> Parts:
    """Add a part; if there are more than `most` then, the last ones of like size become one."""
    if not part.count:
        return parts
    found = (*parts, part)
    taken = last_of_like_size([one.count for one in found], most)
    if not taken:
        return found
    merged, _ = settle(gathered(found[-taken:]))
    gc.collect()  # Spark frees the rows of parts that nobody refers to; those of PySpark's objects are cycles
    return (*found[:-taken], merged)


def last_of_like_size(counts: Sequence[int], most: int) -> int:
    """Return how many of the last tables, given by their rows, are to become one: none up to `most` tables."""
    if len(counts) <= most:
        return 0
    least, taken, rows = max(2, int(most) // 2), 1, counts[-1]
    while taken < len(counts) and (taken < least or counts[-taken - 1] <= rows):
        taken += 1
        rows += counts[-taken]
    return taken


@dataclass(frozen=True, slots=True, weakref_slot=True)
class Saved:
    """Rows of a relation in files (see `saved`), and how many at most."""

    path: str
    count: int
    grouped: bool = False
    """Whether the rows are nodes and their groups (`grouped`)."""


class Relation:
    """The tuples of one relation. Copies share what was computed."""

    def __init__(self, name: str, types: Sequence[Type], empty: DataFrame, most_parts: int, partitions: int) -> None:
        self.name = name
        self.most_parts = most_parts
        self.partitions = partitions
        self.types = tuple(types)
        self.columns = columns_of(len(self.types))
        self.empty = empty
        self.settled: Parts = ()
        self.removed: Parts = ()
        self.inserted: Parts = ()
        self.deleted: Parts = ()
        """What strata above see as deleted, and the delta when removed tuples are derived again."""
        self.replaced: Parts = ()
        """Tuples that were and are there, but with a new rank and support."""
        self.changes: Parts = ()
        self.delta = Part(empty, 0)
        self.falling = False
        self.final: Parts | None = None
        """What the relation holds in the end, if it was computed from scratch."""
        self.counted = True
        """Whether ranks and support are those of the rules, so that an update can go on from them."""
        self.saved: tuple[Saved, ...] = ()
        """The files that have what the relation held at the last commit."""
        self.text_columns = [
            name for name, type in zip(self.columns, self.types, strict=False) if spark_type(type) == s.StringType()
        ]
        self._numbers = _CELL * (len(self.columns) - len(self.text_columns))
        self.width = float(self._numbers + _TEXT * len(self.text_columns))
        """Bytes of a tuple, on average: measured when tuples are written."""
        self.copied: tuple[tuple[Parts, Parts, Parts], Any] | None = None
        """The tuples as an Arrow table on the driver, where somebody had them collected, and of which parts."""
        self._removed: tuple[Parts, Any] | None = None
        self._placed: dict[tuple[str, ...], tuple[Parts, Part]] = {}

    def copy(self) -> Relation:
        """Return a relation of the same tuples that can change on its own."""
        other = self.emptied()
        other.__dict__.update(self.__dict__)
        return other

    def emptied(self) -> Relation:
        """Return a relation of no tuples that can hold the same."""
        found = Relation(self.name, self.types, self.empty, self.most_parts, self.partitions)
        found.width = self.width
        return found

    def apart(self, name: str) -> Relation:
        """Return a relation of the same tuples under another name, which rules do not derive."""
        other = self.copy()
        other.name = name
        return other

    @property
    def changed_parts(self) -> tuple[Parts, Parts, Parts]:
        """What there was, and what of it this update has removed and inserted."""
        return self.settled, self.removed, self.inserted

    def removed_here(self) -> Any:
        """Return the tuples that this update has removed, which are few, as an Arrow table."""
        if self._removed is None or self._removed[0] != self.removed:
            self._removed = self.removed, collect(gathered(self.removed).select(*self.columns))
        return self._removed[1]

    def place(self) -> None:
        """Shuffle tuples to where they belong: they will be joined again and again, so better once."""
        if not all(part.placed for part in self.settled):
            rows = gathered(self.settled)
            self.settled = (settle(rows.repartition(self.partitions, *self.columns))[0],)

    def with_part(self, parts: Parts, part: Part) -> Parts:
        """Return parts of this relation with one more, in few tables."""
        return push(parts, part, self.most_parts)

    def delete(self, parts: Parts) -> None:
        """Let stored facts be what this update deletes."""
        self.removed = self.deleted = parts

    def insert(self, parts: Parts) -> None:
        """Let facts be what this update inserts."""
        self.inserted = parts

    def texts_in(self, chosen: Column | None = None) -> dict[str, Column]:
        """Return what is to be counted of rows, or of those `chosen`, so that `measure` knows their bytes."""
        if not self.text_columns:
            return {}
        lengths = [f.octet_length(name) for name in self.text_columns]
        length = reduce(Column.__add__, lengths)
        return {TEXTS: f.sum(length if chosen is None else f.when(chosen, length)).alias(TEXTS)}

    def measure(self, rows: int, counts: Mapping[str, int]) -> None:
        """Let tuples that are written, and were counted, tell how many bytes a tuple has."""
        if self.text_columns:
            self.weigh(rows, rows * self._numbers + counts.get(TEXTS, 0))

    def weigh(self, rows: int, size: int) -> None:
        """Let tuples that are written, with their size in bytes, say how wide a tuple is on average."""
        if rows:
            before = 0 if not self.settled else size_of(self.settled)
            self.width = (before * self.width + size) / (before + rows)

    def size(self, view: View) -> int:
        """Return the number of tuples in a view."""
        hidden = size_of(self.removed) if view.limit <= DYING else 0
        if view.limit == ALIVE and self.falling:
            hidden += self.delta.count
        count = size_of(self.settled) - hidden if view.limit >= 0 else 0
        count += size_of(self.inserted) if view.inserted else 0
        count += self.delta.count if view.delta else 0
        return count + (size_of(self.deleted) if view.deleted else 0)

    def held(self, view: View) -> Parts:
        """Return the parts that a view is made of, if they are all there is to it; nothing if rows are hidden."""
        if view == AFTER and self.final is not None:
            return self.final
        if view in (DELETED, INSERTED):
            return self.deleted if view == DELETED else self.inserted
        changed = self.removed or self.inserted or self.delta.count
        return () if view == AFTER and changed else self.settled if view in (BEFORE, AFTER) else ()

    @property
    def bytes(self) -> int:
        """The bytes of the tuples, as this update leaves them; of those that are made when they are read, none."""
        parts = (*self.settled, *self.inserted) if self.final is None else self.final
        return int(self.width * sum(part.count for part in parts if part.made))

    def frame(self, view: View) -> DataFrame:
        """Return the tuples of a view with rank and support."""
        settled = self.settled if view.limit >= 0 else ()
        others = self.inserted if view.inserted else ()
        if view.delta and self.delta.count:
            others = (*others, self.delta)
        if view.deleted:
            others = (*others, *self.deleted)
        hidden = self._hidden(view.limit)
        if not settled or not size_of(hidden):
            both = (*settled, *others)
            return gathered(both) if both else self.empty
        kept = self.without(gathered(settled), hidden)
        return united([kept, gathered(others)]) if others else kept

    def _hidden(self, limit: int) -> Parts:
        hidden = self.removed if limit <= DYING else ()
        return (*hidden, self.delta) if limit == ALIVE and self.falling else hidden

    def placed_by(self, names: tuple[str, ...]) -> DataFrame:
        """Return the tuples, as this update leaves them, partitioned by some columns: computed once, kept for later."""
        parts = (*self.settled, *self.inserted)
        known = self._placed.get(names)
        if known is None or known[0] != parts:
            rows = self.frame(AFTER).select(*self.columns)
            known = self._placed[names] = parts, settle(rows.repartition(self.partitions, *names))[0]
        return known[1].frame

    def without(self, frame: DataFrame, hidden: Parts) -> DataFrame:
        """Return the rows whose tuples are in none of the parts, which are small enough for a table in memory."""
        if not size_of(hidden):
            return frame
        return frame.join(by_hash(self._keys(hidden)), self.columns, "left_anti")

    def within(self, frame: DataFrame, seen: Parts) -> DataFrame:
        """Return the rows whose tuples are in one of the parts, which are small enough for a table in memory."""
        return frame.join(by_hash(self._keys(seen)), self.columns, "left_semi")

    def new_in(self, frame: DataFrame, known: Parts) -> DataFrame:
        """Return the few rows whose tuples are in none of the many of the parts."""
        if not size_of(known):
            return frame
        return self.marked(frame, gathered(known)).where(missing(KNOWN)).drop(KNOWN)

    def marked(self, frame: DataFrame, known: DataFrame) -> DataFrame:
        """Return the few rows with a mark, null for those whose tuples are not among the many known."""
        keys = known.select(*map(named, self.columns), truth(KNOWN))
        return by_hash(frame).join(keys, self.columns, "left")

    def _keys(self, parts: Parts) -> DataFrame:
        return gathered(parts).select(*map(named, self.columns))

    def change_sums(self) -> DataFrame | None:
        """Return by how much the support of tuples has changed."""
        if not self.changes:
            return None
        log = gathered(self.changes)
        return log.groupBy(*map(named, self.columns)).agg(total(CHANGE, CHANGE))

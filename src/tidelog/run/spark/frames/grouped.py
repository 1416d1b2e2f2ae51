"""An equivalence kept as its groups: a row for each node with the name of its group, where pairs are the tuples.

`Grouped` is what a relation holds, `Regrouped` what it has gained or lost from one grouping to another. Both make the
pairs when somebody reads them as rows, and know how many there are without making them. Nodes whose group is another
set than before are few after a small change, and all that a change is made of (`moved`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.run.spark.frames.checkpoint import Part, collect, settle
from tidelog.run.spark.frames.named import integer
from tidelog.run.spark.frames.relation import RANK, SUPPORT, Parts, column_name

NODE, GROUP, EARLIER, SIZE = column_name(0), column_name(1), "earlier", "size"
_OTHER = "other"


@dataclass(frozen=True, eq=False)
class Grouped:
    """Nodes with their groups, and the number of nodes."""

    nodes: DataFrame
    count: int

    @cached_property
    def frame(self) -> DataFrame:
        """The pairs."""
        others = self.nodes.select(f.col(NODE).alias(_OTHER), GROUP)
        return _pairs(self.nodes.join(others, GROUP).select(NODE, f.col(_OTHER).alias(GROUP)))

    def part(self) -> Part:
        """Return the pairs as rows of a relation, counted."""
        sizes = self.nodes.groupBy(GROUP).agg(f.count(f.lit(1)).alias(SIZE))
        (row,) = collect(sizes.agg(f.sum(f.col(SIZE) * f.col(SIZE)).alias(SIZE))).to_pylist()
        return Part(self, int(row[SIZE] or 0), placed=False, made=False)


@dataclass(frozen=True, eq=False)
class Regrouped:
    """The pairs in one of two groups of each of some nodes, `now`, that are not in the other, `then`."""

    moved: DataFrame
    now: str
    then: str

    @property
    def nodes(self) -> DataFrame:
        """The nodes that gained or lost a node of their group."""
        return self.moved.where(f.col(self.now).isNotNull()).select(NODE)

    @cached_property
    def frame(self) -> DataFrame:
        """The pairs."""
        mine = self.moved.where(f.col(self.now).isNotNull())
        others = mine.select(f.col(NODE).alias(_OTHER), self.now, f.col(self.then).alias("then"))
        same = f.coalesce(f.col(self.then) == f.col("then"), f.lit(False))
        return _pairs(mine.join(others, self.now).where(~same).select(NODE, f.col(_OTHER).alias(GROUP)))


def _pairs(frame: DataFrame) -> DataFrame:
    return frame.select(NODE, GROUP, integer(1, RANK), integer(1, SUPPORT))


def grouped(parts: Parts) -> Grouped | None:
    """Return the groups of a relation that is kept so."""
    rows = parts[0].rows if len(parts) == 1 else None
    return rows if isinstance(rows, Grouped) else None


def regrouped(before: Grouped, after: Grouped) -> tuple[Parts, Parts]:
    """Return the pairs that are gained and those that are lost."""
    earlier = before.nodes.select(NODE, f.col(GROUP).alias(EARLIER))
    both, _ = settle(after.nodes.select(NODE, GROUP).join(earlier, NODE, "full"))
    sizes = both.frame.groupBy(GROUP, EARLIER).agg(f.count(f.lit(1)).alias(SIZE))
    now = sizes.groupBy(GROUP).agg(f.sum(SIZE).alias("now"))
    then = sizes.groupBy(EARLIER).agg(f.sum(SIZE).alias("then"))
    other = (f.col(SIZE) < f.col("now")) | (f.col(SIZE) < f.col("then"))
    unknown = f.col(GROUP).isNull() | f.col(EARLIER).isNull()
    stirred = sizes.join(now, GROUP, "left").join(then, EARLIER, "left").where(unknown | other)
    groups, _ = settle(stirred.select(GROUP, EARLIER, SIZE))
    same = f.col(GROUP).eqNullSafe(f.col("g")) & f.col(EARLIER).eqNullSafe(f.col("e"))
    names = groups.frame.select(f.col(GROUP).alias("g"), f.col(EARLIER).alias("e"))
    moved, _ = settle(both.frame.join(names, same, "left_semi"))
    counts = [_squares(groups.frame, column) for column in (GROUP, EARLIER)]
    kept = _squares(groups.frame.where(f.col(GROUP).isNotNull() & f.col(EARLIER).isNotNull()), GROUP, EARLIER)
    gained, lost = (
        (Part(Regrouped(moved.frame, now, then), count - kept, placed=False, made=False),) if count > kept else ()
        for (now, then), count in zip(((GROUP, EARLIER), (EARLIER, GROUP)), counts, strict=True)
    )
    return gained, lost


def _squares(sizes: DataFrame, *columns: str) -> int:
    """Return how many pairs of nodes there are in groups, given the sizes of their parts."""
    known = sizes.where(f.col(columns[0]).isNotNull())
    found = known.groupBy(*columns).agg(f.sum(SIZE).alias(SIZE)).agg(f.sum(f.col(SIZE) * f.col(SIZE)).alias(SIZE))
    (row,) = collect(found).to_pylist()
    return int(row[SIZE] or 0)

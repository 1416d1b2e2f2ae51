"""From bags of derivations to tuples: counting support, finding what is new and what is lost. One job each.

The support of a tuple counts its derivations of a rank below its own (see `run.maintain.ranked`). Derivations are
shuffled to where their tuples are; the relation itself stays where it is.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.base.record import record
from tidelog.run.phases import AFTER, MIDDLE
from tidelog.run.spark.checkpoint import Part, settle
from tidelog.run.spark.relation import CHANGE, KNOWN, RANK, SUPPORT, TIMES, Relation, by_hash

_PRESENT, _LEFT = "present_rank", "left"


@record
class Outcome:
    """The tuples that became true or false, the changes of support of others, and the number of derivations."""

    delta: Part
    changes: Part | None
    derivations: int


def bootstrapped(relation: Relation, bag: DataFrame) -> Outcome:
    """Return the tuples that are new in this round of a bootstrap; later derivations of the others do not count.

    The rank comes from the delta's rows: as a number in the query it would make Spark compile every round's anew.
    """
    heads = bag.groupBy(*relation.columns).agg((f.max(RANK) + 1).alias(RANK), f.sum(TIMES).alias(SUPPORT))
    known = (*relation.settled, *relation.inserted)
    if not known:
        delta, counts = settle(heads, derivations=f.sum(SUPPORT))
        return Outcome(delta, None, counts["derivations"])
    new = f.col(KNOWN).isNull()
    delta, counts = settle(
        relation.marked(heads, known),
        lambda rows: rows.where(new).drop(KNOWN),
        rows=f.count_if(new),
        derivations=f.sum(SUPPORT),
    )
    return Outcome(delta, None, counts["derivations"])


def absorbed(relation: Relation, bag: DataFrame) -> Outcome:
    """Return new tuples with rank and support, and the support that derivations add to present ones."""
    held = relation.frame(AFTER).select(*relation.columns, f.col(RANK).alias(_PRESENT))
    joined = by_hash(bag).join(held, relation.columns, "left")
    supports = f.when(f.col(RANK) < f.col(_PRESENT), f.col(TIMES)).otherwise(0)
    heads = joined.groupBy(*relation.columns).agg(
        f.max(_PRESENT).alias(_PRESENT),
        (f.max(RANK) + 1).alias(RANK),
        f.sum(TIMES).alias(SUPPORT),
        f.sum(supports).alias(CHANGE),
    )
    new, more = f.col(_PRESENT).isNull(), f.col(_PRESENT).isNotNull() & (f.col(CHANGE) > 0)
    touched, counts = settle(
        heads, new=f.sum(new.cast("long")), more=f.sum(more.cast("long")), derivations=f.sum(SUPPORT)
    )
    delta = Part(touched.frame.where(new).select(*relation.columns, RANK, SUPPORT), counts["new"])
    changes = Part(touched.frame.where(more).select(*relation.columns, CHANGE), counts["more"])
    return Outcome(delta, changes, counts["derivations"])


def released(relation: Relation, bag: DataFrame) -> Outcome:
    """Return the tuples that derivations leave without support, and the support they take from others."""
    held = relation.frame(MIDDLE).select(*relation.columns, f.col(RANK).alias(_PRESENT), SUPPORT)
    joined = by_hash(bag).join(held, relation.columns).where(f.col(RANK) < f.col(_PRESENT))
    lost = joined.groupBy(*relation.columns).agg(
        f.max(_PRESENT).alias(RANK), f.max(SUPPORT).alias(SUPPORT), f.sum(TIMES).alias(TIMES)
    )
    earlier = relation.change_sums()
    if earlier is None:
        left = f.col(SUPPORT) - f.col(TIMES)
    else:
        lost = by_hash(lost).join(earlier, relation.columns, "left")
        left = f.col(SUPPORT) + f.coalesce(f.col(CHANGE), f.lit(0)) - f.col(TIMES)
    shaped = lost.select(*relation.columns, RANK, left.alias(_LEFT), TIMES)
    gone = f.col(_LEFT) <= 0
    touched, counts = settle(shaped, gone=f.sum(gone.cast("long")), derivations=f.sum(TIMES))
    rows = touched.frame
    delta = Part(rows.where(gone).select(*relation.columns, RANK, f.lit(0).cast("long").alias(SUPPORT)), counts["gone"])
    kept = rows.where(~gone).select(*relation.columns, (-f.col(TIMES)).alias(CHANGE))
    return Outcome(delta, Part(kept, touched.count - counts["gone"]), counts["derivations"])


def exchanged(before: DataFrame | None, after: DataFrame | None, columns: list[str]) -> tuple[DataFrame, DataFrame]:
    """Return the derivations that only the bag before has, and those that only the bag after has."""
    parts = [
        bag.select(*columns, (sign * f.col(TIMES)).alias(TIMES))
        for bag, sign in ((before, -1), (after, 1))
        if bag is not None
    ]
    net = parts[0] if len(parts) == 1 else parts[0].union(parts[1])
    summed, _ = settle(net.groupBy(*columns).agg(f.sum(TIMES).alias(TIMES)).where(f.col(TIMES) != 0))
    rank = f.lit(0).cast("long").alias(RANK)

    def bag(sign: int) -> DataFrame:
        chosen = summed.frame.where(f.col(TIMES) * sign > 0)
        return chosen.select(*columns, rank, f.abs(TIMES).alias(TIMES))

    return bag(-1), bag(1)

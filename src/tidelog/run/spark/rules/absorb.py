"""From bags of derivations to tuples: counting support, finding what is new and what is lost.

Each is a `Question`, so that those of all relations of a stratum are answered by one job (`checkpoint.answers`). The
support of a tuple counts its derivations of a rank below its own (see `run.maintain.ranked`). Derivations are shuffled
to where their tuples are; the relation itself stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.base.record import record
from tidelog.run.phases import AFTER, MIDDLE
from tidelog.run.spark.frames.checkpoint import Part, Question, settle
from tidelog.run.spark.frames.named import greatest_and_one, integer, missing, missing_in, named, renamed, total
from tidelog.run.spark.frames.relation import CHANGE, KNOWN, RANK, SUPPORT, TIMES, Relation, by_hash

_PRESENT, _LEFT = "present_rank", "left"


@record
class Outcome:
    """The tuples that became true or false, the changes of support of others, and the number of derivations."""

    delta: Part
    changes: Part | None
    derivations: int


Told = Callable[[Part, Mapping[str, int]], Outcome]
"""What the answer to a question means."""


def bootstrapped(relation: Relation, bag: DataFrame, known: DataFrame | None) -> tuple[Question, Told]:
    """Ask for the tuples that are new in this round of a bootstrap; later derivations of the others do not count.

    The rank comes from the delta's rows: as a number in the query it would make Spark compile every round's anew.
    """
    heads = bag.groupBy(*map(named, relation.columns)).agg(greatest_and_one(RANK), total(TIMES, SUPPORT))
    derivations = {"derivations": total(SUPPORT, "derivations")}

    def told(delta: Part, counts: Mapping[str, int]) -> Outcome:
        relation.measure(delta.count, counts)
        return Outcome(delta, None, counts["derivations"])

    if known is None:
        return Question(heads, {**derivations, **relation.texts_in()}), told
    wanted = {"rows": missing_in(KNOWN, "rows"), **derivations, **relation.texts_in(missing(KNOWN))}
    return Question(relation.marked(heads, known), wanted, lambda rows: rows.where(missing(KNOWN)).drop(KNOWN)), told


def absorbed(relation: Relation, bag: DataFrame) -> tuple[Question, Told]:
    """Ask for new tuples with rank and support, and the support that derivations add to present ones."""
    held = relation.frame(AFTER).select(*map(named, relation.columns), renamed(RANK, _PRESENT))
    joined = by_hash(bag).join(held, relation.columns, "left")
    supports = f.when(named(RANK) < named(_PRESENT), named(TIMES)).otherwise(0)
    heads = joined.groupBy(*map(named, relation.columns)).agg(
        f.max(_PRESENT).alias(_PRESENT),
        greatest_and_one(RANK),
        total(TIMES, SUPPORT),
        f.sum(supports).alias(CHANGE),
    )
    new, more = missing(_PRESENT), named(_PRESENT).isNotNull() & (named(CHANGE) > 0)
    wanted = {
        "new": f.sum(new.cast("long")).alias("new"),
        "more": f.sum(more.cast("long")).alias("more"),
        "derivations": total(SUPPORT, "derivations"),
    }

    def told(touched: Part, counts: Mapping[str, int]) -> Outcome:
        delta = Part(touched.frame.where(new).select(*map(named, (*relation.columns, RANK, SUPPORT))), counts["new"])
        changes = Part(touched.frame.where(more).select(*map(named, (*relation.columns, CHANGE))), counts["more"])
        return Outcome(delta, changes, counts["derivations"])

    return Question(heads, wanted), told


def released(relation: Relation, bag: DataFrame) -> tuple[Question, Told]:
    """Ask for the tuples that derivations leave without support, and the support they take from others."""
    held = relation.frame(MIDDLE).select(*map(named, relation.columns), renamed(RANK, _PRESENT), named(SUPPORT))
    joined = by_hash(bag).join(held, relation.columns).where(named(RANK) < named(_PRESENT))
    lost = joined.groupBy(*map(named, relation.columns)).agg(
        f.max(_PRESENT).alias(RANK), f.max(SUPPORT).alias(SUPPORT), total(TIMES, TIMES)
    )
    earlier = relation.change_sums()
    if earlier is None:
        left = named(SUPPORT) - named(TIMES)
    else:
        lost = by_hash(lost).join(earlier, relation.columns, "left")
        left = named(SUPPORT) + f.coalesce(named(CHANGE), f.lit(0)) - named(TIMES)
    shaped = lost.select(*map(named, relation.columns), named(RANK), left.alias(_LEFT), named(TIMES))
    gone = named(_LEFT) <= 0

    def told(touched: Part, counts: Mapping[str, int]) -> Outcome:
        rows = touched.frame
        fallen = rows.where(gone).select(*map(named, (*relation.columns, RANK)), integer(0, SUPPORT))
        kept = rows.where(~gone).select(*map(named, relation.columns), (-named(TIMES)).alias(CHANGE))
        changes = Part(kept, touched.count - counts["gone"])
        return Outcome(Part(fallen, counts["gone"]), changes, counts["derivations"])

    wanted = {"gone": f.sum(gone.cast("long")).alias("gone"), "derivations": total(TIMES, "derivations")}
    return Question(shaped, wanted), told


def exchanged(before: DataFrame | None, after: DataFrame | None, columns: list[str]) -> tuple[DataFrame, DataFrame]:
    """Return the derivations that only the bag before has, and those that only the bag after has."""
    parts = [
        bag.select(*columns, (sign * f.col(TIMES)).alias(TIMES))
        for bag, sign in ((before, -1), (after, 1))
        if bag is not None
    ]
    net = parts[0] if len(parts) == 1 else parts[0].union(parts[1])
    summed, _ = settle(net.groupBy(*columns).agg(f.sum(TIMES).alias(TIMES)).where(f.col(TIMES) != 0))

    def bag(sign: int) -> DataFrame:
        chosen = summed.frame.where(f.col(TIMES) * sign > 0)
        return chosen.select(*columns, integer(0, RANK), f.abs(TIMES).alias(TIMES))

    return bag(-1), bag(1)

"""What a relation holds after an update, ready for the next one.

Insertions are parts beside those there were. Where tuples only went and came, those that went are kept beside the parts
that had them (`Remaining`), and left out whenever these are read: to write a large table anew for a few of its tuples
costs more than to read it. They are written anew once many have gone, or a few times in turn with insertions; and
always where support has changed, as it is a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.run.spark.frames.checkpoint import Part, Question, answers, gathered, united
from tidelog.run.spark.frames.relation import CHANGE, RANK, SUPPORT, Parts, Relation, by_hash, size_of


@dataclass(frozen=True, eq=False)
class Remaining:
    """The tuples of some parts of a relation but for those that are gone: all of these are in the parts."""

    relation: Relation
    parts: Parts
    gone: Parts
    layers: int = 1
    """How often tuples went after others had come, all of them left out one after the other."""

    @cached_property
    def frame(self) -> DataFrame:
        """The tuples as rows."""
        return self.relation.without(gathered(self.parts), self.gone)

    def part(self) -> Part:
        """Return the tuples as a part, counted."""
        placed = all(part.placed for part in self.parts)
        return Part(self, size_of(self.parts) - size_of(self.gone), placed)


def finished(relations: Sequence[Relation], share: int, layers: int) -> list[Relation]:
    """Return relations after their update; tables that are written anew are so by one job.

    They are where a `share` of their tuples is gone: one in so many; or in more than so many `layers`.
    """
    remaining = [_remaining(one, share, layers) for one in relations]
    revised = [
        rest is None and one.final is None and _is_revised(one) for one, rest in zip(relations, remaining, strict=True)
    ]
    tables = {place: _table(one) for place, one in enumerate(relations) if revised[place]}
    found = answers([Question(table) for table in tables.values()]) if tables else []
    whole = dict(zip(tables, (part for part, _ in found), strict=True))
    whole |= {place: rest.part() for place, rest in enumerate(remaining) if rest is not None}
    return [_finished(one, whole.get(place), anew=revised[place]) for place, one in enumerate(relations)]


def _is_revised(relation: Relation) -> bool:
    return bool(relation.removed or relation.replaced or relation.changes)


def _remaining(relation: Relation, share: int, layers: int) -> Remaining | None:
    """Return what remains of the parts of a relation, if that is worth more than to write them anew."""
    if relation.final is not None or relation.replaced or relation.changes or not relation.removed:
        return None
    made = Remaining(relation.emptied(), relation.settled, relation.removed)
    before = [part.rows for part in relation.settled if isinstance(part.rows, Remaining)]
    gone = size_of(relation.removed) + sum(size_of(one.gone) for one in before)
    if before and len(relation.settled) == 1:  # nothing has come since
        made = replace(before[0], gone=reduce(relation.with_part, relation.removed, before[0].gone))
    elif before:
        made = replace(made, layers=1 + max(one.layers for one in before))
    return made if share * gone <= size_of(made.parts) and made.layers <= layers else None


def _table(relation: Relation) -> DataFrame:
    """Return what a relation holds after its update, with the support that is left."""
    hidden = (*relation.removed, *relation.replaced)
    parts = [relation.without(gathered(relation.settled), hidden)] if relation.settled else []
    parts += [part.frame for part in (*relation.inserted, *relation.replaced)]
    rows = united(parts)
    sums = relation.change_sums()
    if sums is None:
        return rows
    support = (f.col(SUPPORT) + f.coalesce(f.col(CHANGE), f.lit(0))).alias(SUPPORT)
    return rows.join(by_hash(sums), relation.columns, "left").select(*relation.columns, RANK, support)


def _finished(relation: Relation, whole: Part | None, *, anew: bool) -> Relation:
    done = relation.emptied()
    done.counted = relation.counted
    if relation.final is not None:
        done.settled = relation.final
    elif whole is None:
        done.settled = relation.settled
    elif whole.count:
        done.settled = (whole,)
    for part in () if anew or relation.final is not None else relation.inserted:
        done.settled = done.with_part(done.settled, part)
    if relation.copied is not None and relation.copied[0] == relation.changed_parts:
        done.copied = (done.settled, (), ()), relation.copied[1]
    return done

"""What a relation holds after an update, ready for the next one.

Insertions are parts beside those there were. Where only a few tuples went, they are remembered beside the parts that
had them (`Remaining`) and left out whenever these are read: to write a large table anew for a few of its tuples costs
more than to read it. It is written anew once more have gone, or a few times in turn with insertions; and always where
support has changed, as it is a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidelog.run.spark.frames.checkpoint import Part, Question, answers, gathered, united
from tidelog.run.spark.frames.relation import CHANGE, RANK, SUPPORT, Parts, Relation, by_hash, size_of


@dataclass(frozen=True, eq=False)
class Remaining:
    """The tuples of some parts of a relation but for those that are gone: all of these are in the parts."""

    parts: Parts
    gone: tuple[dict[str, Any], ...]
    """The cells of each, by column."""
    layers: int = 1
    """How often tuples went after others had come, all of them left out one after the other."""

    @cached_property
    def frame(self) -> DataFrame:
        """The tuples as rows: by a condition, as every table of a join would begin with some megabytes of memory."""
        first = next(iter(self.gone[0]))
        some = f.col(first).isin(list({row[first] for row in self.gone}))
        return gathered(self.parts).where(~(some & reduce(Column.__or__, map(_equal, self.gone))))

    def part(self) -> Part:
        """Return the tuples as a part, counted."""
        placed = all(part.placed for part in self.parts)
        return Part(self, size_of(self.parts) - len(self.gone), placed)


def _equal(row: dict[str, Any]) -> Column:
    return reduce(Column.__and__, [f.col(name) == f.lit(cell) for name, cell in row.items()])


def finished(relations: Sequence[Relation], most: int, layers: int) -> list[Relation]:
    """Return relations after their update; tables that are written anew are so by one job.

    They are where more than `most` of their tuples are gone, or those gone lie in more than `layers` layers.
    """
    remaining = [_remaining(one, most, layers) for one in relations]
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


def _remaining(relation: Relation, most: int, layers: int) -> Remaining | None:
    """Return what remains of the parts of a relation, if that is worth more than to write them anew."""
    if relation.final is not None or relation.replaced or relation.changes or not relation.removed:
        return None
    before = [part.rows for part in relation.settled if isinstance(part.rows, Remaining)]
    count = size_of(relation.removed) + sum(len(one.gone) for one in before)
    alone = len(before) == len(relation.settled) == 1  # nothing has come since
    layer = max([0, *(one.layers for one in before)]) + (not alone)
    if most < count or layers < layer:
        return None
    gone = tuple(relation.removed_here().to_pylist())
    if alone:
        return replace(before[0], gone=(*before[0].gone, *gone))
    return Remaining(relation.settled, gone, layer)


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

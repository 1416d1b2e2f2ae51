"""The engine for tests that compare everything: all answers and changes are read by one job after each update.

To read each relation and each side of its change took half of all jobs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as f

from tidelog.base.types import Type
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import NO_LIMITS, Delta, Limits, Rows, Update
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.checkpoint import collect, united
from tidelog.run.spark.frames.encode import spark_type
from tidelog.run.spark.frames.named import integer, once, renamed
from tidelog.run.spark.frames.relation import columns_of
from tidelog.run.spark.frames.rows import SparkRows, decoded

WHOSE = "whose"


class AtOnce(SparkEngine):
    """A `SparkEngine` whose rows are at the driver already when one asks for them."""

    _known: Mapping[str, Rows] | None = None

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        self._known = None
        done = super().update(facts, plan, limits)
        self._read(*(rows for change in done.changes.values() for rows in (change.inserted, change.deleted)))
        return done

    def rows(self, relation: str) -> Rows:
        if self._known is None:
            self._read()
        assert self._known is not None
        return self._known[relation]

    def _read(self, *others: Rows) -> None:
        shown = [name for name, relation in self.plan.relations.items() if not relation.auxiliary]
        self._known = {name: super(AtOnce, self).rows(name) for name in shown}
        read_together(rows for rows in (*self._known.values(), *others) if isinstance(rows, SparkRows))


def read_together(several: Iterable[SparkRows]) -> None:
    """Bring the rows of several collections to the driver by one job of one task.

    A column of theirs is one of the columns of its type, which is null in the rows of those that have fewer of them.
    """
    wanted = [rows for rows in several if len(rows)]
    if not wanted:
        return
    slots = [_slots(rows.types) for rows in wanted]
    every = dict.fromkeys(slot for each in slots for slot in each)
    frames = []
    for number, (rows, own) in enumerate(zip(wanted, slots, strict=True)):
        names = dict(zip(own, columns_of(len(rows.types)), strict=True))
        columns = [renamed(names[slot], slot) if slot in names else _nothing(slot) for slot in every]
        frames.append(rows.frame.select(integer(number, WHOSE), *columns))
    table = collect(united(frames).coalesce(1))
    for number, (rows, own) in enumerate(zip(wanted, slots, strict=True)):
        cells = table.filter(pc.equal(table[WHOSE], number)).select(own)
        vars(rows)["_rows"] = decoded(cells, rows.types, rows._cells)


def _slots(types: Sequence[Type]) -> list[str]:
    """Return which of all columns of its type each column is: the type, and a number."""
    kinds = [spark_type(type).simpleString() for type in types] or ["boolean"]
    return [f"{kind} {kinds[:place].count(kind)}" for place, kind in enumerate(kinds)]


@once
def _nothing(slot: str) -> Column:
    return f.lit(None).cast(slot.partition(" ")[0]).alias(slot)

"""What a partition does in an executor: all that follows from its tuples, by the columnar engine, and what others need.

It gets the tuples that it has, and those that others derived for it; it adds them up, derives all it can, and sends
each tuple that is new to it to the places the tuple belongs to. It keeps what it derived for others, too, or it would
derive and send it again; of a tuple that is in several partitions the owner's is the result. That can be much: a
partition that derives more than it has room for gives up (`OVER`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import Broadcast

from tidelog.base.errors import EvaluationError, LimitError
from tidelog.base.record import record
from tidelog.base.tuning.table import Tuning
from tidelog.plan.closures.exchange import Spread
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import Limits
from tidelog.run.spark.frames.encode import Cells
from tidelog.run.spark.frames.parcels import Batches, Parcel, opened, places, sent
from tidelog.run.spark.frames.relation import column_name, columns_of
from tidelog.run.spark.frames.sets import distinct, without
from tidelog.run.spark.frames.worker import BEGIN, END, EvaluationFailedError
from tidelog.run.spark.loading.loads import OWN, SENT, Loaded, within
from tidelog.run.spark.partitions.local import evaluate, seed_name

OTHER, NEWS, OVER = "other", "news", "over"
"""Kinds of parcels beside those held as owner and on their way: held besides, new in a fragment; a partition that has
given up."""

Tables = Mapping[str, Any]


@record
class Task:
    """What a partition must know: the rules, the relations wanted, how tuples are placed, and limits.

    `exchanging`: the rules start from seeds, and others may derive more. Otherwise what a partition gets is all it
    needs: relations below, or seeds.
    """

    plan: Plan
    wanted: tuple[str, ...]
    placing: Spread
    partitions: int
    limits: Limits
    tuning: Tuning
    growth: int
    """How many times what it was given a partition may derive, beside `spare`."""
    spare: int
    exchanging: bool

    def columns(self, relation: str) -> list[str]:
        """The columns that hold the tuples of a relation."""
        return columns_of(len(self.plan.relations[relation].columns))

    def placed_by(self, relation: str) -> list[str]:
        """The columns that tuples of a relation are placed by."""
        return [column_name(number) for number in self.placing.columns.get(relation, (0,))]

    @property
    def parcel_bytes(self) -> int:
        """The bytes in a parcel."""
        return int(self.tuning.spark.parcel_bytes)

    def is_placed(self, rows: Loaded) -> bool:
        """Tell whether facts are where their tuples belong."""
        return self.placing.columns[rows.relation] == rows.placed[:1] and rows.placed[1] == self.partitions

    def given(self, relation: str) -> str:
        """Return the relation of the plan that holds what comes of a relation."""
        return seed_name(relation) if relation in self.wanted else relation

    def limits_for(self, tables: Tables) -> Limits:
        """Return what a partition may take to derive what follows from its tuples."""
        given = sum(table.num_rows for table in tables.values())
        room, left = self.growth * given + self.spare, self.limits.tuples
        return replace(self.limits, tuples=room if left is None else min(room, left + given))

    def within(self, table: Any, relation: str) -> Any:
        """Return the tuples of a relation that are in fragments."""
        cells = Cells(self.plan.types)
        found = np.zeros(table.num_rows, bool)
        for fragment in self.placing.fragments:
            if fragment.relation == relation:
                found |= within(table, fragment, cells)
        return table.filter(pa.array(found))


def joined(these: Tables, those: Tables) -> Tables:
    """Return the tuples of both, by relation."""
    names = {**these, **those}
    return {name: pa.concat_tables([one[name] for one in (these, those) if name in one]) for name in names}


@dataclass(slots=True)
class _Held:
    """The tuples of one relation that a partition has: as owner, and those that have come or are held besides."""

    own: list[Any]
    others: list[Any]

    def all(self) -> Any:
        """Return all tuples, perhaps repeated."""
        return pa.concat_tables([*self.own, *self.others])


def _received(batches: Batches) -> tuple[int, dict[str, _Held]]:
    """Return the place of a partition and what it has of each relation."""
    held: dict[str, _Held] = {}
    place = -1
    for parcel in opened(batches):
        place = parcel.place
        mine = held.setdefault(parcel.relation, _Held([], []))
        (mine.own if parcel.kind == OWN else mine.others).append(parcel.rows)
    return place, held


def closing(task: Task, shared: Broadcast[tuple[Tables, Tables]]) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: what a partition has and gets to all it derives, and what others need.

    Shared are the relations that are everywhere, and the tuples of fragments.
    """

    def run(batches: Batches) -> Batches:
        place, held = _received(batches)
        if not held:
            return
        known = {name: mine.all() for name, mine in held.items()}
        everywhere, fragments = shared.value
        for parcel in derived(task, place, known, everywhere, fragments):
            yield from parcel.batches(task.parcel_bytes)

    return run


def derived(task: Task, place: int, known: Tables, everywhere: Tables, fragments: Tables) -> Iterator[Parcel]:
    """Yield what follows from the tuples that a partition has, by what is to become of it."""
    given = {task.given(name): table for name, table in joined(known, fragments).items()}
    limits = task.limits_for(given)
    try:
        found, rounds = evaluate(task.plan, {**everywhere, **given}, task.wanted, limits, task.tuning, threads=1)
    except (LimitError, MemoryError):
        return iter([Parcel(place, "", OVER, pa.table({"one": [1]}))])
    except EvaluationError as error:
        raise EvaluationFailedError(f"{BEGIN}{error}{END}") from error
    tuples = {name: table.select(task.columns(name)) for name, table in found.items()}
    if task.exchanging:
        return _exchanged(task, place, tuples, known, fragments)
    return iter([Parcel(place, name, OWN, table, rounds[name]) for name, table in tuples.items()])


def _exchanged(task: Task, place: int, found: Tables, known: Tables, fragments: Tables) -> Iterator[Parcel]:
    for name, tuples in found.items():
        owned = places(tuples[task.placed_by(name)[0]], task.partitions) == place
        yield Parcel(place, name, OWN, tuples.filter(pa.array(owned)))
        yield Parcel(place, name, OTHER, tuples.filter(pa.array(~owned)))
        leaving, there = (_leaving(task, name, place, one) for one in (tuples, known.get(name)))
        for parcel in sent(without(leaving, there), name, SENT, task.placed_by(name), task.partitions):
            if parcel.place != place:
                yield parcel
        yield Parcel(place, name, NEWS, without(task.within(tuples, name), fragments.get(name)))


def _leaving(task: Task, name: str, place: int, table: Any) -> Any:
    """Return the tuples that belong to other places, perhaps besides this one."""
    if table is None:
        return None
    columns = [places(table[column], task.partitions) != place for column in task.placed_by(name)]
    return table.filter(pa.array(reduce(np.logical_or, columns)))


def uniting(task: Task) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: of what has come, and is complete already, what it does not own yet."""

    def run(batches: Batches) -> Batches:
        place, held = _received(batches)
        for name, mine in held.items():
            if mine.others:
                came = pa.concat_tables(mine.others)
                came = came.filter(pa.array(places(came[task.placed_by(name)[0]], task.partitions) == place))
                new = without(distinct(came), pa.concat_tables(mine.own) if mine.own else None)
                yield from Parcel(place, name, OWN, new).batches(task.parcel_bytes)

    return run

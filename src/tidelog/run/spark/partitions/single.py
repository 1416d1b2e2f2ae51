"""All strata that an update reaches, evaluated whole by one executor.

A stratum that is evaluated on its own costs a job or two, however few rows it has, and a program of many strata over
less than a million rows spends its time in jobs and shuffles; the columnar engine takes a fraction of it. Where every
stratum reached would be evaluated from scratch anyway, and what they read is at most `spark.tidelog.wholeRows`, these
rows go to one task in parcels, the columnar engine runs the strata there, and the relations that it derives stay in
parcels where they are (to send them to others takes as long as to derive them). Nothing passes through the driver.

Tuples have no ranks, as where a stratum is spread (`spread`): after a change the strata that it reaches are evaluated
whole again, and one task compares what all relations had and have. A task that derives far more than
it was given gives up, and so does one that reaches a limit: then each stratum is evaluated in its own way.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tidelog.base import types as t
from tidelog.base.errors import EvaluationError, LimitError
from tidelog.base.record import record
from tidelog.base.tuning.table import Tuning
from tidelog.plan.closures.decompose import decompose
from tidelog.plan.nodes import Plan, Stratum
from tidelog.run.contract.engine import Limits, Work
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import tell
from tidelog.run.maintain.choose import Earlier
from tidelog.run.phases import AFTER
from tidelog.run.spark.frames.checkpoint import Part, settle, united
from tidelog.run.spark.frames.encode import content
from tidelog.run.spark.frames.relation import Parts, columns_of
from tidelog.run.spark.frames.worker import BEGIN, END, EvaluationFailedError
from tidelog.run.spark.partitions.difference import compared
from tidelog.run.spark.partitions.exchanging import OVER
from tidelog.run.spark.partitions.loads import OWN
from tidelog.run.spark.partitions.local import evaluated, held
from tidelog.run.spark.partitions.parcels import (
    KIND,
    PARCELS,
    RELATION,
    ROUNDS,
    ROWS,
    Batches,
    Packed,
    Parcel,
    opened,
)
from tidelog.run.spark.store import Store


def affected(store: Store, plan: Plan, earlier: Earlier) -> list[Stratum]:
    """Return the strata whose rules have changed, or that read a change, perhaps one of another of them."""
    changed = {name for name in store.touched if any(store.changed(name))}
    found: list[Stratum] = []
    for stratum in plan.strata:
        known = (frozenset(stratum.relations), stratum.recursive) in earlier.strata
        if not known or any(earlier.changes(stratum)) or any(not changed.isdisjoint(r.reads) for r in stratum.rules):
            found.append(stratum)
            changed.update(stratum.relations)
    return found


@record
class Task:
    """What the one executor must know: the rules, the relations to give back, and limits."""

    plan: Plan
    wanted: Sequence[str]
    limits: Limits
    tuning: Tuning


class Together(Packed):
    """Tuples that are all in one partition, with those of other relations."""


@dataclass(slots=True)
class Whole:
    """Evaluates strata from scratch, if they are to be evaluated so: those that read few rows."""

    store: Store
    strata: Sequence[Stratum]

    @property
    def _heads(self) -> list[str]:
        return [name for stratum in self.strata for name in stratum.relations]

    @property
    def _below(self) -> list[str]:
        read = {name for stratum in self.strata for rule in stratum.rules for name in rule.reads}
        return sorted(read.difference(self._heads))

    def _fits(self) -> bool:
        """Tell whether one executor is to evaluate the strata: one that decomposes alone is better in pieces."""
        if len(self.strata) == 1:
            (stratum,) = self.strata
            if not stratum.recursive or decompose(stratum) is not None:
                return False
        given = sum(self.store.relation(name).size(AFTER) for name in self._below)
        had = sum(self.store.relation(name).size(AFTER) for name in self._heads)
        tuning = self.store.tuning.spark
        return 0 < given <= tuning.whole_rows and given <= tuning.replicate_rows and had <= self._room(given)

    def _room(self, given: int) -> int:
        """Return how many tuples the executor may derive from what it is given."""
        tuning = self.store.tuning.spark
        return tuning.whole_growth * given + min(tuning.whole_rows, tuning.replicate_rows)

    def evaluate(self, reasons: Mapping[int, str]) -> list[Work] | None:
        """Evaluate the strata and find what has changed; None if it is not to be done so."""
        if not self.strata or not self._fits():
            return None
        store, watch, start = self.store, self.store.watch, time.perf_counter()
        watch.strategy = "whole"
        watch.begin_round(self.strata[0], 1)
        tell(f"{', '.join(self._heads)} whole, by one executor")
        given = sum(store.relation(name).size(AFTER) for name in self._below)
        parcels, counts = self._parcels(self._task(self._room(given)))
        if counts[OVER]:
            tell("it derives too much: each stratum in its own way")
            return None
        had = {name: store.relation(name).settled for name in self._heads}
        self._take(parcels, counts)
        self._compare(had)
        watch.add_tuples(sum(counts[f"{OWN}{number}"] for number in range(len(self._heads))))
        share = (time.perf_counter() - start) / len(self.strata)
        return [self._work(stratum, counts, reasons[stratum.number], share) for stratum in self.strata]

    def _task(self, room: int) -> Task:
        store = self.store
        names = [*self._below, *self._heads]
        strata = tuple(replace(stratum, number=number) for number, stratum in enumerate(self.strata))
        plan = Plan(store.types, {name: store.plan.relations[name] for name in names}, store.functions, strata, (), {})
        left = store.watch.limits_left()
        limits = replace(left, tuples=room if left.tuples is None else min(room, left.tuples))
        return Task(plan, tuple(self._heads), limits, store.tuning)

    def _parcels(self, task: Task) -> tuple[DataFrame, Mapping[str, int]]:
        """Let one executor evaluate the strata; return the parcels of their relations, and what they count."""
        self.store.enter(Phase.BOOT, frozenset(self._heads))
        given = united([self._given(name) for name in self._below if self.store.relation(name).size(AFTER)])
        found = given.repartition(1).mapInArrow(_evaluating(task), PARCELS)
        rows, counts = f.col(ROWS), {OVER: f.sum(f.when(f.col(KIND) == OVER, f.col(ROWS)))}
        for number, name in enumerate(self._heads):
            mine = f.col(RELATION) == name
            counts[f"{OWN}{number}"] = f.sum(f.when(mine, rows))
            counts[f"{ROUNDS}{number}"] = f.max(f.when(mine, f.col(ROUNDS)))
        parcels, told = settle(found, **counts)
        return parcels.frame, told

    def _given(self, name: str) -> DataFrame:
        """Return a relation below in parcels under its own name."""
        relation = self.store.relation(name)
        parts = relation.settled if relation.final is None else relation.final
        if relation.final is not None or not (relation.inserted or relation.removed):
            rows = parts[0].rows if len(parts) == 1 else None
            if isinstance(rows, Packed):
                return rows.chosen.withColumn(RELATION, f.lit(name))
        return (
            relation.frame(AFTER)
            .select(*relation.columns)
            .mapInArrow(_packing(name, int(self.store.tuning.spark.parcel_rows)), PARCELS)
        )

    def _take(self, parcels: DataFrame, counts: Mapping[str, int]) -> None:
        """Let the relations have what was derived."""
        for number, name in enumerate(self._heads):
            self.store.reset(name)
            target, count = self.store.touch(name), counts[f"{OWN}{number}"]
            rows = Together(parcels, name, OWN, target.empty.schema)
            target.settled = (Part(rows, count, placed=False),) if count else ()
            target.counted = False
            self.store.spend(count)

    def _compare(self, had: Mapping[str, Parts]) -> None:
        """Find what relations have gained and lost: by one job those that were evaluated together before, too."""
        before = {name: rows for name in self._heads if (rows := self._together(name, had[name])) is not None}
        after = {
            name: rows
            for name, old in before.items()
            if old.parcels is next(iter(before.values())).parcels
            and (rows := self._together(name, self.store.relation(name).settled)) is not None
        }
        found = compared(before, after, int(self.store.tuning.spark.parcel_rows))
        for name in self._heads:
            self.store.compare(name, found.get(name))

    def _together(self, name: str, parts: Parts) -> Together | None:
        """Return the tuples of a relation, if they are in one partition and have cells that Python can compare."""
        rows = parts[0].rows if len(parts) == 1 else None
        plain = all(map(_is_plain, self.store.fresh(name).cell_types))
        return rows if plain and isinstance(rows, Together) else None

    def _work(self, stratum: Stratum, counts: Mapping[str, int], reason: str, seconds: float) -> Work:
        numbers = [self._heads.index(name) for name in stratum.relations]
        rounds = max(1, *(counts[f"{ROUNDS}{number}"] for number in numbers))
        tuples = sum(counts[f"{OWN}{number}"] for number in numbers)
        return Work(stratum.number, stratum.relations, "whole", reason, rounds, tuples, seconds)


def _is_plain(type: t.Type) -> bool:
    match content(type):
        case t.Bool() | t.String():
            return True
        case t.Bit(width) | t.Signed(width):
            return width <= 64
        case _:
            return False


# --- in the executors -------------------------------------------------------------------------------------------------


def _packing(name: str, most: int) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: rows of a relation to parcels."""

    def run(batches: Batches) -> Batches:
        for batch in batches:
            yield from Parcel(0, name, OWN, pa.Table.from_batches([batch])).batches(most)

    return run


def _evaluating(task: Task) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: all that the strata read to all that they derive."""
    most = int(task.tuning.spark.parcel_rows)

    def run(batches: Batches) -> Batches:
        tables: dict[str, list[Any]] = {}
        for parcel in opened(batches):
            tables.setdefault(parcel.relation, []).append(parcel.rows)
        facts = {name: pa.concat_tables(found) for name, found in tables.items()}
        try:
            engine, update = evaluated(task.plan, facts, task.limits, task.tuning, tracked=False, threads=1)
        except LimitError:
            yield from Parcel(0, "", OVER, pa.table({"one": [1]})).batches(most)
            return
        except EvaluationError as error:
            raise EvaluationFailedError(f"{BEGIN}{error}{END}") from error
        rounds = {name: work.rounds for work in update.work for name in work.relations}
        for name in task.wanted:
            columns = columns_of(len(task.plan.relations[name].columns))
            tuples = held(engine, name, task.plan.types).select(columns)
            yield from Parcel(0, name, OWN, tuples, rounds.get(name, 1)).batches(most)

    return run

"""A recursive stratum by partitions that run to their own fixpoints in the columnar engine and exchange what is new.

Which tuples must meet is said by `plan.closures.exchange`. A round is one job: every partition gets the tuples that
others derived for it, adds them to those it has, derives all it can, and sends each tuple that is new to it to the
places the tuple belongs to. Tuples of fragments go through the driver to everybody. Everything travels and is kept in
parcels.

A partition keeps what it derived for others, too, or it would derive and send it again; of a tuple that is in several
partitions the owner's is the result. That can be much: a partition that derives far more than it was given gives up,
and so does one that reaches a limit. Then the round loop evaluates the stratum, and says which limit it was.

Ranks would not be those of the whole, so tuples have none, and updates have to do without.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidelog.base.errors import EvaluationError, LimitError
from tidelog.base.record import record
from tidelog.base.tuning.table import Tuning
from tidelog.plan.closures.decompose import relations_below
from tidelog.plan.closures.exchange import Fragment, Spread, copied, fragments_of, spread
from tidelog.plan.nodes import Plan, Rule, Stratum
from tidelog.run.contract.engine import Limits
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import Watch, tell
from tidelog.run.phases import AFTER
from tidelog.run.spark.frames.checkpoint import Part, collect, settle, united
from tidelog.run.spark.frames.encode import Cells
from tidelog.run.spark.frames.relation import column_name, columns_of
from tidelog.run.spark.frames.sets import distinct, without
from tidelog.run.spark.frames.worker import BEGIN, END, EvaluationFailedError
from tidelog.run.spark.partitions.loads import OWN, SENT, Loaded, loaded, within
from tidelog.run.spark.partitions.local import evaluate
from tidelog.run.spark.partitions.parcels import (
    KIND,
    PARCELS,
    PLACE,
    RELATION,
    ROWS,
    Batches,
    Packed,
    Parcel,
    opened,
    places,
    scattered,
    sent,
)
from tidelog.run.spark.partitions.seeds import seed_name, seeded_plan
from tidelog.run.spark.rules.scalars import constant
from tidelog.run.spark.store import Store

OTHER, NEWS, OVER = "other", "news", "over"
"""Kinds of parcels beside those held as owner and on their way: held besides, new in a fragment; a partition that has
given up."""

Tables = Mapping[str, Any]
Seeds = tuple[str, DataFrame | Loaded]
"""A relation, and tuples of it to begin with."""


@record
class Task:
    """What a partition must know: the rules, how the stratum is spread, the number of partitions, and limits."""

    plan: Plan
    spread: Spread
    partitions: int
    limits: Limits
    tuning: Tuning
    growth: int
    """How many times what it was given a partition may derive, beside what may be everywhere."""

    def columns(self, relation: str) -> list[str]:
        """The columns that hold the tuples of a relation."""
        return columns_of(len(self.plan.relations[relation].columns))

    def placing(self, relation: str) -> list[str]:
        """The columns that tuples of a relation are placed by."""
        return [column_name(number) for number in self.spread.columns[relation]]

    @property
    def parcel_rows(self) -> int:
        """The rows in a parcel."""
        return int(self.tuning.spark.parcel_rows)

    def room(self, given: int) -> int:
        """Return how many tuples a partition may derive from what it was given."""
        return self.growth * given + self.tuning.spark.replicate_rows

    def is_placed(self, rows: Loaded) -> bool:
        """Tell whether facts are where their tuples belong."""
        return self.spread.columns[rows.relation] == (rows.column,)

    def within(self, table: Any, relation: str) -> Any:
        """Return the tuples of a relation that are in fragments."""
        cells = Cells(self.plan.types)
        found = np.zeros(table.num_rows, bool)
        for fragment in self.spread.fragments:
            if fragment.relation == relation:
                found |= within(table, fragment, cells)
        return table.filter(pa.array(found))


@dataclass(slots=True)
class Spreading:
    """Evaluates a stratum that can be spread from scratch; `replicate_rows` tuples may be everywhere."""

    store: Store
    stratum: Stratum
    watch: Watch

    @property
    def _replicate_rows(self) -> int:
        return self.store.tuning.spark.replicate_rows

    def evaluate(self) -> int | None:
        """Evaluate the stratum; return the number of exchanges, None if it is not to be done so."""
        store, names = self.store, relations_below(self.stratum)
        below = sum(store.relation(name).size(AFTER) for name in names)
        if below > self._replicate_rows:
            return None
        store.enter(Phase.BOOT, frozenset(self.stratum.relations))
        self.watch.begin_round(self.stratum, 1)
        seeds = self._seeds()
        if not seeds:
            return 1
        found = spread(self.stratum, self._sizes(seeds), store.broadcast_rows)
        if found is None:
            return None
        self.watch.strategy = "spread"
        tell(f"{', '.join(self.stratum.relations)} spread over {store.partitions} partitions")
        plan, limits = seeded_plan(store, self.stratum), self.watch.limits_left()
        growth = int(store.tuning.spark.spread_growth)
        task = Task(plan, found, store.partitions, limits, store.tuning, growth)
        return self._exchange(task, seeds, {name: store.collected(name) for name in names})

    def _seeds(self) -> list[Seeds]:
        """Return what rules without recursion derive, for each relation; facts that are in parcels as they are."""
        store = self.store
        first = [rule for rule in self.stratum.rules if not set(self.stratum.relations).intersection(rule.reads)]
        packed = [(rule.head, found) for rule in first if (found := self._loaded(rule)) is not None]
        rules = [rule for rule in first if self._loaded(rule) is None]
        bags = store.derive([(rule, rule.full.tree) for rule in rules])
        frames = {name: bag.select(*store.relation(name).columns) for name, bag in bags.items()}
        if fragments_of(self.stratum) and any(len(rule.reads) > 1 for rule in rules):  # they are read three times
            frames = {name: settle(frame)[0].frame for name, frame in frames.items()}
        return [*packed, *frames.items()]

    def _loaded(self, rule: Rule) -> Loaded | None:
        """Return the facts that a rule copies, if they are in parcels for it."""
        source = copied(rule)
        if source is None:
            return None
        relation = self.store.relation(source)
        rows = loaded(relation.settled if relation.final is None else relation.final)
        wanted = {fragment for fragment in fragments_of(self.stratum) if fragment.relation == rule.head}
        return rows if rows is not None and rows.relation == rule.head and wanted <= rows.sizes.keys() else None

    def _sizes(self, seeds: Sequence[Seeds]) -> dict[Fragment, int]:
        """Count the tuples of fragments that there are to begin with; one that is in two seeds counts twice."""
        sizes = dict.fromkeys(fragments_of(self.stratum), 0)
        for name, rows in seeds:
            mine = [fragment for fragment in sizes if fragment.relation == name]
            if isinstance(rows, Loaded):
                found: Iterable[int] = [rows.sizes[fragment] for fragment in mine]
            elif mine:
                counts = [f.count_if(self._condition(one)).alias(str(number)) for number, one in enumerate(mine)]
                (row,) = collect(rows.agg(*counts)).to_pylist()
                found = row.values()
            else:
                continue
            for fragment, size in zip(mine, found, strict=True):
                sizes[fragment] += size
        return sizes

    def _condition(self, fragment: Fragment) -> Column:
        tests = [
            f.col(column_name(number)) == constant(term.value, term.type, self.store.cells)
            for number, term in fragment.constants
        ]
        return reduce(Column.__and__, tests)

    def _exchange(self, task: Task, seeds: Sequence[Seeds], tables: Tables) -> int | None:
        """Exchange until there is nothing new; return how often."""
        fragments = self._closed(task, tables, self._collected(task, seeds))
        placed, rounds, last = self._placed(task, seeds), 1, False
        held: list[tuple[DataFrame, Mapping[str, int]]] = []
        while True:
            shared = self.store.frames.spark.sparkContext.broadcast((tables, fragments))
            run = _uniting(task) if last else _closing(task, shared)
            found, counts = settle(placed.mapInArrow(run, PARCELS), **_counts(self.stratum.relations))
            held = [*(held if last else ()), (found.frame, counts)]
            if counts[OVER]:
                tell("a partition derives too much: going on by the round loop")
                return None
            if not counts[SENT] and not counts[NEWS]:
                self._take(task, held)
                return rounds
            last = task.spread.free and not counts[NEWS]
            parcels = found.frame.where(f.col(KIND).isin(OWN, SENT) if last else f.col(KIND) != NEWS)
            placed = parcels.repartitionById(self.store.partitions, PLACE)
            if counts[NEWS]:
                fragments = self._closed(task, tables, _joined(fragments, _news(found.frame)))
            rounds += 1
            self.watch.begin_round(self.stratum, rounds)

    def _placed(self, task: Task, seeds: Sequence[Seeds]) -> DataFrame:
        """Return the seeds in parcels, where they belong."""
        if len(seeds) == 1 and isinstance(rows := seeds[0][1], Loaded) and task.is_placed(rows):
            return rows.chosen
        away = [rows.frame.select(*task.columns(name)) if isinstance(rows, Loaded) else rows for name, rows in seeds]
        parcels = [
            frame.mapInArrow(scattered(name, SENT, task.placing(name), task.partitions, task.parcel_rows), PARCELS)
            for (name, _), frame in zip(seeds, away, strict=True)
        ]
        return united(parcels).repartitionById(self.store.partitions, PLACE)

    def _take(self, task: Task, held: Sequence[tuple[DataFrame, Mapping[str, int]]]) -> None:
        """Let what partitions own be the stratum's tuples."""
        parcels = united([frame.where(f.col(KIND) == OWN) for frame, _ in held])
        for number, name in enumerate(self.stratum.relations):
            target, count = self.store.touch(name), sum(counts[f"{OWN}{number}"] for _, counts in held)
            rows = Packed(parcels, name, OWN, target.empty.schema, task.spread.columns[name][0])
            target.settled = (owned(self.store, self.stratum, rows, count),) if count else ()
            self.watch.add_tuples(count)
            self.store.spend(count)

    def _collected(self, task: Task, seeds: Sequence[Seeds]) -> Tables:
        """Return the tuples of fragments that there are to begin with."""
        found: Tables = {}
        for name, rows in seeds:
            mine = [one for one in task.spread.fragments if one.relation == name]
            if not mine:
                continue
            if isinstance(rows, Loaded):
                table = rows.fragment(mine)
            else:
                table = collect(rows.where(reduce(Column.__or__, map(self._condition, mine))))
            found = _joined(found, {} if table is None else {name: table})
        return found

    def _closed(self, task: Task, tables: Tables, fragments: Tables) -> Tables:
        """Return fragments with all that follows from themselves: everybody would find it, and tell everybody."""
        if not fragments:
            return fragments
        names, most = self.stratum.relations, self._replicate_rows
        facts = {**tables, **{seed_name(name): table for name, table in fragments.items()}}
        try:
            found, _ = evaluate(task.plan, facts, names, replace(task.limits, tuples=most), task.tuning, tracked=False)
        except LimitError:
            return fragments
        return {name: task.within(found[name].select(task.columns(name)), name) for name in names}


def owned(store: Store, stratum: Stratum, rows: Packed, count: int) -> Part:
    """Return the tuples that partitions own: in parcels as they are, unless several rules above will open them."""
    above = [rule for other in store.plan.strata if other.number != stratum.number for rule in other.rules]
    if sum(rows.relation in rule.reads for rule in above) > 1:
        return replace(settle(rows.frame)[0], placed=False)
    return Part(rows, count, placed=False)


def _counts(relations: Sequence[str]) -> dict[str, Column]:
    """What is counted of the parcels of a round."""
    rows = f.col(ROWS)
    counts = {kind: f.sum(f.when(f.col(KIND) == kind, rows)) for kind in (SENT, NEWS, OVER)}
    for number, name in enumerate(relations):
        counts[f"{OWN}{number}"] = f.sum(f.when((f.col(KIND) == OWN) & (f.col(RELATION) == name), rows))
    return counts


def _news(parcels: DataFrame) -> Tables:
    found: dict[str, list[Any]] = {}
    for parcel in opened(collect(parcels.where(f.col(KIND) == NEWS)).to_batches()):
        found.setdefault(parcel.relation, []).append(parcel.rows)
    return {name: pa.concat_tables(tables) for name, tables in found.items()}


def _joined(these: Tables, those: Tables) -> Tables:
    names = {**these, **those}
    return {name: pa.concat_tables([one[name] for one in (these, those) if name in one]) for name in names}


# --- in the executors -------------------------------------------------------------------------------------------------


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


def _closing(task: Task, shared: Broadcast[tuple[Tables, Tables]]) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: what a partition has and gets to all it derives, and what others need."""

    def run(batches: Batches) -> Batches:
        place, held = _received(batches)
        if not held:
            return
        known = {name: mine.all() for name, mine in held.items()}
        tables, fragments = shared.value
        seeds = {seed_name(name): table for name, table in _joined(known, fragments).items()}
        given = sum(table.num_rows for table in seeds.values())
        most = task.room(given)
        wanted = task.limits.tuples
        limits = replace(task.limits, tuples=most if wanted is None else min(most, wanted + given))
        try:
            names = tuple(task.spread.columns)
            found, _ = evaluate(task.plan, {**tables, **seeds}, names, limits, task.tuning, tracked=False, threads=1)
        except LimitError:
            parcels: Iterator[Parcel] = iter([Parcel(place, "", OVER, pa.table({"one": [1]}))])
        except EvaluationError as error:
            raise EvaluationFailedError(f"{BEGIN}{error}{END}") from error
        else:
            parcels = _parcels(task, place, found, known, fragments)
        for parcel in parcels:
            yield from parcel.batches(task.parcel_rows)

    return run


def _parcels(task: Task, place: int, found: Tables, known: Tables, fragments: Tables) -> Iterator[Parcel]:
    """Yield what a partition has found, by what is to become of it."""
    for name, table in found.items():
        tuples = table.select(task.columns(name))
        owned = places(tuples[task.placing(name)[0]], task.partitions) == place
        yield Parcel(place, name, OWN, tuples.filter(pa.array(owned)))
        yield Parcel(place, name, OTHER, tuples.filter(pa.array(~owned)))
        leaving, there = (_leaving(task, name, place, one) for one in (tuples, known.get(name)))
        for parcel in sent(without(leaving, there), name, SENT, task.placing(name), task.partitions):
            if parcel.place != place:
                yield parcel
        yield Parcel(place, name, NEWS, without(task.within(tuples, name), fragments.get(name)))


def _leaving(task: Task, name: str, place: int, table: Any) -> Any:
    """Return the tuples that belong to other places, perhaps besides this one."""
    if table is None:
        return None
    columns = [places(table[column], task.partitions) != place for column in task.placing(name)]
    return table.filter(pa.array(reduce(np.logical_or, columns)))


def _uniting(task: Task) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: of what has come, and is complete already, what it does not own yet."""

    def run(batches: Batches) -> Batches:
        place, held = _received(batches)
        for name, mine in held.items():
            if mine.others:
                came = pa.concat_tables(mine.others)
                came = came.filter(pa.array(places(came[task.placing(name)[0]], task.partitions) == place))
                new = without(distinct(came), pa.concat_tables(mine.own) if mine.own else None)
                yield from Parcel(place, name, OWN, new).batches(task.parcel_rows)

    return run

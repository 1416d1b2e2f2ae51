"""Strata evaluated from scratch by the columnar engine on N partitions, until none has anything new for another.

| partitions | what each gets | exchanges |
| --- | --- | --- |
| one | all relations below the strata | none |
| by key | the seeds with its keys, where every recursive rule copies the key from its one recursive atom | none |
| exchanging | seeds placed by the columns in which tuples must meet (`plan.closures.exchange`) | until nothing is new |

Seeds are what rules without recursion derive; relations that the recursive rules read are everywhere, and so are the
tuples of fragments, which go through the driver. A round is one job, and everything travels and is kept in parcels
(`task` is what happens to them). Tuples have no ranks: those of a partition are not those of the whole.

A partition that derives far more than it was given gives up: None is the answer, and another way is for the caller.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidelog.base.errors import LimitError
from tidelog.plan.closures.decompose import Way, relations_below
from tidelog.plan.closures.exchange import Fragment, Spread, copied, fragments_of, spread
from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import Watch, tell
from tidelog.run.phases import AFTER
from tidelog.run.spark.fit import Fit
from tidelog.run.spark.frames.checkpoint import Part, collect, settle, united
from tidelog.run.spark.frames.parcels import (
    BODY,
    KIND,
    PARCELS,
    PLACE,
    RELATION,
    ROUNDS,
    ROWS,
    Packed,
    bytes_of,
    opened,
    scattered,
)
from tidelog.run.spark.frames.relation import column_name
from tidelog.run.spark.loading.loads import OWN, SENT, Loaded, loaded
from tidelog.run.spark.partitions.local import evaluate, part_of, seed_name, seeded_plan
from tidelog.run.spark.partitions.task import NEWS, OVER, Tables, Task, closing, joined, uniting
from tidelog.run.spark.rules.scalars import constant
from tidelog.run.spark.store import Store

Seeds = tuple[str, DataFrame | Loaded]
"""A relation, and tuples of it to begin with."""
ONE = Spread({}, (), free=True)
"""How tuples are placed where there is one partition."""


@dataclass(slots=True)
class Fixpoint:
    """Evaluates strata on partitions, and lets their relations have what is found. `rounds` are those it took."""

    store: Store
    watch: Watch
    rounds: dict[str, int] = field(default_factory=dict)

    def one(self, strata: Sequence[Stratum], room: int) -> bool:
        """Evaluate strata by one partition, which may derive `room` tuples; tell whether it did not give up."""
        store = self.store
        heads = tuple(name for stratum in strata for name in stratum.relations)
        below = sorted({name for stratum in strata for rule in stratum.rules for name in rule.reads}.difference(heads))
        self._begin("one partition", strata[0], heads)
        task = self._task(part_of(store.plan, strata), heads, ONE, 1, (0, room), exchanging=False)
        given = united([self._whole(name) for name in below if store.relation(name).size(AFTER)])
        return self._run(task, given.repartitionById(1, PLACE), {}, {})

    def by_key(self, stratum: Stratum, way: Way, fit: Fit) -> bool:
        """Evaluate a stratum by partitions of its keys."""
        (name,) = stratum.relations
        self._begin("by key", stratum, stratum.relations)
        seeds = self.seeds(way)
        if seeds is None:
            self.rounds = {name: 1}
            return True
        frame, everywhere = seeds
        task = self.task_by_key(way, fit)
        return self._run(task, self._placed(task, [(name, frame)]), everywhere, {})

    def task_by_key(self, way: Way, fit: Fit) -> Task:
        """Return what partitions by key must know."""
        (name,) = way.stratum.relations
        plan = seeded_plan(self.store.plan, way.stratum, way.closure)
        placing = Spread({name: (way.column,)}, (), free=True)
        return self._task(plan, (name,), placing, fit.partitions, fit.room, exchanging=False)

    def seeds(self, way: Way) -> tuple[DataFrame, Tables] | None:
        """Return what the rules without recursion derive now, and the relations that are to be everywhere."""
        store = self.store
        (name,) = way.stratum.relations
        store.enter(Phase.BOOT, frozenset((name,)))
        first = [rule for rule in way.stratum.rules if name not in rule.reads]
        bag = store.derive([(rule, rule.full.tree) for rule in first]).get(name)
        if bag is None:
            return None
        seeds = bag.select(*store.relation(name).columns)
        tables = {below: store.collected(below) for below in relations_below(way.stratum)}
        if way.closure is not None:
            seeds = settle(seeds.distinct())[0].frame
            tables[way.closure.step] = collect(seeds)
        return seeds, tables

    def exchanging(self, stratum: Stratum, fit: Fit) -> bool:
        """Evaluate a stratum by partitions that exchange what is new."""
        self._begin("exchanging", stratum, stratum.relations)
        seeds = self._seeds(stratum)
        if not seeds:
            self.rounds = dict.fromkeys(stratum.relations, 1)
            return True
        found = spread(stratum, self._sizes(stratum, seeds), self.store.broadcast_rows)
        if found is None:
            return False
        plan = seeded_plan(self.store.plan, stratum)
        task = self._task(plan, stratum.relations, found, fit.partitions, fit.room, exchanging=True)
        tables = {name: self.store.collected(name) for name in relations_below(stratum)}
        fragments = self._closed(task, tables, self._fragments(task, seeds))
        return self._run(task, self._placed(task, seeds), tables, fragments)

    def _begin(self, strategy: str, stratum: Stratum, heads: Sequence[str]) -> None:
        self.store.enter(Phase.BOOT, frozenset(heads))
        self.watch.strategy = strategy
        self.watch.begin_round(stratum, 1)
        tell(f"{', '.join(heads)}: {strategy}")

    def _task(
        self,
        plan: Any,
        wanted: tuple[str, ...],
        placing: Spread,
        count: int,
        room: tuple[int, int],
        *,
        exchanging: bool,
    ) -> Task:
        limits = self.watch.limits_left()
        return Task(plan, wanted, placing, count, limits, self.store.tuning, *room, exchanging)

    # --- rounds ------------------------------------------------------------------------------------------------------

    def _run(self, task: Task, placed: DataFrame, tables: Tables, fragments: Tables) -> bool:
        """Exchange until there is nothing new."""
        rounds, last = 1, False
        held: list[tuple[DataFrame, Mapping[str, int]]] = []
        while True:
            shared = self.store.frames.spark.sparkContext.broadcast((tables, fragments))
            run = uniting(task) if last else closing(task, shared)
            found, counts = settle(placed.mapInArrow(run, PARCELS), **_counts(task.wanted))
            held = [*(held if last else ()), (found.frame, counts)]
            if counts[OVER]:
                tell(f"one of {task.partitions} partitions derives too much: another way")
                return False
            if not counts[SENT] and not counts[NEWS]:
                self._take(task, held, rounds)
                return True
            last = task.placing.free and not counts[NEWS]
            parcels = found.frame.where(f.col(KIND).isin(OWN, SENT) if last else f.col(KIND) != NEWS)
            placed = parcels.repartitionById(task.partitions, PLACE)
            if counts[NEWS]:
                fragments = self._closed(task, tables, joined(fragments, _news(found.frame)))
            rounds += 1
            assert self.watch.stratum is not None, "it was begun"
            self.watch.begin_round(self.watch.stratum, rounds)

    def _take(self, task: Task, held: Sequence[tuple[DataFrame, Mapping[str, int]]], rounds: int) -> None:
        """Let what partitions own be the relations' tuples."""
        parcels = united([frame.where(f.col(KIND) == OWN) for frame, _ in held])
        self.rounds = {}
        for number, name in enumerate(task.wanted):
            count = sum(counts[f"{OWN}{number}"] for _, counts in held)
            self.rounds[name] = rounds if task.exchanging else max(1, held[-1][1][f"{ROUNDS}{number}"])
            target = self.store.touch(name)
            column = task.placing.columns.get(name, (None,))[0]
            rows = Packed(parcels, name, OWN, target.empty.schema, (column, task.partitions))
            target.settled = (owned(self.store, rows, count),) if count else ()
            target.counted = False
            target.weigh(count, sum(counts[f"{BODY}{number}"] for _, counts in held))
            self.watch.add_tuples(count)
            self.store.spend(count)

    # --- what there is to begin with ---------------------------------------------------------------------------------

    def _whole(self, name: str) -> DataFrame:
        """Return a relation below in parcels under its own name."""
        relation = self.store.relation(name)
        parts = relation.settled if relation.final is None else relation.final
        if relation.final is not None or not (relation.inserted or relation.removed):
            rows = parts[0].rows if len(parts) == 1 else None
            if isinstance(rows, Packed):
                return rows.chosen.withColumns({RELATION: f.lit(name), PLACE: f.lit(0)})
        pack = scattered(name, OWN, relation.columns[:1], 1, int(self.store.tuning.spark.parcel_bytes))
        return relation.frame(AFTER).select(*relation.columns).mapInArrow(pack, PARCELS)

    def _placed(self, task: Task, seeds: Sequence[Seeds]) -> DataFrame:
        """Return seeds in parcels, where they belong."""
        if len(seeds) == 1 and isinstance(rows := seeds[0][1], Loaded) and task.is_placed(rows):
            return rows.chosen
        return united([self.scattered(task, name, rows) for name, rows in seeds]).repartitionById(
            task.partitions, PLACE
        )

    @staticmethod
    def scattered(task: Task, name: str, rows: DataFrame | Loaded) -> DataFrame:
        """Return seeds in parcels for where they belong."""
        frame = rows.frame.select(*task.columns(name)) if isinstance(rows, Loaded) else rows
        run = scattered(name, SENT, task.placed_by(name), task.partitions, task.parcel_bytes)
        return frame.mapInArrow(run, PARCELS)

    def _seeds(self, stratum: Stratum) -> list[Seeds]:
        """Return what rules without recursion derive, for each relation; facts that are in parcels as they are."""
        store = self.store
        first = [rule for rule in stratum.rules if not set(stratum.relations).intersection(rule.reads)]
        found = [(rule, self._loaded(stratum, rule)) for rule in first]
        packed = [(rule.head, facts) for rule, facts in found if facts is not None]
        rules = [rule for rule, facts in found if facts is None]
        bags = store.derive([(rule, rule.full.tree) for rule in rules])
        frames = {name: bag.select(*store.relation(name).columns) for name, bag in bags.items()}
        if fragments_of(stratum) and any(len(rule.reads) > 1 for rule in rules):  # they are read three times
            frames = {name: settle(frame)[0].frame for name, frame in frames.items()}
        return [*packed, *frames.items()]

    def _loaded(self, stratum: Stratum, rule: Rule) -> Loaded | None:
        """Return the facts that a rule copies, if they are in parcels for it."""
        source = copied(rule)
        if source is None:
            return None
        relation = self.store.relation(source)
        rows = loaded(relation.settled if relation.final is None else relation.final)
        wanted = {fragment for fragment in fragments_of(stratum) if fragment.relation == rule.head}
        return rows if rows is not None and rows.relation == rule.head and wanted <= rows.sizes.keys() else None

    # --- fragments, which are everywhere -----------------------------------------------------------------------------

    def _sizes(self, stratum: Stratum, seeds: Sequence[Seeds]) -> dict[Fragment, int]:
        """Count the tuples of fragments that there are to begin with; one that is in two seeds counts twice."""
        sizes = dict.fromkeys(fragments_of(stratum), 0)
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

    def _fragments(self, task: Task, seeds: Sequence[Seeds]) -> Tables:
        """Return the tuples of fragments that there are to begin with."""
        found: Tables = {}
        for name, rows in seeds:
            mine = [one for one in task.placing.fragments if one.relation == name]
            if not mine:
                continue
            if isinstance(rows, Loaded):
                table = rows.fragment(mine)
            else:
                table = collect(rows.where(reduce(Column.__or__, map(self._condition, mine))))
            found = joined(found, {} if table is None else {name: table})
        return found

    @staticmethod
    def _closed(task: Task, tables: Tables, fragments: Tables) -> Tables:
        """Return fragments with all that follows from themselves: everybody would find it, and tell everybody."""
        if not fragments:
            return fragments
        facts = {**tables, **{seed_name(name): table for name, table in fragments.items()}}
        limits = replace(task.limits, tuples=task.tuning.spark.replicate_rows)
        try:
            found, _ = evaluate(task.plan, facts, task.wanted, limits, task.tuning)
        except LimitError:
            return fragments
        return {name: task.within(found[name].select(task.columns(name)), name) for name in task.wanted}


def owned(store: Store, rows: Packed, count: int) -> Part:
    """Return the tuples that partitions own: in parcels, beside them as rows where several rules above open them."""
    above = [rule for other in store.plan.strata if rows.relation not in other.relations for rule in other.rules]
    if rows.placed[1] > 1 and sum(rows.relation in rule.reads for rule in above) > 1:
        rows = replace(rows, unpacked=settle(rows.frame)[0].frame)
    return Part(rows, count, placed=False)


def _counts(relations: Sequence[str]) -> dict[str, Column]:
    """What is counted of the parcels of a round."""
    rows = f.col(ROWS)
    counts = {kind: f.sum(f.when(f.col(KIND) == kind, rows)) for kind in (SENT, NEWS, OVER)}
    for number, name in enumerate(relations):
        mine = (f.col(KIND) == OWN) & (f.col(RELATION) == name)
        counts[f"{OWN}{number}"] = f.sum(f.when(mine, rows))
        counts[f"{BODY}{number}"] = bytes_of(mine)
        counts[f"{ROUNDS}{number}"] = f.max(f.when(mine, f.col(ROUNDS)))
    return counts


def _news(parcels: DataFrame) -> Tables:
    found: dict[str, list[Any]] = {}
    for parcel in opened(collect(parcels.where(f.col(KIND) == NEWS)).to_batches()):
        found.setdefault(parcel.relation, []).append(parcel.rows)
    return {name: pa.concat_tables(tables) for name, tables in found.items()}

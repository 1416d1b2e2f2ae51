"""Strata evaluated in one job instead of round by round.

A recursive stratum that reads little, in a program that the driver cannot hold, is evaluated on the driver.

A stratum *decomposes* if every recursive rule copies some column from its one recursive atom to its head
(`plan.closures.decompose`): tuples that differ in that column never meet. The tuples that the other rules derive are
partitioned by it, the relations below go whole to every executor, and each partition runs to its own fixpoint in the
columnar engine. A partition's rounds are the rounds of the whole, so ranks and support are the same as the round
loop's. A nonlinear closure is made linear first (`plan.closures.linearise`); what is counted then is not what its own
rules would have, and the relation says so (`Relation.counted`).

Other recursive strata are spread over partitions, which exchange what is new (`spread`), where their rules allow it and
nobody asked for ranks (`ranked`): those of a partition are not those of the whole. After a change such a stratum is
spread again: a round over rows takes as long as that, since it looks through every relation that it joins.

After a change only the pieces that it touches are evaluated anew, in one job again: the round loop over a small change
takes as many rounds as over everything, and on Spark rounds are what costs. For the same reason a stratum that does not
decompose is evaluated anew on the driver, if it can hold it, once an update has taken a few rounds (`patience`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import Broadcast
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.base.errors import EvaluationError, LimitError
from tidelog.base.record import record
from tidelog.base.tuning.table import Tuning
from tidelog.plan.closures.decompose import Way, decompose, relations_below
from tidelog.plan.closures.exchange import may_spread
from tidelog.plan.closures.linearise import Linearised
from tidelog.plan.nodes import Plan, Rule, Stratum
from tidelog.run.contract.engine import NO_LIMITS, Limits
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import Watch, tell
from tidelog.run.maintain.rounds import gain, lose
from tidelog.run.maintain.seminaive import bootstrap
from tidelog.run.phases import AFTER
from tidelog.run.spark.frames.checkpoint import Part, collect, gathered, settle
from tidelog.run.spark.frames.relation import RANK, SUPPORT, TIMES, columns_of
from tidelog.run.spark.frames.relation import Relation as SparkRelation
from tidelog.run.spark.frames.worker import BEGIN, END, EvaluationFailedError
from tidelog.run.spark.partitions.exchanging import Spreading, owned
from tidelog.run.spark.partitions.loads import OWN, has_floats
from tidelog.run.spark.partitions.local import evaluate
from tidelog.run.spark.partitions.parcels import PARCELS, ROUNDS, ROWS, Packed, Parcel
from tidelog.run.spark.partitions.seeds import seed_name, seeded_plan
from tidelog.run.spark.partitions.tail import Tail
from tidelog.run.spark.store import Store


@record
class Claims:
    """Which strata are evaluated in one piece. `how` tells for each stratum of this update what was done.

    `tracked` says whether ranks and support are kept, `counted` whether they must be those of the rules as written:
    then nothing is spread.
    """

    how: dict[int, str]
    tracked: bool
    tuning: Tuning
    counted: bool = False

    @property
    def driver_rows(self) -> int:
        """How many tuples the driver may hold."""
        return self.tuning.spark.driver_rows

    @property
    def replicate_rows(self) -> int:
        """How many rows may be everywhere; none: nothing is evaluated in one piece."""
        return self.tuning.spark.replicate_rows

    def evaluate(self, store: Store, stratum: Stratum, watch: Watch) -> int:
        """Evaluate a stratum from scratch in the best way; return the number of rounds."""
        room = self._room(store)
        if self._fits(store, stratum, room) and (rounds := self._on_driver(store, stratum, watch, room)):
            self.how[stratum.number] = "on the driver"
            return rounds
        way = self.way(store, stratum)
        if way is None and self.can_spread(store, stratum):
            exchanges = Spreading(store, stratum, watch).evaluate()
            if exchanges is not None:
                self.how[stratum.number] = "spread"
                for name in stratum.relations:
                    store.touch(name).counted = False
                return exchanges
        if way is None:
            tail = Tail(store, stratum, watch)
            rounds = bootstrap(store, stratum, watch, tail.finish if self.driver_rows else None)
            if tail.rounds:
                self.how[stratum.number] = "rounds, the last on the driver"
            return rounds + tail.rounds
        self.how[stratum.number] = "decomposed"
        (name,) = stratum.relations
        target = store.touch(name)
        target.counted = way.closure is None
        found, rounds = self._fixpoint(store, way, None, watch)
        target.settled = (found,) if found.count else ()
        return rounds

    def can_spread(self, store: Store, stratum: Stratum) -> bool:
        """Tell whether a stratum can be spread, if there is little of what has to be everywhere."""
        return not self.counted and bool(self.replicate_rows) and may_spread(stratum) and not has_floats(store, stratum)

    def patience(self, store: Store, stratum: Stratum) -> int | None:
        """Return after how many rounds of an update a stratum is left to the driver; None if it could not take it."""
        own = sum(store.relation(name).size(AFTER) for name in stratum.relations)
        tuning = self.tuning.spark
        fits = self._fits(store, stratum, tuning.driver_state * tuning.driver_rows - own)
        return tuning.update_rounds if fits else None

    def _room(self, store: Store) -> int:
        """Return how many tuples the driver may hold of a stratum, and of what is below: more if it was left to it."""
        times = self.tuning.spark.driver_state if store.is_left_to_driver else 1
        return times * self.driver_rows

    @staticmethod
    def _fits(store: Store, stratum: Stratum, room: int) -> bool:
        below = {name for rule in stratum.rules for name in rule.reads}.difference(stratum.relations)
        return stratum.recursive and sum(store.relation(name).size(AFTER) for name in below) <= room

    def _on_driver(self, store: Store, stratum: Stratum, watch: Watch, room: int) -> int:
        """Evaluate a stratum in the columnar engine; return the number of rounds, 0 if it grows beyond the driver."""
        members = frozenset(stratum.relations)
        names = sorted({name for rule in stratum.rules for name in rule.reads} | members)
        store.enter(Phase.BOOT, members)
        watch.strategy = "on the driver"
        watch.begin_round(stratum, 1)
        tables = {name: store.collected(name) for name in names if name not in members}
        relations = {name: store.plan.relations[name] for name in names}
        plan = Plan(store.types, relations, store.functions, (replace(stratum, number=0),), (), {})
        limits = Limits(tuples=room, seconds=watch.seconds_left())
        try:
            found, rounds = evaluate(plan, tables, stratum.relations, limits, self.tuning, tracked=self.tracked)
        except LimitError:
            watch.look()  # it may be the user's limit that was reached
            return 0
        for name, table in found.items():
            target = store.touch(name)
            watch.add_tuples(table.num_rows)
            if table.num_rows:
                rows = store.frames.spark.createDataFrame(table)
                target.settled = (settle(rows.repartition(store.partitions, *target.columns))[0],)
        return max(1, rounds)

    def way(self, store: Store, stratum: Stratum) -> Way | None:
        """Return how a stratum decomposes, if what is below is small enough to be everywhere."""
        way = decompose(stratum, linear=not self.counted) if self.replicate_rows else None
        if way is None:
            return None
        everywhere = relations_below(way.stratum)
        if way.closure is not None:  # its steps are made by the rules without recursion
            everywhere = [name for rule in stratum.rules for name in rule.reads if name not in stratum.relations]
        size = sum(store.relation(name).size(AFTER) for name in everywhere)
        return way if size <= self.replicate_rows else None

    def refresh(
        self, store: Store, stratum: Stratum, way: Way, rules: tuple[list[Rule], list[Rule]], watch: Watch
    ) -> int:
        """Evaluate anew the pieces of a stratum that changes below it or of its rules have touched.

        A piece is touched if it loses or gains a derivation from the tuples it had: otherwise, by induction over its
        rounds, it stays as it is. `rules` are those that the stratum has lost and gained.
        """
        (name,) = stratum.relations
        keys = self._touched(store, stratum, way, rules, watch)
        if keys is None or not keys.count:
            return 1
        found, rounds = self._fixpoint(store, way, keys, watch)
        target = store.touch(name)
        target.counted = target.counted and way.closure is None
        old = gathered(target.settled)
        key = target.columns[way.column]
        rest, _ = settle(old.join(f.broadcast(keys.frame), key, "left_anti").select(*target.empty.columns))
        before = old.join(f.broadcast(keys.frame), key, "left_semi")
        here, there = before.select(*target.columns), found.frame.select(*target.columns)
        inserted, _ = settle(found.frame.join(here, target.columns, "left_anti"))
        deleted, _ = settle(before.join(there, target.columns, "left_anti"))
        target.inserted = (inserted,) if inserted.count else ()
        target.removed = target.deleted = (deleted,) if deleted.count else ()
        target.replaced = (found,) if found.count else ()
        placed = all(part.placed for part in target.settled)
        target.final = tuple(part for part in (replace(rest, placed=placed), found) if part.count)
        return rounds

    def _touched(
        self, store: Store, stratum: Stratum, way: Way, rules: tuple[list[Rule], list[Rule]], watch: Watch
    ) -> Part | None:
        """Return the keys of the pieces that lose or gain a derivation."""
        (name,) = stratum.relations
        removed, added = rules
        kept = tuple(rule for rule in stratum.rules if rule not in added)
        watch.begin_round(stratum, 1)
        lost, regrouped = lose(store, stratum, kept, removed)
        bag = store.unite([lost, regrouped, gain(store, stratum, kept, added)]).get(name)
        if bag is None:
            return None
        relation = store.relation(name)
        keys = bag.select(relation.columns[way.column])
        if way.closure is not None and relation.settled:
            keys = keys.union(_before_steps(relation, bag, way, way.closure))
        return settle(keys.distinct())[0]

    def _fixpoint(self, store: Store, way: Way, keys: Part | None, watch: Watch) -> tuple[Part, int]:
        """Return all tuples of a stratum, or those with the given keys, and the number of rounds they took."""
        (name,) = way.stratum.relations
        store.enter(Phase.BOOT, frozenset((name,)))
        watch.strategy = "decomposed"
        watch.begin_round(way.stratum, 1)
        target = store.touch(name)
        first = [rule for rule in way.stratum.rules if name not in rule.reads]
        bag = store.derive([(rule, rule.full.tree) for rule in first]).get(name)
        if bag is None:
            return Part(target.empty, 0), 1
        tables = {below: store.collected(below) for below in relations_below(way.stratum)}
        seeds = bag.groupBy(*target.columns).agg(f.sum(TIMES).alias(TIMES))
        if way.closure is not None:
            seeds = settle(seeds)[0].frame
            tables[way.closure.step] = collect(seeds.select(*target.columns))
        if keys is not None:
            seeds = seeds.join(f.broadcast(keys.frame), target.columns[way.column], "left_semi")
        cut = seeds.select(*target.columns, TIMES).repartition(store.partitions, target.columns[way.column])
        tell(f"{name} by {store.plan.relations[name].columns[way.column].name}, in one job")
        shared = store.frames.spark.sparkContext.broadcast(tables)
        run = _run_partition(
            seeded_plan(store, way.stratum, way.closure), shared, name, self.tuning, tracked=self.tracked
        )
        if self.tracked:
            schema = s.StructType(list(target.empty.schema.fields))
            found, counts = settle(cut.mapInArrow(run, schema), rounds=f.max(RANK), derivations=f.sum(SUPPORT))
            found, rounds = replace(found, placed=False), counts["rounds"] + 1  # the one that finds nothing has no rank
        else:
            parcels, counts = settle(cut.mapInArrow(run, PARCELS), rounds=f.max(ROUNDS), derivations=f.sum(ROWS))
            packed = Packed(parcels.frame, name, OWN, target.empty.schema)
            found = owned(store, way.stratum, packed, counts["derivations"])
            rounds = counts["rounds"]
        store.derivations += counts["derivations"]
        watch.add_tuples(found.count)
        return found, rounds


def _before_steps(relation: SparkRelation, bag: DataFrame, way: Way, closure: Linearised) -> DataFrame:
    """Return the keys of the tuples that a changed step continues."""
    source, target = relation.columns[closure.source], relation.columns[closure.target]
    steps = bag.select(f.col(source).alias(target)).distinct()
    return gathered(relation.settled).join(f.broadcast(steps), target, "left_semi").select(relation.columns[way.column])


def _run_partition(
    plan: Plan, shared: Broadcast[dict[str, Any]], name: str, tuning: Tuning, *, tracked: bool
) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return a function for `mapInArrow`: the seeds of a partition to all tuples that follow from them.

    Where ranks and support are not kept it gives parcels.
    """
    most = int(tuning.spark.parcel_rows)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        given = list(batches)
        if not any(batch.num_rows for batch in given):
            return
        seeds = pa.Table.from_batches(given)
        columns = columns_of(len(plan.relations[name].columns))
        try:
            facts = {**shared.value, seed_name(name): seeds.select(columns)}
            tables, rounds = evaluate(plan, facts, (name,), NO_LIMITS, tuning, tracked=tracked, threads=1)
        except EvaluationError as error:
            raise EvaluationFailedError(f"{BEGIN}{error}{END}") from error
        found = tables[name]
        if tracked:
            yield from _with_seed_support(found, seeds, columns).combine_chunks().to_batches()
        else:
            yield from Parcel(0, name, OWN, found.select(columns), rounds).batches(most)

    return run


def _with_seed_support(found: pa.Table, seeds: pa.Table, columns: list[str]) -> pa.Table:
    """Let tuples of the first round have as much support as derivations were found for them."""
    several = seeds.filter(pc.greater(seeds[TIMES], 1))
    if not several.num_rows:
        return found
    times = dict(zip(_tuples(several, columns), several[TIMES].to_pylist(), strict=True))
    rows = _tuples(found, columns)
    ranks, supports = found[RANK].to_pylist(), found[SUPPORT].to_pylist()
    support = [times.get(row, own) if rank == 1 else own for row, rank, own in zip(rows, ranks, supports, strict=True)]
    return found.set_column(found.schema.get_field_index(SUPPORT), SUPPORT, pa.array(support, pa.int64()))


def _tuples(table: pa.Table, columns: list[str]) -> Iterator[tuple[Any, ...]]:
    return zip(*(table[name].to_pylist() for name in columns), strict=True)

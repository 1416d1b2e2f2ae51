"""The state of a program in Spark, and the leaf operations on it (`contract.Backend`).

Deriving only builds queries; absorbing and releasing run them, one job for all relations of a stratum in a round.
Relations are copied before their first change and DataFrames never change, so undoing is forgetting.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as s
from pyspark.sql.pandas.types import to_arrow_schema

from tidelog.base.expr import Const, Function
from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.base.types import Type, TypeDefinition
from tidelog.plan.nodes import Aggregate, Plan, Rule, Unit
from tidelog.run.base_store import BaseStore
from tidelog.run.contract.engine import Delta, Row, Rows
from tidelog.run.contract.phase import Job, Phase
from tidelog.run.limits import OverBudgetError, Watch, tell
from tidelog.run.maintain.commit import Committed
from tidelog.run.phases import AFTER, BEFORE, DELETED, INSERTED, View
from tidelog.run.spark.cluster.memory import Share, share_of
from tidelog.run.spark.cluster.session import SHUFFLE
from tidelog.run.spark.fit import Capacity
from tidelog.run.spark.frames.checkpoint import (
    Part,
    Question,
    answers,
    collect,
    gathered,
    settle,
    united,
)
from tidelog.run.spark.frames.difference import differences
from tidelog.run.spark.frames.encode import Cells, spark_type
from tidelog.run.spark.frames.finish import finished
from tidelog.run.spark.frames.named import integer, named
from tidelog.run.spark.frames.relation import (
    RANK,
    SUPPORT,
    TIMES,
    Parts,
    Relation,
    column_name,
    size_of,
)
from tidelog.run.spark.frames.rows import SparkRows, frame_of, table_of
from tidelog.run.spark.frames.sets import without
from tidelog.run.spark.loading.facts import LoadOf, change_facts
from tidelog.run.spark.rules.absorb import Outcome, Told, absorbed, bootstrapped, exchanged, released
from tidelog.run.spark.rules.query import Pipeline

Bags = Mapping[str, DataFrame]
RELIEF = 4
"""How many times more partitions there are when an executor has run out of memory."""


class Frames:
    """What all relations of an engine share: the session, and the frames made of nothing."""

    def __init__(self, spark: SparkSession, tuning: Tuning = DEFAULT) -> None:
        self.spark = spark
        self.tuning = tuning
        self.partitions = int(spark.conf.get(SHUFFLE) or "2")
        self.lost = 0
        """How often executors have run out of memory: what goes on then is smaller."""
        self._one_row: DataFrame | None = None
        self._empty: dict[tuple[str, ...], DataFrame] = {}

    @cached_property
    def _share(self) -> Share:
        return share_of(self.spark)

    @property
    def capacity(self) -> Capacity:
        """What a worker may hold, and how many partitions there are."""
        share, tuning = self._share, self.tuning.spark
        held = min(share.bytes // int(tuning.worker_copies) >> self.lost, tuning.worker_bytes)
        return Capacity(max(1, held), share.reason, self.partitions, self.lost)

    def cut(self, partitions: int) -> None:
        """Let relations have more partitions from now on."""
        if partitions > self.partitions:
            tell(f"relations are cut into {partitions:,} partitions, as they are large")
            self.partitions = int(partitions)
            self.spark.conf.set(SHUFFLE, self.partitions)

    def relieve(self) -> None:
        """Let executors that ran out of memory have less at a time: more partitions, and joins that can spill."""
        self.lost += 1
        self.partitions = max(self.partitions, min(self.partitions * RELIEF, int(self.tuning.spark.most_partitions)))
        self.spark.conf.set(SHUFFLE, self.partitions)
        self.spark.conf.set("spark.sql.optimizer.disableHints", "true")  # those for tables in memory

    def one_row(self) -> DataFrame:
        """Return one row that says nothing."""
        if self._one_row is None:
            self._one_row = self.spark.createDataFrame(pa.table({"unit": pa.array([0], pa.int64())}))
        return self._one_row

    def relation(self, name: str, types: Sequence[Type]) -> Relation:
        """Return an empty relation."""
        kinds = [spark_type(type) for type in types] or [s.BooleanType()]
        key = tuple(kind.simpleString() for kind in kinds)
        if key not in self._empty:
            fields = [s.StructField(column_name(number), kind) for number, kind in enumerate(kinds)]
            schema = s.StructType([*fields, *(s.StructField(name, s.LongType()) for name in (RANK, SUPPORT))])
            # as an Arrow table it is a part of plans, which fold what is made of it; as a list it would be an RDD
            self._empty[key] = self.spark.createDataFrame(to_arrow_schema(schema).empty_table())
        return Relation(name, types, self._empty[key], self.tuning.spark.most_parts, self.partitions)


class Store(BaseStore[Relation]):
    """Relations by name, and what is done to them in one update."""

    def __init__(
        self,
        plan: Plan,
        frames: Frames,
        relations: dict[str, Relation],
        before: Committed[Relation],
        watch: Watch,
        load_of: LoadOf,
    ) -> None:
        super().__init__(plan, relations, before.relations, watch)
        self.frames = frames
        found: tuple[Mapping[str, Function], Mapping[str, TypeDefinition]] = before.definitions(plan)
        self.functions, self.types = found
        self.cells = Cells(self.types)
        self._load_of = load_of
        self.patience: int | None = None
        """Rounds that the update of the stratum at work may still take before the driver evaluates it; None: all."""

    @property
    def tuning(self) -> Tuning:
        """The thresholds to choose by."""
        return self.frames.tuning

    @property
    def capacity(self) -> Capacity:
        """What a worker may hold, and how many partitions there are."""
        return self.frames.capacity

    @property
    def broadcast_rows(self) -> int:
        """Rows of at most this number are sent to all executors."""
        return self.tuning.spark.broadcast_rows

    def spend(self, derivations: int) -> None:
        """Count derivations, and their work against the budget of the stratum's update."""
        self.derivations += derivations
        self.watch.spend(int(self.tuning.spark.derivation) * derivations)

    @property
    def is_left_to_driver(self) -> bool:
        """Whether the update of the stratum at work has taken too many rounds."""
        return self.patience is not None and self.patience < 0

    @property
    def ranked(self) -> bool:
        """Whether derivations carry ranks in this phase; in a bootstrap the round is the rank."""
        return self.phase is not Phase.BOOT

    @property
    def in_loop(self) -> bool:
        """Whether a round of a recursive stratum is at work that is not the first: more of its kind will follow."""
        return self.watch.round > 1 and self.watch.stratum is not None and self.watch.stratum.recursive

    @property
    def partitions(self) -> int:
        """The number of partitions that rows are shuffled into."""
        return self.frames.partitions

    def one_row(self) -> DataFrame:
        """Return one row that says nothing."""
        return self.frames.one_row()

    def fresh(self, name: str) -> Relation:
        """Return an empty relation with the columns of the plan."""
        return self.frames.relation(name, [column.type for column in self.plan.relations[name].columns])

    def changeable(self, relation: Relation) -> Relation:
        """Return a copy: the relations given remain as they were."""
        made = relation.copy()
        if made.partitions != self.partitions:
            made.partitions = self.partitions
            made.settled = tuple(replace(part, placed=False) for part in made.settled)
        return made

    # --- the backend's operations ------------------------------------------------------------------------------------

    def derive(self, jobs: Sequence[Job]) -> Bags:
        """Build the queries of trees; return for each head relation its bag."""
        found: dict[str, list[DataFrame]] = {}
        stated: dict[str, list[Row]] = {}
        for rule, tree in jobs:
            values = [one.value for one in tree.expressions if isinstance(one, Const)]
            if isinstance(tree.input, Unit) and len(values) == len(tree.expressions):
                stated.setdefault(rule.head, []).append(tuple(values))
                continue
            bag = Pipeline(rule, tree, self).run()
            if bag is not None:
                found.setdefault(rule.head, []).append(bag)
        for name, rows in stated.items():
            found.setdefault(name, []).append(self._stated(name, rows))
        return {name: united(bags) for name, bags in found.items()}

    def _stated(self, name: str, rows: Sequence[Row]) -> DataFrame:
        """Return facts that the program states as one bag: a query for each of them would be planned."""
        relation = self.relation(name)
        frame = frame_of(rows, relation.types, self.cells, self.frames.spark)
        return frame.select(*map(named, relation.columns), integer(0, RANK), integer(1, TIMES))

    def unite(self, bags: Sequence[Bags]) -> Bags:
        """Put bags of the same head relations together."""
        found: dict[str, list[DataFrame]] = {}
        for one in bags:
            for name, bag in one.items():
                found.setdefault(name, []).append(bag)
        return {name: united(parts) for name, parts in found.items()}

    def absorb(self, relations: Sequence[str], bags: Bags) -> None:
        """Absorb derivations of several relations, all by one job."""
        boot = self.phase is Phase.BOOT
        targets = self._absorb_first(relations, bags) if boot else self._absorb_more(relations, bags)
        for target in targets:
            self.watch.add_tuples(target.delta.count)

    def _absorb_first(self, relations: Sequence[str], bags: Bags) -> Sequence[Relation]:
        for name in relations:
            self._insert_delta(self.touch(name))
        targets = [self.touch(name) for name in relations if name in bags]
        known = [gathered(target.settled) if target.settled else None for target in targets]
        asking = (bootstrapped(target, bags[target.name], rows) for target, rows in zip(targets, known, strict=True))
        return self._asked(targets, asking)

    def _absorb_more(self, relations: Sequence[str], bags: Bags) -> Sequence[Relation]:
        for name in relations:
            self._insert_delta(self.touch(name))
        targets = [self.touch(name) for name in relations if name in bags]
        for target in targets:
            target.place()
        return self._asked(targets, (absorbed(target, bags[target.name]) for target in targets))

    def _asked(self, targets: Sequence[Relation], asking: Iterable[tuple[Question, Told]]) -> Sequence[Relation]:
        """Let relations take the answers to their questions."""
        if targets:
            self._lose_patience()
            self._describe(", ".join(target.name for target in targets))
            asked = list(asking)
            found = answers([one for one, _ in asked])
            for target, (_, told), answer in zip(targets, asked, found, strict=True):
                self._take(target, told(*answer))
        return targets

    def _lose_patience(self) -> None:
        if self.patience is not None and self.phase is not Phase.BOOT:
            self.patience -= 1
            if self.is_left_to_driver:
                raise OverBudgetError

    def _describe(self, relation: str) -> None:
        """Say in Spark's own pages what the next job is for."""
        context = self.frames.spark.sparkContext
        context.setJobDescription(f"tidelog: {relation}, {self.phase.value}, round {self.watch.round}")

    def _take(self, target: Relation, outcome: Outcome) -> None:
        target.delta = outcome.delta
        if outcome.changes is not None:
            target.changes = target.with_part(target.changes, outcome.changes)
        self.spend(outcome.derivations)

    def _insert_delta(self, target: Relation) -> None:
        if self.phase is Phase.BOOT:
            target.settled = target.with_part(target.settled, target.delta)
        else:
            target.inserted = target.with_part(target.inserted, target.delta)
        target.delta = Part(target.empty, 0)

    def release(self, relations: Sequence[str], bags: Bags) -> None:
        """Take derivations of several relations away, all by one job."""
        for name in relations:
            self._remove_delta(self.touch(name))
        targets = [self.touch(name) for name in relations if name in bags and self.touch(name).size(AFTER)]
        for target in targets:
            target.place()
        for target in self._asked(targets, (released(target, bags[target.name]) for target in targets)):
            target.falling = True

    @staticmethod
    def _remove_delta(target: Relation) -> None:
        if target.falling:
            target.removed = target.with_part(target.removed, target.delta)
            target.delta, target.falling = Part(target.empty, 0), False

    def removed(self, relation: str) -> int:
        """End the removal of tuples; they are the view `deleted` then, and their changes of support are void."""
        target = self.touch(relation)
        self._remove_delta(target)
        target.deleted = target.removed
        if target.removed and target.changes:
            log = gathered(target.changes)
            rest, _ = settle(target.without(log, target.removed))
            target.changes = (rest,) if rest.count else ()
        return size_of(target.removed)

    def conclude(self, relation: str) -> None:
        """Let the delta become old, and leave as deleted and inserted only what was not there or did not come back."""
        target = self.touch(relation)
        self._insert_delta(target)
        if target.removed and target.inserted:
            came = gathered(target.inserted)
            back, _ = settle(target.within(came, target.removed))
            if back.count:
                went = gathered(target.removed)
                target.removed = _rest(target, went, size_of(target.removed), back)
                target.inserted = _rest(target, came, size_of(target.inserted), back)
                target.replaced = (back,)
        target.deleted = target.removed

    def changed(self, relation: str) -> tuple[int, int]:
        """Return how many tuples of a relation this update has deleted, and how many it has inserted."""
        found = self.touched.get(relation)
        return (0, 0) if found is None else (found.size(DELETED), found.size(INSERTED))

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""
        return self.relation(relation).size(AFTER)

    def has_delta(self, relation: str) -> bool:
        """Tell whether the delta of a relation has a tuple."""
        return self.relation(relation).delta.count > 0

    def collected(self, relation: str) -> Any:
        """Return the tuples of a relation as an Arrow table; for none there is no job.

        What was collected before is kept, if it is not too large, and brought up to date: only changes are collected.
        """
        found = self.relation(relation)
        if not found.size(AFTER):
            return table_of((), found.types, self.cells)
        known = found.copied
        if known is not None and known[0] == found.changed_parts:
            return known[1]
        if known is None or known[0] != (found.settled, (), ()) or found.delta.count:
            table = collect(found.frame(AFTER).select(*found.columns))
        else:
            table = known[1]
            if found.removed:
                table = without(table, found.removed_here())
            if found.inserted:
                table = pa.concat_tables([table, collect(gathered(found.inserted).select(*found.columns))])
        if table.nbytes <= self.tuning.spark.driver_bytes and not found.delta.count:
            found.copied = found.changed_parts, table
        return table

    # --- dropping work, and starting a stratum afresh ----------------------------------------------------------------

    def begin(self) -> None:
        """Remember this point of the update."""
        copies = {name: relation.copy() for name, relation in self.touched.items()}
        self._begun = {**self.relations, **copies}, copies

    def drop(self) -> None:
        """Undo what was done since `begin`."""
        self.relations, self.touched = dict(self._begun[0]), dict(self._begun[1])

    def compare(self, relation: str) -> None:
        """Make the difference to what a relation held its net change."""
        self.compare_all((relation,))

    def compare_all(self, relations: Sequence[str]) -> None:
        """Compare relations with what they held, by one job those whose tuples are in parcels."""
        sides: dict[str, tuple[Parts, Parts]] = {}
        for name in relations:
            old, new = self._aside.pop(name), self.relations[name]
            if new.inserted or new.removed:  # facts have been changed since
                new.settled, new.inserted, new.removed = self._finished([new])[0].settled, (), ()
            new.final = new.with_part(new.settled, new.delta)
            new.delta, new.settled = Part(new.empty, 0), old.settled
            sides[name] = old.settled, new.final
        found = differences(sides, int(self.tuning.spark.parcel_bytes))
        for name, (had, has) in sides.items():
            new = self.relations[name]
            known = found.get(name)
            new.inserted, new.removed = known or (_difference(new, has, had), _difference(new, had, has))
            new.deleted = new.removed

    # --- facts, and the end of an update -----------------------------------------------------------------------------

    def change_facts(self, facts: Mapping[str, Delta]) -> None:
        """Insert and delete stored facts."""
        changes = {self.touch(name): change for name, change in facts.items()}
        change_facts(changes, self._load_of, self.cells, self.frames.spark)

    def fill(self, relation: str, facts: Relation) -> None:
        """Let an empty relation hold the tuples of another."""
        self.relations[relation].settled = facts.settled

    def contents(self, name: str, relation: Relation, view: View, plan: Plan) -> Rows:
        """Return the tuples that a view shows of a relation, which stay in the executors until they are looked at."""
        size = relation.size(view)
        return SparkRows(partial(relation.frame, view), size, relation.types, self.cells) if size else ()

    def finish(self) -> None:
        """Make the update final in every relation it touched."""
        self.relations.update(zip(self.touched, self._finished(list(self.touched.values())), strict=True))

    def _finished(self, relations: Sequence[Relation]) -> list[Relation]:
        tuning = self.tuning.spark
        return finished(relations, tuning.gone_rows, tuning.gone_layers)

    # --- aggregates --------------------------------------------------------------------------------------------------

    def regroup(self, rules: Sequence[Rule]) -> tuple[Bags, Bags]:
        """Evaluate the groups of aggregating rules that have changed, before and after; return the difference."""
        lost: list[Bags] = []
        gained: list[Bags] = []
        for rule in rules:
            tree = rule.full.tree
            step = tree.input
            assert isinstance(step, Aggregate), "plans keep aggregates in rules of their own"
            bags: list[DataFrame | None] = []
            for view in (BEFORE, AFTER):
                pipeline = Pipeline(rule, tree, self)
                relation = self.relation(step.input.relation)
                keys = None
                if step.keys:
                    changed = [pipeline.keys(step, one) for one in (DELETED, INSERTED) if relation.size(one)]
                    keys = united(changed).distinct()
                bags.append(pipeline.finish(pipeline.groups(step, view, keys)) if relation.size(view) else None)
            down, up = exchanged(bags[0], bags[1], self.relation(rule.head).columns)
            lost.append({rule.head: down})
            gained.append({rule.head: up})
        return self.unite(lost), self.unite(gained)


def _rest(relation: Relation, frame: DataFrame, count: int, taken: Part) -> Parts:
    left = count - taken.count
    return (Part(relation.without(frame, (taken,)), left),) if left else ()


def _difference(relation: Relation, these: Parts, others: Parts) -> Parts:
    """Return the tuples of some parts that are not in others."""
    if not these or not others:
        return these
    mine, theirs = gathered(these), gathered(others)
    found, _ = settle(mine.join(theirs.select(*relation.columns), relation.columns, "left_anti"))
    return (found,) if found.count else ()

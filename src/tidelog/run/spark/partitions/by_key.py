"""A stratum that decomposes by a key, brought up to date: only the pieces that a change touches are evaluated anew.

Tuples that differ in the key never meet (`plan.closures.decompose`). A piece, the tuples of one key, is touched if it
loses or gains a derivation from the tuples it had: otherwise, by induction over its rounds, it stays as it is. The
round loop over a small change takes as many rounds as over everything, and on Spark rounds are what costs; here one job
finds the keys, and one evaluates their pieces and compares them with what they were. Parcels of places that no key is
of are not opened.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark import Broadcast
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

from tidelog.plan.closures.decompose import Way
from tidelog.plan.closures.linearise import Linearised
from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.limits import Watch, tell
from tidelog.run.maintain.rounds import gain, lose
from tidelog.run.spark.fit import Fit
from tidelog.run.spark.frames.checkpoint import collect, gathered, settle, united
from tidelog.run.spark.frames.difference import OLD, changed, compared, counts_of, packed, placed
from tidelog.run.spark.frames.parcels import (
    BODY,
    KIND,
    PARCELS,
    PLACE,
    ROUNDS,
    ROWS,
    Batches,
    Packed,
    Parcel,
    bytes_of,
    opened,
    places,
)
from tidelog.run.spark.frames.relation import Relation
from tidelog.run.spark.frames.rows import arrow_frame
from tidelog.run.spark.frames.sets import among
from tidelog.run.spark.loading.loads import OWN
from tidelog.run.spark.partitions.fixpoint import Fixpoint, owned
from tidelog.run.spark.partitions.task import OVER, Tables, Task, derived
from tidelog.run.spark.store import Store

Shared = tuple[Tables, Any]
"""The relations that are everywhere, and the keys touched, as Arrow tables."""


Rules = tuple[Sequence[Rule], Sequence[Rule]]
"""Those that a stratum has lost, and those that it has gained."""


def refresh(store: Store, stratum: Stratum, way: Way, rules: Rules, fit: Fit) -> int | None:
    """Evaluate anew the pieces touched by changes below and of rules; return the rounds.

    None: a partition has given up, and nothing has changed.
    """
    watch, (name,) = store.watch, stratum.relations
    keys = _touched(store, stratum, way, rules, watch)
    if keys is None or not keys.num_rows:
        return 1
    made = Fixpoint(store, watch)
    watch.strategy = "by key"
    found = made.seeds(way)
    target = store.touch(name)
    task = made.task_by_key(way, replace(fit, partitions=max(fit.partitions, _places(target, way))))
    column = target.columns[way.column]
    at = sorted({int(place) for place in places(keys[column], task.partitions)})
    tell(f"{name}: {keys.num_rows:,} keys touched, in {len(at)} of {task.partitions} partitions")
    where = way.column, task.partitions
    old = placed(target.settled, name, where, OLD, task.parcel_bytes)
    if (before := packed(target.settled)) is None or before.placed != where:
        old = settle(old)[0].frame
    given = [old.where(f.col(PLACE).isin(at))]
    everywhere: Tables = {}
    if found is not None:
        seeds, everywhere = found
        chosen = arrow_frame(store.frames.spark, keys)
        given.append(made.scattered(task, name, seeds.join(f.broadcast(chosen), column, "left_semi")))
    shared = store.frames.spark.sparkContext.broadcast((everywhere, keys))
    anew = united(given).repartitionById(task.partitions, PLACE).mapInArrow(_refreshing(task, name, shared), PARCELS)
    rest = old.where(~f.col(PLACE).isin(at)).withColumns({KIND: f.lit(OWN), ROUNDS: f.lit(0).cast("long")})
    parcels, counts = settle(united([rest.select(*anew.columns), anew]), **_counts(name))
    if counts[OVER]:
        return None
    rows = Packed(parcels.frame, name, OWN, target.empty.schema, where)
    target.inserted, target.removed = changed(parcels.frame, rows, 0, counts)
    target.deleted = target.removed
    target.final = (owned(store, rows, counts[OWN]),) if counts[OWN] else ()
    target.counted = False
    target.weigh(counts[OWN], counts[BODY])
    watch.add_tuples(sum(part.count for part in target.inserted))
    store.derivations += counts["derived"]
    return max(1, counts[ROUNDS])


def _places(relation: Relation, way: Way) -> int:
    """Return at how many places a relation has the tuples of its keys, 0 if it is not placed by them."""
    rows = packed(relation.settled)
    return rows.placed[1] if rows is not None and rows.placed[0] == way.column else 0


def _counts(name: str) -> dict[str, Column]:
    rows, own = f.col(ROWS), f.col(KIND) == OWN
    return {
        OVER: f.sum(f.when(f.col(KIND) == OVER, rows)),
        OWN: f.sum(f.when(own, rows)),
        BODY: bytes_of(own),
        "derived": f.sum(f.when(own & (f.col(ROUNDS) > 0), rows)),
        ROUNDS: f.max(f.when(own, f.col(ROUNDS))),
        **counts_of([name]),
    }


def _touched(store: Store, stratum: Stratum, way: Way, rules: Rules, watch: Watch) -> Any:
    """Return the keys of the pieces that lose or gain a derivation, as an Arrow table."""
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
    return collect(keys.distinct())


def _before_steps(relation: Relation, bag: DataFrame, way: Way, closure: Linearised) -> DataFrame:
    """Return the keys of the tuples that a changed step continues."""
    source, target = relation.columns[closure.source], relation.columns[closure.target]
    steps = bag.select(f.col(source).alias(target)).distinct()
    return gathered(relation.settled).join(f.broadcast(steps), target, "left_semi").select(relation.columns[way.column])


def _refreshing(task: Task, name: str, shared: Broadcast[Shared]) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: what a partition had, and seeds, to what it has and the difference."""

    def run(batches: Batches) -> Batches:
        tables: dict[str, list[Any]] = {}
        place = 0
        for parcel in opened(batches):
            place = parcel.place
            tables.setdefault(parcel.kind, []).append(parcel.rows)
        everywhere, keys = shared.value
        old = pa.concat_tables(had) if (had := tables.pop(OLD, None)) else None
        seeds = pa.concat_tables([table for some in tables.values() for table in some]) if tables else None
        found: list[Parcel] = []
        if old is not None:
            touched = among(old, keys)
            found.append(Parcel(place, name, OWN, old.filter(pa.array(~touched)), 0))
            old = old.filter(pa.array(touched))
        anew = list(derived(task, place, {name: seeds}, everywhere, {})) if seeds is not None else []
        found += anew
        if not any(parcel.kind == OVER for parcel in anew):
            found += compared(place, name, old, anew[0].rows if anew else None)
        for parcel in found:
            yield from parcel.batches(task.parcel_bytes)

    return run

"""Connected components: nodes with the least node of theirs stand for an equivalence (`plan.closures.components`).

Partitions first make of their own edges as few as connect the same nodes, by union-find, in batches; what is left,
fewer edges than nodes, goes to one partition, which does so once more. That is one job. If there are more nodes than a
worker may hold, rounds of large-star and small-star take its place (Kiveris et al., Connected components in MapReduce
and beyond): their number grows with the logarithm of that of the nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql import types as s

from tidelog.plan.nodes import Rule, Stratum
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import tell
from tidelog.run.spark.frames.checkpoint import Part, gathered, settle, united
from tidelog.run.spark.frames.grouped import GROUP, NODE, Grouped, grouped, regrouped
from tidelog.run.spark.frames.parcels import Batches
from tidelog.run.spark.store import Store

_OVER = "over"


def connect(store: Store, stratum: Stratum, rules: Sequence[Rule]) -> int:
    """Evaluate a stratum of components from scratch, and compare it with what it was; return the number of rounds."""
    (name,) = stratum.relations
    store.enter(Phase.BOOT, frozenset((name,)))
    store.watch.strategy = "components"
    store.watch.begin_round(stratum, 1)
    target = store.touch(name)
    bag = store.derive([(rule, rule.full.tree) for rule in rules]).get(name)
    made, rounds = _groups(store, stratum, bag.select(NODE, GROUP)) if bag is not None else (None, 1)
    found = made if made is not None and made.count else None
    before = grouped(target.settled)
    target.final = () if found is None else (found.part(),)
    if not target.settled or found is None:
        target.inserted, target.removed = target.final, target.settled
    elif before is not None:
        target.inserted, target.removed = regrouped(before, found)
    else:  # it was not kept as groups
        old, new = gathered(target.settled), found.frame
        target.inserted, target.removed = _difference(new, old), _difference(old, new)
    target.deleted = target.removed
    target.counted = False
    nodes = 0 if found is None else found.count
    store.watch.add_tuples(nodes)
    store.spend(nodes)
    return rounds


def _difference(these: DataFrame, others: DataFrame) -> tuple[Part, ...]:
    found, _ = settle(these.join(others.select(NODE, GROUP), [NODE, GROUP], "left_anti"))
    return (found,) if found.count else ()


def _groups(store: Store, stratum: Stratum, edges: DataFrame) -> tuple[Grouped, int]:
    """Return nodes with their components, and the number of rounds that took."""
    (name,) = stratum.relations
    most = store.capacity.rows(2 * store.relation(name).width)
    fields = [s.StructField(column, edges.schema[column].dataType) for column in (NODE, GROUP)]
    schema = s.StructType([*fields, s.StructField(_OVER, s.BooleanType())])
    if not store.capacity.lost:
        stars = edges.mapInArrow(_contracting(most, final=False), schema).repartition(1)
        over = f.sum(f.col(_OVER).cast("long")).alias(_OVER)
        part, counts = settle(stars.mapInArrow(_contracting(most, final=True), schema), **{_OVER: over})
        if not counts[_OVER]:
            return Grouped(part.frame.select(NODE, GROUP), part.count), 1
        tell(f"{name}: more than {most:,} nodes: large stars and small stars")
    return _by_stars(store, stratum, edges)


def _contracting(most: int, *, final: bool) -> Callable[[Batches], Batches]:
    """Return a function for `mapInArrow`: edges to as few that connect the same nodes, each to the least one.

    The `final` one gives up if there are more nodes than it may hold; before that, what is too much is passed on.
    """

    def run(batches: Batches) -> Batches:
        known: Any = None
        over = False
        for batch in batches:
            edges = pa.Table.from_batches([batch]).select([NODE, GROUP])
            known = contracted(edges if known is None else pa.concat_tables([known, edges]))
            if known.num_rows > most:
                if final:
                    over = True
                    break
                yield from _told(known, over=False)
                known = None
        if over:
            yield from _told(known.slice(0, 1), over=True)
        elif known is not None:
            yield from _told(known, over=False)

    return run


def _told(table: Any, *, over: bool) -> Batches:
    flags = pa.array(np.full(table.num_rows, over))
    yield from table.append_column(_OVER, flags).to_batches()


def contracted(edges: Any) -> Any:
    """Return each node of an Arrow table of edges once, with the least node of its component.

    >>> contracted(pa.table({"c0": [3, 2, 5], "c1": [2, 1, 5]})).to_pydict()
    {'c0': [1, 2, 3, 5], 'c1': [1, 1, 1, 5]}
    """
    ends = [edges[column].combine_chunks() for column in (NODE, GROUP)]
    if pa.types.is_string(edges.schema.field(NODE).type):
        values = np.concatenate([np.asarray(end.to_pylist(), object) for end in ends])
    else:
        values = np.concatenate([end.to_numpy() for end in ends])
    nodes, places = np.unique(values, return_inverse=True)
    left, right = np.split(places, 2)
    roots = components(len(nodes), left, right)
    kind = edges.schema.field(NODE).type
    return pa.table({NODE: pa.array(nodes, kind), GROUP: pa.array(nodes[roots], kind)})


def components(count: int, left: Any, right: Any) -> Any:
    """Return for each of `count` nodes the least node that edges connect it with.

    The greater of two roots is hooked to the least that an edge leads to, until no edge leads to another root.
    """
    roots = np.arange(count)
    while len(left):
        low, high = np.minimum(left, right), np.maximum(left, right)
        np.minimum.at(roots, high, low)
        while True:
            further = roots[roots]
            if np.array_equal(further, roots):
                break
            roots = further
        left, right = roots[left], roots[right]
        apart = left != right
        left, right = left[apart], right[apart]
    return roots


# --- larger than a worker ---------------------------------------------------------------------------------------------


def _by_stars(store: Store, stratum: Stratum, edges: DataFrame) -> tuple[Grouped, int]:
    """Return nodes with their components by rounds of large-star and small-star, in Spark alone."""
    least, most = f.least(NODE, GROUP), f.greatest(NODE, GROUP)
    alone = settle(edges.where(f.col(NODE) == f.col(GROUP)).select(NODE, GROUP).distinct())[0].frame
    links = settle(_distinct(edges.select(most.alias(NODE), least.alias(GROUP))))[0]
    rounds, seen = 1, None
    while True:
        large = settle(_distinct(_large_star(links.frame)))[0]
        links, sums = settle(_distinct(_small_star(large.frame)), sums=_sum())
        told = links.count, sums["sums"]
        if told == seen:
            break
        seen = told
        rounds += 1
        store.watch.begin_round(stratum, rounds)
    centres = links.frame.select(f.col(GROUP).alias(NODE), GROUP)
    nodes = settle(united([links.frame, centres]).distinct())[0]
    rest = alone.join(nodes.frame, NODE, "left_anti").select(NODE, GROUP)
    part, _ = settle(united([nodes.frame, rest]))
    return Grouped(part.frame, part.count), rounds


def _distinct(links: DataFrame) -> DataFrame:
    return links.where(f.col(NODE) != f.col(GROUP)).distinct()


def _sum() -> Any:
    return f.sum(f.xxhash64(NODE, GROUP).bitwiseAND(f.lit((1 << 31) - 1))).alias("sums")


def _large_star(links: DataFrame) -> DataFrame:
    """Connect the greater neighbours of each node with its least neighbour, or with itself."""
    both = united([links, links.select(f.col(GROUP).alias(NODE), f.col(NODE).alias(GROUP))])
    least = both.groupBy(NODE).agg(f.least(f.min(GROUP), f.col(NODE)).alias("least"))
    greater = both.join(least, NODE).where(f.col(GROUP) > f.col(NODE))
    return greater.select(f.col(GROUP).alias(NODE), f.col("least").alias(GROUP))


def _small_star(links: DataFrame) -> DataFrame:
    """Connect the lesser neighbours of each node, and it, with its least neighbour: of a link the node is greater."""
    least = links.groupBy(NODE).agg(f.min(GROUP).alias("least"))
    lesser = links.join(least, NODE).select(f.col(GROUP).alias(NODE), f.col("least").alias(GROUP))
    return united([lesser, least.select(NODE, f.col("least").alias(GROUP))])

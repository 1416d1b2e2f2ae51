"""A stratum evaluated on the driver by the columnar engine: all of it, or the rounds that are left.

A round costs a job however little it finds, so hundreds of tiny rounds are where Spark loses. The tuples found so far
and the relations below, if the driver can hold them, are the seeds of a columnar evaluation. What it derives in its
round r would have been found r - 1 rounds from now, by the same derivations: those of a tuple found there all use one
found the round before. So ranks and support are the round loop's.
"""

from __future__ import annotations

from typing import Any

import pyarrow.compute as pc

from tidelog.base.errors import LimitError
from tidelog.plan.closures.decompose import relations_below
from tidelog.plan.nodes import Stratum
from tidelog.run.contract.engine import Limits
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import tell
from tidelog.run.phases import CURRENT
from tidelog.run.spark.frames.checkpoint import Part, collect, settle
from tidelog.run.spark.frames.relation import RANK, SUPPORT
from tidelog.run.spark.frames.rows import arrow_frame
from tidelog.run.spark.partitions.local import evaluate, part_of, seed_name, seeded_plan
from tidelog.run.spark.store import Store


def on_driver(store: Store, stratum: Stratum, room: int, *, tracked: bool) -> int:
    """Evaluate a stratum from scratch; return the number of rounds, 0 if it has more tuples than there is room for."""
    store.enter(Phase.BOOT, frozenset(stratum.relations))
    store.watch.strategy = "on the driver"
    store.watch.begin_round(stratum, 1)
    below = {name for rule in stratum.rules for name in rule.reads}.difference(stratum.relations)
    tables = {name: store.collected(name) for name in sorted(below)}
    found = _evaluated(store, part_of(store.plan, (stratum,)), tables, stratum, room, tracked=tracked)
    if found is None:
        return 0
    tuples, rounds = found
    for name, table in tuples.items():
        _add(store, name, table)
    return max(1, rounds)


def finish_on_driver(store: Store, stratum: Stratum, rounds: int, room: int) -> int:
    """Take the rounds that are left after some; return how many, -1 if there is no room for what they find."""
    tell(f"{', '.join(stratum.relations)}: the driver goes on after round {rounds}")
    own = [store.relation(name) for name in stratum.relations]
    tables = {name: store.collected(name) for name in relations_below(stratum)}
    tables |= {seed_name(relation.name): collect(relation.frame(CURRENT)) for relation in own}
    found = _evaluated(store, seeded_plan(store.plan, stratum), tables, stratum, room, tracked=True)
    if found is None:
        return -1
    taken = 0
    for name, table in found[0].items():
        target = store.touch(name)
        target.settled = target.with_part(target.settled, target.delta)
        target.delta = Part(target.empty, 0)
        new = table.filter(pc.greater(table[RANK], 1))
        if new.num_rows:
            taken = max(taken, pc.max(new[RANK]).as_py() - 1)
            store.derivations += pc.sum(new[SUPPORT]).as_py()
            ranks = pc.add(new[RANK], rounds - 1)
            _add(store, name, new.set_column(new.schema.get_field_index(RANK), RANK, ranks))
    return taken


def _evaluated(
    store: Store, plan: Any, tables: dict[str, Any], stratum: Stratum, room: int, *, tracked: bool
) -> tuple[dict[str, Any], int] | None:
    limits = Limits(tuples=room, seconds=store.watch.seconds_left())
    try:
        found, rounds = evaluate(plan, tables, stratum.relations, limits, store.tuning, tracked=tracked)
    except LimitError:
        store.watch.look()  # it may be the user's limit that was reached
        return None
    return found, max(rounds.values())


def _add(store: Store, name: str, table: Any) -> None:
    """Put what was found beside what there was."""
    store.watch.add_tuples(table.num_rows)
    if table.num_rows:
        target = store.touch(name)
        rows = arrow_frame(store.frames.spark, table)
        target.weigh(table.num_rows, table.nbytes)
        placed, _ = settle(rows.repartition(store.partitions, *target.columns))
        target.settled = target.with_part(target.settled, placed)

"""The tail of a long recursion: once a round finds few tuples, the driver takes the rest of the rounds.

A round costs a job however little it finds, so hundreds of tiny rounds are where Spark loses. The tuples found so far
and the relations below, if the driver can hold them, become the seeds of a columnar evaluation. What it derives in its
round r would have been found r - 1 rounds from now, by the same derivations: those of a tuple found there all use one
found the round before. So ranks and support are the round loop's.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow.compute as pc

from tidelog.base.errors import LimitError
from tidelog.plan.closures.decompose import relations_below
from tidelog.plan.nodes import Stratum
from tidelog.run.contract.engine import Limits
from tidelog.run.limits import Watch, tell
from tidelog.run.phases import AFTER, CURRENT
from tidelog.run.spark.frames.checkpoint import Part, collect, settle
from tidelog.run.spark.frames.relation import RANK, SUPPORT
from tidelog.run.spark.partitions.local import evaluate
from tidelog.run.spark.partitions.seeds import seed_name, seeded_plan
from tidelog.run.spark.store import Store


@dataclass(slots=True)
class Tail:
    """Decides after each round of a stratum whether the driver goes on, and lets it. `rounds` are the driver's."""

    store: Store
    stratum: Stratum
    watch: Watch
    rounds: int = 0
    _given_up: bool = False

    def finish(self, rounds: int) -> bool:
        """Take the rounds that are left after so many, if they are for the driver; tell whether it is done."""
        own = [self.store.relation(name) for name in self.stratum.relations]
        found, held = sum(relation.delta.count for relation in own), sum(relation.size(CURRENT) for relation in own)
        below = sum(self.store.relation(name).size(AFTER) for name in relations_below(self.stratum))
        tuning = self.store.tuning.spark
        most = tuning.driver_state * tuning.driver_rows
        if self._given_up or not found or tuning.driver_share * found > tuning.driver_rows or held + below > most:
            return False
        tell(f"{', '.join(self.stratum.relations)}: {found:,} tuples in round {rounds}; the driver goes on")
        tables = {name: self.store.collected(name) for name in relations_below(self.stratum)}
        tables |= {seed_name(relation.name): collect(relation.frame(CURRENT)) for relation in own}
        plan = seeded_plan(self.store, self.stratum)
        limits = Limits(tuples=held + most, seconds=self.watch.seconds_left())
        try:
            results, _ = evaluate(plan, tables, self.stratum.relations, limits, self.store.tuning, tracked=True)
        except LimitError:
            self.watch.look()  # it may be the user's limit that was reached
            self._given_up = True
            return False
        for relation in own:
            self._add(relation.name, results[relation.name], rounds)
        return True

    def _add(self, name: str, table: object, rounds: int) -> None:
        """Put what the driver found beside what there was."""
        target = self.store.touch(name)
        new = table.filter(pc.greater(table[RANK], 1))  # type: ignore[attr-defined,index]
        target.settled = target.with_part(target.settled, target.delta)
        target.delta = Part(target.empty, 0)
        if not new.num_rows:
            return
        self.rounds = max(self.rounds, pc.max(new[RANK]).as_py() - 1)
        self.store.derivations += pc.sum(new[SUPPORT]).as_py()
        self.watch.add_tuples(new.num_rows)
        ranks = pc.add(new[RANK], rounds - 1)
        rows = self.store.frames.spark.createDataFrame(new.set_column(new.schema.get_field_index(RANK), RANK, ranks))
        placed, _ = settle(rows.repartition(self.store.partitions, *target.columns))
        target.settled = target.with_part(target.settled, placed)

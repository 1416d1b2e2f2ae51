"""Follows histories of many rows: updates from one row to half of all, compared with DuckDB.

What is read after a commit is drawn at random: every relation, some or none; changes at once or later. Thresholds are
those in use: what they choose at this size is what is looked at.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidelog.base.plain.plain import Plain
from tidelog.session.changes import Change, Changes
from tidelog.session.database import Database, plan_of
from tidelog.session.engines import ENGINES
from tidelog.session.frames.arrow import rows_table
from tidelog.session.soak.following import Difference
from tidelog.session.soak.settings import Asked
from tidelog.session.soak.sized.oracle import Oracle
from tidelog.session.soak.sized.programs import FAMILIES

SHARES = (0.0, 0.0, 1e-4, 0.01, 0.1, 0.5)
"""Which share of an input an update draws; one row at least."""
FEW = 10_000


class AtSize:
    """A history of a database with many rows, and the oracle beside it. A seed names all of it."""

    goals = 0
    """It asks none."""

    def __init__(self, seed: int, rows: int, asked: Asked) -> None:
        self._random = random = Random(seed)  # noqa: S311  (a test needs no secrets)
        family = random.choice(FAMILIES)
        self._sized = family(np.random.default_rng(seed), rows)
        self._rows = rows
        self._oracle = Oracle(self._sized)
        engine = asked.engine or "columnar"
        drawn = random.choice(("auto", "auto", *ENGINES[engine].strategies))
        strategy = asked.strategy if asked.strategy is not None else drawn
        self._database = Database(self._sized.program, engine=engine, strategy=strategy)
        self._shown = [view.name for view in self._database.relations() if view.role != "internal"]
        self._reads, self._inspects = random.choice((0.0, 0.3, 1.0)), random.choice((0.0, 0.5, 1.0))
        self._changes: list[Changes] = []
        self.told = f"{family.__name__} of {rows} rows, engine {engine}, strategy {strategy}"

    @property
    def changes(self) -> int:
        """The number of rows that came or went."""
        return sum(len(change) for changes in self._changes for change in changes.values())

    def follow(self) -> int:
        """Go through the history; raise `Difference` when something is wrong. Return its commits."""
        try:
            everything = {
                name: draw(max(1, int(share * self._rows))) for name, (draw, share) in self._sized.inputs.items()
            }
            self._commit({}, everything)
            for _ in range(self._random.randint(2, 4)):
                self._commit(*self._update())
            self._look(1.0)
            for state in range(len(self._changes)):
                self._inspect(state)
            return len(self._changes)
        finally:
            self._oracle.close()

    def _update(self) -> tuple[dict[str, pa.Table], dict[str, pa.Table]]:
        """Draw rows that go and rows that come, of one input or of all."""
        random, chosen = self._random, list(self._sized.inputs)
        if random.random() < 0.6:
            chosen = [random.choice(chosen)]
        share, going = random.choice(SHARES), random.choice((0.0, 0.5, 1.0))
        deleted, inserted = {}, {}
        for name in chosen:
            draw, _ = self._sized.inputs[name]
            count = max(1, int(share * self._oracle.count(name)))
            gone = int(count * going)
            if gone:
                deleted[name] = self._oracle.sample(name, gone, random.randrange(1 << 30))
            if gone < count:
                inserted[name] = draw(count - gone)
        return deleted, inserted

    def _commit(self, deleted: dict[str, pa.Table], inserted: dict[str, pa.Table]) -> None:
        with self._database.transaction() as tx:
            for name, table in deleted.items():
                tx.delete(name, table)
            for name, table in inserted.items():
                tx.insert(name, table)
            if self._random.random() < 0.1:
                tx.preview()
        self._oracle.commit(deleted, inserted)
        self._changes.append(tx.result.changes)
        self._look(self._reads)
        if self._random.random() < self._inspects:
            self._inspect(self._random.randrange(len(self._changes)))

    def _look(self, chance: float) -> None:
        """Read some relations, and compare them."""
        state = len(self._changes) - 1
        for name in self._shown:
            if self._random.random() >= chance:
                continue
            view = self._database.relation(name)
            if view.count() != self._oracle.count(name):
                self._differ(f"{name} counts {view.count()} of {self._oracle.count(name)} rows after commit {state}")
            difference = self._oracle.compare(name, state, view.to_arrow())
            if difference is not None:
                self._differ(f"{name} {difference} after commit {state}")
            for row in self._oracle.sample(name, 20, self._random.randrange(1 << 30)).to_pylist():
                if tuple(row.values()) not in view:
                    self._differ(f"{name} does not contain {row} after commit {state}")

    def _inspect(self, state: int) -> None:
        """Compare what a commit changed, be it the last or not."""
        for name in self._shown:
            difference = self._oracle.compare_change(name, state, *self._came_and_went(self._changes[state][name]))
            if difference is not None:
                when = f"after commit {len(self._changes) - 1}"
                self._differ(f"{when} the change of {name} by commit {state} {difference}")

    def _came_and_went(self, change: Change) -> tuple[pa.Table, pa.Table]:
        """Return a change in Arrow: as users get it, row by row, or as it is kept if that would take long."""
        if len(change) <= FEW:
            table = change.to_arrow()
            weights = table.column("weight")
            came, went = (table.filter(pc.equal(weights, weight)).drop_columns(["weight"]) for weight in (1, -1))
            return came, went
        columns = plan_of(self._database).relations[change.relation].columns
        inserted, deleted = change.raw_rows()
        return rows_table(inserted, columns, Plain({})), rows_table(deleted, columns, Plain({}))

    def _differ(self, what: str) -> None:
        raise Difference(what)

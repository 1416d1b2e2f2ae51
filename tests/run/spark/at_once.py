"""The engine for tests that compare everything: all answers and changes are read by one job after each update."""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.plan.nodes import Plan
from tidelog.run.contract import NO_LIMITS, Change, Limits, Rows, Update
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.rows import SparkRows, read_together


class AtOnce(SparkEngine):
    """A job for each relation and each side of its change, to read it, were half of all jobs."""

    _known: Mapping[str, Rows] | None = None

    def update(self, facts: Mapping[str, Change], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        self._known = None
        done = super().update(facts, plan, limits)
        self._read(*(rows for change in done.changes.values() for rows in (change.inserted, change.deleted)))
        return done

    def rows(self, relation: str) -> Rows:
        if self._known is None:
            self._read()
        assert self._known is not None
        return self._known[relation]

    def _read(self, *others: Rows) -> None:
        shown = [name for name, relation in self.plan.relations.items() if not relation.auxiliary]
        self._known = {name: super(AtOnce, self).rows(name) for name in shown}
        read_together(rows for rows in (*self._known.values(), *others) if isinstance(rows, SparkRows))

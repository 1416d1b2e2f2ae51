"""Facts and rewrites so far, arranged for the operators that meet them; and `gatekeep`.

`Index` keeps the facts of each relation in the column orders that rules ask for (`index` of paper 000, Equation 4): its
output is what arrives, in each order, and whoever joins with it looks into its traces rather than keeping a copy. An
order that is asked for anew is made from the facts at hand. `History` keeps the rewrites of each provenance.

`Gatekeep` is the join of rewrites with directions on the provenance. It tells of each direction what to extend along
it, as rows with their inner times: a direction that is new takes all rewrites of its source at once, each with its own
time.
"""

from __future__ import annotations

from typing import Any

from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.dbsp.circuits.operators import Stateless
from tidelog.run.dbsp.circuits.tagged import Tagged
from tidelog.run.dbsp.rewriting.kit import Direction, Order
from tidelog.run.dbsp.zsets.trace import Trace, timed
from tidelog.run.dbsp.zsets.zset import ZSet


class Index(Stateless):
    """Facts by relation and column order; the order () is always there, with the columns as they are."""

    def __init__(self, tuning: Traces = DEFAULT.traces) -> None:
        self._tuning = tuning
        self.traces: dict[Order, Trace] = {}
        self._asked: dict[str, dict[tuple[int, ...], None]] = {}
        self._dropped: list[Order] = []

    def step(self, time: int, *inputs: Any) -> Any:
        facts, orders = inputs
        for (relation, positions), weight in orders:
            if weight > 0:
                self._asked.setdefault(relation, {})[positions] = None
                self._make(relation, positions)
            else:
                del self._asked[relation][positions]
                self._dropped.append((relation, positions))
        found: dict[Any, ZSet] = {}
        for relation, change in facts:
            asked = self._asked.get(relation, {})
            for positions in {(): None, **asked}:
                arranged = change.project(order_of(positions, change.columns)) if positions else change
                self._trace(relation, positions, change.columns).add(arranged, time)
                if positions in asked:
                    found[relation, positions] = arranged
        return Tagged(found)

    def _make(self, relation: str, positions: tuple[int, ...]) -> None:
        facts = self.traces.get((relation, ()))
        if facts is not None and positions and (relation, positions) not in self.traces:
            order = [*order_of(positions, facts.columns), facts.columns]
            batches = tuple(batch.project(order) for batch in facts.batches)
            self.traces[relation, positions] = Trace(facts.columns, batches, self._tuning)

    def _trace(self, relation: str, positions: tuple[int, ...], columns: int) -> Trace:
        found = self.traces.get((relation, positions))
        if found is None:
            found = self.traces[relation, positions] = Trace(columns, tuning=self._tuning)
        return found

    def facts(self, relation: str) -> Trace | None:
        """Return the facts of a relation, if it ever had any."""
        return self.traces.get((relation, ()))

    def settle(self) -> None:
        for relation, positions in self._dropped:
            if positions and positions not in self._asked[relation]:
                self.traces.pop((relation, positions), None)
        self._dropped = []

    def snapshot(self) -> Any:
        traces = {order: (trace.columns, trace.batches) for order, trace in self.traces.items()}
        return traces, {relation: dict(asked) for relation, asked in self._asked.items()}

    def restore(self, state: Any) -> None:
        traces, asked = state
        self.traces = {order: Trace(columns, held, self._tuning) for order, (columns, held) in traces.items()}
        self._asked = {relation: dict(positions) for relation, positions in asked.items()}
        self._dropped = []


def order_of(positions: tuple[int, ...], columns: int) -> list[int]:
    """Return the columns of a relation with some of them first."""
    return [*positions, *(c for c in range(columns) if c not in positions)]


class History(Stateless):
    """Rewrites by provenance, with the inner times at which they arrive here: one later than they are made."""

    def __init__(self, tuning: Traces = DEFAULT.traces) -> None:
        self._tuning = tuning
        self.traces: dict[int, Trace] = {}

    def step(self, time: int, *inputs: Any) -> Any:
        (change,) = inputs
        for provenance, rewrites in change:
            if provenance not in self.traces:
                self.traces[provenance] = Trace(rewrites.columns, tuning=self._tuning)
            self.traces[provenance].add(rewrites, time)
        return change

    def past(self, provenance: int) -> tuple[ZSet, ...]:
        """Return the rewrites of a provenance with their times, in batches."""
        found = self.traces.get(provenance)
        return found.batches if found is not None else ()

    def settle(self) -> None:
        self.traces = {provenance: trace for provenance, trace in self.traces.items() if trace.batches}

    def snapshot(self) -> Any:
        return {provenance: (trace.columns, trace.batches) for provenance, trace in self.traces.items()}

    def restore(self, state: Any) -> None:
        self.traces = {tag: Trace(columns, held, self._tuning) for tag, (columns, held) in state.items()}


class Gatekeep(Stateless):
    """Rewrites along directions. Directions change at the first inner time of an update, before it has rewrites."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._from: dict[int, dict[Direction, None]] = {}

    def step(self, time: int, *inputs: Any) -> Any:
        rewrites, directions = inputs
        found: dict[Direction, ZSet] = {}
        for source, change in rewrites:
            arriving = timed(change, time)
            found.update(dict.fromkeys(self._from.get(source, ()), arriving))
        for direction, weight in directions:
            past = sum(self._history.past(direction.source), start=ZSet.zero(len(direction.bound) + 1))
            found[direction] = past if weight > 0 else -past
            leaving = self._from.setdefault(direction.source, {})
            if weight > 0:
                leaving[direction] = None
            else:
                del leaving[direction]
        return Tagged(found)

    def snapshot(self) -> Any:
        return {source: dict(directions) for source, directions in self._from.items() if directions}

    def restore(self, state: Any) -> None:
        self._from = {source: dict(directions) for source, directions in state.items()}

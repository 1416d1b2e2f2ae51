"""`product`: rewrites that go along a direction are extended by the facts that fit its atom (paper 000, Equation 2).

For each direction it keeps the rewrites that came along it, sorted by the variables that its atom knows already; the
facts are in the traces of `Index`, which are as new as this inner time. Both hold inner times, so the join is the
doubly incremental one: rewrites that arrive meet all facts, facts that arrive meet all rewrites that were there before.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tidelog.base.process.meter import look
from tidelog.base.tuning.plans import Traces
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.dbsp.circuits.operators import Stateless
from tidelog.run.dbsp.circuits.tagged import Tagged
from tidelog.run.dbsp.rewriting.kit import Atom, Direction, Order
from tidelog.run.dbsp.rewriting.parts import Bindings, Expressions, apply_parts
from tidelog.run.dbsp.rewriting.rewrites import Index, order_of
from tidelog.run.dbsp.zsets.trace import Pending, Trace
from tidelog.run.dbsp.zsets.zset import ZSet, multiplied


class Along:
    """One direction at work: how its atom meets facts, and the rewrites that came along it.

    The key has one entry for each column by which facts are looked up: a variable of the rewrites, or a constant.
    """

    def __init__(self, direction: Direction, positions: tuple[int, ...], tuning: Traces) -> None:
        self.direction = direction
        self.atom: Atom | None = direction.step.atom
        self.key = [self.atom.terms[p] for p in positions] if self.atom is not None else []
        variables = list(dict.fromkeys(term for term in self.key if isinstance(term, str)))
        self.names = [*variables, *(name for name in direction.bound if name not in variables)]
        self._order = [direction.bound.index(name) for name in self.names]
        self._places = {name: i for i, name in enumerate(variables)}
        self._same = [(i, self._places[term]) for i, term in enumerate(self.key) if isinstance(term, str)]
        arity = len(self.atom.terms) if self.atom is not None else 0
        self._facts = order_of(positions, arity)
        self.trace = Trace(len(direction.bound), tuning=tuning)
        self.known = len(variables)

    def arranged(self, batch: ZSet) -> ZSet:
        """Return timed rewrites in the order of the trace."""
        return batch.project([*self._order, len(self._order)])

    def keys_for_facts(self, batch: ZSet) -> Words:
        """Return for each of the arranged rewrites what a fact must begin with."""
        count = len(batch)
        parts = [
            batch.rows[self._places[term]] if isinstance(term, str) else np.full(count, term, U) for term in self.key
        ]
        return np.stack(parts) if parts else np.empty((0, count), U)

    def fitting_facts(self, facts: ZSet) -> tuple[ZSet, Words]:
        """Return the arranged facts that have the constants of the key, and what a rewrite must begin with for each."""
        keep = np.ones(len(facts), bool)
        for i, term in enumerate(self.key):
            if isinstance(term, int):
                keep &= facts.rows[i] == U(term)
        for i, place in self._same:
            first = next(j for j, p in self._same if p == place)
            if i != first:
                keep &= facts.rows[i] == facts.rows[first]
        fitting = facts.where(keep)
        chosen = {place: i for i, place in reversed(self._same)}
        rows = [fitting.rows[chosen[place]] for place in range(self.known)]
        return fitting, np.stack(rows) if rows else np.empty((0, len(fitting)), U)

    def bound(self, rewrites: Words, facts: Words, weights: Any, times: Words) -> Bindings:
        """Return pairs of rewrites and arranged facts, which agree in the key, as bindings, if they agree in all."""
        assert self.atom is not None
        columns = dict(zip(self.names, rewrites, strict=True))
        keep: Any = None
        for column, position in list(zip(facts, self._facts, strict=True))[len(self.key) :]:
            term = self.atom.terms[position]
            if isinstance(term, int):
                same = column == U(term)
            elif term is not None and term in columns:
                same = column == columns[term]
            else:
                if term is not None:
                    columns[term] = column
                continue
            keep = same if keep is None else keep & same
        made = Bindings(columns, weights, times)
        return made if keep is None or keep.all() else made.taken(keep)


class Product(Stateless):
    """Extends rewrites by facts, direction by direction."""

    def __init__(
        self,
        index: Index,
        expressions: Expressions | None,
        *,
        indexed: bool = True,
        tuning: Traces = DEFAULT.traces,
    ) -> None:
        self._index = index
        self._tuning = tuning
        self._expressions = expressions
        self._indexed = indexed
        self._along: dict[Direction, Along] = {}
        self._users: dict[Order, dict[Direction, None]] = {}
        self._pending: dict[Direction | int, Pending] = {}
        self._names: dict[Direction | int, tuple[str, ...]] = {}
        self.pairs = 0
        """How many pairs of a rewrite and a fact were looked at, for profiles."""

    def step(self, time: int, *inputs: Any) -> Any:
        candidates, arriving = inputs
        fresh = [(self._at(direction), batch) for direction, batch in candidates]
        fresh = [(along, along.arranged(batch)) for along, batch in fresh]
        for along, batch in fresh:
            self._meet_facts(along, batch)
        for order, facts in arriving:
            for direction in self._users.get(order, ()):
                self._meet_rewrites(self._along[direction], facts, time)
        for along, batch in fresh:
            along.trace.push(batch)
        return self._due(time)

    def _at(self, direction: Direction) -> Along:
        found = self._along.get(direction)
        return self._new(direction) if found is None else found

    def _new(self, direction: Direction) -> Along:
        positions = direction.positions() if self._indexed else ()
        made = self._along[direction] = Along(direction, positions, self._tuning)
        if made.atom is not None:
            self._users.setdefault((made.atom.relation, positions), {})[direction] = None
        return made

    def _facts(self, along: Along) -> Trace | None:
        if along.atom is None:
            return None
        positions = along.direction.positions() if self._indexed else ()
        return self._index.traces.get((along.atom.relation, positions))

    def _meet_facts(self, along: Along, batch: ZSet) -> None:
        """Extend timed rewrites that arrive by all facts."""
        if along.atom is None or along.atom.negated:
            columns = dict(zip(along.names, batch.rows[:-1], strict=True))
            self._emit(along, Bindings(columns, batch.weights, batch.rows[-1]))
        facts = self._facts(along)
        if facts is None:
            return
        for found in facts.find(along.keys_for_facts(batch)):
            times = np.maximum(found.times, batch.rows[-1][found.places])
            weights = multiplied(batch.weights[found.places], found.weights)
            self._join(along, along.bound(batch.rows[:-1, found.places], found.rows, weights, times), len(weights))

    def _meet_rewrites(self, along: Along, facts: ZSet, time: int) -> None:
        """Extend all rewrites that were there by facts that arrive."""
        fitting, keys = along.fitting_facts(facts)
        if not len(fitting):
            return
        for found in along.trace.find(keys):
            times = np.maximum(found.times, U(time))
            weights = multiplied(fitting.weights[found.places], found.weights)
            self._join(along, along.bound(found.rows, fitting.rows[:, found.places], weights, times), len(weights))

    def _join(self, along: Along, pairs: Bindings, tried: int) -> None:
        look()
        self.pairs += tried
        assert along.atom is not None
        negated = along.atom.negated
        self._emit(along, Bindings(pairs.columns, -pairs.weights, pairs.times) if negated else pairs)

    def _emit(self, along: Along, bindings: Bindings) -> None:
        """Keep what was found until its time comes.

        Expressions are evaluated then, on what is left when all pairs are added up: a rewrite that goes and a fact that
        comes at once give a pair, and its inverse, that never was.
        """
        step, names = along.direction.step, along.direction.step.keep
        tag: Direction | int = along.direction.target
        if step.parts:
            tag, names = along.direction, tuple(bindings.columns)
        if tag not in self._pending:
            self._pending[tag] = Pending(len(names), self._tuning)
            self._names[tag] = names
        self._pending[tag].put(bindings.rows(self._names[tag]), bindings.weights, bindings.times)

    def _due(self, time: int) -> Tagged:
        """Return the rewrites of a time, by provenance."""
        found = Tagged()
        for tag, pending in self._pending.items():
            if pending.next() != time:
                continue
            made = pending.take(time)
            if isinstance(tag, Direction):
                times = np.full(len(made), time, U)
                bindings = Bindings(dict(zip(self._names[tag], made.rows, strict=True)), made.weights, times)
                kept = apply_parts(tag.step.parts, bindings, self._expressions)
                found += Tagged({tag.target: ZSet.made(kept.rows(tag.step.keep), kept.weights)})
            else:
                found += Tagged({tag: made})
        return found

    def next_time(self) -> int | None:
        return min(self._times(), default=None)

    def _times(self) -> Iterator[int]:
        for pending in self._pending.values():
            time = pending.next()
            if time is not None:
                yield time

    def settle(self) -> None:
        """Forget directions along which nothing is left."""
        self._pending = {}
        for direction, along in list(self._along.items()):
            if not along.trace.batches:
                self._forget(direction, along)

    def _forget(self, direction: Direction, along: Along) -> None:
        del self._along[direction]
        for users in self._users.values():
            users.pop(direction, None)

    def snapshot(self) -> Any:
        return {direction: along.trace.batches for direction, along in self._along.items()}

    def restore(self, state: Any) -> None:
        # All anew: an interrupt may have come between two of the tables, also while they were restored.
        self._pending, self._along, self._users = {}, {}, {}
        for direction, batches in state.items():
            self._new(direction).trace.batches = batches

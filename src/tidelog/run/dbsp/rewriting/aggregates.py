"""Aggregating rules in the interpreter: the groups touched, before and after.

The facts that an aggregating rule reads are complete before its level starts, so all that an update does to them is
known by then, and the rule's output changes once, at the first inner time of its level. The facts of a group are found
in the index by the columns of the group's key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tidelog.run.columnar.arrays.table import U
from tidelog.run.dbsp.circuits.operators import Stateless
from tidelog.run.dbsp.circuits.tagged import Tagged
from tidelog.run.dbsp.rewriting.kit import Gather, Order, start
from tidelog.run.dbsp.rewriting.parts import Expressions
from tidelog.run.dbsp.rewriting.rewrites import Index
from tidelog.run.dbsp.zsets.trace import untimed
from tidelog.run.dbsp.zsets.zset import ZSet


class Aggregates(Stateless):
    """Results of aggregating rules. Rules change at the first inner time of an update, before facts do."""

    def __init__(self, index: Index, expressions: Expressions | None) -> None:
        self._index = index
        self._expressions = expressions
        self._readers: dict[Order, dict[Gather, None]] = {}
        self._changed: dict[Gather, ZSet | None] = {}
        self._leaving: dict[Gather, ZSet] = {}

    def step(self, time: int, *inputs: Any) -> Any:
        arriving, rules = inputs
        for rule, weight in rules:
            order = rule.relation, rule.positions
            if weight > 0:
                self._readers.setdefault(order, {})[rule] = None
                self._changed[rule] = None
            else:
                del self._readers[order][rule]
                self._leaving[rule] = -self._reduce(rule, self._facts(rule))
        for order, change in arriving:
            for rule in self._readers.get(order, ()):
                if time > start(rule.level):
                    continue  # what the facts were when they still had a higher level goes
                known = self._changed.get(rule, ZSet.zero(change.columns))
                self._changed[rule] = known + change if known is not None else None
        found = Tagged()
        for rule in [rule for rule in self._changed if start(rule.level) == time]:
            found += Tagged({rule.head: self._difference(rule, self._changed.pop(rule))})
        for rule in [rule for rule in self._leaving if start(rule.level) == time]:
            found += Tagged({rule.head: self._leaving.pop(rule)})
        return found

    def _difference(self, rule: Gather, change: ZSet | None) -> ZSet:
        """Return what the change of a rule's facts, or the rule itself if that is new, does to its results."""
        order = rule.relation, rule.positions
        if change is None:
            return self._reduce(rule, self._facts(rule))
        prefixes = change.rows[: len(rule.positions)]
        keys = ZSet.made(np.ascontiguousarray(prefixes), np.ones(len(change), np.int64)).rows
        after = _until(rule, self._index.traces[order].among(keys))
        return self._reduce(rule, after) - self._reduce(rule, after - change)

    def _facts(self, rule: Gather) -> ZSet | None:
        trace = self._index.traces.get((rule.relation, rule.positions))
        return (
            sum((_until(rule, batch) for batch in trace.batches), start=ZSet.zero(trace.columns))
            if trace is not None
            else None
        )

    def _reduce(self, rule: Gather, facts: ZSet | None) -> ZSet:
        if facts is None or not len(facts):
            return ZSet.zero(len(rule.terms))
        assert self._expressions is not None, "aggregating rules need somebody to evaluate them"
        return self._expressions.gathered(rule, facts)

    def next_time(self) -> int | None:
        return min((start(rule.level) for held in (self._changed, self._leaving) for rule in held), default=None)

    def snapshot(self) -> Any:
        return {order: dict(rules) for order, rules in self._readers.items() if rules}

    def restore(self, state: Any) -> None:
        self._readers = {order: dict(rules) for order, rules in state.items()}
        self._changed, self._leaving = {}, {}


def _until(rule: Gather, facts: ZSet) -> ZSet:
    """Return timed facts as they are when a rule's level starts.

    Later ones are left of an earlier program, in which they had a higher level; they go in the course of this update.
    """
    return untimed(facts, facts.rows[-1] <= U(start(rule.level)))

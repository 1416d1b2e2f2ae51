"""Join orders from live sizes, and the column orders that serve them.

A body of three or more scans is ordered again when the sizes of its relations have changed much since its order was
last chosen. Distinct values of a column are estimated from a sample of its relation, and so is how many tuples have the
constants of a scan, unless the relation has an order by which they are counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from tidelog.base.expr import Const
from tidelog.base.tuning.table import Tuning
from tidelog.plan.join.estimate import Constants, Estimate, constants_of
from tidelog.plan.join.order_joins import order_joins
from tidelog.plan.nodes import Plan, Project, Rule, Scan, Version
from tidelog.plan.rewrite.rederive import HEAD, rederive
from tidelog.plan.rewrite.rediscover import rediscover
from tidelog.run.columnar.arrays.table import prefix
from tidelog.run.columnar.rules.join_plan import JoinPlan, JoinPlans
from tidelog.run.columnar.storage.dictionary import Codec
from tidelog.run.columnar.storage.layout import Range
from tidelog.run.columnar.storage.relation import Relation


class Orders:
    """The orders chosen so far for the rules of a program."""

    def __init__(self, codec: Codec, tuning: Tuning) -> None:
        self.tuning = tuning
        self._codec = codec
        self._join_plans = JoinPlans(codec, tuning)
        self._chosen: dict[tuple[int, int | None, bool, int | None], tuple[Rule, tuple[int, ...], JoinPlan]] = {}
        self._distinct: dict[str, tuple[int, list[int]]] = {}
        self._fixed: dict[tuple[str, Constants], tuple[int, int]] = {}
        self._planned: tuple[Plan | None, dict[str, list[tuple[int, ...]]]] = None, {}

    def planned(self, relation: str, plan: Plan) -> Sequence[tuple[int, ...]]:
        """Return the column orders that serve all probes of a relation in a plan."""
        known, orders = self._planned
        if known is not plan:
            orders = {}
            for index in plan.indexes:
                orders.setdefault(index.relation, []).append(index.columns)
            self._planned = plan, orders
        return orders.get(relation, ())

    def join_plan(self, tree: Project) -> JoinPlan:
        """Return the join plan of a tree in the order it has."""
        return self._join_plans.of(tree)

    def best(self, rule: Rule, tree: Project, relation: Callable[[str], Relation]) -> JoinPlan:
        """Return the join plan of a rule's tree, or of a better order of it for the relations as they are."""
        join_plan = self._join_plans.of(tree)
        scans = join_plan.scans
        if len(scans) < self.tuning.estimates.scans:
            return join_plan
        first = next((scan.occurrence for scan in scans if scan.version is Version.DELTA), None)
        order = rediscover if any(scan.version is Version.PART for scan in scans) else rederive
        names = list(dict.fromkeys(scan.relation for scan in scans))
        sizes = {name: relation(name).count() for name in names}
        again = int(self.tuning.estimates.again)
        shape = tuple(sizes[name].bit_length() // again for name in names)
        head = next((scan.terms for scan in scans if scan.occurrence == HEAD), ())
        free = next((column for column, term in enumerate(head) if term is None), None)
        key = id(rule), first, order is rediscover, free
        known = self._chosen.get(key)
        if known is not None and known[0] is rule and known[1] == shape:
            return known[2]
        distinct = {name: self._distinct_values(relation(name), sizes[name]) for name in names}
        fixed, planning = self._fixed_rows(scans, relation, sizes), self.tuning.planning
        if first == HEAD:
            turned = partial(rederive, free=free) if order is rederive else rediscover
            made = turned(rule.body, sizes, distinct, planning, fixed)
        else:
            made = order_joins(rule.body, first, sizes, distinct, planning, fixed)
        join_plan = self._join_plans.make(made)
        self._chosen[key] = rule, shape, join_plan
        return join_plan

    def estimate(self, join_plan: JoinPlan, relation: Callable[[str], Relation]) -> float:
        """Return how many derivations a join plan is expected to find: the delta, times what each later scan finds."""
        rows = 1.0
        for scan, found in self._expected(join_plan, relation):
            delta = relation(scan.relation).main.delta
            rows *= delta.size if scan.version is Version.DELTA and delta is not None and delta.size else found
        return rows

    def work(self, join_plan: JoinPlan, relation: Callable[[str], Relation]) -> float:
        """Return how many rows the scans of a join plan are expected to find in all for a tuple of the delta it reads.

        A delta that comes later only filters; nobody knows how much.
        """
        rows, work = 1.0, 0.0
        for scan, found in self._expected(join_plan, relation):
            if scan.version not in (Version.DELTA, Version.PART):
                rows *= found
                work += rows
        return work

    def _expected(self, join_plan: JoinPlan, relation: Callable[[str], Relation]) -> Iterator[tuple[Scan, float]]:
        """Yield each scan of a join plan, and how many rows it is expected to find for a binding."""
        scans = join_plan.scans
        names = {scan.relation for scan in scans}
        sizes = {name: relation(name).count() for name in names}
        distinct = {name: self._distinct_values(relation(name), sizes[name]) for name in names}
        fixed = self._fixed_rows(scans, relation, sizes)
        estimate = Estimate(sizes, distinct, self.tuning.planning, fixed)
        bits: dict[str, int] = {}
        for scan in scans:
            for variable in scan.columns:
                bits.setdefault(variable.name, 1 << len(bits))
        bound = 0
        for scan in scans:
            yield scan, estimate.rows(scan, bits, bound)
            bound |= sum(bits[variable.name] for variable in scan.columns if not bits[variable.name] & bound)

    def _fixed_rows(
        self, scans: Sequence[Scan], relation: Callable[[str], Relation], sizes: Mapping[str, int]
    ) -> dict[tuple[str, Constants], int]:
        """Return how many tuples have the constants of each scan that has some."""
        found: dict[tuple[str, Constants], int] = {}
        for scan in scans:
            constants = constants_of(scan)
            if constants:
                key, size = (scan.relation, constants), sizes[scan.relation]
                known = self._fixed.get(key)
                if known is None or known[0] != size.bit_length():
                    terms = ((c, t) for c, t in enumerate(scan.terms) if isinstance(t, Const))
                    codes: dict[Hashable, int] = {c: self._codec.code(term.value, term.type) for c, term in terms}
                    known = self._fixed[key] = size.bit_length(), estimate_fixed(relation(scan.relation), codes)
                found[key] = known[1]
        return found

    def _distinct_values(self, relation: Relation, size: int) -> list[int]:
        known = self._distinct.get(relation.name)
        if known is not None and known[0] == size.bit_length() and len(known[1]) == relation.arity:
            return known[1]  # under a name there may be another relation now
        counts = estimate_distinct(relation, size)
        self._distinct[relation.name] = size.bit_length(), counts
        return counts


def estimate_distinct(relation: Relation, size: int) -> list[int]:
    """Estimate the number of distinct values in each column from rows at even distances.

    Where an order begins with the column, a row in a run of n equal values stands for 1/n of a value. Otherwise the
    values of the rows are counted, and scaled up if they hardly repeat: too many where equal values stand together.
    """
    return [_distinct_in(relation, column, size) for column in range(relation.arity)]


def _distinct_in(relation: Relation, column: int, size: int) -> int:
    order = relation.led_by((column,))
    chosen = relation.main if order is None else order
    batches = (*chosen.settled, *chosen.inserted, chosen.delta)
    largest = max((batch for batch in batches if batch is not None), key=lambda batch: batch.size, default=None)
    if largest is None or not largest.size:
        return 1
    thresholds = relation.arrays.tuning.estimates
    step = largest.size // thresholds.sample if thresholds.sample < largest.size else 1
    rows = np.ascontiguousarray(largest.rows[:, ::step])
    if order is None:
        seen = len(np.unique(relation.layout.codes(rows, column)))
        return seen if thresholds.repeated * seen < rows.shape[1] else max(1, seen * size // rows.shape[1])
    full, shift = order.layout.prefix(1)
    low, high, _ = relation.arrays(largest.size).ranges(prefix(rows, full, shift), largest.rows, full, shift)
    return max(1, round(size * float(np.mean(1 / (high - low)))))


def estimate_fixed(relation: Relation, codes: Mapping[Hashable, int]) -> int:
    """Estimate how many tuples have these codes: counted where an order begins with the columns, else by a sample.

    Where the sample has none there may be some, but not more than a row of it stands for.
    """
    count = len(codes)
    order = next((o for columns, o in relation.orders.items() if set(columns[:count]) == codes.keys()), None)
    chosen = relation.main if order is None else order
    layout, found = chosen.layout, 0
    if not all(layout.fields[column].range.covers(Range(code, code)) for column, code in codes.items()):
        return 0
    pattern, sample = layout.pattern(codes), relation.arrays.tuning.estimates.sample
    for batch in (*chosen.settled, *chosen.inserted, chosen.delta):
        if batch is None or not batch.size:
            continue
        if order is not None:
            (full, shift), key = layout.prefix(count), layout.key(count).constant(codes)
            found += relation.arrays(batch.size).ranges(key, batch.rows, full, shift)[2]
            continue
        step = batch.size // sample if sample < batch.size else 1
        having = np.ones(len(range(0, batch.size, step)), bool)
        for word, (mask, wanted) in zip(batch.rows[:, ::step], pattern, strict=True):
            having &= word & np.uint64(mask) == np.uint64(wanted)
        found += step * int(having.sum()) or (step - 1) // 2
    return found

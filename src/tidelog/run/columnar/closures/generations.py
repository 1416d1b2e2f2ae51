"""Same generation (`plan.closures.same_generation`) by rows of bits, evaluated from scratch."""

from __future__ import annotations

from tidelog.plan.closures.same_generation import SameGeneration
from tidelog.run.closure.generations import fits, paired
from tidelog.run.closure.pairs import Pairs
from tidelog.run.closure.reach import Graph
from tidelog.run.columnar.closures.fed import all_fed, step
from tidelog.run.columnar.closures.nodes import numbered
from tidelog.run.columnar.closures.paired import Paired, Side
from tidelog.run.columnar.rules.deriving import Deriving
from tidelog.run.phases import AFTER


def generate(store: Deriving, found: SameGeneration) -> Paired | None:
    """Return all pairs; None if there are too many values for a bit for each pair of them."""
    fed = all_fed(store, found.relation, found.feeds)
    steps = [step(store, scan, columns, AFTER) for scan, columns in (found.first, found.second)]
    values, numbers = numbered([[codes] for codes in (fed[0], fed[1], *steps[0], *steps[1])], store.arrays)
    if not fits(values.count, store.tuning.closures):
        return None
    first, second = (Graph.of(numbers[i], numbers[i + 1], values.count, store.tools.functions) for i in (2, 4))
    reached = paired((numbers[0], numbers[1]), first, second, crossed=found.crossed, apart=found.apart)
    pairs = Pairs(reached.rows, reached.row, reached.counts)
    return Paired(Side((0,), values), Side((1,), values), (), pairs)

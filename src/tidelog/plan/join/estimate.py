"""How many rows a probe of a relation is expected to find, for the join order.

`sizes` are numbers of tuples by relation, `distinct` numbers of distinct values by relation and column; an engine that
counts them passes them, otherwise every relation is taken to have the same size. A bound column divides the rows by
its distinct values, or, where those are unknown, takes its share of the size: a relation of n tuples and four columns,
one of them bound, yields n to the power of 3/4. `fixed` are numbers of tuples by relation and the constants that they
have: of triples, few have a rare property, and most the type of something.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.base.tuning.plans import Planning
from tidelog.base.tuning.table import DEFAULT
from tidelog.plan.nodes import Aggregate, Scan

Sizes = Mapping[str, int]
Distinct = Mapping[str, Sequence[int]]
Constants = tuple[tuple[int, Any], ...]
"""The constants of a scan: its columns that have one, with the value."""
Fixed = Mapping[tuple[str, Constants], int]


def constants_of(scan: Scan) -> Constants:
    """Return the constants of a scan."""
    return tuple([(column, term.value) for column, term in enumerate(scan.terms) if isinstance(term, Const)])


@record
class Estimate:
    """Expected row counts, from what is known of the relations; `planning` has what is taken for all else."""

    sizes: Sizes | None = None
    distinct: Distinct | None = None
    planning: Planning = DEFAULT.planning
    fixed: Fixed | None = None

    def rows(self, node: Scan | Aggregate, bits: Mapping[str, int], bound: int) -> float:
        """Return the expected number of rows for one binding of the variables in the bit set `bound`."""
        if isinstance(node, Aggregate):
            return self._groups(node, bits, bound)
        size = self._size(node.relation)
        counts = self.distinct.get(node.relation) if self.distinct is not None else None
        known = self.fixed.get((node.relation, constants_of(node))) if self.fixed else None
        rows, free, seen = float(size if known is None else known), 0, 0
        for column, term in enumerate(node.terms):
            if term is None:
                free += 1
                continue
            if isinstance(term, Var):
                bit = bits[term.name]
                if not bit & (bound | seen):
                    seen |= bit
                    free += 1
                    continue
            if counts is not None and (known is None or not isinstance(term, Const)):
                rows /= max(1, counts[column])
        if not free:
            return self.planning.check if known is None or counts is None else min(self.planning.check, rows)
        if counts is not None or free == len(node.terms):
            return rows
        return float(size ** (free / len(node.terms)))

    def _groups(self, node: Aggregate, bits: Mapping[str, int], bound: int) -> float:
        size = self._size(node.input.relation)
        free = sum(1 for variable in node.keys if not bits[variable.name] & bound)
        return float(size ** (free / (len(node.keys) + 1)))

    def _size(self, relation: str) -> int:
        known = None if self.sizes is None else self.sizes.get(relation)
        return int(self.planning.typical_size) if known is None else known

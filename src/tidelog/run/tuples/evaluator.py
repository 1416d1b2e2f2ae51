"""How a rule is evaluated: the protocol of evaluators, and what they see of the relations.

An evaluator makes a tree ready once (`Evaluator.prepare`) and runs it on what a `Sight` shows. A tree is a chain of
steps from its leftmost leaf to the head (`plan.join.spine`), so both evaluators are: a function for each kind of step,
from the bindings so far to the bindings after it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, TypeVar

from tidelog.base.process.growth import counted
from tidelog.base.process.meter import current
from tidelog.base.tuning.plans import Tuples
from tidelog.plan.nodes import Aggregate, Project, Scan
from tidelog.run.contract.engine import Row
from tidelog.run.tuples.absorb import Bag
from tidelog.run.tuples.index import Columns
from tidelog.run.tuples.relation import Find, Support
from tidelog.run.tuples.scalars import Scalars

Bindings = TypeVar("Bindings")


class Sight(Protocol):
    """What the trees of one rule see in the phase at work."""

    tuning: Tuples

    def finder(self, scan: Scan, columns: Columns, *, negated: bool = False) -> Find:
        """Return what finds the rows that a scan sees by the values of some columns."""

    def supports(self, scan: Scan) -> Mapping[Row, Support] | None:
        """Return the support of the rows that a scan sees, by row, if their ranks are to be followed."""

    def groups(self, step: Aggregate, names: Sequence[str], keys: Collection[Row], columns: Columns) -> Find:
        """Return what finds the results of an aggregate (its keys, then the result) by some of these columns.

        Only groups count that have one of the `keys`, values of the key variables `names`.
        """

    def look(self) -> None:
        """Look at the clock and the memory."""


Run = Callable[[Sight], Bag]


class Evaluator(Protocol):
    """A way to evaluate trees."""

    def prepare(self, tree: Project, scalars: Scalars) -> Run:
        """Return what finds the derivations of a tree on what a sight shows."""


def stepping(find: Find) -> Find:
    """Return what finds rows, each of which counts as a step if there are limits."""
    return find if current.get() is None else lambda key: list(counted(find(key)))


def in_chunks(bindings: Sequence[Bindings], sight: Sight, step: Callable[[Sequence[Bindings]], list[Any]]) -> list[Any]:
    """Apply a step to bindings, a part at a time from which about `chunk` come out; there is a look after each."""
    tuning = sight.tuning
    size = tuning.first
    if len(bindings) <= size:
        return step(bindings)
    found: list[Any] = []
    start = 0
    while start < len(bindings):
        made = step(bindings[start : start + size])
        found += made
        start += size
        size = max(1, size // 4) if len(made) > tuning.chunk else min(tuning.chunk, 2 * size)
        sight.look()
    return found

"""Abilities that only some backends have, each a protocol of its own; a backend without one has None in its place.

| ability | for whom | without it |
| --- | --- | --- |
| `LazySupport` | `rounds.delete`, `choose` | support is counted as derivations are found |
| `Leftovers` | `rounds.left_over` | removed tuples are found again by rules evaluated backwards |
| `BatchedRounds` | `rounds.delete`, `rounds.insert`, `seminaive` | each round is done by itself |
| `Iterations` | `elastic` | the strategy is not offered |
| `Sieving` | `choose` | rules are evaluated to see that they find nothing |
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from tidelog.plan.nodes import Project, Rule
from tidelog.run.contract.phase import Job, Phase


class LazySupport(Protocol):
    """Support that is counted when a tuple first loses some, under `Support.RANKED`.

    After a release some tuples are *in doubt*: they have lost a derivation of lower rank while nobody has counted how
    many they have. Whoever releases has their derivations found by rules evaluated backwards, and settles the doubts.
    """

    def counted(self, relation: str) -> bool:
        """Tell whether the support of all tuples of a relation is known."""

    def leave_uncounted(self, relation: str) -> None:
        """Let the bootstrap of a relation, just reset, give tuples their ranks only."""

    def doubtful(self) -> Collection[str]:
        """Make tuples in doubt what COUNT sees as delta; return whose relations they are."""

    def lift(self) -> Collection[str]:
        """Let tuples that are lost in this round hold again, just above their rank, and be in doubt.

        Those that may have derivations of their own rank, which support them there, where there is room for it. They
        are no more the delta, but what COUNT sees as delta. Return whose relations they are.
        """

    def settle(self, relations: Collection[str], bags: Mapping[str, Any]) -> None:
        """Count the derivations that tuples in doubt have left, which are in bags; those without support are lost.

        They become the delta, beside the tuples that are lost already.
        """


class Leftovers(Protocol):
    """All derivations of tuples are counted, also while they are removed."""

    def left_over(self, relations: Collection[str]) -> Mapping[str, Any]:
        """Return as bags the derivations that removed tuples have left, of the relations where all were counted.

        All are said to have the greatest rank there is in the stratum: then each supports its head, come back above.
        """


class BatchedRounds(Protocol):
    """Small rounds are done many at once, where a round has costs of its own.

    A round derives with the variants whose delta is of the stratum, and then, by the phase, absorbs or releases.
    """

    def start(self, phase: Phase, rules: Sequence[Rule], bags: Mapping[str, Any], most: int) -> int | None:
        """Enter DELETE or INSERT, release or absorb bags there, and go on for at most `most` rounds.

        All at once, if they are small; return how many rounds were done then. None: nothing was done, not even entered.
        """

    def go_on(self, rules: Sequence[Rule], most: int) -> int:
        """Do at most `most` rounds with these rules, if they are small; return how many were done."""


class Iterations(Protocol):
    """A fixpoint is followed iteration by iteration (`run.maintain.elastic`), under `Support.FIRST`.

    Derivations are scheduled for the iteration they belong to. Whoever goes through the iterations in order advances
    every relation of the stratum to the next one that is due, and schedules what the tuples that leave and come do.
    """

    def rediscovery(self, rule: Rule) -> Project:
        """Return the tree that finds what REDISCOVER sees as delta again.

        It is of `plan.rewrite.rederive` or `plan.rewrite.rediscover`. Both find the same; which of them looks at less
        depends on the tuples, and the backend may know.
        """

    def schedule(self, relation: str, bag: Any, sign: int) -> None:
        """Let derivations be lost (-1) or gained (+1) in the iterations they belong to.

        One that belongs to a later iteration than its head, which is present, has no effect and is dropped.
        """

    def due(self, relations: Sequence[str]) -> int | None:
        """Return the first iteration for which there is something; None if there is nothing more."""

    def advance(self, relation: str, iteration: int) -> None:
        """Let the delta become old, and settle what is due; the tuples that leave their iteration become the delta.

        That is those that have no derivation left in it, and those that now have one in this, an earlier one.
        """

    def turn(self, relation: str) -> int:
        """Remove the delta, and make what comes in this iteration the delta.

        What is removed and does not come is what REDISCOVER sees as delta; return the number of these tuples.
        """


class Sieving(Protocol):
    """Telling at once, for much less than evaluating rules costs, that they find nothing."""

    def is_small(self, changed: int) -> bool:
        """Tell whether a change of this size is small enough for it."""

    def may_derive(self, jobs: Sequence[Job]) -> bool:
        """Tell whether trees may have derivations in this phase."""

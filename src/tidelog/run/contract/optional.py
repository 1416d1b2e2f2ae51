"""Abilities that only some backends have, each a protocol of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tidelog.plan.nodes import Project, Rule
from tidelog.run.contract.backend import Backend


class Iterations(Backend, Protocol):
    """A backend that also follows a fixpoint iteration by iteration (`run.maintain.elastic`), under `Support.FIRST`.

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

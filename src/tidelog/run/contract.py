"""The contracts: between a session and an engine, and between the maintenance algorithms and an engine's backend.

An engine holds the state of one program: stored facts, and every relation the rules derive. `update` changes facts,
rules or both in one step and returns the exact signed change of every relation. After it the state is what evaluation
from scratch gives on the new facts and rules; the change is the state after minus the state before.

`snapshot` and `restore` make transactions: a session takes a snapshot, updates, and restores it when the transaction
is rolled back, refused, or only previewed. Both cost no more than the change in between.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tidelog.plan.nodes import Plan, Rule, Variant, Version

Row = tuple[Any, ...]
Rows = Collection[Row]


@dataclass(frozen=True, slots=True)
class Change:
    """What became true and what became false in one relation; disjoint."""

    inserted: Rows = ()
    deleted: Rows = ()

    def __bool__(self) -> bool:
        return bool(self.inserted or self.deleted)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one update; None is no bound. Reaching one raises `LimitError` and the session restores."""

    rounds: int | None = None
    tuples: int | None = None
    seconds: float | None = None
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """What one stratum of an update did, for the profile: strategy, the reason for it, rounds, derivations, time."""

    stratum: int
    relations: tuple[str, ...]
    strategy: str
    reason: str
    rounds: int
    derivations: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Update:
    """The answer to an update: changed relations only (auxiliary ones included), and what was done."""

    changes: Mapping[str, Change]
    work: tuple[Work, ...] = field(default=(), compare=False)


NO_LIMITS = Limits()


class Engine(Protocol):
    """What a session asks of an engine. Relations are named as in the plan; rows are tuples of `base.values`."""

    name: str

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""

    def update(self, facts: Mapping[str, Change], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Insert and delete stored facts, and go over to another program if one is given."""

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""

    def snapshot(self) -> Any:
        """Return a token for the current state."""

    def restore(self, token: Any) -> None:
        """Go back to the state of a token; tokens taken after it are void."""


Job = tuple[Rule, Variant]
"""One variant of one rule to evaluate."""


class Backend(Protocol):
    """The leaf operations the algorithms in `run.maintain` are written over.

    Each is coarse: one sequence of kernels in process, one job on a cluster. A round derives with all jobs at once and
    absorbs what they derived; bags never leave the backend.
    """

    def derive(self, jobs: Sequence[Job]) -> Mapping[str, Any]:
        """Evaluate rule variants on the current versions; return for each head relation its bag of derivations."""

    def absorb(self, relation: str, bag: Any) -> int:
        """Let the delta become old, and the tuples of the bag that are new the delta; return their number."""

    def settle(self, relation: str) -> None:
        """Let the delta become old; it is empty then."""

    def count(self, relation: str, version: Version) -> int:
        """Return the number of tuples of a version of a relation."""

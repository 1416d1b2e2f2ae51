"""What a session asks of an engine.

An engine holds the state of one program: stored facts, and every relation the rules derive. `update` changes facts,
rules or both in one step and returns the exact signed change of every relation. After it the state is what evaluation
from scratch gives on the new facts and rules; the change is the state after minus the state before.

`snapshot` and `restore` make transactions: a session takes a snapshot, updates, and restores it when the transaction
is rolled back, refused, or only previewed. Both cost no more than the change in between.

An interrupt may come at any line of an engine. When `update` has raised anything, a session asks nothing of the engine
before it has restored its last snapshot; when `restore` has, it is called again with the same token. So an engine notes
what it overwrites before it does, and forgets that only when it has put everything back. What it keeps to save work,
such as plans, orders and codes, is complete before it can be found.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import field
from numbers import Integral, Real
from typing import Any, Literal, Protocol, runtime_checkable

from tidelog.base.errors import UserError
from tidelog.base.process.meter import memory_in_use
from tidelog.base.record import record
from tidelog.plan.nodes import Plan

Row = tuple[Any, ...]
Rows = Collection[Row]
"""Tuples in any order.

Rows whose columns are all booleans, strings, floating point or integers of at most 64 bits may also offer them as Arrow
columns, named like the relation's, by `__arrow_c_stream__`, and rows of integers of at most 63 bits as an array of
signed ones, a row in a line, by `__array__`; whoever can use that need not iterate; nor need
whoever takes the columns of `ValueColumns`. Rows given to an engine may repeat,
be present already or be absent already: Arrow columns are not looked through before.
"""


@record
class Delta:
    """What became true and what became false in one relation; disjoint.

    In a change given to an engine a tuple may be in both: it is inserted then.
    """

    inserted: Rows = ()
    deleted: Rows = ()

    def __bool__(self) -> bool:
        return bool(self.inserted or self.deleted)


@record
class Limits:
    """Bounds on one update; None is no bound. Reaching one raises `LimitError` and the session restores.

    A bound that means nothing, or that this machine cannot keep, is refused with a `UserError`.

    >>> Limits(seconds=float("nan"))
    Traceback (most recent call last):
    ...
    tidelog.base.errors.UserError: a limit of nan seconds: it should be a number that is not negative
    """

    rounds: int | None = None
    tuples: int | None = None
    seconds: float | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for unit in ("rounds", "tuples", "seconds"):
            _check_limit(getattr(self, unit), unit, whole=unit != "seconds")
        _check_limit(self.memory, "bytes of memory", whole=True)
        if self.memory is not None and not memory_in_use():
            raise UserError(f"a memory limit cannot be kept here: {sys.platform} does not tell how much is in use")


def _check_limit(limit: Any, unit: str, *, whole: bool) -> None:
    if limit is None:
        return
    if isinstance(limit, bool) or not isinstance(limit, Integral if whole else Real) or not float(limit) >= 0:
        kind = "an integer" if whole else "a number"
        raise UserError(f"a limit of {limit} {unit}: it should be {kind} that is not negative")


@record
class Fallback:
    """When an update of a stratum is dropped for an evaluation from scratch: beyond a share of what the last one took.

    `by` says what counts: `work`, in units of the engine's, so that the same update always goes the same way, or
    `time`, as in Zhao et al. A share of `math.inf` never falls back.
    """

    share: float
    by: Literal["work", "time"] = "work"

    def __post_init__(self) -> None:
        share: Any = self.share
        if isinstance(share, bool) or not isinstance(share, Real) or not float(share) >= 0:
            raise UserError(f"a share of {share}: it should be a number that is not negative")
        if self.by not in ("work", "time"):
            raise UserError(f"a fallback by {self.by}: there are `work` and `time`")


@record
class Work:
    """What one stratum of an update did, for the profile: strategy, the reason for it, rounds, derivations, time."""

    stratum: int
    relations: tuple[str, ...]
    strategy: str
    reason: str
    rounds: int
    derivations: int
    seconds: float


@record
class Update:
    """The answer to an update: changed relations only (auxiliary ones included), and what was done."""

    changes: Mapping[str, Delta]
    work: tuple[Work, ...] = field(default=(), compare=False)


NO_LIMITS = Limits()


def refuse_bounds(plan: Plan, who: str, instead: str) -> None:
    """Raise a `UserError` if a program has minima or maxima in recursion, which somebody does not follow."""
    bounded = sorted(name for name, relation in plan.relations.items() if relation.bound is not None)
    if bounded:
        relation = bounded[0].partition("#")[0]
        raise UserError(f"{who} does not follow minima and maxima, and `{relation}` keeps one of each key; {instead}")


class Engine(Protocol):
    """What a session asks of an engine. Relations are named as in the plan; rows are tuples of `base.values`."""

    name: str

    @property
    def plan(self) -> Plan:
        """The program whose consequences the state holds."""

    def update(self, facts: Mapping[str, Delta], plan: Plan | None = None, limits: Limits = NO_LIMITS) -> Update:
        """Insert and delete stored facts, and go over to another program if one is given.

        May raise anywhere; the state is then that of the last snapshot once `restore` has returned.
        """

    def rows(self, relation: str) -> Rows:
        """Return the tuples of a relation."""

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""

    def contains(self, relation: str, row: Row) -> bool:
        """Tell whether a tuple is in a relation."""

    def verify(self) -> Sequence[str]:
        """Check what the engine keeps beside the tuples, such as support counts; return what is wrong."""

    def snapshot(self) -> Any:
        """Return a token for the current state."""

    def restore(self, token: Any) -> None:
        """Go back to the state of a token, from wherever an interrupt has left the engine; later tokens are void.

        The token stays good until the next snapshot: restoring it twice, or again after an interrupt, is no mistake.
        """


@runtime_checkable
class Lookups(Protocol):
    """An engine with indexes in which tuples can be looked up by what they have in some columns.

    An index is built by the first look-up that needs it, and kept up to date by `Engine.update`.
    """

    def look_up(self, relation: str, values: Mapping[int, Any]) -> Rows:
        """Return the tuples of a relation that have these values in some columns, by their places; at least one."""

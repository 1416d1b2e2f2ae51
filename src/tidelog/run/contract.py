"""The contracts: between a session and an engine, and between the maintenance algorithms and an engine's backend.

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
from enum import Enum
from numbers import Integral, Real
from typing import Any, Literal, Protocol

from tidelog.base.errors import UserError
from tidelog.base.meter import memory_in_use
from tidelog.base.record import record
from tidelog.plan.nodes import Plan, Project, Rule

Row = tuple[Any, ...]
Rows = Collection[Row]
"""Tuples in any order.

Rows whose columns are all booleans, strings, floating point or integers of at most 64 bits may also offer them as Arrow
columns, named like the relation's, by `__arrow_c_stream__`, and rows of integers of at most 63 bits as an array of
signed ones, a row in a line, by `__array__`; whoever can use that need not iterate. Rows given to an engine may repeat,
be present already or be absent already: Arrow columns are not looked through before.
"""


@record
class Change:
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
class Switch:
    """When an update of a stratum is dropped for an evaluation from scratch: beyond a share of what the last one took.

    `by` says what counts: `work`, in units of the engine's, so that the same update always goes the same way, or
    `time`, as in Zhao et al. A share of `math.inf` never switches.
    """

    share: float
    by: Literal["work", "time"] = "work"

    def __post_init__(self) -> None:
        share: Any = self.share
        if isinstance(share, bool) or not isinstance(share, Real) or not float(share) >= 0:
            raise UserError(f"a share of {share}: it should be a number that is not negative")
        if self.by not in ("work", "time"):
            raise UserError(f"a switch by {self.by}: there are `work` and `time`")


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


Job = tuple[Rule, Project]
"""One tree of one rule to evaluate."""


class Phase(Enum):
    """What the algorithms are doing to a stratum, which decides what its scans see.

    A relation of a stratum below has changed from *before* to *after* this update; between them is *middle*, before
    without what was deleted. Under a negation the roles are exchanged: middle is before with what was inserted.

    | phase | below: old, all | below: new | own relations |
    | --- | --- | --- | --- |
    | BOOT | after | after | old: without the delta; new: with it |
    | LOSE | before | middle | as they are |
    | DELETE | middle | middle | old: with the tuples removed in this round; new: without |
    | COUNT | middle | middle | with the tuples removed in this round; the delta: doubtful tuples |
    | REDERIVE | middle | middle | what is left; the delta: all that was removed |
    | GAIN | old: middle, all: after | after | what is left |
    | INSERT | after | after | old: without the delta; new: with it |
    | RETRACT | after | after | old: with the tuples that leave in this iteration; new: without |
    | REDISCOVER | after | after | what is left; the delta: what left in this iteration |

    In LOSE the delta of a relation below is what was deleted from it, in GAIN what was inserted; under a negation these
    are exchanged. A relation that is aggregated is after in REDERIVE: a group has one result before and one after, and
    none in the middle.
    """

    BOOT = "boot"
    LOSE = "lose"
    DELETE = "delete"
    COUNT = "count"
    REDERIVE = "rederive"
    GAIN = "gain"
    INSERT = "insert"
    RETRACT = "retract"
    REDISCOVER = "rediscover"


class Support(Enum):
    """What a backend keeps of each tuple beside the tuple, which decides what a lost derivation does to its head.

    | support | kept of a tuple | a lost derivation |
    | --- | --- | --- |
    | NONE | nothing | removes its head, whether or not there are others |
    | RANKED | its rank; its derivations of lower rank, perhaps all | is taken from them; 0 of lower rank remove it |
    | FIRST | its first iteration as rank; its derivations in it | is taken from the count, if it was one of these |
    | COUNTED | 1 as rank; its nonrecursive derivations, and all | is taken from the counts; 0 nonrecursive remove it |

    Except under NONE every derivation in a bag carries the greatest rank among its body's tuples of the stratum at
    work, 0 if there is none. Under FIRST a derivation of rank r belongs to iteration r + 1. Under COUNTED those of rank
    0 are the nonrecursive ones, which use nothing of the stratum; a tuple may stand without any.
    """

    NONE = "none"
    RANKED = "ranked"
    FIRST = "first"
    COUNTED = "counted"


class Backend(Protocol):
    """The leaf operations the algorithms in `run.maintain` are written over.

    Each is coarse: one sequence of kernels in process, one job on a cluster. A round derives with all jobs at once and
    absorbs or releases what they derived; bags never leave the backend. What a tuple carries is up to the `Support` of
    the backend's relations.
    """

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work on the stratum of these relations."""

    def derive(self, jobs: Sequence[Job]) -> Mapping[str, Any]:
        """Evaluate trees on what the phase shows; return for each head relation its bag of derivations."""

    def regroup(self, rules: Sequence[Rule]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Evaluate the groups of aggregating rules that have changed: bags of derivations lost, and gained."""

    def unite(self, bags: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Put bags of the same head relations together."""

    def absorb(self, relation: str, bag: Any) -> int:
        """Let the delta become old and absorb derivations; return the number of new tuples.

        New tuples become the delta. Under RANKED each has a rank above its derivations', and derivations of present
        tuples that support them are counted.
        """

    def release(self, relation: str, bag: Any) -> int:
        """Let the delta be removed and take derivations away; return the number of tuples that are lost.

        Present tuples that this removes, by the rule of their `Support`, become the delta.
        """

    def absorb_all(self, relations: Sequence[str], bags: Mapping[str, Any]) -> None:
        """Absorb what a round derived of several relations, which on a cluster takes one job."""

    def release_all(self, relations: Sequence[str], bags: Mapping[str, Any]) -> None:
        """Take away what a round derived of several relations."""

    def doubtful(self) -> Collection[str]:
        """Make tuples that a release has left in doubt what COUNT sees as delta; return whose relations they are.

        These are present tuples that have lost a derivation of lower rank while nobody has counted how many they have.
        """

    def settle_doubts(self, relations: Collection[str], bags: Mapping[str, Any]) -> None:
        """Count the derivations that doubtful tuples have left, which are in bags; those without support are lost.

        They become the delta, beside the tuples that are lost already.
        """

    def lift(self) -> Collection[str]:
        """Let tuples that are lost in this round hold again, just above their rank, and be doubtful.

        Those that may have derivations of their own rank, which support them there, where there is room for it. They
        are no more the delta, but what COUNT sees as delta, for `settle_doubts`. Return whose relations they are.
        """

    def begin_small(self, phase: Phase, rules: Sequence[Rule], bags: Mapping[str, Any], most: int) -> int | None:
        """Enter DELETE or INSERT, release or absorb bags there, and do up to so many rounds as `small_rounds` does.

        All at once, if they are small; return how many rounds were done then. None: nothing was done, not even entered.
        """

    def small_rounds(self, rules: Sequence[Rule], most: int) -> int:
        """Do up to so many rounds with these rules at once, if they are small; return how many were done.

        A round derives with the variants whose delta is of the stratum, and then, according to the phase, absorbs or
        releases. An engine for which a round has costs of its own may save them here.
        """

    def removed(self, relation: str) -> int:
        """End the removal of tuples; those that may have derivations left are what REDERIVE sees as delta.

        Under NONE that is all of them. Return their number.
        """

    def recount(self, relations: Collection[str]) -> Mapping[str, Any]:
        """Return as bags the derivations that removed tuples have left, without finding them, where all were counted.

        All are said to have the greatest rank there is in the stratum: then each supports its head, come back above.
        """

    def conclude(self, relation: str) -> None:
        """Let the delta become old, and the net change of the relation what strata above see of it."""

    def begin(self) -> None:
        """Remember this point of the update, for `drop`."""

    def drop(self) -> None:
        """Undo what was done since `begin`."""

    def reset(self, relation: str, *, counted: bool = True) -> None:
        """Empty a relation for a bootstrap; what it held is kept aside for `compare`.

        Unless it is to be `counted`, the bootstrap may leave the support of tuples to be found when it is needed.
        """

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""

    def counted(self, relation: str) -> bool:
        """Tell whether the support of all tuples of a relation is known."""

    def compare(self, relation: str) -> None:
        """After a bootstrap in an update, make the difference to what was there the net change of the relation."""

    @property
    def derivations(self) -> int:
        """The number of derivations found so far in this update."""

    def changed(self, relation: str) -> tuple[int, int]:
        """Return how many tuples of a relation this update has deleted, and how many it has inserted."""

    def has_delta(self, relation: str) -> bool:
        """Tell whether the delta of a relation has a tuple."""


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

"""What the maintenance algorithms ask of an engine: its backend, the phases of an update, and the kinds of support."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from enum import Enum
from typing import Any, Protocol

from tidelog.plan.nodes import Project, Rule

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

"""What the maintenance algorithms ask of an engine: the leaf operations, and which abilities it has beyond them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tidelog.plan.nodes import Bound, Rule
from tidelog.run.contract.optional import BatchedRounds, Iterations, LazySupport, Leftovers, Sieving
from tidelog.run.contract.phase import Job, Phase


class Backend(Protocol):
    """The leaf operations the algorithms in `run.maintain` are written over.

    Each is coarse: one sequence of kernels in process, one job on a cluster. A round derives with all jobs at once and
    absorbs or releases what they derived; bags never leave the backend. What a tuple carries is up to the `Support` of
    the backend's relations. Abilities that not every backend has are protocols of their own (`contract.optional`).
    """

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work on the stratum of these relations."""

    def derive(self, jobs: Sequence[Job]) -> Mapping[str, Any]:
        """Evaluate trees on what the phase shows; return for each head relation its bag of derivations.

        A bag without derivations should be false: then nothing is done with it.
        """

    def regroup(self, rules: Sequence[Rule]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Evaluate the groups of aggregating rules that have changed: bags of derivations lost, and gained."""

    def unite(self, bags: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """Put bags of the same head relations together."""

    def absorb(self, relations: Sequence[str], bags: Mapping[str, Any]) -> None:
        """Let the deltas of relations become old, and their new tuples in bags of derivations the deltas.

        Under RANKED each new tuple has a rank above its derivations', and derivations of present tuples that support
        them are counted.
        """

    def release(self, relations: Sequence[str], bags: Mapping[str, Any]) -> None:
        """Let the deltas of relations be removed, and take derivations away.

        Present tuples that this removes, by the rule of their `Support`, become the deltas.
        """

    def removed(self, relation: str) -> int:
        """End the removal of tuples; those that may have derivations left are what REDERIVE sees as delta.

        Under NONE that is all of them; of bounds one of each key. Return their number.
        """

    def bound(self, relation: str) -> Bound | None:
        """Return which column of a relation of bounds is kept, and which value is better; None of any other.

        Such a relation has a door: `absorb` admits of each key the best candidate of a round, if it is better than all
        that are there.
        """

    @property
    def waits(self) -> bool:
        """Whether candidates for bounds wait for a later round of the bootstrap at work: `absorb` admits them then."""

    def absent(self, bags: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the derivations in bags whose heads are not there."""

    def conclude(self, relation: str) -> None:
        """Let the delta become old, and the net change of the relation what strata above see of it."""

    def begin(self) -> None:
        """Remember this point of the update, for `drop`."""

    def drop(self) -> None:
        """Undo what was done since `begin`."""

    def reset(self, relation: str) -> None:
        """Empty a relation for a bootstrap; what it held is kept aside for `compare`."""

    def compare(self, relation: str) -> None:
        """After a bootstrap in an update, make the difference to what was there the net change of the relation."""

    def count(self, relation: str) -> int:
        """Return the number of tuples of a relation."""

    def changed(self, relation: str) -> tuple[int, int]:
        """Return how many tuples of a relation this update has deleted, and how many it has inserted."""

    def has_delta(self, relation: str) -> bool:
        """Tell whether the delta of a relation has a tuple."""

    @property
    def derivations(self) -> int:
        """The number of derivations found so far in this update."""

    @property
    def lazy(self) -> LazySupport | None:
        """How support is found where it was left uncounted."""

    @property
    def leftovers(self) -> Leftovers | None:
        """How derivations that removed tuples have left are read off."""

    @property
    def batched(self) -> BatchedRounds | None:
        """How several small rounds are done at once."""

    @property
    def sieving(self) -> Sieving | None:
        """What sees at once that changes lead nowhere."""

    @property
    def iterations(self) -> Iterations | None:
        """How a fixpoint is followed iteration by iteration, as `elastic` does."""

"""What the backend of every engine holds: relations by name, which of them an update has touched, and where it is.

An engine says what an empty relation is, and what of a relation may be changed: a copy, or the relation itself. Scans
see what `run.phases` shows in the phase at work.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Generic, Protocol, TypeVar

from tidelog.plan.nodes import Plan, Rule, Scan, Version
from tidelog.run.contract.backend import Phase
from tidelog.run.limits import Watch
from tidelog.run.phases import View, view_of

R = TypeVar("R")


class Dividable(Protocol):
    """A relation whose deletions can be projected."""

    def divided(self, columns: tuple[int, ...]) -> Any:
        """Return a relation whose deletions are this one's in some columns, each combination once; others are blank."""


D = TypeVar("D", bound=Dividable)


class Holding(ABC, Generic[R]):
    """Relations by name. `before` are those of the program before, which rules that are being removed still read."""

    def __init__(self, plan: Plan, relations: dict[str, R], before: Mapping[str, R], watch: Watch) -> None:
        self.plan = plan
        self.relations = relations
        self._before = before
        self.watch = watch
        self.touched: dict[str, R] = {}
        self._aside: dict[str, R] = {}
        self._begun: tuple[dict[str, R], dict[str, R]] = ({}, {})
        self.derivations = 0
        self.phase = Phase.BOOT
        self.members: frozenset[str] = frozenset()

    @abstractmethod
    def fresh(self, name: str) -> R:
        """Return an empty relation with the columns of the plan."""

    @abstractmethod
    def changeable(self, relation: R) -> R:
        """Return what may be changed of a relation."""

    def relation(self, name: str) -> R:
        """Return a relation of the plan, empty if it was never filled."""
        found = self.relations.get(name)
        if found is None:
            if name not in self.plan.relations:
                return self._before[name]
            found = self.relations[name] = self.fresh(name)
        return found

    def touch(self, name: str) -> R:
        """Return a relation that may be changed."""
        found = self.touched.get(name)
        if found is None:
            found = self.touched[name] = self.relations[name] = self.changeable(self.relation(name))
        return found

    def view(self, scan: Scan, rule: Rule, *, negated: bool) -> View:
        """Return what a scan of a rule sees now."""
        return view_of(scan, rule, self.phase, self.members, negated=negated)

    @abstractmethod
    def absorb(self, relation: str, bag: Any) -> int:
        """Absorb derivations of one relation."""

    @abstractmethod
    def release(self, relation: str, bag: Any) -> int:
        """Take derivations of one relation away."""

    def absorb_all(self, relations: Sequence[str], bags: Mapping[str, Any]) -> None:
        """Absorb what a round derived, one relation after the other."""
        for relation in relations:
            self.absorb(relation, bags.get(relation))

    def release_all(self, relations: Sequence[str], bags: Mapping[str, Any]) -> None:
        """Take away what a round derived, one relation after the other."""
        for relation in relations:
            self.release(relation, bags.get(relation))

    def doubtful(self) -> Collection[str]:
        """Return nothing: here support is counted when it is found."""
        return ()

    def settle_doubts(self, relations: Collection[str], bags: Mapping[str, Any]) -> None:
        """Do nothing: there are no doubts."""

    def lift(self) -> Collection[str]:
        """Let nothing hold again: here tuples that have lost their support are lost."""
        return ()

    def counted(self, relation: str) -> bool:
        """Tell that the support of all tuples is known."""
        return True

    def begin_small(self, phase: Phase, rules: Sequence[Rule], bags: Mapping[str, Any], most: int) -> int | None:
        """Do nothing, for the same reason as `small_rounds`."""
        return None

    def small_rounds(self, rules: Sequence[Rule], most: int) -> int:
        """Do no round at once: what a round costs here depends on its tuples."""
        return 0

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work on the stratum of these relations."""
        self.phase, self.members = phase, members
        for name in members:
            self.touch(name)


class Dividing(Holding[D]):
    """Relations whose deletions can be scanned in part (`Version.PART`)."""

    def __init__(self, plan: Plan, relations: dict[str, D], before: Mapping[str, D], watch: Watch) -> None:
        super().__init__(plan, relations, before, watch)
        self._parts: dict[tuple[str, tuple[int, ...]], D] = {}

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work: what was deleted may be something else."""
        super().enter(phase, members)
        self._parts = {}

    def scanned(self, scan: Scan) -> D:
        """Return the relation that a scan reads; a part of one is made once in a phase."""
        if scan.version is not Version.PART:
            return self.relation(scan.relation)
        columns = tuple([column for column, term in enumerate(scan.terms) if term is not None])
        found = self._parts.get((scan.relation, columns))
        if found is None:
            found = self._parts[scan.relation, columns] = self.relation(scan.relation).divided(columns)
        return found

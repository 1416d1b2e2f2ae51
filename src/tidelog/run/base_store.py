"""What the backend of every engine has: relations by name, which of them an update has touched, and where it is.

An engine says what an empty relation is, and what of a relation may be changed: a copy, or the relation itself. Scans
see what `run.phases` shows in the phase at work. It has no optional ability: an engine that has one says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Generic, Protocol, TypeVar

from tidelog.plan.nodes import Bound, Plan, Rule, Scan, Version
from tidelog.run.contract.optional import BatchedRounds, Iterations, LazySupport, Leftovers, Sieving
from tidelog.run.contract.phase import Phase
from tidelog.run.limits import Watch
from tidelog.run.phases import View, view_of

R = TypeVar("R")
LOOKING = (Phase.LOSE, Phase.GAIN)
"""Phases in which rules are evaluated and no relation changes: where they find nothing, none is touched."""


class Dividable(Protocol):
    """A relation whose deletions can be projected."""

    def divided(self, columns: tuple[int, ...]) -> Any:
        """Return a relation whose deletions are this one's in some columns, each combination once; others are blank."""


D = TypeVar("D", bound=Dividable)


class BaseStore(ABC, Generic[R]):
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

    @property
    def lazy(self) -> LazySupport | None:
        """How support is found where it was left uncounted."""
        return None

    @property
    def leftovers(self) -> Leftovers | None:
        """How derivations that removed tuples have left are read off."""
        return None

    @property
    def batched(self) -> BatchedRounds | None:
        """How several small rounds are done at once."""
        return None

    @property
    def sieving(self) -> Sieving | None:
        """What sees at once that changes lead nowhere."""
        return None

    @property
    def iterations(self) -> Iterations | None:
        """How a fixpoint is followed iteration by iteration."""
        return None

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

    def enter(self, phase: Phase, members: frozenset[str]) -> None:
        """Begin a phase of work on the stratum of these relations."""
        self.phase, self.members = phase, members
        if phase not in LOOKING:
            for name in members:
                self.touch(name)

    def bound(self, relation: str) -> Bound | None:
        """Return which column of a relation of bounds is kept, and which value is better."""
        found = self.plan.relations.get(relation)
        return None if found is None else found.bound

    @property
    def waits(self) -> bool:
        """Whether candidates for bounds wait for a later round."""
        return False

    def absent(self, bags: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the derivations whose heads are not there: for backends with relations of bounds."""
        raise AssertionError(f"relations of bounds are refused before: {sorted(bags)}")

    def reset(self, relation: str) -> None:
        """Empty a relation for a bootstrap, and keep what it held aside."""
        self._aside[relation] = self.relation(relation)
        self.touched[relation] = self.relations[relation] = self.fresh(relation)


class Dividing(BaseStore[D]):
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

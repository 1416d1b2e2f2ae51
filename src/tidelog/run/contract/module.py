"""What a module of a stratum's rules can do: the four functions of Hu, Motik and Horrocks (section 4).

A stratum's recursive rules are split into modules, and each is evaluated by functions of its own; in each round of an
update they take turns, every module on what all have derived, deleted or rederived so far (Algorithms 2 and 3). What
the facts I and their changes are the phase at work says (`contract.phase`): a module sees them as a scan would.

| function | phases | what it returns |
| --- | --- | --- |
| `add` | BOOT, INSERT | what follows with a new fact and does not hold (Definition 3) |
| `diff` | LOSE, GAIN | what changes of strata below, or a rule that comes or goes, do at once (Definition 5) |
| `delete` | DELETE | what is over-deleted with deleted facts (Definition 6) |
| `rederive` | REDERIVE, COUNT | which deleted facts follow from those that are left (Definition 7) |

A module with structures of its own closes its answers: `add`, `delete` and `rederive` say all that follows by its rules
alone. The semi-naive module, which has none, says what follows in one step; the rounds say the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from tidelog.run.contract.phase import Job, Phase

Bags = Mapping[str, Any]


class Module(Protocol):
    """The functions of a module; `jobs` are trees of its rules, which say whose deltas are new or deleted."""

    def add(self, jobs: Sequence[Job]) -> Bags:
        """Return derivations of what follows from new facts."""

    def diff(self, jobs: Sequence[Job]) -> Bags:
        """Return the derivations that changes below, or the rule itself, make or take."""

    def delete(self, jobs: Sequence[Job]) -> Bags:
        """Return the derivations that deleted facts take."""

    def rederive(self, jobs: Sequence[Job]) -> Bags:
        """Return derivations of deleted facts from those that are left."""


def turn(module: Module, phase: Phase, jobs: Sequence[Job]) -> Bags:
    """Let a module do what it is for in a phase."""
    match phase:
        case Phase.DELETE | Phase.RETRACT:
            return module.delete(jobs)
        case Phase.REDERIVE | Phase.COUNT | Phase.REDISCOVER:
            return module.rederive(jobs)
        case Phase.LOSE | Phase.GAIN:
            return module.diff(jobs)
        case _:
            return module.add(jobs)

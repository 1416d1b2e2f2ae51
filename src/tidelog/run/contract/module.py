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

from typing import Protocol, TypeVar

from tidelog.run.contract.phase import Job, Phase

B_co = TypeVar("B_co", covariant=True)


class Module(Protocol[B_co]):
    """The functions of a module; `job` is the tree of one of its rules, which says whose delta is new or deleted."""

    def add(self, job: Job) -> B_co:
        """Return derivations of what follows from new facts."""

    def diff(self, job: Job) -> B_co:
        """Return the derivations that changes below, or the rule itself, make or take."""

    def delete(self, job: Job) -> B_co:
        """Return the derivations that deleted facts take."""

    def rederive(self, job: Job) -> B_co:
        """Return derivations of deleted facts from those that are left."""


def turn(module: Module[B_co], phase: Phase, job: Job) -> B_co:
    """Let a module do what it is for in a phase."""
    match phase:
        case Phase.DELETE | Phase.RETRACT:
            return module.delete(job)
        case Phase.REDERIVE | Phase.COUNT | Phase.REDISCOVER:
            return module.rederive(job)
        case Phase.LOSE | Phase.GAIN:
            return module.diff(job)
        case _:
            return module.add(job)

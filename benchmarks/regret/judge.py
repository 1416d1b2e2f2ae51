"""Regret, from what the candidates of a workload took: the default's cost over the least of all, step by step.

`ADDED` seconds stand on both sides of every ratio of times, `PROCESS` bytes on both sides of every ratio of memory,
and `FEW` derivations on both sides of one of work: what is less than that nobody would notice. Memory is held against
the leanest candidate whose whole history took at most twice the time of the fastest.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.regret.candidates import DEFAULT, RECOMPUTE
from benchmarks.regret.examine import ADDED

PROCESS = 100 << 20
"""About what a process takes before it has done anything."""
FEW = 1_000
LEAN = 2.0
OURS, AGAIN = str(DEFAULT), str(RECOMPUTE)


@dataclass(frozen=True, slots=True)
class Regret:
    """A step of a workload: what the default took, who took the least, and what both did."""

    workload: str
    family: str
    graph: str
    facts: int
    step: int
    what: str
    ours: float
    best: float
    winner: str
    engine_best: float
    recompute: float | None
    work: tuple[int, int]
    reasons: tuple[str, ...]
    theirs: tuple[str, ...]
    stopped: bool

    @property
    def ratio(self) -> float:
        """How many times the default took what the best did."""
        return over(self.ours, self.best)

    @property
    def in_engine(self) -> float:
        """How many times the default took what the best strategy of its own engine did."""
        return over(self.ours, self.engine_best)

    @property
    def from_scratch(self) -> bool:
        """Whether the step is the load."""
        return self.step == 0


def over(ours: float, theirs: float) -> float:
    """Return one time over another."""
    return (ours + ADDED) / (theirs + ADDED)


def right(told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the candidates whose answers were right, with what they did; none where too few could be measured.

    That is where there was no time for some strategy of the default's own engine.
    """
    if any(name.startswith(f"{DEFAULT.engine} ") for name in told["skipped"]):
        return {}
    return {name: found for name, found in told["candidates"].items() if name not in told["wrong"]}


def regrets(name: str, told: Mapping[str, Any]) -> Iterator[Regret]:
    """Yield the regret of each step; none if the default was wrong, or too few others were measured."""
    candidates = right(told)
    if OURS not in candidates:
        return
    ours, recompute = candidates[OURS], candidates.get(AGAIN, {"cpu": []})
    for step, own in enumerate(ours["cpu"]):
        others = [(one["cpu"][step], name) for name, one in candidates.items() if step < len(one["cpu"])]
        best, winner = min(others)
        work = [one["derivations"][step] for one in candidates.values() if step < len(one["derivations"])]
        done = step < len(ours["work"])
        yield Regret(
            name,
            told["family"],
            told["graph"],
            told["facts"],
            step,
            told["steps"][step],
            own,
            best,
            winner,
            min(time for time, name in others if name.startswith(f"{DEFAULT.engine} ")),
            recompute["cpu"][step] if step < len(recompute["cpu"]) else None,
            (ours["derivations"][step], min(work)) if done else (0, 0),
            tuple(ours["work"][step]) if done else ("stopped",),
            tuple(candidates[winner]["work"][step]) if step < len(candidates[winner]["work"]) else (),
            told["stopped"] and not done,
        )


def batch_regret(told: Mapping[str, Any]) -> float | None:
    """Return what an evaluation that keeps nothing, as `tidelog run` does, takes over the least load of all."""
    candidates = right(told)
    if not candidates.get(AGAIN, {}).get("cpu"):
        return None
    return over(candidates[AGAIN]["cpu"][0], min(one["cpu"][0] for one in candidates.values() if one["cpu"]))


def memory_regret(told: Mapping[str, Any]) -> tuple[float, str] | None:
    """Return the default's peak memory over that of the leanest that is not slow, and who that is."""
    done = {name: one for name, one in right(told).items() if one["memory"] is not None}
    if OURS not in done:
        return None
    fastest = min(sum(one["cpu"]) for one in done.values())
    lean = [(one["memory"], name) for name, one in done.items() if sum(one["cpu"]) <= LEAN * fastest or name == OURS]
    least, who = min(lean)
    return (done[OURS]["memory"] + PROCESS) / (least + PROCESS), who

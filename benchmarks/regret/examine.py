"""A workload by the default and by everyone else, one child at a time, and again where the default seems to lose.

An alternative is stopped when it has taken `STOP` times what the best so far took for the whole history, but never
before `FREE` seconds: what it did until then counts. Where another was better by more than `CLOSE`, it and the default
take turns `TURNS` times, and their medians are held against each other; that goes on until whoever is better has been
measured so, or the time for it is spent. A child that had to load a kernel is measured again. Answers are compared
with those of `recompute`: whoever differs takes no part, and is reported.
"""

from __future__ import annotations

import json
import os
import select
import signal
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from benchmarks.measure import resident
from benchmarks.regret.candidates import DEFAULT, RECOMPUTE, Candidate, alternatives
from benchmarks.regret.child import Prepared, run_child
from benchmarks.regret.kernels import load_kernels

ADDED = 0.0005
"""Seconds that are added to both sides."""
STOP, FREE = 2.5, 0.2
CLOSE, TURNS = 1.2, 5
AGAIN = 4
"""How often a child that loads kernels is measured again before it is taken as it is."""
SILENT = 5.0
"""Times the seconds of processor time that a child may take, and half a minute: then it is taken to hang."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What a workload may take: processor time of the default, of all candidates, of the turns; bytes of a child.

    After `wall` seconds nobody else is begun, should the machine be busy with other things.
    """

    default: float = 20.0
    everyone: float = 60.0
    turns: float = 40.0
    wall: float = 180.0
    memory: int = 6 << 30


@dataclass(frozen=True, slots=True)
class Commit:
    """What a candidate took for one step, and what came out."""

    cpu: float
    derivations: int
    strata: int
    work: tuple[str, ...]
    changes: dict[str, list[int]]


@dataclass(slots=True)
class Run:
    """How one child ended (`ok`, `stopped`, `memory`, `failed`), and what it did until then."""

    status: str = "stopped"
    commits: list[Commit] = field(default_factory=list)
    memory: int | None = None
    hashes: dict[str, str] = field(default_factory=dict)
    loads: int = 0
    error: str = ""
    void: float = 0.0
    """Seconds that went into measurements which were thrown away."""

    @property
    def cpu(self) -> float:
        """Processor time of the commits that were done."""
        return sum(commit.cpu for commit in self.commits)

    def note(self, line: dict[str, Any]) -> None:
        """Take a line of the child."""
        if "failed" in line:
            self.status, self.error = "failed", line["failed"]
        elif "end" in line:
            self.status, self.memory, self.hashes = "ok", line["memory"], line["hashes"]
        else:
            self.loads = line["loads"]
            self.commits.append(
                Commit(line["cpu"], line["derivations"], line["strata"], tuple(line["work"]), line["changes"])
            )


def run(candidate: Candidate, prepared: Prepared, allowance: float, memory: int, *, hashed: bool = True) -> Run:
    """Run a candidate in a child until it ends or has taken what it may; once more if it had to load kernels."""
    begin = time.monotonic()
    for _ in range(AGAIN):
        start = time.monotonic()
        found = _run_once(candidate, prepared, allowance, memory, hashed=hashed)
        found.void = start - begin
        if not found.loads:
            break
        load_kernels()
    return found


def _run_once(candidate: Candidate, prepared: Prepared, allowance: float, memory: int, *, hashed: bool) -> Run:
    try:
        prepared.database(candidate)
    except Exception:  # noqa: BLE001  (a candidate that cannot take the program is reported, and others go on)
        return Run("failed", error=traceback.format_exc()[-2000:])
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        run_child(candidate, prepared, allowance, writing, hashed=hashed)
    os.close(writing)
    found = Run()
    try:
        for line in _lines(reading, child, time.monotonic() + SILENT * allowance + 30.0, memory, found):
            found.note(json.loads(line))
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return found


def _lines(reading: int, child: int, deadline: float, memory: int, found: Run) -> Iterator[bytes]:
    """Yield what a child writes, line by line, until it ends or goes beyond its bounds."""
    with os.fdopen(reading, "rb", buffering=0) as told:
        rest = b""
        while True:
            ready, _, _ = select.select([told], [], [], 0.05)
            if ready:
                some = told.read(1 << 16)
                if not some:
                    return
                *lines, rest = (rest + some).split(b"\n")
                yield from lines
            elif resident(child) > memory:
                found.status = "memory"
                return
            elif time.monotonic() > deadline:
                return


class Examination:
    """One workload: every run of every candidate, and who is right."""

    def __init__(self, prepared: Prepared, limits: Limits) -> None:
        self._prepared, self._limits = prepared, limits
        self.first: dict[Candidate, Run] = {}
        self.turns: dict[Candidate, list[Run]] = {}
        self.skipped: list[Candidate] = []
        self._spent = 0.0
        self._end = time.monotonic() + limits.wall

    def _is_over(self, budget: float) -> bool:
        return self._spent > budget or time.monotonic() > self._end

    def compare(self) -> None:
        """Run the default, then everyone else within what the best so far took; then those again that beat it."""
        self.first[DEFAULT] = self._run(DEFAULT, self._limits.default)
        for candidate in alternatives():
            if self._is_over(self._limits.everyone):
                self.skipped.append(candidate)
                continue
            # All others are held against it, too: it goes on as long as it may matter.
            least = STOP * self.first[DEFAULT].cpu if candidate == RECOMPUTE else FREE
            self.first[candidate] = self._run(candidate, max(FREE, least, STOP * self._best()))
        self._spent = 0.0
        while not self._is_over(self._limits.turns) and (winners := self._unconfirmed()):
            self._take_turns(winners)

    def _run(self, candidate: Candidate, allowance: float, *, hashed: bool = True) -> Run:
        found = run(candidate, self._prepared, allowance, self._limits.memory, hashed=hashed)
        self._spent += allowance if found.status == "stopped" else found.cpu
        self._end += found.void
        return found

    def _best(self) -> float:
        """Return what the best so far took for the whole history."""
        done = [found.cpu for found in self.first.values() if found.status == "ok"]
        return min(done, default=self._limits.default)

    def _unconfirmed(self) -> list[Candidate]:
        """Return those that seem clearly better than the default in some step, and have not taken turns with it."""
        ours = self.times(DEFAULT)
        best = [self.best(step) for step in range(len(ours))]
        found = {other: (own + ADDED) / (time + ADDED) for own, (time, other) in zip(ours, best, strict=True)}
        clear = [other for other, regret in found.items() if regret > CLOSE and other not in self.turns]
        return sorted(clear, key=lambda other: -found[other])[:3]

    def _take_turns(self, winners: Sequence[Candidate]) -> None:
        for turn in range(TURNS):
            for candidate in (DEFAULT, *winners):
                allowance = 2 * STOP * max(FREE, self.first[candidate].cpu)
                self.turns.setdefault(candidate, []).append(self._run(candidate, allowance, hashed=False))
            if turn and self._is_over(self._limits.turns):
                return

    # --- what was found ----------------------------------------------------------------------------------------------

    def times(self, candidate: Candidate) -> list[float]:
        """Return the processor time of each step: the median of its turns, if it has taken them.

        The default, where it was stopped, has taken at least what was left of its allowance in the step it was in.
        """
        runs = self.turns.get(candidate) or [self.first[candidate]]
        steps = max(len(found.commits) for found in runs)
        found = [median(one.commits[step].cpu for one in runs if step < len(one.commits)) for step in range(steps)]
        if candidate == DEFAULT and self.stopped:
            found.append(max(0.0, self._limits.default - sum(found)))
        return found

    @property
    def stopped(self) -> bool:
        """Whether the default did not come to an end."""
        return self.first[DEFAULT].status in ("stopped", "memory")

    def best(self, step: int) -> tuple[float, Candidate]:
        """Return who did a step, right, in the least time."""
        found = [
            (times[step], candidate)
            for candidate in self.first
            if candidate not in self.wrong() and step < len(times := self.times(candidate))
        ]
        return min(found)

    def wrong(self) -> dict[Candidate, str]:
        """Return whose answers differ from those of `recompute`, or who failed, and how."""
        right = self.first.get(RECOMPUTE)
        found: dict[Candidate, str] = {}
        for candidate, one in self.first.items():
            if one.status == "failed":
                found[candidate] = f"failed: {one.error.strip().splitlines()[-1]}"
            elif right is not None and right.status != "failed" and (differs := _difference(one, right)):
                found[candidate] = differs
        return found


def _difference(one: Run, other: Run) -> str:
    for step, (ours, theirs) in enumerate(zip(one.commits, other.commits, strict=False)):
        if ours.changes != theirs.changes:
            return f"step {step} changed {ours.changes}, {RECOMPUTE} {theirs.changes}"
    if one.hashes and other.hashes and one.hashes != other.hashes:
        return f"ended with {one.hashes}, {RECOMPUTE} with {other.hashes}"
    return ""

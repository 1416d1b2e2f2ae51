"""This checkout and an earlier commit in turns: which workloads became slower, or more work.

The earlier commit is checked out beside this one, and each runs its own lanes: batch evaluations (`race_tidelog`, with
nothing kept, and tracked) and updates (`update`). The two take turns, first one and then the other, so that whatever
else the machine does disturbs both alike; the first turn, in which kernels are compiled, does not count. A row is
compared by the median processor time of its runs. Work counts (derivations, rounds) do not depend on the machine: one
that differs is shown, and wants an explanation.

The goals: the geometric mean of all rows is at most MEAN, and no row is above WORST. A row that takes less than LEAST
seconds of processor time is shown, and does not count for WORST.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.batch import Settings
from benchmarks.inputs import prepare
from benchmarks.measure import measure
from benchmarks.tables import count, ratio, seconds, table
from benchmarks.updates import Subject, subjects
from benchmarks.workloads import WORKLOADS, Workload, chosen

MEAN, WORST = 1.03, 1.10
LEAST = 0.0005
REPEATS = 5
UPDATING = 6.0
"""Seconds that the updates of one subject are repeated in each run."""
HEADING = ("row", "before", "now", "ratio", "work before", "work now")
Key = tuple[str, ...]


@dataclass(slots=True)
class Row:
    """What one row took in each run of a version, and its work."""

    cpu: list[float] = field(default_factory=list)
    work: set[str] = field(default_factory=set)


class Version:
    """A checkout, and what its runs have told so far."""

    def __init__(self, root: Path, settings: Settings) -> None:
        self.root, self._settings = root, settings
        self.rows: dict[Key, Row] = {}
        self.mistakes: list[str] = []

    def _child(self, what: str, lane: str, *arguments: str) -> dict[str, object] | None:
        environment = {"PYTHONPATH": f"{self.root}:{self.root / 'src'}"}
        command = [sys.executable, "-P", "-m", f"benchmarks.{lane}", *arguments]  # -P: not the one in this folder
        run = measure(command, self._settings.bounds, environment)
        if run.status != "ok":
            self.mistakes.append(f"{what} at {self.root.name}: {run.status}\n{run.errors[-1000:]}")
            return None
        told: dict[str, object] = json.loads(run.output.splitlines()[-1])
        return told

    def _program(self, workload: Workload) -> str:
        return str(self.root / "benchmarks" / "programs" / f"{workload.program}.dl")

    def _note(self, key: Key, cpu: object, work: str) -> None:
        row = self.rows.setdefault(key, Row())
        row.cpu.append(float(str(cpu)))
        row.work.add(work)

    def evaluate(self, workload: Workload, facts: Path, mode: str) -> None:
        """Evaluate a workload from scratch."""
        arguments = (self._program(workload), str(facts), "1", mode, str(REPEATS))
        told = self._child(f"{workload.name} {mode}", "race_tidelog", *arguments)
        if told is not None:
            work = f"{count(int(str(told['derivations'])))} in {told['rounds']}"
            self._note((workload.name, mode), told["cpu"], work)

    def update(self, subject: Subject, facts: Path) -> None:
        """Let facts and a rule of a workload come and go."""
        workload = WORKLOADS[subject.workload]
        arguments = (self._program(workload), str(facts), subject.relation, subject.rule, str(UPDATING))
        told = self._child(f"updates of {workload.name}", "update", "updates", "auto", *arguments, *workload.sizes)
        lines = told["lines"] if told is not None else []
        assert isinstance(lines, list)
        for line in lines:
            key = (workload.name, str(line["what"]), str(line["facts"]))
            self._note(key, line["cpu"], count(line["derivations"]))


def run_compare(base: str, suite: str | None, runs: int, settings: Settings) -> list[str]:
    """Compare this checkout with an earlier commit; print the table and return what is slower than it may be."""
    here = Path(__file__).resolve().parents[1]
    earlier = settings.work / "compare" / base
    if not earlier.exists():
        subprocess.run(["git", "-C", str(here), "worktree", "add", "--detach", str(earlier), base], check=True)
    versions = [Version(earlier, settings), Version(here, settings)]
    turns = list(_turns(suite, settings))
    try:
        for number in range(runs + 1):
            for turn in turns:
                for version in versions if number % 2 == 0 else versions[::-1]:
                    turn(version)
            if number == 0:
                for version in versions:
                    version.rows.clear()
            print(f"{number} of {runs} runs", file=sys.stderr, flush=True)
    finally:
        subprocess.run(["git", "-C", str(here), "worktree", "remove", "--force", str(earlier)], check=True)
    return [*versions[0].mistakes, *versions[1].mistakes, *show(versions[0].rows, versions[1].rows)]


class Turn:
    """What a version does when it is its turn."""

    def __init__(self, what: Workload | Subject, facts: Path, mode: str = "") -> None:
        self._what, self._facts, self._mode = what, facts, mode

    def __call__(self, version: Version) -> None:
        if isinstance(self._what, Workload):
            version.evaluate(self._what, self._facts, self._mode)
        else:
            version.update(self._what, self._facts)


def _turns(suite: str | None, settings: Settings) -> Iterator[Turn]:
    for name in suite.split(",") if suite else (None,):
        for workload in chosen(name):
            facts = prepare(workload.name, settings.data, settings.work)
            yield from (Turn(workload, facts, mode) for mode in ("batch", "tracked"))
        for subject in subjects(name):
            yield Turn(subject, prepare(subject.workload, settings.data, settings.work))


def show(before: Mapping[Key, Row], now: Mapping[Key, Row]) -> list[str]:
    """Print the table, and return the goals that were missed."""
    lines: list[tuple[str, ...]] = []
    ratios: list[float] = []
    missed: list[str] = []
    for key in before.keys() & now.keys():
        was, is_now = (statistics.median(rows[key].cpu) for rows in (before, now))
        found = is_now / was
        ratios.append(found)
        works = [" or ".join(sorted(rows[key].work)) for rows in (before, now)]
        lines.append((" ".join(key), seconds(was), seconds(is_now), f"{found:.2f}", *_differing(works)))
        if found > WORST and is_now > LEAST:
            missed.append(f"{' '.join(key)} takes {found:.2f} times what it took (goal {WORST})")
    print(table(HEADING, sorted(lines)))
    mean = statistics.geometric_mean(ratios) if ratios else 1.0
    print(f"geometric mean of {len(ratios)} rows: {mean:.3f} (goal {MEAN})")
    return [*missed, *([f"the geometric mean is {ratio(mean)} (goal {MEAN})"] if mean > MEAN else [])]


def _differing(works: Sequence[str]) -> Sequence[str]:
    return (works[0], "same" if works[0] == works[1] else works[1])

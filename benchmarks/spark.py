"""Spark: Tidelog's engine there against its round loop alone, a textbook loop, Spark's recursive CTE, and in process.

Every cell is a process of its own with a time limit, so that the table ends. The ratio is the textbook loop's time over
a lane's: so many times is the lane faster. Where the textbook was stopped, it is at least that.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.batch import Settings
from benchmarks.inputs import prepare
from benchmarks.measure import measure
from benchmarks.tables import count, ratio, seconds, table
from benchmarks.workloads import WORKLOADS, Workload

LANES = ("columnar", "spark", "executors", "loop", "textbook", "cte")
RACE = (
    *("tc-left-OL", "tc-left-TG", "tc-left-SF", "tc-nonlinear-TG"),
    *("sg-OL", "cc-Brightkite", "lubm-10"),
    *("tc-left-random-500-5000", "tc-left-random-1000-10000", "tc-left-random-3200-32000"),
    "tc-left-random-10000-30000",
)
HEADING = ("lane", "cold", "best", "ratio", "rounds", "a round", "how")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a lane did on a workload."""

    lane: str
    status: str
    wall: float
    told: Mapping[str, Any] = field(default_factory=dict)

    @property
    def evaluate(self) -> float | None:
        """The seconds it took; those until it was stopped, if it was."""
        found: float | None = self.told.get("evaluate")
        return found if found is not None or self.status == "failed" else self.wall


def run_spark(names: Sequence[str], settings: Settings) -> list[str]:
    """Run every lane on every workload; print a table each; return what is wrong."""
    mistakes: list[str] = []
    done: dict[str, list[Cell]] = {}
    for name in names:
        workload = WORKLOADS[name]
        facts = prepare(name, settings.data, settings.work)
        cells = [_run(lane, workload, facts, settings) for lane in LANES if _can(lane, workload)]
        done[name] = cells
        print(_show(name, cells), flush=True)
        mistakes += _check(workload, cells)
        if settings.json is not None:
            found = {key: [[c.lane, c.status, c.wall, dict(c.told)] for c in line] for key, line in done.items()}
            settings.json.write_text(json.dumps(found, indent=1))
    return mistakes


def _can(lane: str, workload: Workload) -> bool:
    return lane != "cte" or workload.program.startswith("tc")


def _run(lane: str, workload: Workload, facts: Path, settings: Settings) -> Cell:
    program = workload.text(".dl")
    assert program is not None
    arguments = [str(program), str(facts)]
    if lane == "columnar":
        command = ["benchmarks.race_tidelog", *arguments, str(settings.threads), "batch", "2"]
    else:
        command = ["benchmarks.race_spark", lane, *arguments, "2"]
    root = Path(__file__).parents[1]
    path = {"PYTHONPATH": f"{root}:{root / 'src'}"}
    run = measure([sys.executable, "-m", *command], settings.bounds, path)
    if run.status != "ok":
        return Cell(lane, run.status, run.wall, {"errors": run.errors[-1500:]})
    return Cell(lane, "ok", run.wall, json.loads(run.output.splitlines()[-1]))


def _show(name: str, cells: Sequence[Cell]) -> str:
    book = next((cell for cell in cells if cell.lane == "textbook"), None)
    rows = []
    for cell in cells:
        ended, rounds = cell.status == "ok", cell.told.get("rounds")
        theirs = book.evaluate if book else None
        over = theirs / cell.evaluate if ended and theirs and cell.evaluate else None
        rows.append(
            (
                cell.lane,
                seconds(cell.told.get("cold")) if ended else cell.status,
                ("" if ended else "over ") + seconds(cell.evaluate),
                ("over " if book and book.status != "ok" and over else "") + ratio(over),
                count(rounds),
                seconds(cell.evaluate / rounds) if rounds and cell.evaluate else "-",
                ", ".join(cell.told.get("strategies", ())),
            )
        )
    sizes: Mapping[str, int] = next((cell.told["sizes"] for cell in cells if cell.status == "ok"), {})
    heading = ", ".join(f"{relation} {count(size)}" for relation, size in sizes.items())
    return f"\n== {name}: {heading}\n{table(HEADING, rows)}"


def _check(workload: Workload, cells: Sequence[Cell]) -> list[str]:
    """Return failures, and sizes that differ from the known ones or between the lanes."""
    mistakes = [f"{workload.name}: {c.lane} failed\n{c.told['errors']}" for c in cells if c.status == "failed"]
    for relation, known in workload.sizes.items():
        told = {c.lane: c.told["sizes"].get(relation) for c in cells if c.status == "ok"}
        found = {lane: size for lane, size in told.items() if size is not None}
        right = known if known is not None else next(iter(found.values()), None)
        mistakes += [
            f"{workload.name}: {lane} has {size} tuples of {relation}, not {right}"
            for lane, size in found.items()
            if size != right
        ]
    return mistakes

"""Spark: Tidelog's engine there against its round loop alone, a textbook loop, Spark's recursive CTE, and in process.

A lane is a process that takes one workload after the other (`race_spark`). It starts Spark and evaluates a tiny program
before the first, so that starting, compiling kernels and most of Java's own compiling are told apart; `first` is the
first evaluation of a workload, `warm` the best of those after it. Every workload of every lane has a time limit: what
overruns it is shown as `> N s`, and its process is replaced. Results are written after each, so that a run that is
interrupted keeps them.

`jobs`, `records` (that tasks read, from storage and by shuffles) and `spilled` (bytes, to disk) are those of the first
evaluation, as Spark counts them: a parcel of tuples is one record.

A ratio is the textbook loop's time over a lane's, first to first and warm to warm: so many times is the lane faster.
Where the textbook was stopped, it is at least that. At the end stand the goals, the cost of a round that finds next to
nothing, and how time grows with data.
"""

from __future__ import annotations

import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.batch import Settings
from benchmarks.inputs import prepare
from benchmarks.measure import CHECKOUT
from benchmarks.tables import count, ratio, seconds, table
from benchmarks.workloads import WORKLOADS, Workload

LANES: Mapping[str, float] = {
    "columnar": 60.0,
    "spark": 60.0,
    "executors": 60.0,
    "loop": 90.0,
    "textbook": 90.0,
    "cte": 90.0,
}
"""Who runs, and the seconds a workload may take, the repeats after its first evaluation included."""
START = 300.0
"""The seconds that a lane may take to start."""
RACE = (
    *("tc-left-OL", "tc-left-TG", "tc-left-SF", "tc-nonlinear-TG"),
    *(
        "sg-OL",
        "cc-Brightkite",
        "same-Brightkite",
        "same-random-800000",
        "lubm-1",
        "lubm-5",
        "lubm-10",
        "tc-left-chain-100",
    ),
    *("tc-left-random-500-5000", "tc-left-random-1000-10000", "tc-left-random-3200-32000"),
    "tc-left-random-10000-30000",
)
FEW_PATHS = ("tc-left-OL", "tc-left-chain-100")
"""Where the recursive CTE can end: it knows bags only, and the other graphs have cycles, or 10^13 paths and more."""
ROUNDS = "tc-left-chain-100"
"""A round of it finds a hundred tuples at most: its time over its rounds is what a round costs whatever it finds."""
GROWTH = (
    ("tc-left-random-500-5000", "tc-left-random-1000-10000", "tc-left-random-3200-32000"),
    ("lubm-1", "lubm-5", "lubm-10"),
)
GOALS = {"by key": 20.0, "exchanging": 5.0, "one partition": 5.0, "loop": 5.0}
"""So many times faster than the textbook: the executors where a stratum decomposes or others do, and the round loop."""
MOST_A_ROUND = 0.3
HEADING = ("lane", "first", "ratio", "warm", "ratio", "rounds", "a round", "jobs", "records", "spilled", "how")


@dataclass(frozen=True, slots=True)
class Cell:
    """What a lane did on a workload: `ok`, `failed`, or `timeout`, after so many seconds."""

    lane: str
    status: str
    limit: float
    told: Mapping[str, Any] = field(default_factory=dict)

    def time(self, which: str) -> float | None:
        """The seconds that the `first` or the best `warm` evaluation took; None if there was none."""
        found: float | None = self.told.get(which)
        return found

    @property
    def best(self) -> float | None:
        """The seconds of the best evaluation there was."""
        return self.time("warm") or self.time("first")


class Lane:
    """A process that evaluates workloads in one way."""

    def __init__(self, name: str, limit: float) -> None:
        self.name = name
        self.limit = limit
        self.start: float | None = None
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()

    def run(self, workload: Workload, facts: Path) -> Cell:
        """Evaluate a workload; the process is started if there is none, and ended if it takes too long."""
        process = self._process
        if process is None:
            process = self._process = self._started()
            ready = self._next(START)
            if ready is None:
                return self._ended("did not start")
            self.start = ready["start"]
        assert process.stdin is not None
        process.stdin.write(json.dumps([str(workload.text(".dl")), str(facts), self.limit]) + "\n")
        process.stdin.flush()
        told: dict[str, Any] = {}
        end = time.monotonic() + self.limit
        while "done" not in told:
            line = self._next(end - time.monotonic())
            if line is None:
                if told:  # its first evaluation is known, the repeats took too long
                    self.close()
                    break
                return self._ended("")
            told |= line
        return Cell(self.name, "failed" if "errors" in told else "ok", self.limit, told)

    def close(self) -> None:
        """End the process and all that it started."""
        if self._process is not None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def _ended(self, otherwise: str) -> Cell:
        process = self._process
        assert process is not None
        status = "timeout" if process.poll() is None else "failed"
        self.close()
        told = {"errors": otherwise or "the process ended"} if status == "failed" or otherwise else {}
        return Cell(self.name, "failed" if told else status, self.limit, told)

    def _started(self) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.race_spark", self.name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **CHECKOUT},
            start_new_session=True,
        )
        lines: queue.Queue[str | None] = queue.Queue()
        self._lines = lines

        def read() -> None:
            assert process.stdout is not None
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=read, daemon=True).start()
        return process

    def _next(self, patience: float) -> dict[str, Any] | None:
        """Return the next thing the process says; None if it takes too long or has ended."""
        end = time.monotonic() + patience
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, end - time.monotonic()))
            except queue.Empty:
                return None
            if line is None:
                assert self._process is not None
                self._process.wait()
                return None
            if line.startswith("{"):
                told: dict[str, Any] = json.loads(line)
                return told


def run_spark(names: Sequence[str], settings: Settings, lanes: Sequence[str] = tuple(LANES)) -> list[str]:
    """Run lanes on workloads; print a table each and the goals at the end; return what is wrong."""
    mistakes: list[str] = []
    done: dict[str, list[Cell]] = {}
    runners = [Lane(name, min(LANES[name], settings.bounds.seconds)) for name in lanes]
    written = settings.json or settings.work / "spark.json"
    written.parent.mkdir(parents=True, exist_ok=True)
    try:
        for name in names:
            workload = WORKLOADS[name]
            facts = prepare(name, settings.data, settings.work)
            cells = done[name] = []
            for lane in runners:
                if lane.name != "cte" or name in FEW_PATHS:
                    cells.append(lane.run(workload, facts))
                    _write(written, done, runners)
            print(_show(name, cells), flush=True)
            mistakes += _check(workload, cells)
    finally:
        for lane in runners:
            lane.close()
    starts = ", ".join(f"{lane.name} {seconds(lane.start)}" for lane in runners)
    print(f"\nstarting, with a tiny program: {starts}\n{_goals(done)}\n{_growth(done)}\n\nresults are in {written}")
    return mistakes


def _write(path: Path, done: Mapping[str, Sequence[Cell]], lanes: Sequence[Lane]) -> None:
    cells = {
        name: [{"lane": cell.lane, "status": cell.status, "limit": cell.limit, **cell.told} for cell in line]
        for name, line in done.items()
    }
    unfinished = path.with_name(path.name + ".unfinished")
    unfinished.write_text(json.dumps({"start": {lane.name: lane.start for lane in lanes}, "cells": cells}, indent=1))
    unfinished.replace(path)


def _lane(cells: Sequence[Cell], name: str) -> Cell | None:
    return next((cell for cell in cells if cell.lane == name), None)


def _over(book: Cell | None, cell: Cell, which: str) -> tuple[str, float | None]:
    """Return how many times a lane is faster than the textbook, and `>` before it if it is at least that."""
    mine = cell.time(which)
    if book is None or book.status == "failed" or mine is None:
        return "", None
    theirs = book.time(which)
    if theirs is not None:
        return "", theirs / mine
    return ("", None) if book.status == "ok" else ("> ", book.limit / mine)


def _show(name: str, cells: Sequence[Cell]) -> str:
    book = _lane(cells, "textbook")
    rows = []
    for cell in cells:
        rounds, best = cell.told.get("rounds"), cell.best
        first, warm = (sign + ratio(times) for sign, times in (_over(book, cell, which) for which in ("first", "warm")))
        stopped = f"> {seconds(cell.limit)}" if cell.status == "timeout" else cell.status
        rows.append(
            (
                cell.lane,
                seconds(cell.time("first")) if cell.status == "ok" else stopped,
                first,
                seconds(cell.time("warm")),
                warm,
                count(rounds),
                seconds(best / rounds) if rounds and best else "-",
                *(count(cell.told.get(name)) for name in ("jobs", "records", "spilled")),
                ", ".join(cell.told.get("strategies", ())),
            )
        )
    sizes: Mapping[str, int] = next((cell.told["sizes"] for cell in cells if cell.status == "ok"), {})
    heading = ", ".join(f"{relation} {count(size)}" for relation, size in sizes.items())
    return f"\n== {name}: {heading}\n{table(HEADING, rows)}"


def _goals(done: Mapping[str, Sequence[Cell]]) -> str:
    """Return the ratios that were aimed at, and those reached; and the cost of a round."""
    rows = []
    for name, cells in done.items():
        book = _lane(cells, "textbook")
        for lane in ("executors", "loop"):
            cell = _lane(cells, lane)
            strategies = (lane, *(cell.told.get("strategies", ()) if cell is not None else ()))
            goal = next((goal for how, goal in GOALS.items() if how in strategies), None)
            if cell is None or goal is None:
                continue
            which = "warm" if cell.time("warm") is not None else "first"
            sign, times = _over(book, cell, which)
            if times is None:
                sign, times = _over(book, cell, which := "first")
            if times is not None:
                met = "met" if times >= goal else "open" if sign else "missed"
                rows.append((name, lane, which, sign + ratio(times), f"{goal:g}x", met))
    chain = _lane(done.get(ROUNDS, ()), "loop")
    if chain is not None and chain.best is not None:
        round_cost = chain.best / chain.told["rounds"]
        met = "met" if round_cost <= MOST_A_ROUND else "missed"
        rows.append((ROUNDS, "loop", "a round", seconds(round_cost), seconds(MOST_A_ROUND), met))
    return "\n" + table(("workload", "lane", "what", "found", "goal", ""), rows)


def _growth(done: Mapping[str, Sequence[Cell]]) -> str:
    """Return how the time of lanes grows over three sizes: as this power of the number of tuples."""
    rows = []
    for names in GROWTH:
        if not all(name in done for name in names):
            continue
        for lane in LANES:
            cells = [_lane(done[name], lane) for name in names]
            found = [(cell.best, sum(cell.told["sizes"].values())) for cell in cells if cell is not None and cell.best]
            if len(found) > 1 and found[0][0] and found[-1][0]:
                times, sizes = math.log(found[-1][0] / found[0][0]), math.log(found[-1][1] / found[0][1])
                steps = ", ".join(f"{count(size)} in {seconds(best)}" for best, size in found)
                rows.append((names[-1], lane, steps, f"size^{times / sizes:.2f}"))
    return "\n" + table(("growth up to", "lane", "tuples and best time", "power"), rows)


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

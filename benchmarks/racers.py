"""The racers: how each is started on a workload, and how its times are read.

Load and evaluation are told apart by each racer itself. Soufflé does so in its profile (`-p`): evaluation is the
program's run time without the load times of its relations; its processor time is that of the whole process in the same
proportion (of the time that the program tells, not of the wall: waiting for a busy machine is neither). Compiling a
Soufflé program is not counted; the binary is kept under the program's digest.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.measure import CHECKOUT, Bounds, Run, measure
from benchmarks.workloads import Workload

COMPILING = Bounds(seconds=600.0)
REPEATS = 15
ENOUGH = 2.0
"""A racer that took fewer seconds of processor time runs again, up to REPEATS times, and its best counts."""


@dataclass(frozen=True, slots=True)
class Racer:
    """Who runs: `tidelog`, `souffle`, `duckdb` or `clingo`; how; and on how many threads."""

    name: str
    mode: str
    threads: int

    def __str__(self) -> str:
        return f"{self.name} {self.mode} -j{self.threads}" if self.mode else f"{self.name} -j{self.threads}"


@dataclass(frozen=True, slots=True)
class Result:
    """What a racer did on a workload; `status` is `ok`, `timeout`, `memory`, `failed` or `not expressible`."""

    workload: str
    racer: Racer
    status: str
    load: float | None = None
    evaluate: float | None = None
    cpu: float | None = None
    memory: int | None = None
    wall: float | None = None
    sizes: Mapping[str, int] = field(default_factory=dict)
    more: Mapping[str, Any] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        return asdict(self)


def racers(threads: int, peers: tuple[str, ...]) -> list[Racer]:
    """Return who runs on one thread, and on `threads`."""
    counts = sorted({1, threads})
    found = [Racer("tidelog", "batch", n) for n in counts] + [Racer("tidelog", "tracked", threads)]
    if "souffle" in peers and shutil.which("souffle"):
        found += [Racer("souffle", mode, n) for mode in ("compiled", "interpreted") for n in counts]
    if "duckdb" in peers and find_spec("duckdb"):
        found.append(Racer("duckdb", "", threads))
    if "clingo" in peers and find_spec("clingo"):
        found.append(Racer("clingo", "", 1))
    return found


def race(racer: Racer, workload: Workload, facts: Path, work: Path, bounds: Bounds) -> Result:
    """Let a racer run on a workload's facts."""
    match racer.name:
        case "tidelog":
            program = workload.text(".dl")
            arguments = [str(facts), str(racer.threads), racer.mode, str(REPEATS)]
        case "duckdb":
            program, arguments = workload.text(".sql"), [str(facts), str(racer.threads)]
        case "clingo":
            program, arguments = workload.text(".lp"), [str(facts), *workload.sizes]
        case _:
            return _race_souffle(racer, workload, facts, work, bounds)
    if program is None:
        return Result(workload.name, racer, "not expressible")
    command = [sys.executable, "-m", f"benchmarks.race_{racer.name}", str(program), *arguments]
    run = measure(command, bounds, CHECKOUT)
    if run.status != "ok":
        return _stopped(workload, racer, run)
    told = json.loads(run.output.splitlines()[-1])
    more = {key: told[key] for key in ("cold", "plan", "strata", "rounds", "derivations") if key in told}
    sizes = {name: told["sizes"][name] for name in workload.sizes}
    return Result(
        workload.name, racer, "ok", told["load"], told["evaluate"], told["cpu"], run.memory, run.wall, sizes, more
    )


def _race_souffle(racer: Racer, workload: Workload, facts: Path, work: Path, bounds: Bounds) -> Result:
    program = workload.text(".souffle.dl")
    if program is None:
        return Result(workload.name, racer, "not expressible")
    profile = work / "souffle" / "profile.json"
    profile.parent.mkdir(parents=True, exist_ok=True)
    options = ["-F", str(facts), "-j", str(racer.threads), "-p", str(profile)]
    if racer.mode == "compiled":
        binary = compiled(program, racer.threads, work)
        if binary is None:
            return Result(workload.name, racer, "failed", more={"errors": "the program was not compiled"})
        command = [str(binary), *options]
    else:
        command = ["souffle", "-w", *options, str(program)]
    results: list[Result] = []
    while len(results) < REPEATS and sum(r.cpu or 0.0 for r in results) < ENOUGH:
        run = measure(command, bounds)
        if run.status != "ok":
            return _stopped(workload, racer, run)
        results.append(_souffle_result(racer, workload, run, json.loads(profile.read_text())))
    best = min(results, key=lambda result: result.evaluate or 0.0)
    return replace(best, cpu=min(result.cpu or 0.0 for result in results))


def compiled(program: Path, threads: int, work: Path) -> Path | None:
    """Return the binary of a Soufflé program, compiled now if there is none.

    Soufflé makes loops parallel when it compiles for more than one thread, and only then.
    """
    digest = hashlib.sha256(program.read_bytes()).hexdigest()[:12]
    binary = work / "souffle" / f"{program.name.split('.')[0]}-{digest}-j{threads}"
    if not binary.exists():
        binary.parent.mkdir(parents=True, exist_ok=True)
        profile = str(binary.with_suffix(".profile"))
        run = measure(["souffle", "-w", "-j", str(threads), "-p", profile, "-o", str(binary), str(program)], COMPILING)
        if run.status != "ok":
            print(run.errors, file=sys.stderr)
            return None
    return binary


def _souffle_result(racer: Racer, workload: Workload, run: Run, profile: Mapping[str, Any]) -> Result:
    program = profile["root"]["program"]
    total = _span(program["runtime"])
    load = sum(_span(relation["loadtime"]) for relation in program["relation"].values() if "loadtime" in relation)
    sizes = {line.split("\t")[0]: int(line.split("\t")[1]) for line in run.output.splitlines() if "\t" in line}
    cpu = run.cpu * (total - load) / total
    return Result(workload.name, racer, "ok", load, total - load, cpu, run.memory, run.wall, sizes)


def _span(times: Mapping[str, int]) -> float:
    return (times["end"] - times["start"]) / 1e6


def _stopped(workload: Workload, racer: Racer, run: Run) -> Result:
    more = {"errors": run.errors[-2000:]} if run.status == "failed" else {}
    return Result(workload.name, racer, run.status, memory=run.memory, wall=run.wall, cpu=run.cpu, more=more)

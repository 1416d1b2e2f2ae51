"""Tidelog's lane: evaluates a program on a folder of facts, and says as JSON how long each part took.

    python -m benchmarks.race_tidelog PROGRAM FOLDER THREADS tracked|batch REPEATS

Loading is reading the files into columns; encoding and evaluating are the engine's update, told together. `cold` is the
first evaluation, with whatever kernels had to be loaded; `evaluate` the best of all.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from tidelog.base.diagnostic import Report, render
from tidelog.base.plain.plain import Plain
from tidelog.base.span import Source
from tidelog.logic.passes import analyse
from tidelog.plan.nodes import Plan
from tidelog.plan.passes import plan_program
from tidelog.run.columnar.engine import ColumnarEngine
from tidelog.run.contract.engine import Delta, Rows
from tidelog.session.formats.files import read_facts

ENOUGH = 4.0
"""Seconds of processor time after which it is not repeated."""


def planned(path: Path) -> Plan:
    """Return the plan of a program's file."""
    report = Report()
    program = analyse(Source(path.name, path.read_text()), report)
    plan = plan_program(program, report) if program is not None else None
    if plan is None:
        raise SystemExit("\n\n".join(render(d) for d in report.errors))
    return plan


def evaluate(plan: Plan, facts: dict[str, Rows], threads: int, tracked: bool) -> dict[str, Any]:
    """Evaluate once from scratch."""
    engine = ColumnarEngine(plan, strategy="auto" if tracked else "recompute", threads=threads)
    wall, cpu = time.perf_counter(), time.process_time()
    update = engine.update({name: Delta(rows, ()) for name, rows in facts.items()})
    return {
        "evaluate": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "strata": sum(work.seconds for work in update.work),
        "rounds": sum(work.rounds for work in update.work),
        "derivations": sum(work.derivations for work in update.work),
        "sizes": {name: engine.count(name) for name, found in plan.relations.items() if found.role == "output"},
    }


def main() -> None:
    program, folder, threads, kind, repeats = sys.argv[1:]
    wall = time.perf_counter()
    plan = planned(Path(program))
    planning = time.perf_counter() - wall
    wall = time.perf_counter()
    facts = dict(read_facts(Path(folder), plan.relations, Plain(plan.types)).rows)
    load = time.perf_counter() - wall
    runs: list[dict[str, Any]] = []
    while len(runs) < int(repeats) and sum(run["cpu"] for run in runs) < ENOUGH:
        runs.append(evaluate(plan, facts, int(threads), kind == "tracked"))
    best = min(runs, key=lambda run: float(run["evaluate"]))
    best["cpu"] = min(run["cpu"] for run in runs)
    print(json.dumps({**best, "load": load, "plan": planning, "cold": runs[0]["evaluate"]}))


if __name__ == "__main__":
    main()

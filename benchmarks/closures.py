"""Closures beside compiled Soufflé, and beside starting over: the figures of `docs/strategies.md`.

First every closure on every graph, in processor time on one thread, the tuples counted and not written. Soufflé is
stopped once it has taken PATIENCE times what Tidelog took, and LEAST seconds of its own; then its figure is a lower
bound (`>`). With `--long` it may take as long as any racer. Where there is no Soufflé its columns stay empty.

Then edges are taken out and put back, beside evaluating from scratch with nothing kept for later. In the end it is told
which closures by rules are not GOAL times faster than Soufflé (`eqrel` is no rule: there it has union-find, too), and
what it costs beside starting over to take 1,000 edges out of DAG-R.
"""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from typing import Any

from benchmarks.batch import Settings, check_sizes, over
from benchmarks.inputs import prepare
from benchmarks.racers import Racer, Result, race
from benchmarks.tables import count, ratio, seconds, table
from benchmarks.updates import SUBJECTS, measured
from benchmarks.workloads import WORKLOADS, Workload

FORMS = ("tc-right", "tc-nonlinear", "stc", "stc-linear", "stc-eqrel")
GRAPHS = ("OL", "TG", "SF", "random-1000-10000", "random-10000-30000", "DAG-R")
OTHERS = ("sg-OL", "sg-HepTh")
UPDATED = ("OL", "random-1000-10000", "random-10000-30000", "DAG-R")
GOAL = 20.0
PATIENCE = 30.0
LEAST = 3.0
UPDATING = 100.0
"""Seconds that the process of the updates of one graph may take; a fifth of them it repeats updates."""

HEADING = ("closure", "tuples", "tidelog", "tracked", "souffle", "ratio")
UPDATES = ("edges of", "from scratch", "tracked", "change", "edges", "cpu", "of scratch", "strategy")


def run_closures(suite: str | None, settings: Settings, *, long: bool = False) -> list[str]:
    """Measure all, or the workloads whose names start so; print the tables and return what is wrong."""
    mistakes: list[str] = []
    rows: list[tuple[str, ...]] = []
    results: list[Result] = []
    for workload in _workloads(suite):
        found = _race(workload, settings, long=long)
        mistakes += check_sizes(workload, found)
        results += found
        rows.append(_row(workload, found))
        print("  ".join(rows[-1]), flush=True)  # it takes minutes: tell what is known
    heading = "\n== processor time on one thread; `tracked` keeps what updates need, souffle is compiled"
    print(f"{heading}\n{table(HEADING, rows)}", flush=True)
    told = _updates(suite, replace(settings, bounds=replace(settings.bounds, seconds=UPDATING)), mistakes)
    print(f"\n== goals\n{_goals(results, told)}", flush=True)
    if settings.json is not None:
        written = {"race": [result.as_json() for result in results], "updates": told}
        settings.json.write_text(json.dumps(written, indent=1))
    return mistakes


def _workloads(suite: str | None) -> list[Workload]:
    if suite is not None:
        return [workload for workload in WORKLOADS.values() if workload.name.startswith(suite)]
    names = [*(f"{form}-{graph}" for form in FORMS for graph in GRAPHS), *OTHERS]
    return [WORKLOADS[name] for name in names]


def _race(workload: Workload, settings: Settings, *, long: bool) -> list[Result]:
    facts = prepare(workload.name, settings.data, settings.work)
    racers = [Racer("tidelog", "batch", 1)]
    if workload.suite != "sg":  # which has no structure that follows changes
        racers.append(Racer("tidelog", "tracked", 1))
    ours = [race(racer, workload, facts, settings.work, settings.bounds) for racer in racers]
    if "souffle" not in settings.peers or shutil.which("souffle") is None:
        return ours
    most = math.inf if long else max(LEAST, PATIENCE * (ours[0].cpu or 0.0))
    bounds = replace(settings.bounds, processor=most)
    return [*ours, race(Racer("souffle", "compiled", 1), workload, facts, settings.work, bounds)]


def _row(workload: Workload, found: list[Result]) -> tuple[str, ...]:
    told = {result.racer.mode: result for result in found}
    batch, tracked, theirs = (told.get(mode) for mode in ("batch", "tracked", "compiled"))
    assert batch is not None
    size = next(iter(batch.sizes.values()), None)
    ours = (workload.name, count(size), seconds(batch.cpu), seconds(tracked.cpu if tracked else None))
    if theirs is None:
        return *ours, "-", "-"
    least = "" if theirs.status == "ok" else ">"
    return *ours, least + seconds(theirs.cpu), least + ratio(over(theirs.cpu, batch.cpu))


def _goals(results: list[Result], updates: list[dict[str, Any]]) -> str:
    """Say which closures are not as much faster than Soufflé as they should be, and what deletions cost."""
    ours = {result.workload: result.cpu for result in results if result.racer.mode == "batch"}
    theirs = [r for r in results if r.racer.name == "souffle"]
    closures = [r for r in theirs if not r.workload.startswith(("stc-eqrel", *OTHERS))]
    ratios = {r.workload: over(r.cpu, ours[r.workload]) or 0.0 for r in closures}
    below = [f"{name} {ratio(times)}" for name, times in ratios.items() if times < GOAL]
    told = [f"{len(ratios)} closures, not {GOAL:g} times faster than Soufflé: {', '.join(below) or 'none'}"]
    told += [
        f"1,000 edges deleted from {found['workload']}: {line['cpu'] / found['batch_cpu']:.2f} of starting over"
        for found in updates
        for line in found["lines"]
        if (line["what"], line["facts"]) == ("delete", 1_000)
    ]
    return "\n".join(told)


def _updates(suite: str | None, settings: Settings, mistakes: list[str]) -> list[dict[str, Any]]:
    """Take edges out and put them back, and print what that costs."""
    rows: list[tuple[str, ...]] = []
    found: list[dict[str, Any]] = []
    subject = next(subject for subject in SUBJECTS if subject.workload == "tc-right-OL")
    for name in (f"tc-right-{graph}" for graph in UPDATED) if suite is None else (w.name for w in _workloads(suite)):
        told = measured(("updates", "auto"), replace(subject, workload=name, rule=""), settings)
        if "errors" in told:
            mistakes.append(f"{name} under updates: {told['errors']}")
            continue
        found.append({"workload": name, **told})
        whole = told["batch_cpu"]
        for line in told["lines"]:
            cost = seconds(line["cpu"]), f"{line['cpu'] / whole:.2f}"
            about = name, seconds(whole), seconds(told["tracked_cpu"])
            rows.append((*about, line["what"], count(line["facts"]), *cost, line["strategy"]))
    print(f"\n== updates, processor time of whole transactions\n{table(UPDATES, rows)}", flush=True)
    return found

"""Updates of a materialised database beside recomputing it, in the same process.

For each workload: evaluate in batch mode (nothing kept for later), materialise with ranks and counts, then take facts
of the input out and put them back, 1, 10, 100, 1,000 and 1% of them at a time, and add and remove one rule. Each is
done at least three times with other facts, and once before on another database, so that kernels are loaded; the
median counts. The cost is the time of the whole transaction over that of recomputing: a transaction with the same facts
in a database of the strategy `recompute`, which evaluates from scratch, keeps nothing, and finds the exact change. The
batch evaluation in the heading answers no change. The work is in derivations; the strategy is what ran, under the one
asked for. Memory is the peak of a process that only materialises, with and without what updates need. In the end every
goal (`goals`) is held against what was measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.batch import Settings
from benchmarks.goals import show_goals
from benchmarks.inputs import prepare
from benchmarks.measure import CHECKOUT, measure
from benchmarks.tables import count, megabytes, ratio, seconds, table
from benchmarks.workloads import WORKLOADS, Workload


@dataclass(frozen=True, slots=True)
class Subject:
    """A workload whose input changes: the relation that does, and a rule that comes and goes."""

    workload: str
    relation: str
    rule: str
    quick: bool = False
    long: bool = False


SECONDS = 60.0
"""So long updates of a subject are repeated, at most a fifth of what its process may take."""
SUBJECTS = (
    Subject("tc-right-random-1000-10000", "Edge", "Path(x, x) :- Edge(x, _)."),
    Subject("tc-right-OL", "Edge", "Path(x, x) :- Edge(x, _).", quick=True),
    Subject("tc-right-DAG-R", "Edge", "Path(x, x) :- Edge(x, _).", long=True),
    Subject("lubm-1", "Triple", "T(x, 4, x) :- T(_, 4, x).", quick=True),
    Subject("galen", "P0", "P(x, x) :- U(x, _, _)."),
    Subject("crdt", "Insert", "Counters(c, c) :- Remove(c, _)."),
    Subject("andersen", "Assign", "PointsTo(x, x) :- Load(x, _)."),
    Subject("tiny-tc", "Edge", "Path(x, x) :- Edge(x, _)."),
    Subject("tiny-andersen", "Assign", "PointsTo(x, x) :- Load(x, _)."),
)
KINDS = ("batch", "tracked", "updates")
HEADING = ("update", "facts", "time", "recomputed", "part", "cpu", "part", "worst", "work", "changes", "strategy")


def run_updates(suite: str | None, settings: Settings, strategy: str, *, quick: bool = False) -> list[str]:
    """Measure every subject, print a table each, and return what is wrong."""
    mistakes: list[str] = []
    results: list[dict[str, Any]] = []
    for subject in subjects(suite, quick=quick):
        workload = WORKLOADS[subject.workload]
        told = {kind: measured((kind, strategy), subject, settings) for kind in KINDS}
        wrong = [f"{workload.name} {kind}: {found['errors']}" for kind, found in told.items() if "errors" in found]
        if not wrong:
            print(show(workload, strategy, told), flush=True)
            sizes = told["updates"].get("sizes", {})  # none if it was stopped
            wrong = [
                f"{workload.name}: {size} tuples of {name} after all updates were undone, not {known}"
                for name, size in sizes.items()
                if size != (known := workload.sizes[name] or told["batch"]["sizes"][name])
            ]
        mistakes += wrong
        results.append({"workload": workload.name, "strategy": strategy, **told})
        if settings.json is not None:
            settings.json.write_text(json.dumps(results, indent=1))
    print(show_goals(results), flush=True)
    return mistakes


def subjects(suite: str | None, *, quick: bool = False) -> list[Subject]:
    """Return the subjects of a suite, or whose workload's name starts so; without one all but tiny and long ones."""

    def fits(subject: Subject) -> bool:
        workload = WORKLOADS[subject.workload]
        if suite is None:
            return workload.suite != "tiny" and not subject.long and (subject.quick or not quick)
        return suite in (workload.suite, workload.name) or (suite not in WORKLOADS and workload.name.startswith(suite))

    return [subject for subject in SUBJECTS if fits(subject)]


def measured(task: tuple[str, str], subject: Subject, settings: Settings) -> dict[str, Any]:
    """Run one kind of child under a strategy on a subject; return what it tells, or its `errors`."""
    workload = WORKLOADS[subject.workload]
    facts = prepare(workload.name, settings.data, settings.work)
    program = workload.text(".dl")
    time = str(min(SECONDS, settings.bounds.seconds / 5))
    arguments = [*task, str(program), str(facts), subject.relation, subject.rule, time, *workload.sizes]
    run = measure(
        [sys.executable, "-m", "benchmarks.update", *arguments],
        settings.bounds,
        CHECKOUT,
    )
    partial = run.status == "timeout" and run.output.endswith("}\n")
    if run.status != "ok" and not partial:
        return {"errors": f"{run.status} after {seconds(run.wall)}\n{run.errors[-2000:]}"}
    return {**json.loads(run.output.splitlines()[-1]), "memory": run.memory}


def show(workload: Workload, strategy: str, told: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table of one workload."""
    base = told["updates"]
    batch, tracked = (told[kind]["memory"] for kind in ("batch", "tracked"))
    heading = (
        f"\n== updates of {workload.name}, {strategy}: batch {seconds(base['batch'])}, "
        f"materialised {seconds(base['tracked'])} "
        f"(cpu {seconds(base['batch_cpu'])}, {seconds(base['tracked_cpu'])}); memory {megabytes(batch)}, "
        f"{megabytes(tracked)} ({ratio(tracked / batch)})"
    )
    rows = [
        (
            line["what"],
            count(line["facts"]),
            seconds(line["time"]),
            seconds(line["recomputed"]),
            _part(line["time"], line["recomputed"]),
            seconds(line["cpu"]),
            _part(line["cpu"], line["recomputed_cpu"]),
            _part(line["worst_cpu"], line["recomputed_cpu"]),
            count(line["derivations"]),
            count(line["changes"]),
            line["strategy"],
        )
        for line in base["lines"]
    ]
    return f"{heading}\n{table(HEADING, rows)}"


def _part(time: float, whole: float) -> str:
    return f"1/{whole / time:.0f}" if time < 0.7 * whole else ratio(time / whole)

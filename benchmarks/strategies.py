"""Strategies, evaluators and indexes against each other: the same programs and facts, everything else shared.

For each workload and setting: processor time of the evaluation from scratch, then of taking 1, 10 and 100 random facts
out and putting them back (medians), and the peak memory of the process. Every setting must find the same tuples, before
and after. Processor time, because one setting runs on one thread and the machine may be shared.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from benchmarks.batch import Settings
from benchmarks.inputs import prepare
from benchmarks.measure import CHECKOUT, measure
from benchmarks.strategy import SIZES
from benchmarks.tables import megabytes, seconds, table
from benchmarks.updates import Subject, subjects
from benchmarks.workloads import WORKLOADS, Workload

HEADING = ("setting", "scratch", *(f"{sign}{size}" for size in SIZES for sign in "-+"), "memory")
STRATEGIES = ("auto", "recompute", "ranked", "dred", "elastic", "modular", "dbsp")
SUBJECTS = ("tc-right-OL", "lubm-1")

Options = dict[str, Any]


def all_settings() -> Iterator[Options]:
    """The strategies on the columnar engine, then the ways to evaluate on the engine `tuples`."""
    yield from ({"engine": "columnar", "strategy": strategy} for strategy in STRATEGIES)
    for strategy in ("ranked", "dred"):
        for evaluator in ("algebra", "substitution"):
            yield {"engine": "tuples", "strategy": strategy, "evaluator": evaluator, "index": "hash"}
    for index in ("sorted", "spine"):
        yield {"engine": "tuples", "strategy": "ranked", "evaluator": "algebra", "index": index}
    yield {"engine": "tuples", "strategy": "ranked", "evaluator": "algebra", "index": "hash", "parallel": 2}


def run_strategies(suite: str | None, settings: Settings) -> list[str]:
    """Measure every subject under every setting, print a table each, and return what is wrong."""
    mistakes: list[str] = []
    results: list[dict[str, Any]] = []
    chosen = [subject for subject in subjects(suite) if suite is not None or subject.workload in SUBJECTS]
    for subject in chosen:
        workload = WORKLOADS[subject.workload]
        print(f"\n== {workload.name}: processor time, from scratch and of -n and +n facts", flush=True)
        rows: list[tuple[str, ...]] = []
        expected = {name: size for name, size in workload.sizes.items() if size is not None}
        for options in all_settings():
            told = _child(options, subject, workload, settings)
            if "errors" in told:
                mistakes.append(f"{workload.name} {_shown(options)}: {told['errors']}")
                continue
            expected = expected or told["sizes"]
            if told["sizes"] != expected:
                mistakes.append(f"{workload.name} {_shown(options)}: {told['sizes']} tuples, not {expected}")
            rows.append(_row(options, told))
            results.append({"workload": workload.name, "options": options, **told})
            if settings.json is not None:
                settings.json.write_text(json.dumps(results, indent=1))
        print(table(HEADING, rows), flush=True)
    return mistakes


def _child(options: Options, subject: Subject, workload: Workload, settings: Settings) -> dict[str, Any]:
    facts = prepare(workload.name, settings.data, settings.work)
    program = workload.text(".dl")
    half = str(settings.bounds.seconds / 2)
    arguments = [json.dumps(options), str(program), str(facts), subject.relation, half, *workload.sizes]
    run = measure([sys.executable, "-m", "benchmarks.strategy", *arguments], settings.bounds, CHECKOUT)
    partial = run.status == "timeout" and run.output.endswith("}\n")
    if run.status != "ok" and not partial:
        return {"errors": f"{run.status} after {seconds(run.wall)}\n{run.errors[-2000:]}"}
    return {**json.loads(run.output.splitlines()[-1]), "memory": run.memory}


def _shown(options: Options) -> str:
    extra = [f"{value} threads" if name == "parallel" else value for name, value in options.items()]
    return " ".join(map(str, extra))


def _row(options: Options, told: dict[str, Any]) -> tuple[str, ...]:
    cpu = {(line["what"], line["facts"]): line["cpu"] for line in told["lines"]}
    changes = (seconds(cpu.get((what, size))) for size in SIZES for what in ("delete", "insert"))
    return _shown(options), seconds(told["cpu"]), *changes, megabytes(told["memory"])

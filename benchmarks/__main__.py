"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from benchmarks.batch import Settings, run_batch
from benchmarks.bounds import run_bounds
from benchmarks.closures import run_closures
from benchmarks.commits import run_commits
from benchmarks.compare import run_compare
from benchmarks.dyre import run_dyre
from benchmarks.loading import run_loading
from benchmarks.measure import Bounds
from benchmarks.modules.run import run_modules
from benchmarks.papers import run_papers
from benchmarks.queries import run_queries
from benchmarks.reach import run_reach
from benchmarks.spark import LANES, RACE, run_spark
from benchmarks.start import run_start
from benchmarks.strategies import run_strategies
from benchmarks.university.run import run_university
from benchmarks.updates import run_updates
from benchmarks.workloads import WORKLOADS, chosen

WHAT = {
    "batch": {"suite", "data", "work", "threads", "peers", "quick", "long", "timeout", "memory"},
    "updates": {"suite", "data", "work", "strategy", "quick", "timeout", "memory"},
    "strategies": {"suite", "data", "work", "timeout", "memory"},
    "closures": {"suite", "data", "work", "peers", "long", "timeout", "memory"},
    "dyre": {"suite", "data", "work"},
    "papers": {"suite"},
    "modules": {"suite", "quick", "timeout", "memory"},
    "loading": {"work", "quick", "rows", "timeout", "memory"},
    "queries": {"data", "work", "peers", "timeout", "quick"},
    "bounds": {"data", "work", "peers", "timeout", "quick"},
    "start": {"timeout", "memory"},
    "regret": {"suite", "data", "quick", "seed", "count", "memory"},
    "compare": {"suite", "data", "work", "base", "runs", "timeout", "memory"},
    "university": {"data", "work", "peers", "count", "quick", "timeout", "memory"},
    "spark": {"data", "work", "only", "lanes", "timeout"},
    "commits": {"data", "work", "only", "quick"},
}
"""The benchmarks, and the options that each takes besides `--json`."""
PEERS = ("souffle", "duckdb", "clingo", "owlrl", "reasonable")


def _arguments() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    arguments.add_argument("what", choices=WHAT)
    arguments.add_argument("--suite", help="a suite, or the beginning of a workload's name")
    arguments.add_argument("--data", type=Path, default=Path("data"), help="folder of the real inputs")
    arguments.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "tidelog-benchmarks")
    arguments.add_argument("--threads", type=int, default=min(2, os.cpu_count() or 1))
    arguments.add_argument("--peers", default=",".join(PEERS), help=f"of {','.join(PEERS)}; empty for none")
    arguments.add_argument("--quick", action="store_true", help="small inputs only")
    arguments.add_argument("--long", action="store_true", help="also those that take minutes")
    arguments.add_argument("--timeout", type=float, default=300.0, help="seconds a racer may take")
    arguments.add_argument("--memory", type=float, default=6.0, help="gigabytes a racer may take")
    arguments.add_argument("--strategy", default="auto", help="how derived relations follow updates")
    arguments.add_argument("--base", default="HEAD~1", help="of compare: the commit to compare with")
    arguments.add_argument("--runs", type=int, default=10, help="of compare: how often each version takes its turn")
    arguments.add_argument("--rows", type=int, default=10_000_000, help="rows to load")
    arguments.add_argument(
        "--only", help="of spark: some workloads, with commas between; of commits: the beginning of a name"
    )
    arguments.add_argument("--lanes", default=",".join(LANES), help="of spark: who runs")
    arguments.add_argument("--seed", type=int, help="of regret: where to begin; drawn anew unless it is given")
    arguments.add_argument("--count", type=int, help="of regret: how many workloads; of university: universities")
    arguments.add_argument("--json", type=Path, help="write all results there")
    return arguments


def _known(names: Iterable[str], among: Collection[str]) -> list[str]:
    found = list(names)
    unknown = [name for name in found if name not in among]
    if unknown:
        raise SystemExit(f"unknown: {', '.join(unknown)}; there are {', '.join(among)}")
    return found


def main(given: list[str] | None = None) -> int:
    arguments = _arguments()
    options = arguments.parse_args(given)
    for name, value in vars(options).items():
        if name not in WHAT[options.what] | {"what", "json"} and value != arguments.get_default(name):
            arguments.error(f"{options.what} takes no --{name}")
    bounds = Bounds(options.timeout, int(options.memory * (1 << 30)))
    peers = tuple(name for name in options.peers.split(",") if name)
    settings = Settings(options.data, options.work, options.threads, peers, bounds, options.json)
    match options.what:
        case "batch":
            mistakes = run_batch(chosen(options.suite, quick=options.quick, long=options.long), settings)
        case "updates":
            mistakes = run_updates(options.suite, settings, options.strategy, quick=options.quick)
        case "strategies":
            mistakes = run_strategies(options.suite, settings)
        case "closures":
            mistakes = run_closures(options.suite, settings, long=options.long)
        case "dyre":
            mistakes = run_dyre(options.suite, settings)
        case "modules":
            mistakes = run_modules(options.suite, settings, quick=options.quick)
        case "university":
            mistakes = run_university(options.count, settings, quick=options.quick)
        case "papers":
            mistakes = run_papers(options.suite, settings)
        case "spark":
            names = options.only.split(",") if options.only else RACE
            mistakes = run_spark(_known(names, WORKLOADS), settings, _known(options.lanes.split(","), LANES))
        case "commits":
            mistakes = run_commits(settings, options.only, quick=options.quick)
        case "compare":
            mistakes = run_compare(options.base, options.suite, options.runs, settings)
        case "regret":
            # Imported late: what this process holds would count as the memory of those that it starts.
            from benchmarks.regret.run import Wanted, run_regret  # noqa: PLC0415

            wanted = Wanted(options.seed, options.count, options.quick, options.suite, options.data, bounds.memory)
            mistakes = run_regret(wanted, options.json)
        case "loading":
            mistakes = run_loading(100_000 if options.quick else options.rows, settings)
        case "bounds":
            mistakes = run_bounds(settings, quick=options.quick)
        case "queries":
            mistakes = run_queries(10_000 if options.quick else 1_000_000, settings)
            mistakes += run_reach(settings, quick=options.quick)
        case _:
            mistakes = run_start(settings)
    for mistake in mistakes:
        print(f"WRONG: {mistake}", file=sys.stderr)
    return 1 if mistakes else 0


if __name__ == "__main__":
    sys.exit(main())

"""The command: asks a worker to examine workloads, one after the other, and reports.

Workload number i of a run has the seed S + i, where S is drawn anew for each run, or given: `--seed S --count 1`
repeats one workload, whatever the run it was drawn in. A run ends when it has done so many or when its time is over.
"""

from __future__ import annotations

import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.measure import CHECKOUT
from benchmarks.regret.examine import Limits
from benchmarks.regret.judge import regrets
from benchmarks.regret.named import chosen
from benchmarks.regret.report import by_family, distribution, mistakes, wasteful, worst
from benchmarks.regret.workloads import size_of
from benchmarks.tables import ratio

COUNT, QUICK = 500, 60
"""How many workloads a run has."""
LONGEST, LONGEST_QUICK = 115 * 60.0, 8.5 * 60.0
"""Seconds after which no other workload is begun."""
LARGEST_QUICK = 20_000
"""Facts that a workload of a quick run should have at most: seeds of larger ones are passed over."""
SEEDS = 1 << 40


@dataclass(frozen=True, slots=True)
class Wanted:
    """What was asked for."""

    seed: int | None
    count: int | None
    quick: bool
    suite: str | None
    data: Path
    memory: int

    def limits(self) -> Limits:
        """Return what a workload may take."""
        if self.suite is not None:
            return Limits(60.0, 120.0, 40.0, 600.0, self.memory)
        return Limits(8.0, 20.0, 12.0, 45.0, self.memory) if self.quick else Limits(memory=self.memory)


def run_regret(wanted: Wanted, written: Path | None = None) -> list[str]:
    """Examine workloads, print what was found, write it as JSON, and return who was wrong."""
    told: dict[str, Any] = {}
    broken: list[str] = []
    end = time.monotonic() + (LONGEST_QUICK if wanted.quick else LONGEST)
    with subprocess.Popen(
        [sys.executable, "-m", "benchmarks.regret.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **CHECKOUT},
    ) as worker:
        for name, request in _requests(wanted):
            if time.monotonic() > end and wanted.suite is None:
                print(f"the time is over before {name}")
                break
            found = _ask(worker, {**request, "data": str(wanted.data), "limits": asdict(wanted.limits())})
            if "failed" in found:
                broken.append(f"{name}: {found['failed']}")
            elif "missing" in found:
                print(f"{name}: left out, since its data are not in {wanted.data}")
            else:
                told[name] = found
                print(_brief(name, found), flush=True)
            if written is not None:
                written.write_text(json.dumps(told, indent=1))
        worker.communicate()
    if told:
        print("\n".join(filter(None, (distribution(told), by_family(told), worst(told), wasteful(told)))), flush=True)
    return [*broken, *mistakes(told)]


def _ask(worker: subprocess.Popen[str], request: dict[str, Any]) -> dict[str, Any]:
    assert worker.stdin is not None
    assert worker.stdout is not None
    worker.stdin.write(json.dumps(request) + "\n")
    worker.stdin.flush()
    line = worker.stdout.readline()
    if not line:
        raise SystemExit(f"the worker ended with status {worker.wait()}")
    found: dict[str, Any] = json.loads(line)
    return found


def _brief(name: str, found: dict[str, Any]) -> str:
    """Return a line on one workload, as soon as it is done."""
    all_of = list(regrets(name, found))
    what = f"{name}: {found['family']}; {found['graph']}"
    if not all_of:
        return f"{what}: left out, since {'the default is wrong' if found['wrong'] else 'there was too little time'}"
    later = max((one.ratio for one in all_of[1:]), default=None)
    return f"{what}: from scratch {ratio(all_of[0].ratio)}, commits up to {ratio(later)}"


def _requests(wanted: Wanted) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the names of workloads, and how to ask for them."""
    if wanted.suite is not None:
        yield from ((name, {"name": name}) for name in chosen(wanted.suite))
        return
    first = secrets.randbelow(SEEDS) if wanted.seed is None else wanted.seed
    number = wanted.count or (QUICK if wanted.quick else COUNT)
    print(f"seed {first}: repeat with --seed {first}", flush=True)
    seed, done = first, 0
    while done < number:
        if not wanted.quick or size_of(seed) <= LARGEST_QUICK or number == 1:
            yield f"seed {seed}", {"seed": seed}
            done += 1
        seed += 1

"""The process that has everything loaded, from which all others are forked.

    python -m benchmarks.regret.worker

reads a line of JSON for each workload (`seed` or `name`, with `data` and `limits`) and answers with a line: what it
is, what every candidate took, and who was wrong. Each workload is made and examined in a fork of its own, so that
nothing stays from one to the next.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any

from benchmarks.regret.candidates import DEFAULT, Candidate
from benchmarks.regret.child import prepare
from benchmarks.regret.examine import Examination, Limits, Run
from benchmarks.regret.kernels import load_kernels
from benchmarks.regret.named import NAMED
from benchmarks.regret.warm import warm
from benchmarks.regret.workloads import Workload, draw


def make(request: dict[str, Any]) -> Workload | None:
    """Return the workload that is asked for; None where its data are missing."""
    if "seed" in request:
        return draw(int(request["seed"]))
    return NAMED[request["name"]](Path(request["data"]))


def answer(request: dict[str, Any]) -> dict[str, Any]:
    """Make and examine a workload."""
    workload = make(request)
    if workload is None:
        return {"missing": True}
    prepared = prepare(workload)
    gc.freeze()
    examination = Examination(prepared, Limits(**request["limits"]))
    examination.compare()
    return {
        "family": workload.family,
        "graph": workload.graph,
        "program": workload.source(),
        "facts": workload.facts,
        "steps": [step.what for step in workload.steps],
        "stopped": examination.stopped,
        "skipped": [str(candidate) for candidate in examination.skipped],
        "wrong": {str(candidate): why for candidate, why in examination.wrong().items()},
        "candidates": {str(one): _told(one, found, examination) for one, found in examination.first.items()},
        "loads": sum(found.loads for found in examination.first.values()),
    }


def _told(candidate: Candidate, first: Run, examination: Examination) -> dict[str, Any]:
    return {
        "status": first.status,
        "cpu": examination.times(candidate) if first.commits or candidate == DEFAULT else [],
        "turns": len(examination.turns.get(candidate, ())),
        "memory": first.memory,
        "derivations": [commit.derivations for commit in first.commits],
        "strata": [commit.strata for commit in first.commits],
        "work": [commit.work for commit in first.commits],
        "error": first.error,
    }


def main() -> None:
    """Answer requests until there are no more."""
    warm()
    for line in sys.stdin:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reading)
            with os.fdopen(writing, "w") as told:
                try:
                    told.write(json.dumps(answer(json.loads(line))))
                except BaseException:  # noqa: BLE001  (whatever it is, it must not return into the loop)
                    told.write(json.dumps({"failed": traceback.format_exc()[-2000:]}))
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading) as told:
            answered = told.read() or json.dumps({"failed": "the process that examined it was killed"})
        os.waitpid(child, 0)
        print(answered, flush=True)
        if json.loads(answered).get("loads"):
            load_kernels()
            gc.freeze()


if __name__ == "__main__":
    main()

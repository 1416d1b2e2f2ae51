"""Runs hostile programs in a process of its own, and tells how each ended: `python -m tests.run.hostile.child`.

Standard input has a list of jobs in JSON: the name of the program, the engine, the strategy, the limits. Each answer is
a line of JSON: the error, the seconds it took (without compiling), the greatest memory in use as a share of the limit,
and whether the database is as before.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from tests.run.hostile.programs import FUNCTIONS, RULES, Facts, function_program
from tidelog import Database, LimitError, Limits
from tidelog.base.process.meter import Meter, memory_in_use

ROOM = 300 << 20
"""Bytes that an evaluation may take beside what is in use before."""
excused: list[float] = []
"""What a limit of time did not count."""


def peak() -> int:
    """Return the greatest memory in use since `forget_peak`."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) * 1024


def forget_peak() -> None:
    """Let the greatest memory in use be what is in use now."""
    Path("/proc/self/clear_refs").write_text("5")


def run(job: dict[str, Any]) -> dict[str, Any]:
    """Run one program under limits."""
    name = job["name"]
    facts: Facts = {"Go": [(1,)]}
    program, facts = RULES[name] if name in RULES else (function_program(FUNCTIONS[name]), facts)
    database = Database(program, engine=job["engine"], strategy=job["strategy"])
    before = {view.name: view.count() for view in database.relations()}
    limit = memory_in_use() + ROOM
    memory = limit if job.get("memory") else None
    limits = Limits(tuples=job.get("tuples"), seconds=job.get("seconds"), memory=memory)
    forget_peak()
    excused.clear()
    start, busy, ended = time.monotonic(), time.process_time(), "nothing"
    try:
        with database.transaction(limits) as transaction:
            for relation, rows in facts.items():
                transaction.insert(relation, rows)
    except LimitError as error:
        ended = f"LimitError: {error}"
    except Exception as error:  # noqa: BLE001  (whatever it is, it is told)
        ended = f"{type(error).__name__}: {error}"
    # Where other processes keep the machine busy, the time on the clock says little.
    seconds = min(time.monotonic() - start - sum(excused), time.process_time() - busy)
    after = {view.name: view.count() for view in database.relations()}
    return {**job, "ended": ended, "took": seconds, "used": peak() / limit, "same": before == after}


def main() -> None:
    """Run the jobs."""
    excuse = Meter.excuse

    def noted(self: Meter, seconds: float) -> None:
        excused.append(seconds)
        excuse(self, seconds)

    Meter.excuse = noted  # type: ignore[method-assign]
    for job in json.load(sys.stdin):
        sys.stdout.write(json.dumps(run(job)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()

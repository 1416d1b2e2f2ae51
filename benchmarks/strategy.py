"""One workload under one setting, in a process of its own; says as JSON what evaluation and updates cost.

    python -m benchmarks.strategy OPTIONS PROGRAM FOLDER RELATION SECONDS OUTPUT...

OPTIONS are those of a `Database`, as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.update import Session, facts_in_and_out

SIZES = (1, 10, 100)


def main() -> None:
    options, program, folder, relation, seconds, *outputs = sys.argv[1:]
    deadline = time.perf_counter() + float(seconds)
    first = Session(Path(program), Path(folder), **json.loads(options)).initial_cpu
    session = Session(Path(program), Path(folder), **json.loads(options))  # once more, with kernels loaded
    told: dict[str, Any] = {"cpu": min(first, session.initial_cpu), "lines": []}
    told["sizes"] = {name: session.database.relation(name).count() for name in outputs}
    for found in facts_in_and_out(session, relation, deadline, SIZES):
        told["lines"].append(found)
        # All so far, should the process be stopped.
        print(json.dumps(told), flush=True)
    told["sizes"] = {name: session.database.relation(name).count() for name in outputs}
    print(json.dumps(told))


if __name__ == "__main__":
    main()

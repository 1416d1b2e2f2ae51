"""Starting: `tidelog run` on a program of ten lines, from a warm disk; and the first run ever, which compiles kernels.

The first run has an empty kernel cache (`NUMBA_CACHE_DIR`) and enough facts for the kernels to be wanted; the run after
it finds them there. Goals: under 0.5 s warm, under 20 s for the first.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from benchmarks.batch import Settings
from benchmarks.generate import random_graph
from benchmarks.inputs import write
from benchmarks.measure import Run, measure
from benchmarks.tables import megabytes, seconds, table

PROGRAM = """input relation Parent(child: string, parent: string)
output relation Ancestor(of: string, who: string)
output relation Count(who: string, n: u64)
Parent("ada", "byron").
Parent("byron", "john").
Parent("john", "william").
Ancestor(c, p) :- Parent(c, p).
Ancestor(c, a) :- Parent(c, p), Ancestor(p, a).
Count(a, n) :- Ancestor(c, a), var n = c.group_by(a).count_distinct().
"""
REPEATS = 7


def run_start(settings: Settings) -> list[str]:
    """Measure the starts, print a table, and return what is wrong."""
    program = Path(__file__).parent / "programs" / "tc_right.dl"
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        (folder / "tiny.dl").write_text(PROGRAM)
        (folder / "facts").mkdir()
        write(folder / "facts", "Edge", random_graph(1_000, 3_000))
        tiny = _tidelog("run", str(folder / "tiny.dl"))
        large = _tidelog("run", str(program), "--facts", str(folder / "facts"), "--out", str(folder / "out"), "--quiet")
        # As installed: with compiled modules, whatever the environment says about writing them.
        compiled = {"PYTHONPYCACHEPREFIX": str(folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
        cache = {"NUMBA_CACHE_DIR": str(folder / "kernels"), **compiled}
        runs = {"interpreter alone": _best([sys.executable, "-c", "pass"], settings, compiled)}
        measure(tiny, settings.bounds, compiled)
        runs["ten lines, warm"] = _best(tiny, settings, compiled)
        runs["first run ever, with kernels to compile"] = measure(large, settings.bounds, cache)
        runs["second run, kernels from the cache"] = measure(large, settings.bounds, cache)
    print("\n== start")
    print(
        table(
            ("run", "time", "cpu", "memory"),
            [(name, seconds(run.wall), seconds(run.cpu), megabytes(run.memory)) for name, run in runs.items()],
        ),
        flush=True,
    )
    if settings.json is not None:
        told = {name: {"wall": run.wall, "cpu": run.cpu, "memory": run.memory} for name, run in runs.items()}
        settings.json.write_text(json.dumps(told, indent=1))
    mistakes = [f"{name}: {run.status}\n{run.errors}" for name, run in runs.items() if run.status != "ok"]
    if "william" not in runs["ten lines, warm"].output:
        mistakes.append("the ten lines gave no answer")
    return mistakes


def _tidelog(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from tidelog.shell.main import main; main()", *arguments]


def _best(command: list[str], settings: Settings, environment: Mapping[str, str]) -> Run:
    return min((measure(command, settings.bounds, environment) for _ in range(REPEATS)), key=lambda run: run.wall)

"""The race: every workload by every racer, one after the other, with ratios and a check of all sizes.

The ratio is a racer's evaluation time over Tidelog's at the same number of threads (in batch mode, as `tidelog run`):
above 1 Tidelog is faster. Beside it the same for processor time, which other work on the machine disturbs less. A size
that differs from the known one, or from another racer's, ends the program with status 1 after the tables.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.inputs import prepare
from benchmarks.measure import Bounds
from benchmarks.racers import Racer, Result, race, racers
from benchmarks.tables import count, megabytes, ratio, seconds, table
from benchmarks.workloads import Workload

HEADING = ("racer", "load", "evaluate", "ratio", "cpu", "cpu ratio", "memory", "memory ratio", "cold")


@dataclass(frozen=True, slots=True)
class Settings:
    """Where data are, where to work, who runs and within which bounds."""

    data: Path
    work: Path
    threads: int
    peers: tuple[str, ...]
    bounds: Bounds
    json: Path | None = None


def run_batch(workloads: Sequence[Workload], settings: Settings) -> list[str]:
    """Race on every workload, print a table each, and return what is wrong with the sizes."""
    mistakes: list[str] = []
    results: list[Result] = []
    for workload in workloads:
        facts = prepare(workload.name, settings.data, settings.work)
        found: list[Result] = []
        for racer in racers(settings.threads, settings.peers):
            if not _hopeless(racer, found):
                found.append(race(racer, workload, facts, settings.work, settings.bounds))
        mistakes += check_sizes(workload, found)
        results += found
        print(show(workload, found), flush=True)
        if settings.json is not None:
            settings.json.write_text(json.dumps([result.as_json() for result in results], indent=1))
    print(summary(results), flush=True)
    return mistakes


def _hopeless(racer: Racer, found: Iterable[Result]) -> bool:
    """Tell whether the same racer has already been stopped on another number of threads."""
    return any(r.racer.name == racer.name and r.racer.mode == racer.mode and r.status == "memory" for r in found)


def check_sizes(workload: Workload, results: Sequence[Result]) -> list[str]:
    """Return what differs from the known sizes, or between the racers; failures count as well."""
    mistakes = [f"{r.workload}: {r.racer} failed\n{r.more.get('errors', '')}" for r in results if r.status == "failed"]
    for relation, known in workload.sizes.items():
        told = {str(r.racer): r.sizes.get(relation) for r in results if r.status == "ok"}
        right = known if known is not None else next(iter(told.values()), None)
        mistakes += [
            f"{workload.name}: {racer} has {size} tuples of {relation}, not {right}"
            for racer, size in told.items()
            if size != right
        ]
    return mistakes


def show(workload: Workload, results: Sequence[Result]) -> str:
    """Return the table of one workload."""
    sizes = next((r.sizes for r in results if r.status == "ok"), {})
    known = ", ".join(
        f"{name} {count(sizes.get(name))}{'' if size is None else ' (known)'}" for name, size in workload.sizes.items()
    )
    rows = [_row(result, _ours(result, results)) for result in results]
    work = next((r.more for r in results if r.racer.name == "tidelog" and r.status == "ok"), {})
    return (
        f"\n== {workload.name}: {known}; {count(work.get('rounds'))} rounds, "
        f"{count(work.get('derivations'))} derivations\n{table(HEADING, rows)}"
    )


def _ours(result: Result, results: Sequence[Result]) -> Result | None:
    for other in results:
        if other.racer == Racer("tidelog", "batch", result.racer.threads) and other.status == "ok":
            return other
    return None


def over(theirs: float | None, ours: float | None) -> float | None:
    """Divide if both are known."""
    return theirs / ours if theirs is not None and ours else None


def _row(result: Result, ours: Result | None) -> tuple[str, ...]:
    if result.status != "ok":
        spent = f"{result.status} {seconds(result.wall)}" if result.wall is not None else result.status
        return (str(result.racer), "", spent, "", seconds(result.cpu), "", megabytes(result.memory), "", "")
    return (
        str(result.racer),
        seconds(result.load),
        seconds(result.evaluate),
        ratio(over(result.evaluate, ours.evaluate if ours else None)),
        seconds(result.cpu),
        ratio(over(result.cpu, ours.cpu if ours else None)),
        megabytes(result.memory),
        ratio(over(result.memory, ours.memory if ours else None)),
        seconds(result.more.get("cold")),
    )


def summary(results: Sequence[Result]) -> str:
    """Return one line a workload: compiled and interpreted Soufflé, DuckDB and clingo over Tidelog, by time and cpu."""
    names = list(dict.fromkeys(result.workload for result in results))
    columns = list(dict.fromkeys(str(r.racer) for r in results if (r.racer.name, r.racer.mode) != ("tidelog", "batch")))
    rows = []
    for name in names:
        found = [result for result in results if result.workload == name]
        cells = {str(r.racer): _versus(r, _ours(r, found)) for r in found}
        ours = next((r for r in reversed(found) if r.racer.mode == "batch" and r.status == "ok"), None)
        rows.append((name, seconds(ours.evaluate if ours else None), *(cells.get(column, "") for column in columns)))
    return (
        "\n== evaluation time over Tidelog's at the same number of threads (processor time in parentheses)\n"
        + table(("workload", "tidelog", *columns), rows)
    )


def _versus(result: Result, ours: Result | None) -> str:
    if result.status != "ok":
        return result.status
    if ours is None:
        return "-"
    return f"{ratio(over(result.evaluate, ours.evaluate))} ({ratio(over(result.cpu, ours.cpu))})"

"""What updates should cost at most, goal by goal, held against what `updates` measured.

A goal looks at the lines of all subjects it speaks of and says what the worst of them is, and whether that is within
its bound. Times are those of whole transactions: wall time, medians unless it is said otherwise. Recomputing is a
transaction with the same facts in a database of the strategy `recompute`, which tells the exact change, too; from
scratch is the batch evaluation, which tells none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks.tables import ratio, seconds, table

Told = Mapping[str, Any]
SMALL = (1, 10)
"""Updates of so many facts are small."""
HEADING = ("goal", "at most", "worst", "where", "verdict")


@dataclass(frozen=True, slots=True)
class Case:
    """A measured value, and what it is of."""

    value: float
    where: str


@dataclass(frozen=True, slots=True)
class Goal:
    """A bound on the worst of some measured values, shown in their unit."""

    name: str
    bound: float
    cases: Callable[[Sequence[Told]], Iterator[Case]]
    show: Callable[[float], str] = ratio


def _facts(results: Sequence[Told], *sizes: int, only: str = "") -> Iterator[tuple[Told, Told]]:
    """Yield the lines of updates of facts, of any size if none is given, with the result they belong to."""
    for told in results:
        if told["workload"].startswith(only):
            for line in told["updates"]["lines"]:
                if line["what"] in ("delete", "insert") and (not sizes or line["facts"] in sizes):
                    yield told, line


def _where(told: Told, line: Told) -> str:
    return f"{told['workload']}, {line['what']} {line['facts']:,}"


def _time(only: str, size: int) -> Callable[[Sequence[Told]], Iterator[Case]]:
    return lambda results: (Case(line["time"], _where(t, line)) for t, line in _facts(results, size, only=only))


def _small(results: Sequence[Told]) -> Iterator[Case]:
    for told, line in _facts(results, *SMALL):
        yield Case(line["time"] / line["recomputed"], _where(told, line))


def _worst(results: Sequence[Told]) -> Iterator[Case]:
    for told, line in _facts(results):
        yield Case(line["worst"] / line["recomputed"], _where(told, line))


def _worst_of_batch(results: Sequence[Told]) -> Iterator[Case]:
    for told, line in _facts(results):
        yield Case(line["worst"] / told["updates"]["batch"], _where(told, line))


def _deletes(results: Sequence[Told]) -> Iterator[Case]:
    for told in results:
        inserts = {line["facts"]: line["time"] for _, line in _facts([told]) if line["what"] == "insert"}
        for _, line in _facts([told]):
            if line["what"] == "delete":
                yield Case(line["time"] / inserts[line["facts"]], _where(told, line))


def _one_percent(results: Sequence[Told]) -> Iterator[Case]:
    most = max((line["facts"] for _, line in _facts(results, only="lubm-1")), default=0)
    for told, line in _facts(results, only="lubm-1"):
        if line["facts"] == most:
            yield Case(line["time"] / told["updates"]["tracked"], _where(told, line))


def _rules(results: Sequence[Told]) -> Iterator[Case]:
    for told in results:
        for line in told["updates"]["lines"]:
            if line["what"] not in ("delete", "insert"):
                yield Case(line["time"], f"{told['workload']}, {line['what']}")


def _memory(results: Sequence[Told]) -> Iterator[Case]:
    for told in results:
        yield Case(told["tracked"]["memory"] / told["batch"]["memory"], told["workload"])


GOALS = (
    Goal("LUBM1, 1 fact", 0.001, _time("lubm-1", 1), seconds),
    Goal("Galen, 10 facts", 0.02, _time("galen", 10), seconds),
    Goal("Galen, 1,000 facts", 0.5, _time("galen", 1000), seconds),
    Goal("small updates, of recomputing", 0.01, _small, lambda part: f"1/{1 / part:.0f}"),
    Goal("worst update, of recomputing", 1.3, _worst),
    Goal("the same, of from scratch", 1.3, _worst_of_batch),
    Goal("deletes, of inserts", 3, _deletes),
    Goal("LUBM1, 1%, of materialising", 0.1, _one_percent),
    Goal("a rule in or out", 0.05, _rules, seconds),
    Goal("memory, of batch", 4, _memory),
)


def show_goals(results: Sequence[Told]) -> str:
    """Return a table: each goal with its bound, the worst of its cases and the verdict; then all that fail."""
    measured = [told for told in results if not any("errors" in told[kind] for kind in ("batch", "tracked", "updates"))]
    rows: list[tuple[str, ...]] = []
    failing: list[str] = []
    for goal in GOALS:
        cases = sorted(goal.cases(measured), key=lambda case: -case.value)
        if cases:
            verdict = "met" if cases[0].value <= goal.bound else "missed"
            rows.append((goal.name, goal.show(goal.bound), goal.show(cases[0].value), cases[0].where, verdict))
            missed = [f"{case.where} {goal.show(case.value)}" for case in cases if case.value > goal.bound]
            failing += [f"{goal.name}: {'; '.join(missed)}"] if missed else []
    return "\n".join((f"\n== goals\n{table(HEADING, rows)}", *failing))

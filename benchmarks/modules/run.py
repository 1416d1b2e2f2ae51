"""The benchmark of modules: derivations, processor time and peak memory, with modules and without.

First the programs of the goals; work inside a module (edges walked, words written) counts as derivations. Then tables 1
and 2 of Hu, Motik and Horrocks on data of their shape, smaller than theirs, beside their seconds. Strategies must find
the same; one that takes too long or too much has `-` from there on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.batch import Settings
from benchmarks.measure import CHECKOUT, measure
from benchmarks.modules.families import FAMILIES, PAPER, PUBLISHED, SKOS, SKOS_BY_HAND, Family
from benchmarks.tables import count, megabytes, seconds, table

STRATEGIES = ("auto", "modular", "recompute", "dred", "dred-c")
DONE = ("scratch", "small deletion", "small insertion", "large deletion")
HEADING = ("program", "strategy", "tuples", "scratch", "derived", "deleted", "derived", "inserted", "derived", "peak")
TABLE = ("benchmark", "auto", "modular", "dred-c", "paper: with modules", "DRed^c")


@dataclass(slots=True)
class Line:
    """What a strategy took for a family: what was done, and the peak of memory."""

    family: str
    strategy: str
    memory: int
    status: str
    done: dict[str, dict[str, Any]] = field(default_factory=dict)


def run_modules(suite: str | None, settings: Settings, *, quick: bool = False) -> list[str]:
    """Measure the families whose names begin so, print the tables, and return what is wrong."""
    chosen = [one for one in (*FAMILIES, *PAPER) if one.name.strip().startswith((suite or "").strip())]
    lines = [_measured(family, strategy, settings, quick=quick) for family in chosen for strategy in STRATEGIES]
    print(f"\n== modules among other rules\n{table(HEADING, [_row(line) for line in lines])}", flush=True)
    paper = [family for family in chosen if family in PAPER]
    for place, what in enumerate(DONE) if paper else ():
        print(f"\n== {what}: processor time, and seconds published\n{table(TABLE, _published(paper, lines, place))}")
    mistakes = [mistake for family in chosen for mistake in _differing(family, lines)]
    print("\n== goals\n" + "\n".join(_goals(lines)))
    if settings.json is not None:
        settings.json.write_text(json.dumps([asdict(line) for line in lines], indent=1))
    return mistakes


def _measured(family: Family, strategy: str, settings: Settings, *, quick: bool) -> Line:
    command = [sys.executable, "-m", "benchmarks.modules.child", family.name, strategy, *(["tiny"] if quick else [])]
    found = measure(command, settings.bounds, CHECKOUT)
    line = Line(family.name, strategy, found.memory, found.status)
    for one in map(json.loads, found.output.splitlines()):
        line.done[one["what"]] = one
    if found.status == "failed":
        raise SystemExit(found.errors)
    print("  ".join(_row(line)), flush=True)  # it takes minutes: tell what is known
    return line


def _row(line: Line) -> tuple[str, ...]:
    sizes = line.done.get("scratch", {}).get("sizes")
    cells = [
        cell
        for what in DONE[:3]
        for cell in (seconds(_of(line, what, "seconds")), count(_of(line, what, "derivations")))
    ]
    return (line.family, line.strategy, count(sum(sizes.values()) if sizes else None), *cells, megabytes(line.memory))


def _of(line: Line | None, what: str, field_: str) -> Any:
    return None if line is None else line.done.get(what, {}).get(field_)


def _line(lines: Sequence[Line], family: str, strategy: str) -> Line | None:
    return next((line for line in lines if (line.family, line.strategy) == (family, strategy)), None)


def _published(paper: Sequence[Family], lines: Sequence[Line], place: int) -> list[tuple[str, ...]]:
    rows = []
    for family in paper:
        ours = (_of(_line(lines, family.name, name), DONE[place], "seconds") for name in ("auto", "modular", "dred-c"))
        rows.append((family.name, *map(seconds, ours), *map(seconds, PUBLISHED[family.name][place])))
    return rows


def _differing(family: Family, lines: Sequence[Line]) -> list[str]:
    """Tell what strategies that went as far did not find alike."""
    found = [line for line in lines if line.family == family.name]
    wrong = []
    for what in {what for line in found for what in line.done}:
        sizes = [line.done[what]["sizes"] for line in found if what in line.done]
        if any(size != sizes[0] for size in sizes):
            wrong.append(f"strategies differ after the {what} of {family.name}")
    return wrong


def _goals(lines: Sequence[Line]) -> list[str]:
    """Tell what came of the goals that can be told from the figures."""
    told = []
    for name, strategy, most in (
        ("inverse, chain of 200", "modular", 2 * 60_299),
        ("clique of 200, fed", "auto", 2 * 40_000),
        ("200 names of one thing", "auto", 4 * 40_000),
        ("two things of 200 names", "auto", 4 * 120_000),
        ("triples, property by name", "auto", 5 * 20_000),
        ("triples, properties by facts", "auto", 5 * 20_000),
    ):
        derived = _of(_line(lines, name, strategy), "scratch", "derivations")
        if derived is not None:
            told.append(f"{'reached' if derived <= most else 'MISSED'}: {name}: {count(derived)} of {count(most)}")
    skos = (one for one in FAMILIES if one.program in (SKOS, SKOS_BY_HAND))
    times = [_of(_line(lines, one.name, "auto"), "scratch", "seconds") for one in skos]
    if None not in times:
        what = "SKOS-like over the same by hand, at most 1.5"
        told.append(f"{'reached' if times[0] <= 1.5 * times[1] else 'MISSED'}: {what}: {times[0] / times[1]:.2f}")
    return told

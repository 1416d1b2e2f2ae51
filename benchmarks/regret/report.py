"""The distribution of regret against its goals, and the worst cases with their reasons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from benchmarks.regret.judge import FEW, OURS, Regret, batch_regret, memory_regret, over, regrets
from benchmarks.tables import count, ratio, seconds, table

GOALS = (1.05, 1.3, 2.0, 3.0)
"""The median, the 95th and 99th percentile and the greatest of the regret in time should be at most these."""
MEMORY = 2.0
WORST = 10
HEADING = ("regret", "cases", "median", "95th", "99th", "max", "goals")
Told = Mapping[str, Mapping[str, Any]]
"""What was found, by the name of a workload."""


def percentile(values: Sequence[float], part: float) -> float:
    """Return the least value that at least this part of them do not exceed.

    >>> percentile([4, 1, 2, 3], 0.5), percentile([4, 1, 2, 3], 0.95)
    (2, 4)
    """
    return sorted(values)[max(0, math.ceil(part * len(values)) - 1)]


def spread(values: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the median, the 95th and 99th percentile and the greatest."""
    return percentile(values, 0.5), percentile(values, 0.95), percentile(values, 0.99), max(values)


def _line(what: str, values: Sequence[float], goals: Sequence[float] = ()) -> tuple[str, ...]:
    if not values:
        return (what, "0", *["-"] * 5)
    found = spread(values)
    missed = [name for name, value, goal in zip(HEADING[2:6], found, goals, strict=False) if value > goal]
    verdict = f"missed: {', '.join(missed)}" if missed else "met" if goals else ""
    return (what, count(len(values)), *map(ratio, found), verdict)


def distribution(told: Told) -> str:
    """Return the table of regrets in time, memory and work."""
    all_of = [one for name, found in told.items() for one in regrets(name, found)]
    loads, commits = ([one for one in all_of if one.from_scratch == first] for first in (True, False))
    batch = [value for found in told.values() if (value := batch_regret(found)) is not None]
    memory = [pair[0] for found in told.values() if (pair := memory_regret(found)) is not None]
    rows = [
        _line("time, from scratch", [one.ratio for one in loads], GOALS),
        _line("time, commits", [one.ratio for one in commits], GOALS),
        _line("from scratch, over the same engine", [one.in_engine for one in loads]),
        _line("commits, over the same engine", [one.in_engine for one in commits]),
        _line("from scratch, over recompute", [over(one.ours, one.recompute) for one in loads if one.recompute]),
        _line("commits, over recompute", [over(one.ours, one.recompute) for one in commits if one.recompute]),
        _line("recompute from scratch, over the best", batch, GOALS),
        _line("peak memory", memory, (math.inf, math.inf, math.inf, MEMORY)),
        _line("derivations", [(one.work[0] + FEW) / (one.work[1] + FEW) for one in all_of]),
    ]
    left_out = f", {len(told) - len(loads)} of them left out" if len(loads) < len(told) else ""
    return f"\n== regret of the default over {len(told)} workloads{left_out}\n{table(HEADING, rows)}"


def by_family(told: Told) -> str:
    """Return the regret in time of each family of programs."""
    families: dict[str, list[Regret]] = {}
    for name, found in told.items():
        families.setdefault(found["family"], []).extend(regrets(name, found))
    rows = []
    for family, own in sorted(families.items()):
        parts = [[one.ratio for one in own if one.from_scratch == first] for first in (True, False)]
        cells = [cell for part in parts for cell in ((ratio(median(part)), ratio(max(part))) if part else ("-", "-"))]
        rows.append((family, str(len(parts[0])), *cells))
    return "\n== by program\n" + table(("family", "workloads", "scratch", "worst", "commits", "worst"), rows)


def worst(told: Told, number: int = WORST) -> str:
    """Return the worst step of each of the worst workloads: who was better, and what the profile says."""
    found = [max(own, key=lambda one: one.ratio) for name in told if (own := list(regrets(name, told[name])))]
    found = sorted((one for one in found if one.winner != OURS), key=lambda one: -one.ratio)[:number]
    return "\n== the worst\n" + "\n".join(_shown(place, one) for place, one in enumerate(found, 1))


def _shown(place: int, one: Regret) -> str:
    least = "at least " if one.stopped else ""
    derived = f"{count(one.work[0])} derivations, the fewest are {count(one.work[1])}"
    where = f"{one.workload}: {one.family}; {one.graph}; {count(one.facts)} facts; step {one.step}, {one.what}"
    took = f"the default {least}{seconds(one.ours)}, {one.winner} {seconds(one.best)}"
    if one.best < one.engine_best < one.ours:
        took += f", the best of its own engine {seconds(one.engine_best)}"
    lines = [
        f"{place:2}. {least}{ratio(one.ratio)}  {where}",
        f"    {took}, recompute {seconds(one.recompute)}; {derived}",
        *(f"    default: {reason}" for reason in one.reasons),
        *(f"    {one.winner}: {reason}" for reason in one.theirs[:2]),
    ]
    return "\n".join(lines)


def wasteful(told: Told, number: int = WORST) -> str:
    """Return the workloads whose memory is above its goal."""
    found = [(value[0], name, value[1]) for name in told if (value := memory_regret(told[name])) is not None]
    lines = [
        f"{ratio(regret)}  {name}: {told[name]['family']}; {told[name]['graph']}; "
        f"{_peak(told[name], OURS)}, {who} {_peak(told[name], who)}"
        for regret, name, who in sorted(found, reverse=True)[:number]
        if regret > MEMORY
    ]
    return "\n== memory above its goal\n" + "\n".join(lines) if lines else ""


def _peak(found: Mapping[str, Any], candidate: str) -> str:
    return f"{found['candidates'][candidate]['memory'] / 1e6:.0f} MB"


def mistakes(told: Told) -> list[str]:
    """Return who was wrong or failed, and on which workload."""
    return [f"{name}: {candidate} {why}" for name, found in told.items() for candidate, why in found["wrong"].items()]

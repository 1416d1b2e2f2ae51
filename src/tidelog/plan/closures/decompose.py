"""How a recursive stratum falls into independent pieces, and how an engine that runs it so will run each stratum.

stratum 0: Reach decomposes by a: one job, Link everywhere
stratum 1: Closed is made linear and decomposes by x: one job, its steps everywhere
stratum 2: Same by partitions that exchange what is new, Edge everywhere; again after a change
stratum 3: Cyclic: a job a round
stratum 4: Pair: one job
stratum 5: Equal is read by groups only: its nodes and their components, by one job
"""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.plan.closures.classify import decompositions, recursive_scans
from tidelog.plan.closures.components import components_of
from tidelog.plan.closures.exchange import may_spread
from tidelog.plan.closures.linearise import Linearised, linearise, step_name
from tidelog.plan.nodes import Plan, Stratum


@record
class Way:
    """How a stratum decomposes: its rules, linear now, the column, and the closure that they make linear, if any."""

    stratum: Stratum
    column: int
    closure: Linearised | None = None


def decompose(stratum: Stratum, *, linear: bool = True) -> Way | None:
    """Return how a stratum of one relation decomposes; `linear` says whether closures may be made so."""
    if len(stratum.relations) > 1:
        return None
    (name,) = stratum.relations
    found = decompositions(stratum)
    if found:
        return Way(stratum, found[0][name])
    closure = linearise(stratum) if linear else None
    return Way(closure.stratum, closure.source, closure) if closure else None


def relations_below(stratum: Stratum) -> list[str]:
    """Return the relations that the recursive rules read from strata below; the steps of a closure are none."""
    rules = [rule for rule in stratum.rules if recursive_scans(rule, stratum)]
    own = {*stratum.relations, *map(step_name, stratum.relations)}
    return sorted({name for rule in rules for name in rule.reads} - own)


_SMALL = (
    "what is small is evaluated on the driver, and so are long tails of tiny rounds",
    "strata that are all evaluated from scratch are evaluated by one executor if a Python worker there can hold them",
)
_NEEDS = {
    "components": "a worker holds the nodes of components; if they are too many, rounds of large and small stars",
    "everywhere": "what is everywhere is at most half of what a Python worker may hold; else a job a round",
    "by key": "a worker holds the keys of a partition; if they are too many there are 8 times more partitions",
    "exchanging": "a worker holds the tuples of a partition, and some of others; if they are too many, a job a round",
    "round": "a job a round holds batches of rows: Spark spills the rest",
}
"""What the ways to evaluate a stratum need in memory, and what happens beyond."""


def show_ways(plan: Plan) -> str:
    """Tell for each stratum how it will run on a cluster, unless it is small enough for the driver."""
    ways = [_way(plan, stratum) for stratum in plan.strata]
    lines = [f"stratum {stratum.number}: {way}" for stratum, way in zip(plan.strata, ways, strict=True)]
    marks = {
        "components": "components",
        "everywhere": "everywhere",
        "by key": "decomposes by",
        "exchanging": "that exchange",
        "round": "a round",
    }
    needs = [_NEEDS[name] for name, mark in marks.items() if any(mark in way for way in ways)]
    return "\n".join([*lines, *_SMALL, *needs, ""])


def _way(plan: Plan, stratum: Stratum) -> str:
    names = ", ".join(stratum.relations)
    if not stratum.recursive:
        return f"{names}: one job"
    if components_of(stratum, plan) is not None:
        return f"{names} is read by groups only: its nodes and their components, by one job"
    way = decompose(stratum)
    if way is None:
        if not may_spread(stratum):
            return f"{names}: a job a round"
        below = "".join(f", {name} everywhere" for name in relations_below(stratum))
        return f"{names} by partitions that exchange what is new{below}; again after a change"
    column = plan.relations[names].columns[way.column].name
    if way.closure is not None:
        return f"{names} is made linear and decomposes by {column}: one job, its steps everywhere"
    everywhere = ", ".join(relations_below(way.stratum))
    return f"{names} decomposes by {column}: one job" + (f", {everywhere} everywhere" if everywhere else "")

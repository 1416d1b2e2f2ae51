"""Families of programs over graphs: reach, closures, same generation, groups over recursion.

A family makes a program and the facts of its input relations, about as many as it is asked for, or fewer where its
answer would have more than `MOST` tuples: what is measured is how well a way was chosen, and large answers only take
longer. Nodes have the type `node`, which a workload makes a number or a text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.regret.graphs import GRAPHS, Edges, mean_reach, nodes_of

MOST = 600_000
"""Tuples that an answer should have at most, by an estimate."""

Facts = dict[str, Edges]


@dataclass(frozen=True, slots=True)
class Made:
    """A program, its facts, and the graph they were made from, in words."""

    program: str
    facts: Facts
    graph: str


Family = Callable[[np.random.Generator, int], Made]

REACH = """
input relation Edge(a: node, b: node)
input relation Source(a: node)
output relation Reach(s: node, b: node)
Reach(s, s) :- Source(s).
Reach(s, b) :- Reach(s, a), Edge(a, b).
"""
HOPS = """
input relation Edge(a: node, b: node)
input relation Source(a: node)
relation Hop(s: node, b: node, n: u32)
output relation Distance(s: node, b: node, n: u32)
output relation Near(s: node, n: usize)
Hop(s, s, 0) :- Source(s).
Hop(s, b, n + 1) :- Hop(s, a, n), Edge(a, b), n < {limit}.
Distance(s, b, least) :- Hop(s, b, n), var least = n.group_by((s, b)).min().
Near(s, count) :- Distance(s, b, _), var count = b.group_by(s).count().
"""
CLOSURES = {
    "left": "Path(a, c) :- Path(a, b), Edge(b, c).",
    "right": "Path(a, c) :- Edge(a, b), Path(b, c).",
    "non-linear": "Path(a, c) :- Path(a, b), Path(b, c).",
}
PATHS = """
input relation Edge(a: node, b: node)
output relation Path(a: node, b: node)
Path(a, b) :- Edge(a, b).
"""
SYMMETRIC = "Path(b, a) :- Edge(a, b).\n"
EVEN_ODD = """
input relation Edge(a: node, b: node)
input relation Source(a: node)
output relation Even(s: node, b: node)
output relation Odd(s: node, b: node)
Even(s, s) :- Source(s).
Odd(s, b) :- Even(s, a), Edge(a, b).
Even(s, b) :- Odd(s, a), Edge(a, b).
"""
COLOURS = """
input relation Red(a: node, b: node)
input relation Blue(a: node, b: node)
output relation ByRed(a: node, b: node)
output relation ByBlue(a: node, b: node)
ByRed(a, b) :- Red(a, b).
ByBlue(a, b) :- Blue(a, b).
ByRed(a, c) :- ByBlue(a, b), Red(b, c).
ByBlue(a, c) :- ByRed(a, b), Blue(b, c).
"""
FED = """
input relation Edge(a: node, b: node)
input relation Link(a: node, b: node)
input relation Closed(a: node)
relation Part(a: node, b: node)
relation Whole(a: node, b: node)
output relation Near(a: node, b: node)
Part(a, b) :- Edge(a, b).
Part(a, c) :- Part(a, b), Edge(b, c), not Closed(b).
Whole(a, b) :- Link(a, b).
Whole(a, c) :- Link(a, b), Whole(b, c), not Closed(c).
Near(a, b) :- Part(a, b).
Near(a, b) :- Whole(b, a).
Near(a, c) :- Near(a, b), Near(b, c).
"""
INVERSE = """
input relation Broader(a: node, b: node)
input relation Related(a: node, b: node)
output relation Above(a: node, b: node)
output relation Below(a: node, b: node)
output relation Linked(a: node, b: node)
Above(a, b) :- Broader(a, b).
Above(a, c) :- Above(a, b), Above(b, c).
Below(b, a) :- Above(a, b).
Above(b, a) :- Below(a, b).
Linked(a, b) :- Related(a, b).
Linked(b, a) :- Linked(a, b).
Linked(a, c) :- Linked(a, b), Above(b, c).
"""
GENERATION = """
input relation Parent(a: node, b: node)
output relation Same(a: node, b: node)
Same(x, y) :- Parent(p, x), Parent(p, y), x != y.
Same(x, y) :- Parent(a, x), Same(a, b), Parent(b, y).
"""
COUNTS = """
input relation Edge(a: node, b: node)
input relation Weight(a: node, w: u32)
relation Path(a: node, b: node)
output relation Size(a: node, n: usize)
output relation Heaviest(a: node, w: u32)
output relation Alone(a: node)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Size(a, n) :- Path(a, b), var n = b.group_by(a).count().
Heaviest(a, most) :- Path(a, b), Weight(b, w), var most = w.group_by(a).max().
Alone(a) :- Weight(a, _), not Size(a, _).
"""


def _graph(random: np.random.Generator, size: int) -> tuple[str, Edges]:
    name = str(random.choice(list(GRAPHS)))
    return name, GRAPHS[name](random, max(3, size))


def _bounded(random: np.random.Generator, size: int, sources: float, most: float = MOST) -> tuple[str, Edges]:
    """Return a graph of which so many sources, a number or a share below 1 of the nodes, reach at most `most` nodes."""
    name = str(random.choice(list(GRAPHS)))
    while True:
        edges = GRAPHS[name](random, max(3, size))
        starts = sources if sources > 1 else sources * len(nodes_of(edges))
        if size <= 50 or mean_reach(random, edges, 1 + most / starts) * starts <= most:
            return name, edges
        size = int(size / 1.6)


def _described(name: str, edges: Edges) -> str:
    return f"{name}, {len(nodes_of(edges)):,} nodes, {len(edges):,} edges"


def _some(random: np.random.Generator, edges: Edges, count: float) -> Edges:
    """Return so many nodes of a graph, or a share of them, as facts of one column."""
    nodes = nodes_of(edges)
    number = max(1, min(len(nodes), int(count if count > 1 else count * len(nodes))))
    return random.choice(nodes, number, replace=False).reshape(-1, 1)


def reach_few(random: np.random.Generator, size: int) -> Made:
    """Reach from a few sources."""
    return _from_sources(random, size, REACH, float(random.integers(2, 51)))


def reach_one(random: np.random.Generator, size: int) -> Made:
    """Reach from one source."""
    return _from_sources(random, size, REACH, 1.5)


def reach_all(random: np.random.Generator, size: int) -> Made:
    """Reach from all nodes, or half of them."""
    return _from_sources(random, size, REACH, float(random.choice((0.5, 1.0))))


def even_odd(random: np.random.Generator, size: int) -> Made:
    """Two relations that define each other, from few sources or all."""
    return _from_sources(random, size, EVEN_ODD, float(random.choice((1.5, 10, 1.0))))


def hops(random: np.random.Generator, size: int) -> Made:
    """Distances within a number of steps, and how many nodes are near."""
    limit = int(random.choice((3, 6, 12)))
    made = _from_sources(random, size, HOPS.replace("{limit}", str(limit)), float(random.choice((5, 20, 0.3))), 6)
    return Made(made.program, made.facts, f"{made.graph}, at most {limit} hops")


def _from_sources(random: np.random.Generator, size: int, program: str, sources: float, repeated: int = 1) -> Made:
    name, edges = _bounded(random, size, sources, MOST / repeated)
    starts = _some(random, edges, sources)
    return Made(program, {"Edge": edges, "Source": starts}, f"{_described(name, edges)}, {len(starts):,} sources")


def closure(form: str) -> Family:
    """Return the closure in one of its forms, of the edges or of edges both ways."""

    def make(random: np.random.Generator, size: int) -> Made:
        both = random.random() < 0.25
        name, edges = _bounded(random, size, 1.0)
        if both:
            while len(edges) > 50 and _both_ways(random, edges) > MOST:
                edges = edges[: len(edges) // 2]
        program = f"{PATHS}{SYMMETRIC if both else ''}{CLOSURES[form]}\n"
        return Made(program, {"Edge": edges}, _described(name, edges) + (", both ways" if both else ""))

    return make


def _both_ways(random: np.random.Generator, edges: Edges) -> float:
    nodes = len(nodes_of(edges))
    return nodes * mean_reach(random, np.concatenate((edges, edges[:, ::-1])), 1 + MOST / nodes)


def colours(random: np.random.Generator, size: int) -> Made:
    """Paths whose edges alternate between two relations."""
    name, edges = _bounded(random, size, 1.0)
    red = random.random(len(edges)) < 0.5
    return Made(COLOURS, {"Red": edges[red], "Blue": edges[~red]}, _described(name, edges))


def fed(random: np.random.Generator, size: int) -> Made:
    """A closure that two recursive relations feed."""
    name, edges = _bounded(random, min(size, 4000), 1.0, MOST / 20)
    link = random.random(len(edges)) < 0.3
    facts = {"Edge": edges[~link], "Link": edges[link], "Closed": _some(random, edges, 0.05)}
    return Made(FED, facts, _described(name, edges))


def inverse(random: np.random.Generator, size: int) -> Made:
    """A closure with its inverse, which feeds it, and a symmetric relation."""
    size = min(size, 1200)
    name, edges = _graph(random, size)
    while len(edges) > 50 and _both_ways(random, edges) > MOST / 40:
        edges = edges[: len(edges) // 2]
    related = random.random(len(edges)) < 0.2
    return Made(INVERSE, {"Broader": edges[~related], "Related": edges[related]}, _described(name, edges))


def generation(random: np.random.Generator, size: int) -> Made:
    """Same generation."""
    name, edges = _graph(random, min(size, 700))
    return Made(GENERATION, {"Parent": edges}, _described(name, edges))


def counts(random: np.random.Generator, size: int) -> Made:
    """Counts and maxima over what nodes reach, and nodes that reach nothing."""
    name, edges = _bounded(random, size, 1.0, MOST / 2)
    nodes = nodes_of(edges)
    weights = np.stack((nodes, random.integers(0, 100, len(nodes))), axis=1)
    return Made(COUNTS, {"Edge": edges, "Weight": weights}, _described(name, edges))


OVER_GRAPHS: Mapping[str, Family] = {
    "reach from one": reach_one,
    "reach from few": reach_few,
    "reach from all": reach_all,
    **{f"closure, {form}": closure(form) for form in CLOSURES},
    "mutual, even and odd": even_odd,
    "mutual, two colours": colours,
    "closure fed by two": fed,
    "closure with inverse": inverse,
    "same generation": generation,
    "hops with a limit": hops,
    "counts over a closure": counts,
}

"""Families of graphs: each makes about as many distinct edges as it is asked for, from a random generator.

An edge is a row of an array of two columns. Which nodes there are is what the edges say. `mean_reach` samples how many
nodes a node reaches, which bounds what a closure of the graph has before anything is evaluated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

Edges = npt.NDArray[np.int64]
Make = Callable[[np.random.Generator, int], Edges]
SAMPLE = 16
"""Nodes from which `mean_reach` searches."""


def distinct(rows: Edges) -> Edges:
    """Return rows without repetitions, in an order that does not depend on how they were made."""
    return np.unique(rows, axis=0)


def random_pairs(random: np.random.Generator, nodes: int, edges: int) -> Edges:
    """Return edges between any two nodes."""
    return distinct(random.integers(0, max(2, nodes), (edges, 2)))


def random_graph(degree: float) -> Make:
    """Return the family of random graphs with a mean degree."""
    return lambda random, edges: random_pairs(random, int(edges / degree), edges)


def power_law(random: np.random.Generator, edges: int) -> Edges:
    """Return edges between nodes of which few have most: the k-th is drawn in proportion to k^(-2/3)."""
    nodes = max(2, edges // int(random.integers(2, 9)))
    return distinct((nodes * random.random((edges, 2)) ** 3).astype(np.int64))


def grid(random: np.random.Generator, edges: int) -> Edges:
    """Return a grid whose edges go right and down; it is square, or four times as long as wide."""
    long = int(random.choice((1, 4)))
    width = max(2, int((edges / 2 / long) ** 0.5))
    cells = np.arange(width * width * long).reshape(width * long, width)
    right = np.stack((cells[:, :-1].ravel(), cells[:, 1:].ravel()), axis=1)
    down = np.stack((cells[:-1].ravel(), cells[1:].ravel()), axis=1)
    return distinct(np.concatenate((right, down)))


def tree(random: np.random.Generator, edges: int) -> Edges:
    """Return a tree of random parents or with a fixed number of children, its edges to the root or away from it."""
    children = np.arange(1, edges + 1)
    fan_out = int(random.choice((0, 2, 3, 10)))
    parents = (children - 1) // fan_out if fan_out else (children * random.random(edges)).astype(np.int64)
    pair = (parents, children) if random.random() < 0.5 else (children, parents)
    return distinct(np.stack(pair, axis=1))


def chains(random: np.random.Generator, edges: int) -> Edges:
    """Return one chain, or chains of equal length."""
    nodes = np.arange(edges + 1)
    pairs = np.stack((nodes[:-1], nodes[1:]), axis=1)
    length = int(random.choice((edges + 2, 10, 100, 1000)))
    return distinct(pairs[pairs[:, 0] % length != length - 1])


def components(random: np.random.Generator, edges: int) -> Edges:
    """Return many small random graphs side by side."""
    size, degree = int(random.integers(3, 60)), float(random.choice((1.0, 1.5, 3.0)))
    count = max(1, int(edges / (size * degree)))
    starts = random.integers(0, count, edges) * size
    return distinct(starts[:, None] + random.integers(0, size, (edges, 2)))


def cliques(random: np.random.Generator, edges: int) -> Edges:
    """Return complete graphs of equal size side by side, loops left out."""
    size = int(random.integers(3, max(4, min(60, int(edges**0.5) + 2))))
    one, other = np.nonzero(~np.eye(size, dtype=bool))
    count = max(1, edges // len(one))
    starts = np.repeat(np.arange(count) * size, len(one))
    return np.stack((starts + np.tile(one, count), starts + np.tile(other, count)), axis=1)


def acyclic(random: np.random.Generator, edges: int) -> Edges:
    """Return edges from smaller to larger nodes: any larger one, or one not far away, which makes it deep."""
    degree = float(random.choice((1.0, 2.0, 5.0, 10.0)))
    nodes = max(3, int(edges / degree))
    reach = nodes if random.random() < 0.5 else min(nodes, 20)
    start = random.integers(0, nodes - 1, edges)
    return distinct(np.stack((start, np.minimum(start + random.integers(1, reach, edges), nodes - 1)), axis=1))


GRAPHS: Mapping[str, Make] = {
    **{f"random, degree {degree:g}": random_graph(degree) for degree in (0.5, 1, 1.2, 2, 4, 10)},
    "power law": power_law,
    "grid": grid,
    "tree": tree,
    "chains": chains,
    "components": components,
    "cliques": cliques,
    "acyclic": acyclic,
}


def nodes_of(edges: Edges) -> npt.NDArray[np.int64]:
    """Return the nodes of a graph in order."""
    return np.unique(edges)


def mean_reach(random: np.random.Generator, edges: Edges, most: float) -> float:
    """Return how many nodes a node reaches in the mean, from a sample; a search ends once it has found `most`."""
    if not len(edges):
        return 0.0
    nodes, places = np.unique(edges, return_inverse=True)
    pairs = places.reshape(edges.shape)
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    first = np.searchsorted(pairs[:, 0], np.arange(len(nodes) + 1))
    starts = random.integers(0, len(nodes), SAMPLE)
    return float(np.mean([_reach(pairs[:, 1], first, int(start), most) for start in starts]))


def _reach(targets: Edges, first: Edges, start: int, most: float) -> int:
    seen, waiting = {start}, [start]
    while waiting and len(seen) < most:
        node = waiting.pop()
        new = set(targets[first[node] : first[node + 1]].tolist()) - seen
        seen |= new
        waiting += new
    return len(seen)

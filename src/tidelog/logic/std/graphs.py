"""Module `graph`: transformers, which get all edges as a vector and make pairs of nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidelog.base.graph import components
from tidelog.base.process.growth import counted
from tidelog.base.values import Value, in_order, order_key

Pairs = tuple[tuple[Value, Value], ...]
End = Callable[[Value], Value]


def strong_components(edges: tuple[Value, ...], start: End, end: End) -> Pairs:
    """Label each node on a cycle with the least node of its strongly connected component."""
    successors = _successors(edges, start, end)
    labels: list[tuple[Value, Value]] = []
    for component in components(successors):
        if len(component) > 1 or component[0] in successors[component[0]]:
            least = min(component, key=order_key)
            labels += [(node, least) for node in component]
    return tuple(labels)


def least_origins(edges: tuple[Value, ...], start: End, end: End) -> Pairs:
    """Label each node that an edge leads to with the least of these from which it can be reached."""
    successors = _successors(edges, start, end)
    labels: dict[Value, Value] = {}
    for least in in_order({node for ends in successors.values() for node in ends}):
        waiting = [least]
        while waiting:
            node = waiting.pop()
            if node not in labels:
                labels[node] = least
                waiting += successors[node]
    return tuple(labels.items())


def both_ways(edges: tuple[Value, ...], start: End, end: End) -> Pairs:
    """Return the edges between two different nodes whose opposite is an edge, too."""
    successors = _successors(edges, start, end)
    pairs = ((a, b) for a, ends in successors.items() for b in ends)
    return tuple([(a, b) for a, b in pairs if a != b and a in successors[b]])


def _successors(edges: tuple[Value, ...], start: End, end: End) -> dict[Value, dict[Value, None]]:
    """Return the nodes that edges lead to from each node, of which some may have none."""
    found: dict[Value, dict[Value, None]] = {}
    for edge in counted(edges):
        after = end(edge)
        found.setdefault(start(edge), {})[after] = None
        found.setdefault(after, {})
    return found


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "SCC": strong_components,
    "ConnectedComponents": least_origins,
    "ConnectedComponents64": least_origins,
    "UnsafeBidirectionalEdges": both_ways,
}

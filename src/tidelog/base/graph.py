"""Directed graphs over hashable nodes: components, order, a shortest cycle. Iterative, so depth is no limit."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable, Mapping
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(successors: Mapping[Node, Iterable[Node]]) -> list[list[Node]]:
    """Return the strongly connected components, each after all components it points to (Tarjan 1972).

    >>> components({"a": ["b"], "b": ["a", "c"], "c": []})
    [['c'], ['a', 'b']]
    """
    index: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_nodes: dict[Node, None] = {}
    found: list[list[Node]] = []
    for root in successors:
        if root in index:
            continue
        work = [(root, iter(successors[root]))]
        index[root] = low[root] = len(index)
        open_nodes[root] = None
        while work:
            node, rest = work[-1]
            for next_node in rest:
                if next_node not in index:
                    index[next_node] = low[next_node] = len(index)
                    open_nodes[next_node] = None
                    work.append((next_node, iter(successors.get(next_node, ()))))
                    break
                if next_node in open_nodes:
                    low[node] = min(low[node], index[next_node])
            else:
                work.pop()
                if work:
                    parent = work[-1][0]
                    low[parent] = min(low[parent], low[node])
                if low[node] == index[node]:
                    component: list[Node] = []
                    while not component or component[-1] != node:
                        component.append(open_nodes.popitem()[0])
                    found.append(sorted(component, key=index.__getitem__))
    return found


def path(successors: Mapping[Node, Iterable[Node]], start: Node, goal: Node) -> list[Node] | None:
    """Return the nodes of a shortest path with at least one edge, or None.

    >>> path({"a": ["b"], "b": ["a"]}, "a", "a")
    ['a', 'b', 'a']
    """
    before: dict[Node, Node] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for next_node in successors.get(node, ()):
            if next_node == goal:
                back = [next_node, node]
                while back[-1] != start:
                    back.append(before[back[-1]])
                return back[::-1]
            if next_node not in before and next_node != start:
                before[next_node] = node
                queue.append(next_node)
    return None

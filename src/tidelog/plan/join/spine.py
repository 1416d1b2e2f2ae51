"""Walking algebra trees without recursion: a rule with a thousand atoms is a tree a thousand nodes deep.

A left-deep tree is a pipeline. Its *spine* is the chain of nodes from the leftmost leaf up to the root; what stands
beside the spine are the right sides of joins, products and anti-joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from tidelog.plan.nodes import (
    Aggregate,
    AntiJoin,
    Extend,
    Join,
    Node,
    Product,
    Project,
    Scan,
    Select,
    Unit,
    Unnest,
)


def below(node: Node) -> Node | None:
    """Return the node's left or only input, None for a leaf of a pipeline (an `Aggregate` and its scan are one)."""
    match node:
        case Unit() | Scan() | Aggregate():
            return None
        case Select(input=left) | Extend(input=left) | Unnest(input=left) | Project(input=left):
            return left
        case Product(left=left) | Join(left=left) | AntiJoin(left=left):
            return left
        case _:
            assert_never(node)


def beside(node: Node) -> Node | None:
    """Return the right side of a join, product or anti-join, None for other nodes."""
    match node:
        case Product(right=right) | Join(right=right) | AntiJoin(right=right):
            return right
        case _:
            return None


def spine(tree: Node) -> list[Node]:
    """Return the nodes from the leftmost leaf up to the root."""
    found = [tree]
    while (left := below(found[-1])) is not None:
        found.append(left)
    found.reverse()
    return found


def scans(tree: Node) -> Iterator[Scan]:
    """The scans of a tree from left to right, those inside aggregates and anti-joins included."""
    for node in spine(tree):
        leaf = beside(node) or node
        match leaf:
            case Scan():
                yield leaf
            case Aggregate(input=scan):
                yield scan
            case Select() | Extend() | Unnest() | Product() | Join() | AntiJoin() if leaf is not node:
                yield from scans(leaf)
            case _:
                pass


def rebuild(tree: Node, leaf: Callable[[Node], Node], step: Callable[[Node, Node], Node]) -> Node:
    """Build a tree anew from its leftmost leaf upwards: `leaf(node)`, then `step(node, new left input)`."""
    nodes = iter(spine(tree))
    current = leaf(next(nodes))
    for node in nodes:
        current = step(node, current)
    return current


def with_left(node: Node, left: Node) -> Node:
    """Return the node over another left input; columns stay as they are."""
    match node:
        case Unit() | Scan() | Aggregate():
            return node
        case Select() | Extend() | Unnest() | Project():
            return replace(node, input=left)
        case Product() | Join() | AntiJoin():
            return replace(node, left=left)
        case _:
            assert_never(node)

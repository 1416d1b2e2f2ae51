"""Walking algebra trees without recursion: a rule with a thousand atoms is a tree a thousand nodes deep.

A left-deep tree is a pipeline. Its *spine* is the chain of nodes from the leftmost leaf up to the root; what stands
beside the spine are the right sides of joins, products and anti-joins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import assert_never

from tidelog.plan import nodes


def below(node: nodes.Node) -> nodes.Node | None:
    """Return the node's left or only input, None for a leaf of a pipeline (an `Aggregate` and its scan are one)."""
    match node:
        case nodes.Unit() | nodes.Scan() | nodes.Aggregate():
            return None
        case nodes.Select(input=left) | nodes.Extend(input=left) | nodes.Unnest(input=left) | nodes.Project(input=left):
            return left
        case nodes.Product(left=left) | nodes.Join(left=left) | nodes.AntiJoin(left=left):
            return left
        case _:
            assert_never(node)


def beside(node: nodes.Node) -> nodes.Node | None:
    """Return the right side of a join, product or anti-join, None for other nodes."""
    match node:
        case nodes.Product(right=right) | nodes.Join(right=right) | nodes.AntiJoin(right=right):
            return right
        case _:
            return None


def spine(tree: nodes.Node) -> list[nodes.Node]:
    """Return the nodes from the leftmost leaf up to the root."""
    found = [tree]
    while (left := below(found[-1])) is not None:
        found.append(left)
    found.reverse()
    return found


def scans(tree: nodes.Node) -> Iterator[nodes.Scan]:
    """The scans of a tree from left to right, those inside aggregates and anti-joins included."""
    for node in spine(tree):
        leaf = beside(node) or node
        match leaf:
            case nodes.Scan():
                yield leaf
            case nodes.Aggregate(input=scan):
                yield scan
            case (
                nodes.Select() | nodes.Extend() | nodes.Unnest() | nodes.Product() | nodes.Join() | nodes.AntiJoin()
            ) if leaf is not node:
                yield from scans(leaf)
            case _:
                pass


def rebuild(
    tree: nodes.Node, leaf: Callable[[nodes.Node], nodes.Node], step: Callable[[nodes.Node, nodes.Node], nodes.Node]
) -> nodes.Node:
    """Build a tree anew from its leftmost leaf upwards: `leaf(node)`, then `step(node, new left input)`."""
    upwards = iter(spine(tree))
    current = leaf(next(upwards))
    for node in upwards:
        current = step(node, current)
    return current


def with_left(node: nodes.Node, left: nodes.Node) -> nodes.Node:
    """Return the node over another left input; columns stay as they are."""
    match node:
        case nodes.Unit() | nodes.Scan() | nodes.Aggregate():
            return node
        case nodes.Select() | nodes.Extend() | nodes.Unnest() | nodes.Project():
            return replace(node, input=left)
        case nodes.Product() | nodes.Join() | nodes.AntiJoin():
            return replace(node, left=left)
        case _:
            assert_never(node)

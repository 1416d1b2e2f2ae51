"""Trees of algebra as indented lines, for tests to compare."""

from __future__ import annotations

from typing import assert_never

from tidelog.base.text.show import show_expression
from tidelog.plan import nodes
from tidelog.plan.join.spine import below, beside
from tidelog.plan.show.text import show_aggregate, show_scan


def show_tree(tree: nodes.Node) -> str:
    """Write a tree, each node above and left of its inputs."""
    lines: list[str] = []
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        lines.append("  " * depth + show_node(node))
        right, left = beside(node), below(node)
        if right is not None:
            stack.append((right, depth + 1))
        if left is not None:
            stack.append((left, depth + 1))
    return "\n".join(lines)


def show_node(node: nodes.Node) -> str:
    """Write a node without its inputs."""
    match node:
        case nodes.Unit():
            return "one row"
        case nodes.Scan():
            return f"scan {show_scan(node)}"
        case nodes.Select(condition=condition):
            return f"select {show_expression(condition)}"
        case nodes.Extend(variable=variable, expression=expression):
            return f"extend {variable.name} = {show_expression(expression)}"
        case nodes.Unnest(variable=variable, expression=expression):
            return f"unnest {variable.name} in {show_expression(expression)}"
        case nodes.Product():
            return "product"
        case nodes.Join(keys=keys):
            return f"join on {', '.join(key.name for key in keys)}"
        case nodes.AntiJoin(keys=keys):
            return f"antijoin on {', '.join(key.name for key in keys)}" if keys else "antijoin"
        case nodes.Aggregate():
            return f"aggregate {show_aggregate(node)}"
        case nodes.Project(relation=relation, expressions=expressions):
            return f"project {relation}({', '.join(map(show_expression, expressions))})"
        case _:
            assert_never(node)

"""One node of algebra as a line of text, and a tree as indented lines.

A line says what its node does to the rows below it: `join on y`, `select z > 3`. A scan shows its version unless it
reads the current state, and `_` for a column it drops.
"""

from __future__ import annotations

from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.base.free import substitute
from tidelog.base.text.show import show_expression, show_value
from tidelog.plan import nodes
from tidelog.plan.join.spine import below, beside


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
            return f"join on {_names(keys)}"
        case nodes.AntiJoin(keys=keys):
            return f"antijoin on {_names(keys)}" if keys else "antijoin"
        case nodes.Aggregate():
            return f"aggregate {show_aggregate(node)}"
        case nodes.Project(relation=relation, expressions=expressions):
            return f"project {relation}({', '.join(map(show_expression, expressions))})"
        case _:
            assert_never(node)


def show_scan(scan: nodes.Scan) -> str:
    """Write a scan: version, relation, terms."""
    version = "" if scan.version is nodes.Version.ALL else f"{scan.version.value} "
    return f"{version}{scan.relation}({', '.join(map(_term, scan.terms))})"


def show_aggregate(node: nodes.Aggregate) -> str:
    """Write an aggregate: over what, by which keys, and what it computes of each group."""
    keys = f" by {_names(node.keys)}" if node.keys else ""
    members = Var(show_expression(node.value), node.group.type)
    reduce = show_expression(substitute(node.reduce, {node.group.name: members}))
    return f"{show_scan(node.input)}{keys} with {node.result.name} = {reduce}"


def _term(term: Var | Const | None) -> str:
    match term:
        case None:
            return "_"
        case Var(name):
            return name
        case Const(value):
            return show_value(value)


def _names(variables: tuple[Var, ...]) -> str:
    return ", ".join(variable.name for variable in variables)

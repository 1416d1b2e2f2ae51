"""A plan as a graph for Graphviz: a box a stratum, relations as ellipses (inputs as boxes), rules as notes.

    dot -Tsvg plan.dot > plan.svg

Edges from negated and aggregated atoms are dashed and marked.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.plan.nodes import Plan, Relation
from tidelog.plan.show.rule_graph import RuleGraph, rule_graph, rule_label


def show_dot(plan: Plan) -> str:
    """Write a plan in the DOT language."""
    graph = rule_graph(plan)
    lines = ["digraph plan {", "  rankdir=LR;", '  node [fontname="sans-serif"];']
    lines += [f"  {_relation(relation, graph)}" for relation in graph.outside]
    for stratum in plan.strata:
        recursive = ", recursive" if stratum.recursive else ""
        lines += [f"  subgraph cluster{stratum.number} {{", f'    label="stratum {stratum.number}{recursive}";']
        lines += [f"    {_relation(plan.relations[name], graph)}" for name in stratum.relations]
        lines += [
            f"    {graph.rules[rule.identity]} [shape=note, fontsize=10, label={_quote(rule_label(rule))}];"
            for rule in stratum.rules
        ]
        lines.append("  }")
    lines += [f"  {edge}" for edge in _edges(plan, graph)]
    return "\n".join([*lines, "}", ""])


def _relation(relation: Relation, graph: RuleGraph) -> str:
    shape = "box" if relation.role == "input" else "ellipse"
    style = ", style=bold" if relation.role == "output" else ", style=dotted" if relation.auxiliary else ""
    return f"{graph.relations[relation.name]} [shape={shape}{style}, label={_quote(relation.name)}];"


def _edges(plan: Plan, graph: RuleGraph) -> Iterator[str]:
    for reading in graph.readings:
        dashed = f" [style=dashed, label={_quote(reading.mark)}]" if reading.mark else ""
        yield f"{graph.relations[reading.relation]} -> {graph.rules[reading.rule]}{dashed};"
    for stratum in plan.strata:
        for rule in stratum.rules:
            yield f"{graph.rules[rule.identity]} -> {graph.relations[rule.head]};"


def _quote(text: str) -> str:
    r"""Write a DOT string, in which only the quote and the backslash have a meaning.

    >>> print(_quote('a "b" c'))
    "a \"b\" c"
    """
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

"""A plan as a Mermaid flowchart, which many pages and editors draw: the same graph as `show_dot`."""

from __future__ import annotations

from tidelog.plan.nodes import Plan, Relation
from tidelog.plan.show.rule_graph import RuleGraph, rule_graph, rule_label

_SPECIAL = str.maketrans({c: f"#{ord(c)};" for c in '"#&<>`\\'})


def show_mermaid(plan: Plan) -> str:
    """Write a plan as a Mermaid flowchart."""
    graph = rule_graph(plan)
    lines = ["flowchart LR"]
    lines += [f"  {_relation(relation, graph)}" for relation in graph.outside]
    for stratum in plan.strata:
        recursive = ", recursive" if stratum.recursive else ""
        lines.append(f'  subgraph stratum{stratum.number}["stratum {stratum.number}{recursive}"]')
        lines += [f"    {_relation(plan.relations[name], graph)}" for name in stratum.relations]
        lines += [f"    {graph.rules[rule.identity]}>{_quote(rule_label(rule))}]" for rule in stratum.rules]
        lines.append("  end")
    for reading in graph.readings:
        arrow = f"-. {reading.mark} .->" if reading.mark else "-->"
        lines.append(f"  {graph.relations[reading.relation]} {arrow} {graph.rules[reading.rule]}")
    for stratum in plan.strata:
        lines += [f"  {graph.rules[rule.identity]} --> {graph.relations[rule.head]}" for rule in stratum.rules]
    return "\n".join([*lines, ""])


def _relation(relation: Relation, graph: RuleGraph) -> str:
    left, right = ("[", "]") if relation.role == "input" else ("([", "])")
    return f"{graph.relations[relation.name]}{left}{_quote(relation.name)}{right}"


def _quote(text: str) -> str:
    """Write a Mermaid label; characters with a meaning become numeric entities.

    >>> _quote('not "x" < 3')
    '"not #34;x#34; #60; 3"'
    """
    return f'"{text.translate(_SPECIAL)}"'

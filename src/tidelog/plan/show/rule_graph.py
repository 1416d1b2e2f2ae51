"""The graph that pictures of a plan show: relations and rules, in strata, with the edges between them.

A rule points to its head; a relation points to the rules that read it. Edges from negated and from aggregated atoms
are marked, since their relation must be complete first.
"""

from __future__ import annotations

from collections.abc import Iterator

from tidelog.base.record import record
from tidelog.plan.nodes import Plan, Relation, Rule


@record
class Reading:
    """A rule reads a relation; `mark` is empty, `not` or `group`."""

    relation: str
    rule: str
    mark: str


@record
class RuleGraph:
    """Short identifiers for relations and rules (by identity), and what to draw."""

    relations: dict[str, str]
    rules: dict[str, str]
    readings: tuple[Reading, ...]
    outside: tuple[Relation, ...]


def rule_graph(plan: Plan) -> RuleGraph:
    """Return the graph of a plan; `outside` are the relations without a stratum."""
    rules = [rule for stratum in plan.strata for rule in stratum.rules]
    derived = {name for stratum in plan.strata for name in stratum.relations}
    used = {name for rule in rules for name in rule.reads}
    return RuleGraph(
        {name: f"relation{i}" for i, name in enumerate(plan.relations)},
        {rule.identity: f"rule{i}" for i, rule in enumerate(rules)},
        tuple(reading for rule in rules for reading in _readings(rule)),
        tuple(r for name, r in plan.relations.items() if name not in derived and (name in used or not r.auxiliary)),
    )


def _readings(rule: Rule) -> Iterator[Reading]:
    seen = set()
    for relation, negated, aggregated in zip(rule.reads, rule.negated, rule.aggregated, strict=True):
        reading = Reading(relation, rule.identity, "group" if aggregated else "not" if negated else "")
        if reading not in seen:
            seen.add(reading)
            yield reading


def rule_label(rule: Rule, longest: int = 60) -> str:
    """Return the rule's name, or its text on one line, cut if it is long."""
    text = rule.origin.name or " ".join(rule.origin.text.split())
    return text if len(text) <= longest else text[: longest - 1] + "…"

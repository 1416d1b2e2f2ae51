"""Rewrite a nonlinear closure to a linear one, which partitions by its source column.

    T(x, y) :- Feed(x, y).                      T(x, y) :- Feed(x, y).
    T(x, z) :- T(x, y), T(y, z).      becomes   T(x, z) :- T(x, y), T#step(y, z).

where `T#step` holds what the other rules derive. A path of T is a row of such steps, so the relation is the same; its
derivations are others, hence ranks and support counts of the one are not those of the other. Only where nothing else
in the stratum recurses, and the closure is not symmetric as well.
"""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tidelog.base.record import record
from tidelog.plan.closures.recognise import Form, Kind, closures
from tidelog.plan.join.spine import rebuild, scans, with_left
from tidelog.plan.nodes import Join, Node, Project, Rule, Scan, Stratum, Variant


@record
class Linearised:
    """A closure's stratum with linear rules, the relation of its steps, and the columns it runs from and to."""

    stratum: Stratum
    step: str
    source: int
    target: int


def step_name(relation: str) -> str:
    """Return the name of the relation that holds the steps of a closure."""
    return f"{relation}#step"


def linearise(stratum: Stratum) -> Linearised | None:
    """Return a stratum that is one nonlinear transitive closure with linear rules; None for any other."""
    found = closures(stratum)
    if len(found) != 1:
        return None
    closure = found[0]
    if not closure.alone or closure.form is not Form.NONLINEAR or closure.kind is not Kind.TRANSITIVE:
        return None
    step = step_name(closure.relation)
    made = {rule.identity: linear(rule, closure.source, step) for rule in closure.rules}
    rules = tuple(made.get(rule.identity, rule) for rule in stratum.rules)
    return Linearised(replace(stratum, rules=rules), step, closure.source, closure.target)


def linear(rule: Rule, source: int, step: str) -> Rule:
    """Let the atom that does not have the head's source read the steps."""
    start = rule.body.expressions[source]
    return reading(rule, next(scan.occurrence for scan in scans(rule.body) if scan.terms[source] != start), step)


def reading(rule: Rule, occurrence: int, relation: str) -> Rule:
    """Let one occurrence read another relation."""
    reads = tuple(relation if number == occurrence else name for number, name in enumerate(rule.reads))
    variants = tuple(replace(one, tree=_with_step(one.tree, occurrence, relation)) for one in rule.variants)
    full = Variant(None, negative=False, tree=_with_step(rule.full.tree, occurrence, relation))
    body = _with_step(rule.body, occurrence, relation)
    return replace(rule, body=body, full=full, variants=variants, reads=reads, probes=(), source=None)


def _with_step(tree: Project, occurrence: int, step: str) -> Project:
    def leaf(node: Node) -> Node:
        return replace(node, relation=step) if isinstance(node, Scan) and node.occurrence == occurrence else node

    def over(node: Node, left: Node) -> Node:
        moved = with_left(node, left)
        return replace(moved, right=leaf(moved.right)) if isinstance(moved, Join) else moved

    return cast("Project", rebuild(tree, leaf, over))

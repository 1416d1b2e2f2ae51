"""Plan each rule by itself: its definition in algebra, the best order from scratch, one for each delta.

A rule that an earlier plan has under the same identity and that has not changed keeps its `Rule` object, so planning
after a small change costs what the change does, and an engine sees by `is` what stayed.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import partial

from tidelog.logic import program as logic
from tidelog.plan.join.assemble import assemble
from tidelog.plan.join.choose_indexes import probes_of
from tidelog.plan.join.delta_variants import delta_variants
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.order_joins import order_body, simplify
from tidelog.plan.join.parts import Absent, Body, Present
from tidelog.plan.join.translate import parts_of
from tidelog.plan.lazy import Lazy
from tidelog.plan.nodes import Rule, Scan, Variant


def plan_rules(
    rules: Iterable[logic.Rule], earlier: Mapping[str, Rule], estimate: Estimate, made: Container[str] = ()
) -> list[Rule]:
    """Plan the rules in order, taking unchanged ones from `earlier` (by identity).

    Those of relations that were `made` for others are counted apart, so that they may come and go.
    """
    seen: dict[str, int] = {}
    planned = []
    for rule in rules:
        name = rule.origin.name or rule.origin.text
        if rule.head in made:
            name = f"{name} for {rule.head}"
        seen[name] = number = seen.get(name, 0) + 1
        identity = name if number == 1 else f"{name} #{number}"
        known = earlier.get(identity)
        if known is not None and (known.source is rule or known.source == rule):
            planned.append(known)
        else:
            planned.append(plan_rule(rule, identity, estimate))
    return planned


def plan_rule(rule: logic.Rule, identity: str, estimate: Estimate) -> Rule:
    """Plan one rule."""
    body = Body(tuple(parts_of(rule.body)), rule.head, rule.arguments)
    definition = assemble(body, range(len(body.parts)), prune=False)
    atoms = [part for part in body.parts if isinstance(part, Present | Absent)]
    simple = simplify(body)
    full = Variant(None, False, order_body(simple, None, estimate))
    variants = Lazy(partial(delta_variants, simple, estimate))
    return Rule(
        identity=identity,
        head=rule.head,
        body=definition,
        full=full,
        variants=variants,
        reads=tuple([atom.scan.relation for atom in atoms]),
        negated=tuple([not (isinstance(atom, Present) and isinstance(atom.node, Scan)) for atom in atoms]),
        aggregated=tuple([isinstance(atom, Present) and not isinstance(atom.node, Scan) for atom in atoms]),
        origin=rule.origin,
        probes=Lazy(lambda: probes_of(variant.tree for variant in (full, *variants))),
        source=rule,
    )

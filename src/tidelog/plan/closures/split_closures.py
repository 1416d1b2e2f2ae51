"""Give what feeds a closure a relation and a stratum of its own.

    stratum T                                    stratum T#fed
      T(x, y) :- E(x, y).                          T#fed(x, y) :- E(x, y).
      T(x, y) :- F(x, z), G(z, y).           =>    T#fed(x, y) :- F(x, z), G(z, y).
      T(x, z) :- T(x, y), T(y, z).               stratum T
                                                   T(x, y) :- T#fed(x, y).
                                                   T(x, z) :- T(x, y), T(y, z).

An engine that keeps closures in structures of their own has to know when a tuple is no longer fed: by counting its
derivations in the relation fed, like those of any relation. A closure that is fed by one rule which copies a relation
needs none, and remains as it is. For the engine alone: nobody else sees the plan that comes out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from tidelog.base.expr import Const, Var
from tidelog.plan.closures.recognise import Closure, closure_of, head_terms
from tidelog.plan.join.spine import spine
from tidelog.plan.lazy import Lazy
from tidelog.plan.nodes import Origin, Plan, Project, Relation, Rule, Scan, Stratum, Variant, Version

Wanted = Callable[[Stratum, Plan], bool]
"""Tells of which strata closures are wanted."""


def split_closures(plan: Plan, wanted: Wanted, earlier: Plan | None = None) -> Plan:
    """Return the plan with the feeds of closures apart; rules that `earlier` has too are the same objects."""
    known = {(rule.head, rule.identity): rule for s in earlier.strata for rule in s.rules} if earlier else {}
    relations = dict(plan.relations)
    strata: list[Stratum] = []
    for stratum in plan.strata:
        closure = closure_of(stratum) if wanted(stratum, plan) else None
        if closure is None or copies(closure) is not None:
            strata.append(stratum)
            continue
        own = plan.relations[closure.relation]
        fed = relations[fed_name(own.name)] = replace(
            own, name=fed_name(own.name), role="internal", primary_key=None, auxiliary=True
        )
        made = tuple(unchanged(known.get((fed.name, rule.identity)), feeding(rule, fed.name)) for rule in closure.feeds)
        strata.append(Stratum(stratum.number, (fed.name,), recursive=False, rules=made))
        copy = copying(own, fed)
        copy = unchanged(known.get((own.name, copy.identity)), copy)
        strata.append(replace(stratum, rules=(copy, *closure.rules)))
    return plan if len(strata) == len(plan.strata) else replace(plan, relations=relations, strata=tuple(strata))


def fed_name(relation: str) -> str:
    """Return the name of the relation of what feeds a closure."""
    return f"{relation}#fed"


def copies(closure: Closure) -> Scan | None:
    """Return the scan of the only feed, if each tuple it finds gives another tuple of the closure."""
    if len(closure.feeds) != 1:
        return None
    head, nodes = head_terms(closure.feeds[0]), spine(closure.feeds[0].body)
    if head is None or len(nodes) != 2 or not isinstance(nodes[0], Scan):
        return None
    return nodes[0] if all(isinstance(term, Const) or term in head for term in nodes[0].terms) else None


def unchanged(before: Rule | None, rule: Rule) -> Rule:
    """Return the rule as it was before, if it has not changed."""
    if before is None or before.source != rule.source:
        return rule
    return before if rule.source is not None or before.body == rule.body else rule


def feeding(rule: Rule, head: str) -> Rule:
    """Return the rule with another head."""

    def turned(variant: Variant) -> Variant:
        return replace(variant, tree=replace(variant.tree, relation=head))

    def variants() -> Iterator[Variant]:
        return map(turned, rule.variants)

    body = replace(rule.body, relation=head)
    return replace(rule, head=head, body=body, full=turned(rule.full), variants=Lazy(variants))


def copying(own: Relation, fed: Relation) -> Rule:
    """Return the rule by which a relation has what feeds it."""
    variables = tuple(Var(f"x{number}", column.type) for number, column in enumerate(own.columns))

    def tree(version: Version) -> Project:
        return Project(Scan(fed.name, variables, version, 0, variables), own.name, variables)

    full, delta = (
        Variant(None, negative=False, tree=tree(Version.ALL)),
        Variant(0, negative=False, tree=tree(Version.DELTA)),
    )
    origin = Origin(f"{own.name} as it is fed", None)
    return Rule(fed.name, own.name, full.tree, full, (delta,), (fed.name,), (False,), (False,), origin)

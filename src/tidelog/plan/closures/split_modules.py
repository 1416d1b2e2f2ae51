"""Let a closure that other rules of its own stratum feed be a module beside them.

    stratum T, R                                 stratum T, T#fed, R
      T(x, y) :- E(x, y).                          T#fed(x, y) :- E(x, y).
      T(x, y) :- R(x, y).                    =>    T#fed(x, y) :- R(x, y).
      T(x, z) :- T(x, y), T(y, z).                 T is T#fed, closed: a `ClosureRule`
      R(x, z) :- T(x, y), F(y, z).                 R(x, z) :- T(x, y), F(y, z).

What the other rules derive is *external* (Hu, Motik and Horrocks, sections 5 and 6), and all tuples of T follow from it
by the rules of the module. These become one rule, which engines evaluate by the functions of the module (their `Add`,
`Diff`, `Del` and `Red`); each tuple of T is one derivation of it. Rounds are the turns that modules take (Algorithms 2
and 3): in each, all rules see what all others have derived, deleted or rederived.

The trees of a `ClosureRule` read the relation fed as a rule that copies it would: they say which delta it waits for.
For the engine alone: nobody else sees the plan that comes out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, fields, replace
from typing import Any

from tidelog.base.record import record
from tidelog.plan.closures.recognise import Closure, Form, closures
from tidelog.plan.closures.split_closures import Wanted, copying, fed_name, feeding, unchanged
from tidelog.plan.nodes import Plan, Relation, Rule, Stratum, shown


@record
class ClosureRule(Rule):
    """All rules of a closure in one: what its relation holds, given what feeds it, the one relation that it reads."""

    closure: Closure | None = field(default=None, compare=False, repr=False)

    @property
    def external(self) -> str:
        """The relation of what feeds the closure."""
        return self.reads[0]

    @property
    def told(self) -> str:
        """What it does, in words for users."""
        assert self.closure is not None
        return f"{self.closure.kind.value} closure"


def told(rule: Rule) -> str:
    """Return a rule as users know it: their text, or which module it stands for."""
    (relation,) = shown([rule.head])
    if isinstance(rule, ClosureRule):
        return f"module of {relation}: {rule.told}"
    return f"{relation} as its module has it" if rule.identity in rule.reads else rule.identity


def split_modules(plan: Plan, wanted: Wanted, earlier: Plan | None = None) -> Plan:
    """Return the plan with closures as modules of their strata; rules that `earlier` has too are the same objects."""
    known = {(rule.head, rule.identity): rule for s in earlier.strata for rule in s.rules} if earlier else {}
    relations = dict(plan.relations)
    strata: list[Stratum] = []
    for stratum in plan.strata:
        found = [closure for closure in closures(stratum) if is_module(closure)]
        if not found or not wanted(stratum, plan):
            strata.append(stratum)
            continue
        rules = [rule for rule in stratum.rules if rule.head not in {closure.relation for closure in found}]
        names = list(stratum.relations)
        for closure in found:
            own = plan.relations[closure.relation]
            name = fed_name(own.name)
            relations[name] = replace(own, name=name, role="internal", primary_key=None, auxiliary=True)
            names.append(name)
            rules += [_known(known, rule) for rule in _module(closure, own, relations[name])]
        strata.append(replace(stratum, relations=tuple(names), rules=tuple(rules)))
    return replace(plan, relations=relations, strata=tuple(strata)) if len(relations) > len(plan.relations) else plan


def is_module(closure: Closure) -> bool:
    """Tell whether a closure shares its stratum, and is all of its relation."""
    return closure.form is Form.NONLINEAR and not closure.alone and not closure.constants


def _known(known: Mapping[tuple[str, str], Rule], rule: Rule) -> Rule:
    before = known.get((rule.head, rule.identity))
    if isinstance(rule, ClosureRule):
        return before if isinstance(before, ClosureRule) else rule  # its identity says all
    return unchanged(before, rule)


def _module(closure: Closure, own: Relation, fed: Relation) -> Iterator[Rule]:
    """Yield the rule of a closure and those of what feeds it."""
    for rule in closure.feeds:
        yield feeding(rule, fed.name)
    yield closing_rule(closure, own, fed)


def closing_rule(closure: Closure, own: Relation, fed: Relation) -> ClosureRule:
    """Return the one rule of a closure that is all of its relation."""
    made = copying(own, fed)
    constants = tuple((column, constant.value) for column, constant in closure.constants)
    kind = closure.kind.value, closure.source, closure.target, closure.partition, constants
    identity = f"{own.name} as the closure of what it is fed: {kind}"
    made = replace(made, identity=identity, origin=closure.rules[0].origin)
    return ClosureRule(**as_fields(made), closure=closure)


def as_fields(rule: Rule) -> dict[str, Any]:
    """Return what a rule is made of."""
    return {one.name: getattr(rule, one.name) for one in fields(rule)}

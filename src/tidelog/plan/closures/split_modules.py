"""Let a closure that other rules of its own stratum feed be a module beside them.

    stratum T, R                                 stratum T, T#fed, R
      T(x, y) :- E(x, y).                          T#fed(x, y) :- E(x, y).       T(x, y) :- E(x, y).
      T(x, y) :- R(x, y).                    =>    T#fed(x, y) :- R(x, y).       T(x, y) :- T#fed(x, y).
      T(x, z) :- T(x, y), T(y, z).                 T(x, z) :- T(x, y), T#fed(y, z).
      R(x, z) :- T(x, y), F(y, z).                 R(x, z) :- T(x, y), F(y, z).

What the other rules derive is *external* (Hu, Motik and Horrocks, section 5), and paths grow by one external step at a
time (their rule 4, which the functions Add, Del and Red of the transitive module evaluate): n nodes on a path take of
the order of n squared instances of rules, not n cubed. A symmetric rule makes the external facts symmetric instead, so
that symmetric-transitive closures are paths, too, and a reflexive one on T itself follows from both.

T keeps the rules that do not recurse beside those of `T#fed`, so that its nonrecursive derivations are its own, which
DRed^c goes by. Rounds are the turns that modules take (Algorithms 2 and 3): in each, all rules see what all others have
derived, deleted or rederived. For the engine alone: nobody else sees the plan that comes out.
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.plan.closures.classify import recursive_scans
from tidelog.plan.closures.linearise import linear, reading
from tidelog.plan.closures.recognise import Closure, Form, closures
from tidelog.plan.closures.split_closures import Wanted, copying, fed_name, feeding, unchanged
from tidelog.plan.nodes import Plan, Rule, Stratum


def split_modules(plan: Plan, wanted: Wanted, earlier: Plan | None = None) -> Plan:
    """Return the plan with closures as modules of their strata; rules that `earlier` has too are the same objects."""
    known = {(rule.head, rule.identity): rule for s in earlier.strata for rule in s.rules} if earlier else {}
    relations = dict(plan.relations)
    strata: list[Stratum] = []
    for stratum in plan.strata:
        found = [closure for closure in closures(stratum) if _is_module(closure)]
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
            made = [copying(own, relations[name]), *_module(closure, stratum, name)]
            rules += [unchanged(known.get((rule.head, rule.identity)), rule) for rule in made]
        strata.append(replace(stratum, relations=tuple(names), rules=tuple(rules)))
    return replace(plan, relations=relations, strata=tuple(strata)) if len(relations) > len(plan.relations) else plan


def _is_module(closure: Closure) -> bool:
    """Tell whether a closure shares its stratum, and is all of its relation.

    Where it is the part with some constants, of triples for instance, all that feeds the relation would be there twice:
    on LUBM under RDFS that takes 1.5 times as long from scratch, and 1.8 times to delete ten facts.
    """
    return closure.form is Form.NONLINEAR and not closure.alone and not closure.constants


def _module(closure: Closure, stratum: Stratum, fed: str) -> list[Rule]:
    """Return the rules of a closure and of what feeds it."""
    # A rule that does not recurse is there twice, and rules are known by their identity.
    made = [replace(feeding(rule, fed), identity=f"{rule.identity} (external)") for rule in closure.feeds]
    made += [rule for rule in closure.feeds if not recursive_scans(rule, stratum)]
    for rule in closure.rules:
        if rule.reads == (closure.relation, closure.relation):
            made.append(linear(rule, closure.source, fed))
        elif rule.body.expressions[closure.source] != rule.body.expressions[closure.target]:
            made.append(feeding(reading(rule, 0, fed), fed))
    return made

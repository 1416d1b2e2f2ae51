"""Restrict a program to what is asked for: by goals, and by the rules of relations that are computed in full.

The result is a program like any other, whose auxiliary relations say what is asked for and hold the answers: it is
planned, evaluated and kept up to date like any other, also when what is asked for comes and goes.

What asks for a relation may depend on the relation itself, and a negation that was stratified be so no more (Balbin et
al., Efficient bottom-up computation of queries on stratified databases, 1991). Then the negated atom is looked at last,
so that nothing else is asked for by way of it; if that does not help, its relation is computed in full with all that it
is computed from, and so is one that is grouped. The plan says so (`notes`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import field

from tidelog.base.record import record
from tidelog.logic.literals import atoms
from tidelog.logic.program import Negative, Program
from tidelog.plan.demand.adorn import Adorning
from tidelog.plan.demand.order_literals import may_fail
from tidelog.plan.demand.turn_closures import Turned
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.stratify import components_of

CYCLE = "asking for it would depend on its own negation or group"
WHOLE = "it is asked for without any column given"


@record
class Restricted:
    """A program that computes only what is asked for.

    `partial` are the relations that it does not compute in full: they have no rules there. `notes` say of those that
    are demanded and computed in full why. `made` are the relations that it has beside those of the program.
    """

    program: Program
    partial: frozenset[str] = frozenset()
    notes: Mapping[str, str] = field(default_factory=dict)
    made: frozenset[str] = frozenset()


def restrict_to_demand(program: Program, demanded: Collection[str], estimate: Estimate) -> Restricted:
    """Return a program, which is stratified, restricted to what is asked for of some of its relations."""
    if not demanded:
        return Restricted(program)
    components, _ = components_of(program)
    adorning = Adorning(program, demanded, components, Turned(program, demanded, components, estimate), estimate)
    notes: dict[str, str] = {}
    while True:
        restricted = adorning.run()
        wrong = {adorning.origin.get(body, body) for _, body in components_of(restricted)[1]}
        if not wrong:
            break
        late = {relation for relation in wrong - adorning.late if _may_be_late(program, relation)}
        if not late:  # one at a time: that may be enough
            one = min(wrong)
            notes[one] = CYCLE
            adorning.full |= _below(program, one) & set(demanded)
        adorning.late |= late
    whole = {rule.head for rule in restricted.rules}.intersection(demanded)
    said = {name: notes.get(name, WHOLE) for name in sorted(whole) if not program.relations[name].auxiliary}
    made = frozenset(restricted.relations.keys() - program.relations.keys())
    return Restricted(restricted, frozenset(demanded) - whole, said, made)


def _below(program: Program, relation: str) -> set[str]:
    """Return a relation and all that it is computed from: none of them is to depend on what is asked for."""
    reads: dict[str, set[str]] = {}
    for rule in program.rules:
        reads.setdefault(rule.head, set()).update(atom.relation for atom in atoms(rule.body))
    found, waiting = {relation}, [relation]
    while waiting:
        more = reads.get(waiting.pop(), set()) - found
        found |= more
        waiting += more
    return found


def _may_be_late(program: Program, relation: str) -> bool:
    """Tell whether a relation is negated, and only in rules whose literals may be evaluated without that."""
    rules = [
        rule
        for rule in program.rules
        if any(isinstance(one, Negative) and one.atom.relation == relation for one in rule.body)
    ]
    return bool(rules) and not any(map(may_fail, rules))

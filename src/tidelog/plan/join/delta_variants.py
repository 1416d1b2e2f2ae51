"""One tree for each atom occurrence of a rule as delta.

    H(x, z) :- R(x, y), S(y, z).

    delta R:  H <- (delta R) join (new S)
    delta S:  H <- (delta S) join (old R)

Occurrences before the delta read the old state, those after it the new one, whatever order the joins have, so that a
derivation touched by several changes is found once. The delta comes first, since it is small. A negated occurrence as
delta is joined with, instead of anti-joined: its insertions take derivations away and its deletions give them.

An aggregated occurrence has no variant: a changed tuple changes the result of its group, which is no join. Engines
evaluate the groups touched, before and after, and go on from the difference with `order_joins(body, occurrence)`, which
puts the aggregate first.
"""

from __future__ import annotations

from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.order_joins import order_body
from tidelog.plan.join.parts import Absent, Body, Present
from tidelog.plan.nodes import Scan, Variant


def delta_variants(body: Body, estimate: Estimate) -> tuple[Variant, ...]:
    """Return the variants of a body, by delta occurrence."""
    found = []
    for part in body.parts:
        match part:
            case Present(Scan(occurrence=occurrence)):
                found.append(Variant(occurrence, False, order_body(body, occurrence, estimate)))
            case Absent(scan):
                found.append(Variant(scan.occurrence, True, order_body(body, scan.occurrence, estimate)))
            case _:
                pass
    return tuple(found)

"""One rule for each way through the alternatives of a body.

    A(x) :- B(x), (C(x); D(x), E(x)).       A(x) :- B(x), C(x).
                                            A(x) :- B(x), D(x), E(x).

What stands before a `group_by` is one grouped body whatever its alternatives, so there they cannot become rules of
their own; they are drawn to the front instead, as whole bodies:

    A(k, n) :- B(x, k), (C(x); D(x)), var n = x.group_by(k).count().
    A(k, n) :- (B(x, k), C(x); B(x, k), D(x)), var n = x.group_by(k).count().

After this pass an `Either` stands only first in a body, only before a clause that groups, and its alternatives have
the same form.
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.lang.syntax import Clause, Either, RuleDef
from tidelog.logic.traverse import ends_group

Body = tuple[Clause, ...]


def expand_disjunction(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return rules without alternatives, except of grouped bodies, that mean the same together."""
    if not any(isinstance(clause, Either) for clause in rule.body):
        return (rule,)
    return tuple(replace(rule, body=body) for body in _extend([()], rule.body))


def _extend(before: list[Body], body: Body) -> list[Body]:
    """Return the ways through `body`, each after one of the ways through what stands before it."""
    found = before
    for clause in body:
        if isinstance(clause, Either):
            found = [way for alternative in clause.alternatives for way in _extend(found, alternative)]
        elif len(found) > 1 and ends_group(clause):
            found = [(Either(tuple(found), clause.span), clause)]
        else:
            found = [(*way, clause) for way in found]
    return found

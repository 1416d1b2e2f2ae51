"""One rule for each way through the alternatives of a body.

    A(x) :- B(x), (C(x); D(x), E(x)).       A(x) :- B(x), C(x).
                                            A(x) :- B(x), D(x), E(x).

Alternatives that only test are one condition, so that they do not multiply:

    A(x) :- B(x), (x == 1; x > 5, x < 9).   A(x) :- B(x), x == 1 or (x > 5 and x < 9).

What stands before a `group_by` is one grouped body whatever its alternatives, so there they cannot become rules of
their own; they are drawn to the front instead, as whole bodies:

    A(k, n) :- B(x, k), (C(x); D(x)), var n = x.group_by(k).count().
    A(k, n) :- (B(x, k), C(x); B(x, k), D(x)), var n = x.group_by(k).count().

After this pass an `Either` stands only first in a body, only before a clause that groups, and its alternatives have
the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from math import prod

from tidelog.lang.syntax import Assign, Binary, Clause, Condition, Either, Expr, RuleDef
from tidelog.logic.rewrite.rule_names import ends_group

Body = tuple[Clause, ...]


def expand_disjunction(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return rules without alternatives, except of grouped bodies, that mean the same together."""
    if not any(isinstance(clause, Either) for clause in rule.body):
        return (rule,)
    grouped = next((i for i in reversed(range(len(rule.body))) if ends_group(rule.body[i])), 0)
    # In a grouped body each alternative that holds is a derivation of its own.
    body = (*rule.body[:grouped], *map(_one_condition, rule.body[grouped:]))
    return tuple(replace(rule, body=way) for way in _extend([()], body))


def count_ways(body: Body) -> int:
    """The number of ways through the alternatives of a body."""
    if not any(isinstance(clause, Either) for clause in body):
        return 1
    return prod(
        sum(map(count_ways, clause.alternatives)) for clause in map(_one_condition, body) if isinstance(clause, Either)
    )


def _one_condition(clause: Clause) -> Clause:
    """Return alternatives of conditions as one condition."""
    if not isinstance(clause, Either):
        return clause
    ways: list[Expr] = []
    for alternative in clause.alternatives:
        tests: list[Expr] = []
        for inner in map(_one_condition, alternative):
            if not isinstance(inner, Condition) or isinstance(inner.expression, Assign) or ends_group(inner):
                return clause
            tests.append(inner.expression)
        ways.append(_joined("and", tests))
    return Condition(_joined("or", ways), span=clause.span)


def _joined(operator: str, operands: Sequence[Expr]) -> Expr:
    return reduce(lambda left, right: Binary(operator, left, right, span=left.span.to(right.span)), operands)


def _extend(before: list[Body], body: Body) -> list[Body]:
    """Return the ways through `body`, each after one of the ways through what stands before it."""
    found = before
    for clause in body:
        if isinstance(clause, Either):
            found = [way for alternative in clause.alternatives for way in _extend(found, alternative)]
        elif len(found) > 1 and ends_group(clause):
            found = [(Either(tuple(found), span=clause.span), clause)]
        else:
            found = [(*way, clause) for way in found]
    return found

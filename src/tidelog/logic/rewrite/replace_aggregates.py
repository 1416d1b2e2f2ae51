"""DDlog's older way to group, in terms of `group_by`.

A(k, n) :- B(k, x), var n = Aggregate((k), count(x)).      A(k, n) :- B(k, x), var n = x.group_by(k).count().
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.lang.syntax import Assign, Clause, Condition, Either, MethodCall, OldAggregate, RuleDef


def replace_aggregates(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return the rule with `group_by` for each `Aggregate`."""
    if not any(isinstance(clause, OldAggregate | Either) for clause in rule.body):
        return (rule,)
    return (replace(rule, body=tuple(map(_replace, rule.body))),)


def _replace(clause: Clause) -> Clause:
    match clause:
        case OldAggregate(pattern, keys, function, value, span=span):
            grouped = MethodCall(value, ("group_by",), (keys,), span=span)
            return Condition(Assign(pattern, MethodCall(grouped, function, (), span=span), span=span), span=span)
        case Either(alternatives, span=span):
            return Either(tuple(tuple(map(_replace, alternative)) for alternative in alternatives), span=span)
        case _:
            return clause

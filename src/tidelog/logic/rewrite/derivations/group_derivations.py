"""Groups as in DDlog, in its dialect: with an element for each derivation, where Tidelog's have distinct values.

A(k, v) :- B(k, x), var v = x.group_by(k).to_vec().
A(k, v) :- B(k, x), var v = x.group_by(k).group_derivations().to_vec().
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.lang.syntax import Clause, Condition, Expr, FlatMap, MethodCall, RuleDef
from tidelog.lang.syntax.walk import rewrite
from tidelog.logic.rewrite.rule_names import ends_group


def group_derivations(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return the rule with groups that have an element for each derivation."""
    if not any(map(ends_group, rule.body)):
        return (rule,)
    clauses: list[Clause] = []
    for clause in rule.body:
        if ends_group(clause) and isinstance(clause, Condition | FlatMap):
            clauses.append(replace(clause, expression=rewrite(clause.expression, _spread)))
        else:
            clauses.append(clause)
    return (replace(rule, body=tuple(clauses)),)


def _spread(expression: Expr) -> Expr | None:
    match expression:
        case MethodCall(_, ("group_by",), span=span):
            return MethodCall(expression, ("std", "group_derivations"), (), span=span)
        case _:
            return None

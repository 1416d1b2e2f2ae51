"""Groups as in DDlog, in its dialect: with an element for each way to bind the variables, where Tidelog's are distinct.

    A(k, v) :- B(k, x, _), C(x, y), var v = x.group_by(k).to_vec().
    A(k, v) :- B(k, x, _), C(x, y), var v = (x, (k, x, y)).group_by(k).group_derivations().to_vec().

An element has a weight, as wildcards and rows of multisets are ways to bind, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tidelog.lang.syntax import Clause, Condition, Expr, FlatMap, MethodCall, Name, RuleDef, TupleExpr
from tidelog.lang.syntax.walk import rewrite
from tidelog.logic.rewrite.rule_names import alternatives, common_names, ends_group


def group_derivations(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return the rule with groups that have an element for each way to bind the variables."""
    if not any(map(ends_group, rule.body)):
        return (rule,)
    clauses: list[Clause] = []
    for i, clause in enumerate(rule.body):
        if ends_group(clause) and isinstance(clause, Condition | FlatMap):
            names = common_names(alternatives(rule.body[:i]))
            clauses.append(replace(clause, expression=_spread(clause.expression, names)))
        else:
            clauses.append(clause)
    return (replace(rule, body=tuple(clauses)),)


def _spread(expression: Expr, names: Iterable[str]) -> Expr:
    def spread(e: Expr) -> Expr | None:
        match e:
            case MethodCall(receiver, ("group_by",), arguments, span=span):
                ways = TupleExpr(tuple(Name((name,), span=span) for name in names), span=span)
                grouped = MethodCall(TupleExpr((receiver, ways), span=span), ("group_by",), arguments, span=span)
                return MethodCall(grouped, ("std", "group_derivations"), (), span=span)
            case _:
                return None

    return rewrite(expression, spread)

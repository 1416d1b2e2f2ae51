"""The values of a goal's parameters, as bindings in every body that mentions them.

    goal(x) :- Reach($from, x).        with "a" for $from       goal(x) :- $from := "a", Reach($from, x).

Planning puts constants in place of such variables, so a goal is planned as if its values stood in its text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.free import free_variables
from tidelog.logic.literals import variable_names
from tidelog.logic.program import Bind, Literal
from tidelog.logic.rewrite.checked import Body, Rule


def give_parameters(rule: Rule[Literal], values: Mapping[str, Const]) -> Rule[Literal]:
    """Return the rule with its parameters, which are variables of these names, bound to their values."""
    return replace(rule, body=_given(rule.body, rule.arguments, values)) if values else rule


def _given(body: Body[Literal], read: Sequence[Expr], values: Mapping[str, Const]) -> Body[Literal]:
    grouping = body.grouping
    if grouping is not None:
        inner = [_given(one, (grouping.value, grouping.key), values) for one in grouping.alternatives]
        grouping = replace(grouping, alternatives=tuple(inner))
    named = {name for literal in body.literals for name in variable_names(literal)}
    named.update(name for expression in read for name in free_variables(expression))
    bound = [Bind(Var(name, value.type), value) for name, value in values.items() if name in named]
    return Body(grouping, (*bound, *body.literals))

"""Safety: an order of the body in which each literal reads only variables that are bound before it.

    A(y) :- not B(y), y > x, var y = x + 1, C(x).      A(y) :- C(x), y := x + 1, not B(y), y > x.

The order of the text is kept where it can be. An assignment to a variable that is bound already is a test, and becomes
the condition that both are equal. If no order exists, some variable is bound by nothing, or only by assignments that
need each other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from tidelog.base.diagnostic import Report
from tidelog.base.expr import Expr, Operate, Var
from tidelog.base.free import free_variables
from tidelog.base.span import Span
from tidelog.base.types import BOOL
from tidelog.logic.check import rule_mistakes
from tidelog.logic.literals import atom_variables, bound_variables, read_variables
from tidelog.logic.program import Bind, Condition, Literal, Negative, Positive, Rule, Unnest


def order_body(rule: Rule, report: Report) -> Rule | None:
    """Return the rule with an ordered body; None if it is unsafe, which is reported."""
    if all(isinstance(literal, Positive) for literal in rule.body):
        bound = {t.name for literal in rule.body for t in bound_variables(literal)}
        body: tuple[Literal, ...] | None = rule.body
    else:
        bound = set()
        body = _order(rule.body, bound, report)
    if body is None:
        return None
    unbound = [v for e in rule.arguments for v in free_variables(e).values() if v.name not in bound]
    for variable in unbound:
        rule_mistakes.unbound(variable.name, variable.span, bound, report)
    if unbound:
        return None
    return rule if body is rule.body else Rule(rule.head, rule.arguments, body, rule.origin)


def _order(literals: Sequence[Literal], bound: set[str], report: Report) -> tuple[Literal, ...] | None:
    """Return the literals in order; `bound` receives the variables they bind."""
    waiting = list(literals)
    computed = Counter(literal.variable.name for literal in waiting if isinstance(literal, Bind))
    ordered: list[Literal] = []
    while waiting:
        position = _choose(waiting, computed, bound)
        if position is None:
            _unsafe(waiting, bound, report)
            return None
        literal = waiting.pop(position)
        if isinstance(literal, Bind):
            computed[literal.variable.name] -= 1
        ordered += _settle(literal, bound)
        bound.update([v.name for v in bound_variables(literal)])
    return tuple(ordered)


def _choose(waiting: list[Literal], computed: Mapping[str, int], bound: set[str]) -> int | None:
    """Return the first literal that can be evaluated; an atom waits while a term of it may still be computed."""
    later: int | None = None
    for position, literal in enumerate(waiting):
        if isinstance(literal, Positive):
            if not any(computed.get(v.name) and v.name not in bound for v in atom_variables(literal.atom)):
                return position
            later = position if later is None else later
        elif bound.issuperset(read_variables(literal)):
            return position
    return later


def _settle(literal: Literal, bound: set[str]) -> list[Literal]:
    """Return the literal, as a test if it would bind a variable again."""
    match literal:
        case Bind(variable, expression, span=span) if variable.name in bound:
            return [Condition(_equal(variable, expression, span), span=span)]
        case Unnest(variable, expression, span=span) if variable.name in bound:
            element = Var(f"#{variable.name}", variable.type, span=span)
            return [Unnest(element, expression, span=span), Condition(_equal(variable, element, span), span=span)]
        case _:
            return [literal]


def _equal(left: Expr, right: Expr, span: Span) -> Operate:
    return Operate("==", (left, right), BOOL, span=span)


def _unsafe(waiting: list[Literal], bound: set[str], report: Report) -> None:
    """Report why none of the literals can be evaluated: the first that waits for nothing but itself or nobody."""
    makers = {v.name: literal for literal in waiting for v in bound_variables(literal)}
    for literal in waiting:
        for name, variable in read_variables(literal).items():
            if name not in bound and name not in makers:
                mistake = rule_mistakes.unbound_in_negation if isinstance(literal, Negative) else rule_mistakes.unbound
                mistake(name, variable.span, bound, report)
                return
    for name, maker in makers.items():
        missing = sorted(read_variables(maker).keys() - bound)
        if missing and "#" not in name:
            needed = next((m for m in missing if "#" not in m), name)
            rule_mistakes.cyclic(name, bound_variables(maker)[0].span, needed, report)
            return
    raise AssertionError("a body without order has a variable that waits for itself")

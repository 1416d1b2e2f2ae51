"""The end of checking a rule: unknown types replaced by what they became, in everything the rule holds."""

from __future__ import annotations

from typing import Any, get_args

from tidelog.base.expr import AnyPattern, Expr, Pattern, VarPattern
from tidelog.base.walk import Walk
from tidelog.logic.infer.finish import Finisher
from tidelog.logic.rewrite import checked
from tidelog.logic.rewrite.checked import Clause, Rule

_PATTERNS = frozenset(get_args(Pattern))
_RULES: Walk[Any] = Walk(
    {*get_args(Expr), *_PATTERNS, checked.Atom},
    *("Expr", "Pattern", "Var", "Body", "Grouping", "L", "Atom"),
    through=(checked.Body, checked.Grouping, *get_args(checked.Clause)),
)


def finish_rule(rule: Rule[Clause], finisher: Finisher) -> Rule[Clause]:
    """Return the rule with all types known; the inference is settled."""

    def finished(part: Any) -> Any:
        if isinstance(part, checked.Atom):
            return part if part.plain else _RULES.with_parts(part, argument)
        return finisher.pattern(part) if type(part) in _PATTERNS else finisher.expr(part)

    def argument(part: Any) -> Any:
        match part:
            case AnyPattern() | VarPattern(_, _, AnyPattern()):  # the type is a column's, which is known
                return part
            case _:
                return finished(part)

    return _RULES.with_parts(rule, finished)  # type: ignore[no-any-return]

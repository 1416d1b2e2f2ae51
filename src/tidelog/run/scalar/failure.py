"""An expression that failed, and how the engines tell it: the reason, the values that led to it, the rule."""

from __future__ import annotations

from typing import Any

from tidelog.base.errors import EvaluationError
from tidelog.base.expr import Expr
from tidelog.base.text.show import show_value
from tidelog.plan.nodes import Rule


class ScalarError(Exception):
    """An expression failed for one binding of its variables; the engine says in which rule."""

    def __init__(self, error: Exception, expression: Expr, bindings: dict[str, Any]) -> None:
        super().__init__(str(error))
        self.error = error
        self.expression = expression
        self.bindings = bindings


def failed(failure: ScalarError, rule: Rule) -> EvaluationError:
    """Return the error that a user sees."""
    bindings = ", ".join(f"{name} = {show_value(value)}" for name, value in failure.bindings.items())
    where = f", with {bindings}" if bindings else ""
    return EvaluationError(f"{failure.error}{where}\n  in the rule {rule.origin.quoted}")

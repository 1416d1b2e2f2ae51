"""Which expressions may stop an evaluation with an error.

Division by zero and whatever a function does raise an `EvaluationError`. A body such as
`R(n, d), not Zero(d), n / d > 1` is written so that it cannot happen, so no reordering may evaluate such an expression
on a row that literals before it would have taken away. Everything else has a value for all operands, or is guarded by
a test on the very same variables (`Project` after `Is`), which keeps its place before it anyway.
"""

from __future__ import annotations

from tidelog.base.expr import Apply, Call, Const, Expr, Operate, Var
from tidelog.base.free import subexpressions
from tidelog.base.types import Double, Float


def may_fail(expression: Expr) -> bool:
    """Tell whether evaluating the expression may raise an error.

    >>> from tidelog.base.types import BIGINT
    >>> n, d = Var("n", BIGINT), Var("d", BIGINT)
    >>> may_fail(Operate("/", (n, d), BIGINT)), may_fail(Operate("/", (n, Const(2, BIGINT)), BIGINT))
    (True, False)
    """
    if isinstance(expression, Var | Const):
        return False
    return any(map(_fails, subexpressions(expression)))


def _fails(expression: Expr) -> bool:
    match expression:
        case Call() | Apply():
            return True
        case Operate("/" | "%", (_, Const(value))):
            return bool(value == 0)
        case Operate("/" | "%"):
            return True
        case Operate("as", (operand,)):
            return isinstance(operand.type, Float | Double)
        case _:
            return False

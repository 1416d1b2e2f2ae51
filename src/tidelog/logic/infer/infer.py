"""Type inference for expressions and patterns: from `lang.syntax` to typed `base.expr`.

One `BodyInference` serves one rule or function body. `expression` and `pattern` return typed trees whose types may
still hold unknowns; `finish` is called on each tree after all of them were inferred, and replaces unknowns by what they
became.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tidelog.base.expr import Expr, Pattern
from tidelog.base.types import Type
from tidelog.lang import syntax
from tidelog.logic.infer import access, calls, control, lambdas, literals, operators, patterns
from tidelog.logic.infer.finish import Finisher
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.scope import Origin, Scope

FORMS: Mapping[type, Callable[[Inference, Any, Scope, Type | None], Expr]] = {
    syntax.Name: access.name,
    syntax.FieldAccess: access.field,
    syntax.TupleAccess: access.component,
    syntax.Construct: access.construct,
    syntax.Call: calls.call,
    syntax.MethodCall: calls.call,
    syntax.Block: control.block,
    syntax.If: control.if_,
    syntax.Match: control.match_,
    syntax.For: control.for_,
    syntax.Assign: control.assign,
    syntax.Annotated: control.annotated,
    syntax.Return: control.return_,
    syntax.Break: control.leave_loop,
    syntax.Continue: control.leave_loop,
    syntax.VarDecl: control.misplaced,
    syntax.Wildcard: control.misplaced,
    syntax.At: control.misplaced,
    syntax.Lambda: lambdas.lambda_,
    syntax.Try: lambdas.try_,
    syntax.IntLiteral: literals.integer,
    syntax.FloatLiteral: literals.real,
    syntax.BoolLiteral: literals.boolean,
    syntax.StringLiteral: literals.string,
    syntax.TupleExpr: literals.tuple_,
    syntax.VecLiteral: literals.vector,
    syntax.MapLiteral: literals.map_,
    syntax.Binary: operators.binary,
    syntax.Unary: operators.unary,
    syntax.Cast: operators.cast,
    syntax.Slice: operators.slice_,
}
"""What infers each form of expression, given the scope it stands in and the type expected of it, if one is."""


class BodyInference(Inference):
    """The inference of one rule or function body."""

    def infer(self, e: syntax.Expr, scope: Scope, expected: Type | None) -> Expr:
        """Infer an expression by its form."""
        return FORMS[type(e)](self, e, scope, expected)

    def pattern(
        self, e: syntax.Expr, scope: Scope, expected: Type, *, binds: bool = True, origin: Origin = "match"
    ) -> Pattern:
        """Infer a pattern; see `Inference.pattern`."""
        return patterns.pattern(self, e, scope, expected, "rule" if scope.rule else origin, binds)

    def finish(self, e: Expr) -> Expr:
        """Return the expression with all types known; reports what stays ambiguous."""
        self.settle()
        return Finisher(self).expr(e)

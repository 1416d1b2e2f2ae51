"""Type inference for expressions and patterns: from `lang.syntax` to typed `base.expr`.

One `Inference` serves one rule or function body. `expression` and `pattern` return typed trees whose types may still
hold unknowns; `finish` is called on each tree after all of them were inferred, and replaces unknowns by what they
became. What cannot be decided at once (an overload whose argument types are not known yet, a field of an unknown type)
leaves a placeholder variable (its name starts with `?`), which `finish` replaces by what was decided.
"""

from __future__ import annotations

from tidelog.base.diagnostic import Report
from tidelog.base.expr import Expr, Pattern
from tidelog.base.span import Span
from tidelog.base.types import Type
from tidelog.lang import syntax
from tidelog.logic.environment import Environment
from tidelog.logic.scope import Scope
from tidelog.logic.unify import Unifier


class Inference:
    """The inference of one body."""

    def __init__(self, environment: Environment, report: Report, type_variables: frozenset[str] = frozenset()) -> None:
        self.environment = environment
        self.report = report
        self.type_variables = type_variables
        self.types = Unifier()

    def fresh(self) -> Type:
        """Make an unknown type."""
        return self.types.fresh()

    def unify(self, expected: Type, found: Type, span: Span, why: str = "") -> bool:
        """Make two types equal or report that they differ; `why` becomes the note."""
        raise NotImplementedError

    def expression(self, e: syntax.Expr, scope: Scope, expected: Type | None = None) -> Expr:
        """Infer an expression; with `expected`, its type is that one (mistakes are reported)."""
        raise NotImplementedError

    def pattern(self, e: syntax.Expr, scope: Scope, expected: Type, *, binds: bool = True) -> Pattern:
        """Infer a pattern for values of a type; new variables are declared in `scope`.

        In a rule's scope (`scope.rule`) a bare name refers to the variable if it is declared, else declares it. With
        `binds` False no variable may be declared: an undeclared name is reported.
        """
        raise NotImplementedError

    def finish(self, e: Expr) -> Expr:
        """Return the expression with all types known; reports what stays ambiguous."""
        raise NotImplementedError

    def finish_pattern(self, pattern: Pattern) -> Pattern:
        """Return the pattern with all types known."""
        raise NotImplementedError

    def finish_type(self, type: Type, span: Span) -> Type:
        """Return the type with all unknowns replaced; reports if one stays."""
        raise NotImplementedError


def is_pattern(e: syntax.Expr) -> bool:
    """Tell whether an expression is a pattern: variables, wildcards, literals, tuples, constructors, `&`, `@`, `:`."""
    match e:
        case syntax.Name(path):
            return len(path) == 1
        case syntax.Wildcard() | syntax.IntLiteral() | syntax.BoolLiteral() | syntax.VarDecl() | syntax.FloatLiteral():
            return True
        case syntax.StringLiteral(parts):
            return all(isinstance(part, str) for part in parts)
        case syntax.TupleExpr(items):
            return all(is_pattern(item) for item in items)
        case syntax.Construct(_, arguments):
            return all(is_pattern(argument.value) for argument in arguments)
        case syntax.Annotated(operand, _) | syntax.At(_, operand) | syntax.Unary("&", operand):
            return is_pattern(operand)
        case syntax.Unary("-", syntax.IntLiteral() | syntax.FloatLiteral()):
            return True
        case _:
            return False

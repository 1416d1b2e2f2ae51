"""Expressions out of patterns: what a pattern in an atom cannot express becomes an assignment beside it.

    A(x) :- B(x, y), C((x, y + 1)), not D(Some{f(y)}, _).

    A(x) :- B(x, y), C((x, #e1)), #e1 = y + 1, not D(Some{#e2}, _), #e2 = f(y).

An argument that is an expression as a whole stays; the atom is then compared with its value. Only if the row is bound
to a variable too (`r in R[f(y)]`) it goes out as well.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tidelog.lang import syntax
from tidelog.lang.syntax import Argument, Atom, Clause, Expr, RuleDef
from tidelog.lang.syntax.walk import EXPRESSIONS
from tidelog.logic.names.patterns import is_pattern


def lift_expressions(rule: RuleDef) -> tuple[RuleDef, ...]:
    """Return the rule with patterns that hold no other expressions."""
    if not any(map(_may_hold_expressions, rule.body)):
        return (rule,)
    lift = _Lift()
    body = lift.body(rule.body)
    return (replace(rule, body=body),) if lift.made else (rule,)


def _may_hold_expressions(clause: Clause) -> bool:
    match clause:
        case syntax.Positive(atom) | syntax.Negative(atom):
            return atom.whole is not None or any(type(a.value) in _NESTED for a in atom.arguments or ())
        case _:
            return isinstance(clause, syntax.Either)


_NESTED = frozenset({syntax.TupleExpr, syntax.Construct, syntax.At, syntax.Annotated, syntax.Unary})


@dataclass(slots=True)
class _Lift:
    made: int = 0
    lifted: list[Clause] = field(default_factory=list)

    def body(self, body: tuple[Clause, ...]) -> tuple[Clause, ...]:
        found: list[Clause] = []
        for clause in body:
            match clause:
                case syntax.Positive(atom) | syntax.Negative(atom):
                    found.append(self.literal(clause, atom))
                    found += self.lifted
                    self.lifted = []
                case syntax.Either(alternatives, span=span):
                    found.append(syntax.Either(tuple([self.body(a) for a in alternatives]), span=span))
                case _:
                    found.append(clause)
        return tuple(found)

    def literal(self, clause: syntax.Positive | syntax.Negative, atom: Atom) -> Clause:
        before = self.made
        arguments = atom.arguments and tuple([self.argument(argument) for argument in atom.arguments])
        whole = atom.whole and (self.pattern(atom.whole) if atom.binding is None else self.inner(atom.whole))
        return clause if self.made == before else replace(clause, atom=replace(atom, arguments=arguments, whole=whole))

    def argument(self, argument: Argument) -> Argument:
        value = self.pattern(argument.value)
        return argument if value is argument.value else replace(argument, value=value)

    def pattern(self, e: Expr) -> Expr:
        """Return an argument, with the expressions inside it replaced if it is built like a pattern."""
        match e:
            case _ if is_pattern(e):
                return e
            case syntax.TupleExpr() | syntax.Construct() | syntax.At():
                return EXPRESSIONS.with_parts(e, self.inner)
            case syntax.Annotated() | syntax.Unary("&"):
                return EXPRESSIONS.with_parts(e, self.pattern)
            case _:
                return e

    def inner(self, e: Expr) -> Expr:
        if is_pattern(e):
            return e
        if isinstance(e, syntax.TupleExpr | syntax.Construct | syntax.At) or (
            isinstance(e, syntax.Unary) and e.operator == "&"
        ):
            return self.pattern(e)
        self.made += 1
        name = syntax.Name((f"#e{self.made}",), span=e.span)
        self.lifted.append(syntax.Condition(syntax.Assign(name, e, span=e.span), span=e.span))
        return name

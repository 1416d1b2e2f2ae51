"""The variables visible at a place in a rule or function body.

Scopes nest; a name is looked up outwards. Two scopes side by side may use the same name, and a parameter of a lambda
may hide a variable, so each variable also gets a name that is unique in the body (`x`, then `x#2`), which is what
`base.expr` sees.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tidelog.base.expr import Expr, Pattern, Place, Var
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Type

Origin = Literal["rule", "parameter", "mutable", "local", "loop", "match"]
"""Where a variable comes from: `mutable` is a `mut` parameter.

`mutable` and `local` ones can be assigned, and `match` ones that are part of such a variable.
"""


@record
class Part:
    """That a variable of a `match` arm is a part of the variable that is matched.

    Assigning it then also assigns `place`, as long as `subject`, what is matched, still fits `pattern`.
    """

    of: Variable
    place: Place
    subject: Expr
    pattern: Pattern


@dataclass(slots=True, eq=False)
class Variable:
    """A declared variable; `unique` is its name in typed expressions."""

    name: str
    unique: str
    type: Type
    origin: Origin
    span: Span
    part: Part | None = None

    def use(self, span: Span) -> Var:
        """Return the typed expression for a use of it."""
        return Var(self.unique, self.type, span=span)


class Scope:
    """A level of variables. `rule` marks a rule's own level, where a bare name in a pattern binds or refers.

    `returns` is the type that `return` gives (None outside functions), `loop` tells whether `break` has a loop to
    leave, `closure` marks the scope of a lambda, inside which outer variables cannot be assigned.
    """

    __slots__ = ("closure", "loop", "parent", "returns", "rule", "taken", "variables")

    def __init__(self, *, rule: bool = False, returns: Type | None = None, parent: Scope | None = None) -> None:
        self.parent = parent
        self.rule = rule
        self.returns = returns
        self.loop = False
        self.closure = False
        self.variables: dict[str, Variable] = {}
        self.taken: dict[str, int] = {} if parent is None else parent.taken

    def child(self) -> Scope:
        """Open an inner scope."""
        inner = Scope(returns=self.returns, parent=self)
        inner.loop = self.loop
        return inner

    def lambda_child(self, returns: Type) -> Scope:
        """Open the scope of a lambda, which returns on its own and has no loop to leave yet."""
        inner = Scope(returns=returns, parent=self)
        inner.closure = True
        return inner

    def lookup(self, name: str) -> Variable | None:
        """Find a visible variable."""
        scope: Scope | None = self
        while scope is not None:
            found = scope.variables.get(name)
            if found is not None:
                return found
            scope = scope.parent
        return None

    def is_captured(self, name: str) -> bool:
        """Tell whether a lambda lies between here and the variable's scope."""
        scope: Scope | None = self
        while scope is not None and name not in scope.variables:
            if scope.closure:
                return True
            scope = scope.parent
        return False

    def declare(self, name: str, type: Type, origin: Origin, span: Span) -> Variable:
        """Add a variable at this level (the caller has checked that it hides none)."""
        variable = Variable(name, self.unique(name), type, origin, span)
        self.variables[name] = variable
        return variable

    def unique(self, name: str) -> str:
        """Return a name that no other variable of the body has."""
        count = self.taken.get(name, 0) + 1
        self.taken[name] = count
        return name if count == 1 else f"{name}#{count}"

    def visible(self) -> Iterator[Variable]:
        """All variables visible here, innermost first."""
        scope: Scope | None = self
        while scope is not None:
            yield from scope.variables.values()
            scope = scope.parent

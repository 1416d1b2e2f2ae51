"""What the inference of one body knows so far: unknown types, questions that wait for them, mistakes.

Bidirectional: what a place needs (`expected`) is handed down, what an expression gives is unified with it. What cannot
be decided at once (an overload whose argument types are not known yet, a field of an unknown type) leaves a placeholder
variable (its name starts with `?`), which `finish` replaces by what was decided. What each form of expression means is
in modules of their own, which take an `Inference`; `infer` puts them together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidelog.base.diagnostic import Label, Report
from tidelog.base.expr import Const, Expr, Pattern, Var
from tidelog.base.span import Span
from tidelog.base.types import BOOL, Type, TypeSizeError
from tidelog.lang import syntax
from tidelog.logic.infer.mismatch import explain
from tidelog.logic.names.environment import Environment, Signature
from tidelog.logic.names.resolve import too_large
from tidelog.logic.names.scope import Origin, Scope, Variable
from tidelog.logic.names.unify import ERROR, Unifier, is_unknown


@dataclass(slots=True, eq=False)
class Deferred:
    """A question that waits for types.

    `attempt(final)` answers it, or returns None while it cannot; a final attempt reports why, and answers. `on` are
    the types it waits for.
    """

    attempt: Callable[[bool], Expr | None]
    on: tuple[Type, ...]
    answer: Expr | None = None


class Inference(ABC):
    """The inference of one body; `type_variables` are those of the generic function it belongs to."""

    def __init__(self, environment: Environment, report: Report, type_variables: frozenset[str] = frozenset()) -> None:
        self.environment = environment
        self.report = report
        self.type_variables = type_variables
        self.types = Unifier()
        self.deferred: dict[str, Deferred] = {}
        self.uses: list[tuple[Signature, tuple[Type, ...], Span]] = []
        """Functions used at type arguments; `Call.function` is `?` and the position here until `finish`."""
        self.never: set[str] = set()
        """Unknown types of expressions without a value, such as `return`; unit if nothing says otherwise."""
        self._pending: list[Deferred] = []
        self._checks: list[Callable[[], None]] = []
        self._depth = 0
        self._large = False

    # --- types -------------------------------------------------------------------------------------------------------

    def fresh(self) -> Type:
        """Make an unknown type."""
        return self.types.fresh()

    def unify(self, expected: Type, found: Type, span: Span, why: str = "") -> bool:
        """Make two types equal or report that they differ; `why` becomes the note."""
        if expected is found or self.types.unify(expected, found):
            return True
        explain(self.types, self.report, expected, found, span, why)
        return False

    def resolve_type(self, t: syntax.TypeExpr) -> Type:
        """Resolve a type written in the body."""
        return self.environment.type(t, self.report, self.type_variables)

    # --- trees -------------------------------------------------------------------------------------------------------

    def expression(self, e: syntax.Expr, scope: Scope, expected: Type | None = None, why: str = "") -> Expr:
        """Infer an expression; with `expected`, its type is that one (a mistake is reported, `why` is its note)."""
        self._depth += 1
        try:
            found = self.infer(e, scope, expected) if self._depth <= DEEPEST else self.too_deep(e.span)
            return self.accept(found, expected, e.span, why)
        except TypeSizeError:
            return self.too_large(e.span)
        finally:
            self._depth -= 1

    def too_large(self, span: Span) -> Expr:
        """Report a type that would have too many parts, once: others of this body are made of it."""
        if not self._large:
            self._large = True
            too_large(span, self.report)
        return self.mistake(span)

    def accept(self, found: Expr, expected: Type | None, span: Span, why: str = "") -> Expr:
        """Return an expression if it has the type expected of it, else report and return a mistake."""
        if expected is None or expected is found.type or self.types.unify(expected, found.type):
            return found
        explain(self.types, self.report, expected, found.type, span, why, found)
        return self.mistake(span)

    def too_deep(self, span: Span) -> Expr:
        """Report an expression that later passes could not walk."""
        self.report.add(
            "E0320",
            f"this expression is nested more than {DEEPEST} levels deep",
            span,
            hint="name parts of it with `var`, or move them into functions",
        )
        return self.mistake(span)

    def condition(self, e: syntax.Expr, scope: Scope) -> Expr:
        """Infer a Boolean expression."""
        return self.expression(e, scope, BOOL, "a condition is of type `bool`")

    @abstractmethod
    def infer(self, e: syntax.Expr, scope: Scope, expected: Type | None) -> Expr:
        """Infer an expression by its form."""

    @abstractmethod
    def pattern(
        self, e: syntax.Expr, scope: Scope, expected: Type, *, binds: bool = True, origin: Origin = "match"
    ) -> Pattern:
        """Infer a pattern for values of a type; new variables are declared in `scope`.

        In a rule's scope (`scope.rule`) a bare name refers to the variable if it is declared, else declares it. With
        `binds` False no variable may be declared: an undeclared name is reported.
        """

    def mistake(self, span: Span) -> Expr:
        """Return an expression that stands for one with a reported mistake."""
        return Const(None, ERROR, span=span)

    def declare(self, name: str, type: Type, origin: Origin, scope: Scope, span: Span) -> str:
        """Declare a variable, reporting one that it hides; return its unique name.

        Parameters of lambdas may hide others, and locals of a block may hide variables of the rule around it, which
        are visible everywhere in the rule. A `var`, `match` or loop that hides another one is warned about.
        """
        hidden = scope.lookup(name)
        if hidden is None or (hidden.origin == "rule" and not scope.rule) or _is_new_parameter(hidden, origin, scope):
            return scope.declare(name, type, origin, span).unique
        if origin in ("local", "match", "loop") and name not in scope.variables:
            self._warn_hiding(name, hidden, origin, span)
            return scope.declare(name, type, origin, span).unique
        self.report.add(
            "E0204",
            f"variable `{name}` hides another one",
            span,
            labels=[Label(hidden.span, "the other one")],
            note="the parameters of a function, and the variables of a pattern, have different names",
            hint="rename one of them",
        )
        return scope.unique(name)

    def _warn_hiding(self, name: str, hidden: Variable, origin: Origin, span: Span) -> None:
        assignable = origin == "local" and hidden.origin in ("local", "mutable")
        self.report.add(
            "W0302",
            f"variable `{name}` hides another one",
            span,
            labels=[Label(hidden.span, "the other one")],
            note="`var` declares a new variable; the other one keeps its value"
            if origin == "local"
            else "a name in a pattern is a new variable: it fits every value, and is not compared with the other",
            hint=f"write `{name} = ...` to assign it, or rename one of them" if assignable else "rename one of them",
            severity="warning",
        )

    def use(self, signature: Signature, by: Mapping[str, Type], span: Span) -> str:
        """Record the use of a function at type arguments; return the name that `finish` replaces by the instance's."""
        self.uses.append((signature, tuple([by[v] for v in signature.type_variables]), span))
        return f"?{len(self.uses) - 1}"

    # --- questions that wait -----------------------------------------------------------------------------------------

    def defer(self, type: Type, span: Span, attempt: Callable[[bool], Expr | None], on: tuple[Type, ...] = ()) -> Expr:
        """Return what `attempt(False)` gives, or a placeholder of the type for what it will give."""
        answer = attempt(False)
        if answer is not None:
            return answer
        name = f"?{len(self.deferred)}"
        self.deferred[name] = question = Deferred(attempt, on)
        self._pending.append(question)
        return Var(name, type, span=span)

    def later(self, check: Callable[[bool], bool], *on: Type) -> None:
        """Run a check as soon as it can be made: it returns whether it was; a final one must be."""

        def attempt(final: bool) -> Expr | None:
            return _DONE if check(final) else None

        self.defer(ERROR, _DONE.span, attempt, on)

    def at_end(self, check: Callable[[], None]) -> None:
        """Run a check when all types are known."""
        self._checks.append(check)

    def retry(self) -> bool:
        """Try open questions again; return whether one was answered."""
        progress = False
        for question in self._pending:
            question.answer = question.attempt(False)
            progress = progress or question.answer is not None
        if progress:
            self._pending = [q for q in self._pending if q.answer is None]
        return progress

    @property
    def waiting(self) -> bool:
        """Whether there are open questions."""
        return bool(self._pending)

    def settle(self) -> None:
        """Answer all open questions: retry, then give literals their default types, then report what stays open."""
        while self._pending:
            if self.retry() or any(self.types.default(q.on) for q in self._pending):
                continue
            question = self._pending.pop(0)
            question.answer = question.attempt(True)
        self.types.default_all()
        checks, self._checks = self._checks, []
        for check in checks:
            check()

    def unknown_type(self, what: str, span: Span, type: Type = ERROR) -> Expr:
        """Report that a type must be known and is not; it then fits everything."""
        self.types.give_up(type)
        self.report.add(
            "E0306",
            f"cannot tell the type of {what}",
            span,
            note="types are inferred inside one rule or function; nothing there tells this one",
            hint="annotate it: `(e: T)`, or `var x: T = e`",
        )
        return self.mistake(span)

    def is_open(self, type: Type) -> bool:
        """Tell whether nothing is known about a type yet."""
        return is_unknown(type) and type is not ERROR


def _is_new_parameter(hidden: Variable, origin: Origin, scope: Scope) -> bool:
    return origin in ("parameter", "mutable") and scope.variables.get(hidden.name) is not hidden


_DONE = Const(None, ERROR)
DEEPEST = 100
"""How deep expressions may nest, so that passes and engines may walk them by recursion."""

"""Rules as written: clauses, heads, and the imperative form."""

from __future__ import annotations

from tidelog.base.record import record
from tidelog.base.span import Placed
from tidelog.lang.syntax.expressions import Argument, Expr, Path


@record
class Atom(Placed):
    """`R(a, b)`, `R(.f = a)`, `R[e]` (`whole`), each optionally `x in ...` (`binding`) and `&R...` (`reference`).

    `R` without parentheses (allowed in the imperative form, and in `x in R`) has `arguments` None. `R-1(a)` is the
    relation `delay` commits ago, `S'(a)` (`differential`) what a stream got in the last one.
    """

    relation: Path
    arguments: tuple[Argument, ...] | None
    whole: Expr | None = None
    binding: str | None = None
    reference: bool = False
    delay: int = 0
    differential: bool = False


@record
class Positive(Placed):
    """An atom that must hold."""

    atom: Atom


@record
class Negative(Placed):
    """`not R(...)`."""

    atom: Atom


@record
class Condition(Placed):
    """A Boolean expression; or an `Assign` (`var x = e`, `pattern = e`); may contain `e.group_by(k)`."""

    expression: Expr


@record
class FlatMap(Placed):
    """`var x = FlatMap(e)`: one row for each element of a collection."""

    pattern: Expr
    expression: Expr


@record
class OldAggregate(Placed):
    """`var x = Aggregate((k1, k2), f(e))`, DDlog's older form: `var x = e.group_by((k1, k2)).f()`."""

    pattern: Expr
    keys: Expr
    function: Path
    value: Expr


@record
class Inspect(Placed):
    """`Inspect e`: evaluate an expression for each change of what the clauses before it bind; always holds."""

    expression: Expr


@record
class Either(Placed):
    """`(a, b; c)`: one of several bodies."""

    alternatives: tuple[tuple[Clause, ...], ...]


Clause = Positive | Negative | Condition | FlatMap | OldAggregate | Inspect | Either


@record
class Head(Placed):
    """An atom that is derived; `@ location` is DDlog's placement annotation."""

    atom: Atom
    location: Expr | None = None


@record
class ForStatement(Placed):
    """`for (x in R(...) if c) s`: `pattern in atom`."""

    pattern: Expr
    atom: Atom
    condition: Expr | None
    body: Statement


@record
class IfStatement(Placed):
    """`if (c) s else s`."""

    condition: Expr
    then: Statement
    otherwise: Statement | None


@record
class MatchStatement(Placed):
    """`match (e) { pattern -> s, ... }`."""

    subject: Expr
    arms: tuple[tuple[Expr, Statement], ...]


@record
class VarStatement(Placed):
    """`var x = e in s`."""

    target: Expr
    value: Expr
    body: Statement


@record
class InsertStatement(Placed):
    """`R(a, b)`."""

    atom: Atom


@record
class BlockStatement(Placed):
    """`{ s; s }`."""

    items: tuple[Statement, ...]


@record
class SkipStatement(Placed):
    """`skip`."""


Statement = (
    ForStatement | IfStatement | MatchStatement | VarStatement | InsertStatement | BlockStatement | SkipStatement
)  # fmt: skip

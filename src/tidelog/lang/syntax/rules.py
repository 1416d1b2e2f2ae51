"""Rules as written: clauses, heads, and the imperative form."""

from __future__ import annotations

from dataclasses import field

from tidelog.base.record import record
from tidelog.base.span import NOWHERE, Span
from tidelog.lang.syntax.expressions import Argument, Expr, Path


@record
class Atom:
    """`R(a, b)`, `R(.f = a)`, `R[e]` (`whole`), each optionally `x in ...` (`binding`) and `&R...` (`reference`).

    `R` without parentheses (allowed in the imperative form, and in `x in R`) has `arguments` None.
    """

    relation: Path
    arguments: tuple[Argument, ...] | None
    whole: Expr | None = None
    binding: str | None = None
    reference: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Positive:
    """An atom that must hold."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Negative:
    """`not R(...)`."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Condition:
    """A Boolean expression; or an `Assign` (`var x = e`, `pattern = e`); may contain `e.group_by(k)`."""

    expression: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class FlatMap:
    """`var x = FlatMap(e)`: one row for each element of a collection."""

    pattern: Expr
    expression: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class OldAggregate:
    """`var x = Aggregate((k1, k2), f(e))`, DDlog's older form: `var x = e.group_by((k1, k2)).f()`."""

    pattern: Expr
    keys: Expr
    function: Path
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Either:
    """`(a, b; c)`: one of several bodies."""

    alternatives: tuple[tuple[Clause, ...], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Clause = Positive | Negative | Condition | FlatMap | OldAggregate | Either


@record
class Head:
    """An atom that is derived; `@ location` is DDlog's placement annotation."""

    atom: Atom
    location: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class ForStatement:
    """`for (x in R(...) if c) s`: `pattern in atom`."""

    pattern: Expr
    atom: Atom
    condition: Expr | None
    body: Statement
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class IfStatement:
    """`if (c) s else s`."""

    condition: Expr
    then: Statement
    otherwise: Statement | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class MatchStatement:
    """`match (e) { pattern -> s, ... }`."""

    subject: Expr
    arms: tuple[tuple[Expr, Statement], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class VarStatement:
    """`var x = e in s`."""

    target: Expr
    value: Expr
    body: Statement
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class InsertStatement:
    """`R(a, b)`."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class BlockStatement:
    """`{ s; s }`."""

    items: tuple[Statement, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class SkipStatement:
    """`skip`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


Statement = (
    ForStatement | IfStatement | MatchStatement | VarStatement | InsertStatement | BlockStatement | SkipStatement
)  # fmt: skip

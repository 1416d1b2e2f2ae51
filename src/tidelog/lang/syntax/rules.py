"""Rules as written: clauses, heads, and the imperative form."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidelog.base.span import NOWHERE, Span
from tidelog.lang.syntax.expressions import Argument, Expr, Path


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Positive:
    """An atom that must hold."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Negative:
    """`not R(...)`."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Condition:
    """A Boolean expression; or an `Assign` (`var x = e`, `pattern = e`); may contain `e.group_by(k)`."""

    expression: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FlatMap:
    """`var x = FlatMap(e)`: one row for each element of a collection."""

    pattern: Expr
    expression: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class OldAggregate:
    """`var x = Aggregate((k1, k2), f(e))`, DDlog's older form: `var x = e.group_by((k1, k2)).f()`."""

    pattern: Expr
    keys: Expr
    function: Path
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Either:
    """`(a, b; c)`: one of several bodies."""

    alternatives: tuple[tuple[Clause, ...], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Clause = Positive | Negative | Condition | FlatMap | OldAggregate | Either


@dataclass(frozen=True, slots=True)
class Head:
    """An atom that is derived; `@ location` is DDlog's placement annotation."""

    atom: Atom
    location: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ForStatement:
    """`for (x in R(...) if c) s`: `pattern in atom`."""

    pattern: Expr
    atom: Atom
    condition: Expr | None
    body: Statement
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IfStatement:
    """`if (c) s else s`."""

    condition: Expr
    then: Statement
    otherwise: Statement | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MatchStatement:
    """`match (e) { pattern -> s, ... }`."""

    subject: Expr
    arms: tuple[tuple[Expr, Statement], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VarStatement:
    """`var x = e in s`."""

    target: Expr
    value: Expr
    body: Statement
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class InsertStatement:
    """`R(a, b)`."""

    atom: Atom
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BlockStatement:
    """`{ s; s }`."""

    items: tuple[Statement, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SkipStatement:
    """`skip`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


Statement = (
    ForStatement | IfStatement | MatchStatement | VarStatement | InsertStatement | BlockStatement | SkipStatement
)  # fmt: skip

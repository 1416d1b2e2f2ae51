"""Types, expressions and patterns as written."""

from __future__ import annotations

from dataclasses import field
from typing import Literal as Choice

from tidelog.base.record import record
from tidelog.base.span import NOWHERE, Span

Path = tuple[str, ...]
"""A possibly scoped name: `a::b::C` is `("a", "b", "C")`."""


@record
class TypeName:
    """`bool`, `string`, `Vec<T>`, `lib::Name`; built-in names are told apart by `logic`."""

    path: Path
    arguments: tuple[TypeExpr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class SizedType:
    """`bit<N>` or `signed<N>`."""

    kind: Choice["bit", "signed"]
    width: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class TupleType:
    """`(A, B)`; `()` is the unit type."""

    items: tuple[TypeExpr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class FunctionType:
    """`function(A, mut B): C`, also written `|A, mut B|: C`."""

    parameters: tuple[tuple[bool, TypeExpr], ...]
    result: TypeExpr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class TickName:
    """A type variable `'A`; the name is without the tick."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


TypeExpr = TypeName | SizedType | TupleType | FunctionType | TickName


@record
class Name:
    """A variable or function name."""

    path: Path
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Wildcard:
    """`_`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class IntLiteral:
    """`42`, `16'd42`, `8'hff`, `32'sd7`; `width` None when not written; `radix` is one of 10, 16, 8, 2."""

    value: int
    width: int | None = None
    signed: bool = False
    radix: int = 10
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class FloatLiteral:
    """`1.5`, `32'f1.5`, `64'f1.5e3`; `text` is the number as written, `width` None, 32 or 64."""

    text: str
    width: int | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class BoolLiteral:
    """`true` or `false`."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class StringLiteral:
    """Quoted, raw `[|...|]` and interpolated strings; adjacent literals are one.

    Parts alternate freely between text (escapes resolved) and embedded expressions. `interned` for `i"..."`.
    """

    parts: tuple[str | Expr, ...]
    interned: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class VecLiteral:
    """`[a, b]`; `[]` is an empty vector."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class MapLiteral:
    """`[k -> v, ...]`, at least one pair."""

    pairs: tuple[tuple[Expr, Expr], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class TupleExpr:
    """`(a, b)`; `()` is unit; parentheses around one expression leave no trace."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Argument:
    """A positional (`name` None) or named (`.name = e`) argument."""

    name: str | None
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Construct:
    """`C`, `C{a, b}`, `C{.f = a}`; `C` and `C{}` are the same tree."""

    path: Path
    arguments: tuple[Argument, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Call:
    """`f(a, b)`."""

    function: Expr
    arguments: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class MethodCall:
    """`x.f(a)`, which means `f(x, a)`; `x.group_by(k)` groups."""

    receiver: Expr
    function: Path
    arguments: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class FieldAccess:
    """`x.f`."""

    of: Expr
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class TupleAccess:
    """`x.0`."""

    of: Expr
    index: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Slice:
    """`x[high:low]`, both included."""

    of: Expr
    high: int
    low: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Unary:
    """`-x`, `~x`, `not x`, `&x` (a reference, in patterns and constructors)."""

    operator: Choice["-", "~", "not", "&"]
    operand: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Binary:
    """`* / % + - >> << ++ == != < <= > >= & ^ | and or =>`."""

    operator: str
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Cast:
    """`x as T`."""

    operand: Expr
    type: TypeExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Annotated:
    """`x: T`."""

    operand: Expr
    type: TypeExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Try:
    """`x?`: the value of an Option or Result, or leave the function with its failure."""

    operand: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class At:
    """`x @ pattern`: bind the whole and its parts."""

    name: str
    pattern: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class If:
    """`if (c) a else b`."""

    condition: Expr
    then: Expr
    otherwise: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Match:
    """`match (e) { pattern -> value, ... }`."""

    subject: Expr
    arms: tuple[tuple[Expr, Expr], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class For:
    """`for (pattern in e) body`."""

    pattern: Expr
    iterable: Expr
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Block:
    """`{ a; b; c }`: in order; a trailing `;` makes the value unit, which the parser states as a last `TupleExpr(())`.

    `{}` holds that alone.
    """

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class VarDecl:
    """`var x`, alone or inside a pattern; its type, if written, is an `Annotated` around it."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Assign:
    """`target = value`: declares, matches or assigns, depending on the target."""

    target: Expr
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Lambda:
    """`|x, y: T|: R e` or `function(x, y: T): R e`."""

    parameters: tuple[Parameter, ...]
    result: TypeExpr | None
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Return:
    """`return e`; without a value, unit."""

    value: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Break:
    """`break`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@record
class Continue:
    """`continue`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


Postfix = Call | MethodCall | FieldAccess | TupleAccess | Slice | Cast | Annotated | Try
"""What stands behind its operand."""
BlockTerm = If | Match | For | Block | Lambda | Return | Break | Continue
"""What holds other expressions like statements."""
Spelled = IntLiteral | FloatLiteral | StringLiteral
"""Literals that can be written in several ways."""
Expr = (
    Name | Wildcard | BoolLiteral | Spelled | VecLiteral | MapLiteral | TupleExpr | Construct | Unary | Binary | At
    | VarDecl | Assign | Postfix | BlockTerm
)  # fmt: skip


@record
class Attribute:
    """`#[name]` or `#[name = value]`."""

    name: str
    value: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Attributes = tuple[Attribute, ...]


@record
class Parameter:
    """`x: mut T`; a lambda's parameter may omit the type."""

    name: str
    type: TypeExpr | None
    mutable: bool = False
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)

"""Types, expressions and patterns as written."""

from __future__ import annotations

from typing import Literal as Choice

from tidelog.base.record import record
from tidelog.base.span import Placed

Path = tuple[str, ...]
"""A possibly scoped name: `a::b::C` is `("a", "b", "C")`."""


@record
class TypeName(Placed):
    """`bool`, `string`, `Vec<T>`, `lib::Name`; `logic` distinguishes built-in names."""

    path: Path
    arguments: tuple[TypeExpr, ...] = ()


@record
class SizedType(Placed):
    """`bit<N>` or `signed<N>`."""

    kind: Choice["bit", "signed"]
    width: int


@record
class TupleType(Placed):
    """`(A, B)`; `()` is the unit type."""

    items: tuple[TypeExpr, ...]


@record
class FunctionType(Placed):
    """`function(A, mut B): C`, also written `|A, mut B|: C`."""

    parameters: tuple[tuple[bool, TypeExpr], ...]
    result: TypeExpr | None


@record
class TickName(Placed):
    """A type variable `'A`; the name is without the tick."""

    name: str


TypeExpr = TypeName | SizedType | TupleType | FunctionType | TickName


@record
class Name(Placed):
    """A variable or function name."""

    path: Path


@record
class Wildcard(Placed):
    """`_`."""


@record
class IntLiteral(Placed):
    """`42`, `16'd42`, `8'hff`, `32'sd7`; `width` None when not written; `radix` is one of 10, 16, 8, 2."""

    value: int
    width: int | None = None
    signed: bool = False
    radix: int = 10


@record
class FloatLiteral(Placed):
    """`1.5`, `32'f1.5`, `64'f1.5e3`; `text` is the number as written, `width` None, 32 or 64."""

    text: str
    width: int | None = None


@record
class BoolLiteral(Placed):
    """`true` or `false`."""

    value: bool


@record
class StringLiteral(Placed):
    """Quoted, raw `[|...|]` and interpolated strings; adjacent literals are one.

    Parts alternate freely between text (escapes resolved) and embedded expressions. `interned` for `i"..."`.
    """

    parts: tuple[str | Expr, ...]
    interned: bool = False


@record
class VecLiteral(Placed):
    """`[a, b]`; `[]` is an empty vector."""

    items: tuple[Expr, ...]


@record
class MapLiteral(Placed):
    """`[k -> v, ...]`, at least one pair."""

    pairs: tuple[tuple[Expr, Expr], ...]


@record
class TupleExpr(Placed):
    """`(a, b)`; `()` is unit; parentheses around one expression leave no trace."""

    items: tuple[Expr, ...]


@record
class Argument(Placed):
    """A positional (`name` None) or named (`.name = e`) argument."""

    name: str | None
    value: Expr


@record
class Construct(Placed):
    """`C`, `C{a, b}`, `C{.f = a}`; `C` and `C{}` are the same tree."""

    path: Path
    arguments: tuple[Argument, ...] = ()


@record
class Call(Placed):
    """`f(a, b)`."""

    function: Expr
    arguments: tuple[Expr, ...]


@record
class MethodCall(Placed):
    """`x.f(a)`, which means `f(x, a)`; `x.group_by(k)` groups."""

    receiver: Expr
    function: Path
    arguments: tuple[Expr, ...]


@record
class FieldAccess(Placed):
    """`x.f`."""

    of: Expr
    name: str


@record
class TupleAccess(Placed):
    """`x.0`."""

    of: Expr
    index: int


@record
class Slice(Placed):
    """`x[high:low]`, both included."""

    of: Expr
    high: int
    low: int


@record
class Unary(Placed):
    """`-x`, `~x`, `not x`, `&x` (a reference, in patterns and constructors)."""

    operator: Choice["-", "~", "not", "&"]
    operand: Expr


@record
class Binary(Placed):
    """`* / % + - >> << ++ == != < <= > >= & ^ | and or =>`."""

    operator: str
    left: Expr
    right: Expr


@record
class Cast(Placed):
    """`x as T`."""

    operand: Expr
    type: TypeExpr


@record
class Annotated(Placed):
    """`x: T`; `x:T`, written without a blank, is the IRI with the local name `T` if `x` is a prefix."""

    operand: Expr
    type: TypeExpr
    tight: bool = False


@record
class Try(Placed):
    """`x?`: the value of an Option or Result, or leave the function with its failure."""

    operand: Expr


@record
class At(Placed):
    """`x @ pattern`: bind the whole and its parts."""

    name: str
    pattern: Expr


@record
class If(Placed):
    """`if (c) a else b`."""

    condition: Expr
    then: Expr
    otherwise: Expr | None


@record
class Match(Placed):
    """`match (e) { pattern -> value, ... }`."""

    subject: Expr
    arms: tuple[tuple[Expr, Expr], ...]


@record
class For(Placed):
    """`for (pattern in e) body`."""

    pattern: Expr
    iterable: Expr
    body: Expr


@record
class Block(Placed):
    """`{ a; b; c }`: in order; a trailing `;` makes the value unit, which the parser states as a last `TupleExpr(())`.

    `{}` holds that alone.
    """

    items: tuple[Expr, ...]


@record
class VarDecl(Placed):
    """`var x`, alone or inside a pattern; its type, if written, is an `Annotated` around it."""

    name: str


@record
class Assign(Placed):
    """`target = value`: declares, matches or assigns, depending on the target."""

    target: Expr
    value: Expr


@record
class Lambda(Placed):
    """`|x, y: T|: R e` or `function(x, y: T): R e`."""

    parameters: tuple[Parameter, ...]
    result: TypeExpr | None
    body: Expr


@record
class Return(Placed):
    """`return e`; without a value, unit."""

    value: Expr | None


@record
class Break(Placed):
    """`break`."""


@record
class Continue(Placed):
    """`continue`."""


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
class Attribute(Placed):
    """`#[name]` or `#[name = value]`."""

    name: str
    value: Expr | None = None


Attributes = tuple[Attribute, ...]


@record
class Parameter(Placed):
    """`x: mut T`; a lambda's parameter may omit the type."""

    name: str
    type: TypeExpr | None
    mutable: bool = False
    attributes: Attributes = ()

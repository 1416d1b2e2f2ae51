"""The syntax tree: what the user wrote, faithfully, and nothing about what it means.

The parser and the Python builder make it, the formatter prints it, `logic` gives it meaning. A closed sum of frozen,
slotted dataclasses with tuples; `span` takes no part in equality, so two texts that differ only in layout have equal
trees. Patterns are written in the expression language (DDlog's rule), so they are `Expr` here; `logic` tells which
expressions are patterns.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as Choice

from tidelog.base.span import NOWHERE, Span

Path = tuple[str, ...]
"""A possibly scoped name: `a::b::C` is `("a", "b", "C")`."""


# --- types -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TypeName:
    """`bool`, `string`, `Vec<T>`, `lib::Name`; built-in names are told apart by `logic`."""

    path: Path
    arguments: tuple[TypeExpr, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class SizedType:
    """`bit<N>` or `signed<N>`."""

    kind: Choice["bit", "signed"]
    width: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TupleType:
    """`(A, B)`; `()` is the unit type."""

    items: tuple[TypeExpr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionType:
    """`function(A, mut B): C`, also written `|A, mut B|: C`."""

    parameters: tuple[tuple[bool, TypeExpr], ...]
    result: TypeExpr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TickName:
    """A type variable `'A`; the name is without the tick."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


TypeExpr = TypeName | SizedType | TupleType | FunctionType | TickName


# --- expressions and patterns ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Name:
    """A variable or function name."""

    path: Path
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Wildcard:
    """`_`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IntLiteral:
    """`42`, `16'd42`, `8'hff`, `32'sd7`; `width` None when not written; `radix` is one of 10, 16, 8, 2."""

    value: int
    width: int | None = None
    signed: bool = False
    radix: int = 10
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FloatLiteral:
    """`1.5`, `32'f1.5`, `64'f1.5e3`; `text` is the number as written, `width` None, 32 or 64."""

    text: str
    width: int | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class BoolLiteral:
    """`true` or `false`."""

    value: bool
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class StringLiteral:
    """Quoted, raw `[|...|]` and interpolated strings; adjacent literals are one.

    Parts alternate freely between text (escapes resolved) and embedded expressions. `interned` for `i"..."`.
    """

    parts: tuple[str | Expr, ...]
    interned: bool = False
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VecLiteral:
    """`[a, b]`; `[]` is an empty vector."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """`[k -> v, ...]`, at least one pair."""

    pairs: tuple[tuple[Expr, Expr], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TupleExpr:
    """`(a, b)`; `()` is unit; parentheses around one expression leave no trace."""

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Argument:
    """A positional (`name` None) or named (`.name = e`) argument."""

    name: str | None
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Construct:
    """`C`, `C{a, b}`, `C{.f = a}`; `C` and `C{}` are the same tree."""

    path: Path
    arguments: tuple[Argument, ...] = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Call:
    """`f(a, b)`."""

    function: Expr
    arguments: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class MethodCall:
    """`x.f(a)`, which means `f(x, a)`; `x.group_by(k)` groups."""

    receiver: Expr
    function: Path
    arguments: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FieldAccess:
    """`x.f`."""

    of: Expr
    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TupleAccess:
    """`x.0`."""

    of: Expr
    index: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Slice:
    """`x[high:low]`, both included."""

    of: Expr
    high: int
    low: int
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Unary:
    """`-x`, `~x`, `not x`, `&x` (a reference, in patterns and constructors)."""

    operator: Choice["-", "~", "not", "&"]
    operand: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Binary:
    """`* / % + - >> << ++ == != < <= > >= & ^ | and or =>`."""

    operator: str
    left: Expr
    right: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """`x as T`."""

    operand: Expr
    type: TypeExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Annotated:
    """`x: T`."""

    operand: Expr
    type: TypeExpr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Try:
    """`x?`: the value of an Option or Result, or leave the function with its failure."""

    operand: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class At:
    """`x @ pattern`: bind the whole and its parts."""

    name: str
    pattern: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class If:
    """`if (c) a else b`."""

    condition: Expr
    then: Expr
    otherwise: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Match:
    """`match (e) { pattern -> value, ... }`."""

    subject: Expr
    arms: tuple[tuple[Expr, Expr], ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class For:
    """`for (pattern in e) body`."""

    pattern: Expr
    iterable: Expr
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Block:
    """`{ a; b; c }`: in order; a trailing `;` makes the value unit, which the parser states as a last `TupleExpr(())`.

    `{}` holds that alone.
    """

    items: tuple[Expr, ...]
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VarDecl:
    """`var x`, alone or inside a pattern; its type, if written, is an `Annotated` around it."""

    name: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Assign:
    """`target = value`: declares, matches or assigns, depending on the target."""

    target: Expr
    value: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Lambda:
    """`|x, y: T|: R e` or `function(x, y: T): R e`."""

    parameters: tuple[Parameter, ...]
    result: TypeExpr | None
    body: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Return:
    """`return e`; without a value, unit."""

    value: Expr | None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Break:
    """`break`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Continue:
    """`continue`."""

    span: Span = field(default=NOWHERE, compare=False, repr=False)


Expr = (
    Name | Wildcard | IntLiteral | FloatLiteral | BoolLiteral | StringLiteral | VecLiteral | MapLiteral | TupleExpr
    | Construct | Call | MethodCall | FieldAccess | TupleAccess | Slice | Unary | Binary | Cast | Annotated | Try | At
    | If | Match | For | Block | VarDecl | Assign | Lambda | Return | Break | Continue
)  # fmt: skip


# --- rules -----------------------------------------------------------------------------------------------------------


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


# --- the imperative form of rules ------------------------------------------------------------------------------------


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


# --- declarations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Attribute:
    """`#[name]` or `#[name = value]`."""

    name: str
    value: Expr | None = None
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Attributes = tuple[Attribute, ...]


@dataclass(frozen=True, slots=True)
class Import:
    """`import a::b [as c]` (dots are allowed in place of `::`)."""

    path: Path
    alias: str | None = None
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FieldDecl:
    """`name: T` in a constructor or relation."""

    name: str
    type: TypeExpr
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ConstructorDecl:
    """`C` or `C{f: T, ...}`."""

    name: str
    fields: tuple[FieldDecl, ...] = ()
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TypeDef:
    """`typedef T<'A> = body`: a type (alias) or constructors; `extern type T<'A>` has no body."""

    name: str
    parameters: tuple[str, ...]
    body: TypeExpr | tuple[ConstructorDecl, ...] | None
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    """`x: mut T`; a lambda's parameter may omit the type."""

    name: str
    type: TypeExpr | None
    mutable: bool = False
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FunctionDef:
    """`function f(x: T): R { e }` or `... = e`; `extern function` has no body; without `: R` the result is unit."""

    name: str
    parameters: tuple[Parameter, ...]
    result: TypeExpr | None
    body: Expr | None
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class PrimaryKey:
    """`primary key (x) e`."""

    variable: str
    expression: Expr
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Role = Choice["input", "output", "internal"]


@dataclass(frozen=True, slots=True)
class RelationDef:
    """`[input|output] relation R(f: T, ...)` or `R[T]` (`element`); `&R(...)` (`reference`) stores references.

    `kind` is `relation`, or DDlog's `multiset` and `stream`, which the parser accepts so that `logic` can explain.
    """

    name: str
    role: Role
    fields: tuple[FieldDecl, ...]
    element: TypeExpr | None = None
    primary_key: PrimaryKey | None = None
    reference: bool = False
    kind: Choice["relation", "multiset", "stream"] = "relation"
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IndexDef:
    """`index I(x: T) on R(x, _)`."""

    name: str
    parameters: tuple[FieldDecl, ...]
    atom: Atom
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RuleDef:
    """`H1, H2 :- body.`; a fact has an empty body. `span` covers the rule without attributes."""

    heads: tuple[Head, ...]
    body: tuple[Clause, ...]
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ImperativeRule:
    """A top-level `for` statement."""

    statement: ForStatement
    attributes: Attributes = ()
    span: Span = field(default=NOWHERE, compare=False, repr=False)


Declaration = Import | TypeDef | FunctionDef | RelationDef | IndexDef | RuleDef | ImperativeRule


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment with its delimiters, kept for the formatter."""

    text: str
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Module:
    """A parsed text: declarations in order, and its comments, which take no part in equality."""

    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)
    span: Span = field(default=NOWHERE, compare=False, repr=False)

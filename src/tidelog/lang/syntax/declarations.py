"""Declarations as written, and a whole module of them."""

from __future__ import annotations

from dataclasses import field
from typing import Literal as Choice

from tidelog.base.record import record
from tidelog.base.span import Placed
from tidelog.lang.syntax.expressions import Attributes, Expr, Parameter, Path, TypeExpr
from tidelog.lang.syntax.rules import Atom, Clause, ForStatement, Head


@record
class Import(Placed):
    """`import a::b [as c]` (dots are allowed in place of `::`)."""

    path: Path
    alias: str | None = None
    attributes: Attributes = ()


@record
class Prefix(Placed):
    """`prefix p: <iri>`: what `p:name` in this module is short for."""

    name: str
    iri: str
    attributes: Attributes = ()


@record
class FieldDecl(Placed):
    """`name: T` in a constructor or relation; of a relation also `min name: T` or `max name: T`."""

    name: str
    type: TypeExpr
    attributes: Attributes = ()
    bound: Choice["min", "max"] | None = None


@record
class ConstructorDecl(Placed):
    """`C` or `C{f: T, ...}`."""

    name: str
    fields: tuple[FieldDecl, ...] = ()
    attributes: Attributes = ()


@record
class TypeDef(Placed):
    """`typedef T<'A> = body`: a type (alias) or constructors; `extern type T<'A>` has no body."""

    name: str
    parameters: tuple[str, ...]
    body: TypeExpr | tuple[ConstructorDecl, ...] | None
    attributes: Attributes = ()


@record
class FunctionDef(Placed):
    """`function f(x: T): R { e }` or `... = e`; `extern function` has no body; without `: R` the result is unit."""

    name: str
    parameters: tuple[Parameter, ...]
    result: TypeExpr | None
    body: Expr | None
    attributes: Attributes = ()


@record
class PrimaryKey(Placed):
    """`primary key (x) e`."""

    variable: str
    expression: Expr


Role = Choice["input", "output", "internal"]


@record
class RelationDef(Placed):
    """`[input|output] relation R(f: T, ...)` or `R[T]` (`element`); `&R(...)` (`reference`) stores references.

    `kind` is `relation`, `multiset` or `stream`.
    """

    name: str
    role: Role
    fields: tuple[FieldDecl, ...]
    element: TypeExpr | None = None
    primary_key: PrimaryKey | None = None
    reference: bool = False
    kind: Choice["relation", "multiset", "stream"] = "relation"
    attributes: Attributes = ()


@record
class IndexDef(Placed):
    """`index I(x: T) on R(x, _)`."""

    name: str
    parameters: tuple[FieldDecl, ...]
    atom: Atom
    attributes: Attributes = ()


@record
class RelationArgument(Placed):
    """`name: relation[T]` of a transformer."""

    name: str
    row: TypeExpr


@record
class FunctionArgument(Placed):
    """`name: function(x: A): B` of a transformer."""

    name: str
    parameters: tuple[Parameter, ...]
    result: TypeExpr


TransformerArgument = RelationArgument | FunctionArgument


@record
class TransformerDef(Placed):
    """`extern transformer T(R: relation[A], f: function(x: A): B) -> (S: relation[C])`."""

    name: str
    inputs: tuple[TransformerArgument, ...]
    outputs: tuple[TransformerArgument, ...]
    attributes: Attributes = ()


@record
class Apply(Placed):
    """`apply T(R, f) -> (S)`: the relations S are what a transformer makes of its arguments."""

    transformer: Path
    inputs: tuple[Path, ...]
    outputs: tuple[Path, ...]
    attributes: Attributes = ()


@record
class RuleDef(Placed):
    """`H1, H2 :- body.`; a fact has an empty body. `span` covers the rule without attributes."""

    heads: tuple[Head, ...]
    body: tuple[Clause, ...]
    attributes: Attributes = ()


@record
class ImperativeRule(Placed):
    """A top-level `for` statement."""

    statement: ForStatement
    attributes: Attributes = ()


Declaration = (
    Import | Prefix | TypeDef | FunctionDef | RelationDef | IndexDef | TransformerDef | Apply | RuleDef | ImperativeRule
)  # fmt: skip


@record
class Comment(Placed):
    """A comment with its delimiters, kept for the formatter."""

    text: str


@record
class Module(Placed):
    """A parsed text: declarations in order, and its comments, which take no part in equality."""

    declarations: tuple[Declaration, ...]
    comments: tuple[Comment, ...] = field(default=(), compare=False, repr=False)

"""Programs built in Python: the same syntax tree as the parser's, without text.

>>> p = Program()
>>> Link = p.input("Link", a="string", b="string", cost="u32")
>>> Blocked = p.input("Blocked", host="string")
>>> Reach = p.output("Reach", a="string", b="string")
>>> x, y, z, c = variables("x y z c")
>>> p.rule(Reach(x, y), Link(x, y, c), c < 100)
>>> p.rule(Reach(x, z), Reach(x, y), Link(y, z, ...), ~Blocked(z), x != z, name="hop")
>>> Cheapest = p.output("Cheapest", a="string", cost="u32")
>>> p.rule(Cheapest(x, c), Link(a=x, cost=y), let(c, y.group_by(x).min()))
>>> print(p, end="")
input relation Link(a: string, b: string, cost: u32)
input relation Blocked(host: string)
output relation Reach(a: string, b: string)
<BLANKLINE>
Reach(x, y) :- Link(x, y, c), c < 100.
#[name = "hop"]
Reach(x, z) :- Reach(x, y), Link(y, z, _), not Blocked(z), x != z.
<BLANKLINE>
output relation Cheapest(a: string, cost: u32)
<BLANKLINE>
Cheapest(x, c) :- Link(.a = x, .cost = y), var c = y.group_by(x).min().

Facts are rules without a body; types, functions and whole declarations can be given as text. See `build_terms` for what
stands in rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidelog.base.diagnostic import Report
from tidelog.base.errors import ProgramError
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.lang import syntax
from tidelog.lang.build_terms import (
    Application,
    Constructor,
    Literal,
    Term,
    and_,
    applied,
    clause,
    concat,
    each,
    either,
    expression,
    function,
    implies,
    let,
    not_,
    or_,
    text,
    type_of,
    variables,
)
from tidelog.lang.format.format import format_module
from tidelog.lang.parse.parse import parse

__all__ = [
    "Application",
    "Constructor",
    "Literal",
    "Program",
    "Relation",
    "Term",
    "and_",
    "concat",
    "each",
    "either",
    "function",
    "implies",
    "let",
    "not_",
    "or_",
    "text",
    "variables",
]


@record
class Relation:
    """A relation of a program; applied to terms, it is an atom."""

    name: str
    program: Program

    def __call__(self, *positional: object, **named: object) -> Application:
        return Application(syntax.Atom(tuple(self.name.split("::")), applied(positional, named)))

    def __getitem__(self, row: object) -> Application:
        return Application(syntax.Atom(tuple(self.name.split("::")), None, expression(row)))

    def keyed(self, *fields: str) -> Relation:
        """Declare these fields to be the primary key.

        >>> p = Program()
        >>> Owner = p.input("Owner", host="string", who="string").keyed("host")
        >>> print(p, end="")
        input relation Owner(host: string, who: string) primary key (x) x.host
        """
        row = syntax.Name(("x",))
        parts = tuple(syntax.FieldAccess(row, name) for name in fields)
        key = syntax.PrimaryKey("x", parts[0] if len(parts) == 1 else syntax.TupleExpr(parts))
        self.program.declarations[:] = [
            replace(d, primary_key=key) if isinstance(d, syntax.RelationDef) and d.name == self.name else d
            for d in self.program.declarations
        ]
        return self


class Program:
    """A program under construction; see the example of the module."""

    def __init__(self) -> None:
        self.declarations: list[syntax.Declaration] = []

    def module(self) -> syntax.Module:
        """Return the syntax tree."""
        return syntax.Module(tuple(self.declarations))

    def __str__(self) -> str:
        return format_module(self.module())

    # --- relations and rules -----------------------------------------------------------------------------------------

    def input(self, name: str, element: object = None, **fields: object) -> Relation:
        """Declare an input relation by its fields, or by the type of its rows."""
        return self._relation("input", name, element, fields)

    def output(self, name: str, element: object = None, **fields: object) -> Relation:
        """Declare an output relation.

        >>> p = Program()
        >>> Dist = p.output("Dist", node="string", d="min u64")
        >>> print(p, end="")
        output relation Dist(node: string, min d: u64)
        """
        return self._relation("output", name, element, fields)

    def relation(self, name: str, element: object = None, **fields: object) -> Relation:
        """Declare a relation that is neither input nor output."""
        return self._relation("internal", name, element, fields)

    def _relation(self, role: syntax.Role, name: str, element: object, fields: Mapping[str, object]) -> Relation:
        row = None if element is None else type_of(element)
        columns = tuple(_column(column, type) for column, type in fields.items())
        self.declarations.append(syntax.RelationDef(name, role, columns, row))
        return Relation(name, self)

    def rule(
        self, head: Application | Sequence[Application], *body: object, name: str | None = None, **attributes: object
    ) -> None:
        """Add a rule with one head or several; without a body, it is a fact."""
        heads = (head,) if isinstance(head, Application) else tuple(head)
        given = {**({} if name is None else {"name": name}), **attributes}
        notes = tuple(syntax.Attribute(key, expression(value)) for key, value in given.items())
        self.declarations.append(
            syntax.RuleDef(tuple(syntax.Head(h.atom) for h in heads), tuple(map(clause, body)), notes)
        )

    def fact(self, *atoms: Application) -> None:
        """Add facts."""
        for atom in atoms:
            self.rule(atom)

    def index(self, name: str, atom: Application, **parameters: object) -> None:
        """Declare an index.

        >>> p = Program()
        >>> Edge = p.input("Edge", a="u8", b="u8")
        >>> p.index("ByTarget", Edge(..., *variables("b")), b="u8")
        >>> print(str(p).splitlines()[-1])
        index ByTarget(b: u8) on Edge(_, b)
        """
        self.declarations.append(syntax.IndexDef(name, _fields(parameters), atom.atom))

    # --- types, functions and texts ----------------------------------------------------------------------------------

    def typedef(self, name: str, type: object, *parameters: str) -> None:
        """Give a type a name; `parameters` are the type variables, without tick."""
        self.declarations.append(syntax.TypeDef(name, parameters, type_of(type)))

    def union(self, name: str, *parameters: str, **constructors: Mapping[str, object]) -> tuple[Constructor, ...]:
        """Declare a tagged union, each constructor with its fields; a struct is one with a single constructor.

        >>> p = Program()
        >>> Circle, Square = p.union("Shape", Circle={"radius": "u32"}, Square={"side": "u32"})
        >>> print(p, end="")
        typedef Shape = Circle{radius: u32} | Square{side: u32}
        """
        body = tuple(
            syntax.ConstructorDecl(constructor, _fields(fields)) for constructor, fields in constructors.items()
        )
        self.declarations.append(syntax.TypeDef(name, parameters, body))
        return tuple(map(Constructor, constructors))

    def function(self, name: str, parameters: Mapping[str, object], result: object, body: object = None) -> Term:
        """Define a function by a term or a text; without a body, it is implemented in Python.

        >>> p = Program()
        >>> inc = p.function("inc", {"x": "u8"}, "u8", "x + 1")
        >>> p.fact(p.output("Out", x="u8")(inc(2)))
        >>> print(p, end="")
        function inc(x: u8): u8 { x + 1 }
        <BLANKLINE>
        output relation Out(x: u8)
        <BLANKLINE>
        Out(inc(2)).
        """
        given = tuple(_parameter(key, value) for key, value in parameters.items())
        tree = None if body is None else expression(text(body) if isinstance(body, str) else body)
        block = tree if tree is None or isinstance(tree, syntax.Block) else syntax.Block((tree,))
        self.declarations.append(syntax.FunctionDef(name, given, None if result is None else type_of(result), block))
        return function(name)

    def extern_type(self, name: str, *parameters: str) -> None:
        """Declare a type whose values only extern functions make and use."""
        self.declarations.append(syntax.TypeDef(name, parameters, None))

    def import_(self, path: str, alias: str | None = None) -> None:
        """Import a module."""
        self.declarations.append(syntax.Import(tuple(path.replace("::", ".").split(".")), alias))

    def add(self, source: str) -> None:
        """Add declarations given as text.

        >>> p = Program()
        >>> p.add("function twice(x: u8): u8 { x + x }")
        >>> len(p.declarations)
        1
        """
        report = Report()
        module = parse(Source("<text>", source), report)
        if report.errors:
            raise ProgramError(report.errors)
        self.declarations += module.declarations


def _fields(fields: Mapping[str, object]) -> tuple[syntax.FieldDecl, ...]:
    return tuple(syntax.FieldDecl(name, type_of(type)) for name, type in fields.items())


def _column(name: str, type: object) -> syntax.FieldDecl:
    if isinstance(type, str) and type.startswith("min "):
        return syntax.FieldDecl(name, type_of(type.removeprefix("min ")), bound="min")
    if isinstance(type, str) and type.startswith("max "):
        return syntax.FieldDecl(name, type_of(type.removeprefix("max ")), bound="max")
    return syntax.FieldDecl(name, type_of(type))


def _parameter(name: str, type: object) -> syntax.Parameter:
    if isinstance(type, str) and type.startswith("mut "):
        return syntax.Parameter(name, type_of(type.removeprefix("mut ")), mutable=True)
    return syntax.Parameter(name, type_of(type))

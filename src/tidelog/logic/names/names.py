"""The names each module declares, before any type is resolved.

A `ModuleTable` is made from one syntax module by `tabulate`: four name spaces (types, constructors, relations,
functions), each from a plain name to its declaration. Nothing is resolved here, so tabulating the standard library
costs a dictionary entry a declaration. A name declared twice is reported; the first declaration stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from tidelog.base.diagnostic import Label, Report
from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Path

STD: Path = ("std",)
INTERNMENT: Path = ("internment",)
"""The functions of interned strings, the other part of the prelude."""
DDLOG_STD: Path = ("ddlog_std",)
"""The prelude by its name in DDlog."""


@dataclass(slots=True, eq=False)
class ModuleTable:
    """What one module declares, by plain name; `relation R(f: T)` also declares type and constructor `R` of rows."""

    path: Path
    module: syntax.Module
    types: dict[str, syntax.TypeDef | syntax.RelationDef] = field(default_factory=dict)
    constructors: dict[str, syntax.TypeDef | syntax.RelationDef] = field(default_factory=dict)
    relations: dict[str, syntax.RelationDef] = field(default_factory=dict)
    functions: dict[str, list[syntax.FunctionDef]] = field(default_factory=dict)
    transformers: dict[str, syntax.TransformerDef] = field(default_factory=dict)
    """Each is a function, too, with a capital letter (`as_function`)."""
    imports: list[syntax.Import] = field(default_factory=list)

    def qualify(self, name: str) -> str:
        """Return the program-wide name: names of the main module, whose path is empty, stay plain."""
        return "::".join((*self.path, name))


Declared = TypeVar("Declared", bound=syntax.TypeDef | syntax.RelationDef)


def tabulate(path: Path, module: syntax.Module, report: Report) -> ModuleTable:
    """Collect the names a module declares, reporting names that are declared twice."""
    table = ModuleTable(path, module)
    spans: dict[str, Span] = {}

    def enter(what: str, names: dict[str, Declared], declaration: Declared, note: str = "") -> bool:
        earlier = names.setdefault(declaration.name, declaration)
        if earlier is not declaration:
            note = note or f"a module has at most one {what} of a name"
            declared_twice(what, declaration.name, declaration.span, report, earlier.span, note)
        return earlier is declaration

    def constructor(name: str, span: Span, owner: syntax.TypeDef | syntax.RelationDef) -> None:
        if name in spans:
            note = "constructor names are unique in a module, whatever their type"
            declared_twice("constructor", name, span, report, spans[name], note)
        else:
            spans[name] = span
            table.constructors[name] = owner

    for declaration in module.declarations:
        match declaration:
            case syntax.TypeDef(body=body):
                if enter("type", table.types, declaration) and isinstance(body, tuple):
                    for each in body:
                        constructor(each.name, each.span, declaration)
            case syntax.RelationDef(name=name, element=element):
                new = enter("relation", table.relations, declaration)
                if new and element is None and enter("type", table.types, declaration, _ROWS):
                    constructor(name, declaration.span, declaration)
            case syntax.FunctionDef(name=name):
                table.functions.setdefault(name, []).append(declaration)
            case syntax.TransformerDef(name=name):
                if table.transformers.setdefault(name, declaration) is declaration:
                    table.functions[name] = [as_function(declaration)]
                else:
                    declared_twice("transformer", name, declaration.span, report, table.transformers[name].span)
            case syntax.Import():
                table.imports.append(declaration)
            case _:
                pass
    return table


def as_function(transformer: syntax.TransformerDef) -> syntax.FunctionDef:
    """Return a transformer as a function: of vectors of rows to a vector of rows, or to a tuple of such vectors."""
    parameters = []
    for argument in transformer.inputs:
        match argument:
            case syntax.RelationArgument(name, row):
                type: syntax.TypeExpr = _rows(row)
            case syntax.FunctionArgument(name, given, result):
                modes = tuple([(p.mutable, p.type) for p in given if p.type is not None])
                type = syntax.FunctionType(modes, result, span=argument.span)
        parameters.append(syntax.Parameter(name, type, span=argument.span))
    made = [_rows(output.row) for output in transformer.outputs if isinstance(output, syntax.RelationArgument)]
    result = made[0] if len(made) == 1 else syntax.TupleType(tuple(made), span=transformer.span)
    return syntax.FunctionDef(transformer.name, tuple(parameters), result, None, span=transformer.span)


def _rows(row: syntax.TypeExpr) -> syntax.TypeExpr:
    return syntax.TypeName((*STD, "Vec"), (row,), span=row.span)


_ROWS = "`relation R(...)` also declares the struct `R` of its rows"


def declared_twice(what: str, name: str, span: Span, report: Report, first: Span | None = None, note: str = "") -> None:
    """Report a name that is declared again; `first` is where it was declared before."""
    labels = [] if first is None else [Label(first, "first declared here")]
    hint = "rename one of them" if note else ""
    report.add("E0202", f"{what} `{name}` is declared twice", span, labels=labels, note=note, hint=hint)

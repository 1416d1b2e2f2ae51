"""The names each module declares, before any type is resolved.

A `ModuleTable` is made from one syntax module by `tabulate`: four name spaces (types, constructors, relations,
functions), each from a plain name to its declaration. Nothing is resolved here, so tabulating the standard library
costs a dictionary entry a declaration. A name declared twice is reported; the first declaration stays.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tidelog.base.diagnostic import Label, Report
from tidelog.base.span import Span
from tidelog.lang import syntax
from tidelog.lang.syntax import Path

STD: Path = ("std",)


@dataclass(slots=True, eq=False)
class ModuleTable:
    """What one module declares, by plain name; `relation R(f: T)` also declares type and constructor `R` of rows."""

    path: Path
    module: syntax.Module
    types: dict[str, syntax.TypeDef | syntax.RelationDef] = field(default_factory=dict)
    constructors: dict[str, syntax.TypeDef | syntax.RelationDef] = field(default_factory=dict)
    relations: dict[str, syntax.RelationDef] = field(default_factory=dict)
    functions: dict[str, list[syntax.FunctionDef]] = field(default_factory=dict)
    imports: list[syntax.Import] = field(default_factory=list)

    def qualify(self, name: str) -> str:
        """Return the program-wide name: names of the main module, whose path is empty, stay plain."""
        return "::".join((*self.path, name))


def tabulate(path: Path, module: syntax.Module, report: Report) -> ModuleTable:
    """Collect the names a module declares, reporting names that are declared twice."""
    table = ModuleTable(path, module)
    spans: dict[str, Span] = {}
    for declaration in module.declarations:
        match declaration:
            case syntax.TypeDef(name=name):
                if _first("type", name, declaration.span, table.types.get(name), report):
                    table.types[name] = declaration
                    _constructors(table, declaration, spans, report)
            case syntax.RelationDef(name=name):
                if _first("relation", name, declaration.span, table.relations.get(name), report):
                    table.relations[name] = declaration
                    if declaration.element is None and _first(
                        "type", name, declaration.span, table.types.get(name), report, _ROWS
                    ):
                        table.types[name] = declaration
                        _constructor(table, name, declaration.span, declaration, spans, report)
            case syntax.FunctionDef(name=name):
                table.functions.setdefault(name, []).append(declaration)
            case syntax.Import():
                table.imports.append(declaration)
            case _:
                pass
    return table


_ROWS = "`relation R(...)` also declares the struct `R` of its rows"


def _first(
    what: str,
    name: str,
    span: Span,
    earlier: syntax.TypeDef | syntax.RelationDef | None,
    report: Report,
    note: str = "",
) -> bool:
    if earlier is None:
        return True
    report.add(
        "E0202",
        f"{what} `{name}` is declared twice",
        span,
        labels=[Label(earlier.span, "first declared here")],
        note=note or f"a module has at most one {what} of a name",
        hint="rename one of them",
    )
    return False


def _constructors(table: ModuleTable, typedef: syntax.TypeDef, spans: dict[str, Span], report: Report) -> None:
    if isinstance(typedef.body, tuple):
        for constructor in typedef.body:
            _constructor(table, constructor.name, constructor.span, typedef, spans, report)


def _constructor(
    table: ModuleTable,
    name: str,
    span: Span,
    owner: syntax.TypeDef | syntax.RelationDef,
    spans: dict[str, Span],
    report: Report,
) -> None:
    if name not in spans:
        spans[name] = span
        table.constructors[name] = owner
        return
    report.add(
        "E0202",
        f"constructor `{name}` is declared twice",
        span,
        labels=[Label(spans[name], "first declared here")],
        note="constructor names are unique in a module, whatever their type",
        hint="rename one of them",
    )

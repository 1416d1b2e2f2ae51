"""Make the environment of every module from the syntax modules.

    modules: {(): main, ("a", "b"): imported, ("std",): prelude}   ->   Declarations with an Environment for each

All declarations of the program's own modules are resolved here, so their mistakes are reported even if nothing uses
them; those of library modules are resolved when used.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from tidelog.base import types
from tidelog.base.diagnostic import Report
from tidelog.base.types import Field, Tuple, TypeDefinition
from tidelog.lang import syntax
from tidelog.lang.syntax import Path
from tidelog.logic.names.environment import Declarations, Signature
from tidelog.logic.names.externs import same_up_to_names
from tidelog.logic.names.modules import TIDELOG
from tidelog.logic.names.names import STD, ModuleTable, declared_twice, tabulate


def declare(
    modules: Mapping[Path, syntax.Module], report: Report, library: Collection[Path] = (STD,), dialect: str = TIDELOG
) -> Declarations:
    """Return the declarations of a program; the main module has the empty path, the prelude the path `("std",)`."""
    tables = {path: tabulate(path, module, report) for path, module in modules.items()}
    declarations = Declarations(tables, report, frozenset(library), dialect)
    for path, table in tables.items():
        if path not in declarations.library:
            check_declarations(declarations, table)
    return declarations


def check_declarations(declarations: Declarations, table: ModuleTable) -> None:
    """Resolve every declaration of a module and report its mistakes."""
    for name, declared in table.types.items():
        if isinstance(declared, syntax.TypeDef):
            _check_parameters(declared, declarations.report)
        if isinstance(declared, syntax.TypeDef) and declared.body is not None and not isinstance(declared.body, tuple):
            declarations.alias(table, name)
        else:
            _check_shared_fields(declarations.definition(table.qualify(name)), declarations.report)
    for name in table.relations:
        declarations.relation(table, name)
    for name in table.functions:
        _check_overloads(declarations.signatures(table, name), declarations.report)


def _check_parameters(declared: syntax.TypeDef, report: Report) -> None:
    for position, parameter in enumerate(declared.parameters):
        if parameter in declared.parameters[:position]:
            declared_twice("type variable", f"'{parameter}", declared.span, report)


def _check_shared_fields(definition: TypeDefinition, report: Report) -> None:
    """A field that several constructors have is of one type, so that `x.f` has one."""
    seen: dict[str, tuple[Field, str]] = {}
    for constructor in definition.constructors:
        for field in constructor.fields:
            first, owner = seen.setdefault(field.name, (field, constructor.name))
            if first.type != field.type:
                report.add(
                    "E0319",
                    f"field `{field.name}` is `{types.show(first.type)}` in `{owner}` "
                    f"and `{types.show(field.type)}` in `{constructor.name}`",
                    definition.span,
                    note="a field that several constructors of a type share has one type",
                    hint="rename one of them",
                )


def _check_overloads(signatures: Sequence[Signature], report: Report) -> None:
    """Functions of one name differ in their types."""
    for position, signature in enumerate(signatures):
        for earlier in signatures[:position]:
            if same_up_to_names(_types(earlier), _types(signature)):
                note = "functions of one name differ in the number or types of their parameters, or in their result"
                spans = signature.definition.span, earlier.definition.span
                declared_twice("function", signature.show(), spans[0], report, spans[1], note)


def _types(signature: Signature) -> Tuple:
    return Tuple((*(p.type for p in signature.parameters), signature.result))

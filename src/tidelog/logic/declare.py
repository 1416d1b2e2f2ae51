"""Make the environment of every module from the syntax modules.

    modules: {(): main, ("a", "b"): imported, ("std",): prelude}   ->   Declarations with an Environment for each

All declarations of the program's own modules are resolved here, so their mistakes are reported even if nothing uses
them; the standard library's are resolved when used.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.base.diagnostic import Report
from tidelog.lang import syntax
from tidelog.lang.syntax import Path
from tidelog.logic.environment import Declarations
from tidelog.logic.names import STD, tabulate


def declare(modules: Mapping[Path, syntax.Module], report: Report) -> Declarations:
    """Return the declarations of a program; the main module has the empty path, the prelude the path `("std",)`."""
    tables = {path: tabulate(path, module, report) for path, module in modules.items()}
    declarations = Declarations(tables, report)
    for path in tables:
        if path[:1] != STD:
            check_declarations(declarations, path)
    return declarations


def check_declarations(declarations: Declarations, path: Path) -> None:
    """Resolve every declaration of a module, which reports its mistakes."""
    table = declarations.tables[path]
    for name, declared in table.types.items():
        if isinstance(declared, syntax.TypeDef) and declared.body is not None and not isinstance(declared.body, tuple):
            declarations.alias(table, name)
        else:
            declarations.definition(table.qualify(name))
    for name in table.relations:
        declarations.relation(table, name)
    for name in table.functions:
        declarations.signatures(table, name)

"""What names mean in a module: types, constructors, relations and functions, found through scopes and imports.

`Declarations` owns all module tables and resolves each declaration once, on demand, so an unused part of the standard
library costs nothing. An `Environment` is the view from one module. A plain name is looked up in the module itself,
then in the modules it imports without alias (two that fit are ambiguous), then in `std`. A scoped name `a::X` goes
through an alias or the full path of an imported module; `std::X` always works, also by its name in DDlog, `ddlog_std`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from tidelog.base import types
from tidelog.base.diagnostic import Report, did_you_mean
from tidelog.base.expr import Parameter
from tidelog.base.span import ADDED, Span
from tidelog.base.types import Constructor, Named, Type, TypeDefinition
from tidelog.lang import syntax
from tidelog.lang.syntax import Path
from tidelog.logic.names.modules import PRELUDE, TIDELOG, import_hint
from tidelog.logic.names.names import DDLOG_STD, STD, ModuleTable
from tidelog.logic.names.resolve import (
    free_variables,
    resolve_alias,
    resolve_columns,
    resolve_constructors,
    resolve_type,
)
from tidelog.logic.names.unify import ERROR
from tidelog.logic.program import Relation


@dataclass(frozen=True, slots=True, eq=False)
class Signature:
    """A declared function: `name` is qualified, `overloaded` says that its module has others of that name."""

    name: str
    type_variables: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    result: Type
    definition: syntax.FunctionDef
    environment: Environment
    overloaded: bool

    @property
    def type(self) -> types.Function:
        """The type of the function as a value, over its type variables."""
        parameters = tuple([p.type for p in self.parameters])
        return types.Function(parameters, self.result, tuple([p.mutable for p in self.parameters]))

    def show(self) -> str:
        """Write the declaration's head, as diagnostics list it."""
        parameters = (f"{p.name}: {'mut ' if p.mutable else ''}{types.show(p.type)}" for p in self.parameters)
        result = "" if self.result == types.UNIT else f": {types.show(self.result)}"
        return f"{self.name.removeprefix('std::')}({', '.join(parameters)}){result}"


@dataclass(slots=True)
class Instances:
    """Names for uses of functions at given type arguments, unique and readable; `Call.function` is such a name.

    That of a function which was added to a program says by which text: one that replaces another of the same name is
    another one, for all that has evaluated the first.
    """

    by_name: dict[str, tuple[Signature, tuple[Type, ...]]] = field(default_factory=dict)
    _names: dict[tuple[Signature, tuple[Type, ...]], str] = field(default_factory=dict)

    def name(self, signature: Signature, arguments: tuple[Type, ...]) -> str:
        """Return the name of a function instantiated at type arguments (which may hold type variables)."""
        key = (signature, arguments)
        name = self._names.get(key)
        if name is None:
            name = f"{signature.name}{_added(signature)}"
            if arguments:
                name += f"<{', '.join(map(types.show, arguments))}>"
            if signature.overloaded:
                by = dict(zip(signature.type_variables, arguments, strict=True))
                name += f"({', '.join(types.show(types.substitute(p.type, by)) for p in signature.parameters)})"
            while name in self.by_name:
                name += "'"
            self._names[key] = name
            self.by_name[name] = key
        return name


def _added(signature: Signature) -> str:
    source = signature.definition.span.source.name
    return f"@{source[len(ADDED) : -1]}" if source.startswith(ADDED) else ""


class Declarations:
    """All modules of a program; made by `declare`. `environments` has a view for each module path."""

    def __init__(
        self,
        tables: Mapping[Path, ModuleTable],
        report: Report,
        library: frozenset[Path] = frozenset((STD,)),
        dialect: str = TIDELOG,
    ) -> None:
        self.tables = tables
        self.report = report
        self.library = library
        """Modules whose declarations are looked at only when used."""
        self.dialect = dialect
        self.instances = Instances()
        self.environments = {path: Environment(self, table) for path, table in tables.items()}
        self._definitions: dict[str, TypeDefinition] = {}
        self._aliases: dict[tuple[Path, str], Type | None] = {}
        self.relations: dict[str, Relation] = {}
        self.delays: dict[str, Relation] = {}
        """What rules read of the past."""
        self._signatures: dict[tuple[Path, str], tuple[Signature, ...]] = {}
        self._with_function: dict[str, list[ModuleTable]] | None = None
        self.standard = [tables[path] for path in PRELUDE if path in tables]
        """The prelude, seen from everywhere."""

    def with_function(self, name: str) -> Sequence[ModuleTable]:
        """Return the modules that declare a function of the name."""
        if self._with_function is None:
            self._with_function = {}
            for table in self.tables.values():
                for each in table.functions:
                    self._with_function.setdefault(each, []).append(table)
        return self._with_function.get(name, ())

    def split(self, name: str) -> tuple[ModuleTable, str]:
        """Return the table and plain name of a qualified name."""
        *path, plain = name.split("::")
        return self.tables[tuple(path)], plain

    def definition(self, name: str) -> TypeDefinition:
        """Return what a `Named` type means; the name is qualified and declared."""
        found = self._definitions.get(name)
        if found is None:
            table, plain = self.split(name)
            declared = table.types[plain]
            parameters = declared.parameters if isinstance(declared, syntax.TypeDef) else ()
            # Entered before its fields are resolved, so that recursive types end.
            self._definitions[name] = TypeDefinition(name, parameters, (), declared.span)
            environment = self.environments[table.path]
            constructors = resolve_constructors(environment, declared, self.report)
            found = self._definitions[name] = replace(self._definitions[name], constructors=constructors)
        return found

    def alias(self, table: ModuleTable, plain: str) -> Type:
        """Return the type that an alias stands for, over its parameters."""
        key = (table.path, plain)
        if key in self._aliases:
            found = self._aliases[key]
            if found is None:
                self._aliases[key] = found = ERROR
                span = table.types[plain].span
                note = "an alias is another name for a type, which cannot contain itself"
                hint = f"declare a struct: `typedef {plain} = {plain}{{...}}`"
                self.report.add("E0305", f"type alias `{plain}` stands for itself", span, note=note, hint=hint)
            return found
        self._aliases[key] = None
        declared = table.types[plain]
        assert isinstance(declared, syntax.TypeDef)
        body = resolve_alias(self.environments[table.path], declared, self.report)
        if self._aliases[key] is None:
            self._aliases[key] = body
        return self._aliases[key] or body

    def relation(self, table: ModuleTable, plain: str) -> Relation:
        """Return a relation of a module with typed columns; its primary key is filled in by `check_relations`."""
        name = table.qualify(plain)
        found = self.relations.get(name)
        if found is None:
            environment = self.environments[table.path]
            found = self.relations[name] = resolve_columns(environment, table.relations[plain], self.report)
        return found

    def replace_relation(self, relation: Relation) -> None:
        """Put a completed relation in place of the one of the same name."""
        self.relations[relation.name] = relation

    def delayed(self, relation: Relation, commits: int) -> Relation:
        """Return the relation that has the rows that another one had some commits ago."""
        for _ in range(commits):
            stem, _, ago = relation.name.rpartition("-") if relation.past is not None else (relation.name, "", "0")
            name = f"{stem}-{int(ago) + 1}"
            if name not in self.delays:
                kind = "stream" if relation.kind == "stream" else "relation"
                made = replace(
                    relation, name=name, role="input", kind=kind, auxiliary=True, primary_key=None, bound=None
                )
                self.delays[name] = replace(made, past=relation.name, strategy=None, demand=False, bound=None)
            relation = self.delays[name]
        return relation

    def complete(self, roots: Iterable[Type]) -> Mapping[str, TypeDefinition]:
        """Return the types asked for so far, and all that values of some further types may contain."""
        todo = [*roots, *(f.type for d in self._definitions.values() for c in d.constructors for f in c.fields)]
        while todo:
            type = todo.pop()
            todo += types.parts(type)
            if isinstance(type, Named) and type.name not in self._definitions:
                todo += (f.type for c in self.definition(type.name).constructors for f in c.fields)
        return self._definitions

    def signatures(self, table: ModuleTable, plain: str) -> tuple[Signature, ...]:
        """Return the functions of a name that a module declares."""
        key = (table.path, plain)
        found = self._signatures.get(key)
        if found is None:
            declared = table.functions.get(plain, ())
            environment = self.environments[table.path]
            found = tuple(self._signature(environment, d, len(declared) > 1) for d in declared)
            self._signatures[key] = found
        return found

    def _signature(self, environment: Environment, declared: syntax.FunctionDef, overloaded: bool) -> Signature:
        written = [p.type for p in declared.parameters if p.type is not None]
        variables = free_variables(*written, *([declared.result] if declared.result else []))
        allowed = frozenset(variables)
        parameters = tuple(
            Parameter(p.name, environment.type(p.type, self.report, allowed) if p.type else ERROR, p.mutable)
            for p in declared.parameters
        )
        result = environment.type(declared.result, self.report, allowed) if declared.result else types.UNIT
        name = environment.table.qualify(declared.name)
        return Signature(name, variables, parameters, result, declared, environment, overloaded)


class Environment:
    """The names one module sees."""

    def __init__(self, declarations: Declarations, table: ModuleTable) -> None:
        self.declarations = declarations
        self.table = table
        self.module = table.path
        self._lookups: dict[tuple[str, Path], list[tuple[ModuleTable, str]]] = {}
        self._relation_names: dict[Path, str] = {}

    # --- lookups that report -----------------------------------------------------------------------------------------

    def type(self, t: syntax.TypeExpr, report: Report, type_variables: frozenset[str] = frozenset()) -> Type:
        """Resolve a written type, aliases expanded; the error type after a reported mistake."""
        return resolve_type(self, t, report, type_variables)

    def relation(self, path: Path, span: Span, report: Report) -> Relation | None:
        """Find a relation by its possibly scoped name."""
        known = self._relation_names.get(path)
        if known is not None:
            return self.declarations.relations[known]
        found = self._one("relation", path, span, report)
        if found is None:
            return None
        relation = self.declarations.relation(*found)
        if len(self._find("relation", path)) == 1:  # an ambiguous name is reported wherever it stands
            self._relation_names[path] = relation.name
        return relation

    def constructor(self, path: Path, span: Span, report: Report) -> Constructor | None:
        """Find a constructor; `definition(constructor.type_name)` is its type."""
        found = self._one("constructor", path, span, report)
        if not found:
            return None
        table, plain = found
        declared = table.constructors[plain]
        definition = self.declarations.definition(table.qualify(declared.name))
        name = table.qualify(plain)
        return next((c for c in definition.constructors if c.name == name), None)

    def typedef(self, path: Path, span: Span, report: Report) -> tuple[ModuleTable, str] | None:
        """Find the declaration of a type."""
        return self._one("type", path, span, report)

    def transformer(self, path: Path, span: Span, report: Report) -> syntax.TransformerDef | None:
        """Find the declaration of a transformer."""
        found = self._one("transformer", path, span, report)
        return found[0].transformers[found[1]] if found else None

    def functions(self, path: Path) -> tuple[Signature, ...]:
        """Return all visible functions of a name, of the nearest scope first."""
        return tuple(
            s for table, plain in self._find("function", path) for s in self.declarations.signatures(table, plain)
        )

    def definition(self, name: str) -> TypeDefinition:
        """Return what a `Named` type means."""
        return self.declarations.definition(name)

    def is_elsewhere(self, name: str) -> bool:
        """Tell whether a module that is not seen from here declares a function of the name."""
        visible = [table for table, _ in self._find("function", (name,))]
        return any(table not in visible for table in self.declarations.with_function(name))

    def near(self, name: str, *of: Type) -> tuple[Signature, ...]:
        """Return the functions of a name that modules declare in which the types, or parts of them, are declared."""
        tables: list[ModuleTable] = []
        todo = list(of)
        while todo:
            type = todo.pop()
            todo += types.parts(type)
            if isinstance(type, Named):
                table, _ = self.declarations.split(type.name)
                if table not in tables:
                    tables.append(table)
        return tuple([s for table in tables for s in self.declarations.signatures(table, name)])

    def unknown(self, kind: str, path: Path, span: Span, report: Report) -> None:
        """Report a name that nothing visible has."""
        shown = "::".join(path)
        hint = self.import_hint(path) if kind == "function" else ""
        hint = hint or did_you_mean(shown, self.visible(kind)) or self._elsewhere(kind, path)
        if not hint and kind == "constructor" and len(path) == 1:
            hint = f"if a variable is meant: these begin with a small letter or `_`, as `{shown[0].lower()}{shown[1:]}`"
        report.add("E0201", f"unknown {kind} `{shown}`", span, note=_DECLARED[kind], hint=hint)

    def import_hint(self, path: Path) -> str:
        """Return a hint that names a library module with such a function, if one is not imported."""
        return import_hint(path[0], ["::".join(i.path) for i in self.table.imports]) if len(path) == 1 else ""

    def visible(self, kind: str) -> Iterator[str]:
        """Return the names of a kind, as they may be written here."""
        for table, prefix in self._scopes():
            for name in _names(table, kind):
                yield prefix + name

    # --- how names are found -----------------------------------------------------------------------------------------

    def _one(self, kind: str, path: Path, span: Span, report: Report) -> tuple[ModuleTable, str] | None:
        found = self._find(kind, path)
        if len(found) > 1:
            names = [table.qualify(name) for table, name in found]
            report.add(
                "E0203",
                f"{kind} `{'::'.join(path)}` could be {' or '.join(f'`{name}`' for name in names)}",
                span,
                note="imports without alias put their names side by side",
                hint=f"write `{names[0]}`, or import one of the modules with `as`",
            )
        if not found:
            self.unknown(kind, path, span, report)
            return None
        return found[0]

    def _find(self, kind: str, path: Path) -> list[tuple[ModuleTable, str]]:
        key = (kind, path)
        found = self._lookups.get(key)
        if found is None:
            found = self._lookups[key] = self._search(kind, path)
        return found

    def _search(self, kind: str, path: Path) -> list[tuple[ModuleTable, str]]:
        *scope, name = path
        if scope:
            table = self._module(tuple(scope))
            return [(table, name)] if table and name in _names(table, kind) else []
        layers = ([self.table], self._opened(), self.declarations.standard)
        found: list[tuple[ModuleTable, str]] = []
        for layer in layers:
            here = [(t, name) for t in layer if name in _names(t, kind)]
            found += [f for f in here if f not in found]
            if found and kind != "function":
                break
        return found

    def _module(self, scope: Path) -> ModuleTable | None:
        tables = self.declarations.tables
        if scope == DDLOG_STD and scope not in tables:
            scope = STD
        for imported in self.table.imports:
            if imported.alias is not None and imported.alias == scope[0]:
                return tables.get((*imported.path, *scope[1:]))
            if imported.path == scope:
                return tables.get(scope)
        return tables.get(scope) if scope in (STD, self.module) else None

    def _opened(self) -> list[ModuleTable]:
        tables = self.declarations.tables
        return [tables[i.path] for i in self.table.imports if i.alias is None and i.path in tables]

    def _scopes(self) -> Iterator[tuple[ModuleTable, str]]:
        yield self.table, ""
        for imported in self.table.imports:
            table = self.declarations.tables.get(imported.path)
            if table is not None:
                yield table, f"{imported.alias}::" if imported.alias else ""
        for table in self.declarations.standard:
            yield table, ""

    def _elsewhere(self, kind: str, path: Path) -> str:
        for other in ("relation", "constructor", "type", "function"):
            if other != kind and self._find(other, path):
                return f"`{'::'.join(path)}` is a {other}, not a {kind}"
        for table in self.declarations.tables.values():
            if path[-1] in _names(table, kind):
                return f"module `{'::'.join(table.path)}` has one: `import {'::'.join(table.path)}`"
        return ""


_DECLARED = {
    "type": "types are built in, or declared by `typedef` here, in an imported module or in the library",
    "constructor": "constructors are declared by a `typedef` here, in an imported module or in the library",
    "relation": "relations are declared by `relation` here or in an imported module",
    "function": "functions are declared by `function` here, in an imported module or in the library",
    "transformer": "transformers are declared by `extern transformer` here, in an imported module or in the library",
}


def _names(table: ModuleTable, kind: str) -> Mapping[str, object]:
    names: Mapping[str, object] = getattr(table, f"{kind}s")
    return names

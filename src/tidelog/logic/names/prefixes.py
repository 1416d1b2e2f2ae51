"""Prefixed names are IRIs: `ub:worksFor` becomes `rdf::Iri{"http://...#worksFor"}` where `ub` is a prefix.

The parser cannot tell `ub:worksFor` from a value with a type, `x: T`, so it notes only that there was no blank; which
of both is meant depends on the prefixes of the module. Done before anything else looks at a module's rules.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from tidelog.base.diagnostic import Label, Report, did_you_mean
from tidelog.lang import syntax
from tidelog.lang.parse.expressions import IRI_CONSTRUCTOR, LITERAL_CONSTRUCTOR

STANDARD = {
    name: syntax.Prefix(name, f"http://www.w3.org/{space}#")
    for name, space in {
        "rdf": "1999/02/22-rdf-syntax-ns",
        "rdfs": "2000/01/rdf-schema",
        "owl": "2002/07/owl",
        "xsd": "2001/XMLSchema",
    }.items()
}
"""The prefixes of a module that imports `rdf`, unless it declares them otherwise."""
_TYPES = frozenset(("string", "float", "double"))
Prefixes = Mapping[str, syntax.Prefix]
Tree = TypeVar("Tree")


def prefixes_of(module: syntax.Module) -> dict[str, syntax.Prefix]:
    """Return the prefixes that a module declares, of a name that is declared twice the first, and what `rdf` brings."""
    found: dict[str, syntax.Prefix] = {}
    for declaration in module.declarations:
        if isinstance(declaration, syntax.Prefix):
            found.setdefault(declaration.name, declaration)
    if any(
        isinstance(declaration, syntax.Import) and declaration.path[0] == "rdf" for declaration in module.declarations
    ):
        return {**STANDARD, **found}
    return found


def expand_prefixes(module: syntax.Module, report: Report) -> syntax.Module:
    """Return a module whose prefixed names are IRIs."""
    prefixes = prefixes_of(module)
    if not prefixes:
        return module
    for declaration in module.declarations:
        if isinstance(declaration, syntax.Prefix) and (first := prefixes[declaration.name]) is not declaration:
            report.add(
                "E0205",
                f"the prefix `{declaration.name}` is declared twice",
                declaration.span,
                labels=[Label(first.span, "first declared here")],
                note="a prefix stands for one IRI in a module",
                hint="rename one of them",
            )
    types = {declared.name for declared in module.declarations if isinstance(declared, syntax.TypeDef)}
    return expanded(module, prefixes, report, types)


def expanded(tree: Tree, prefixes: Prefixes, report: Report, types: set[str] | frozenset[str] = frozenset()) -> Tree:
    """Return a part of a module whose prefixed names are IRIs; `types` are the types that it declares."""
    return tree if not prefixes else _Expander(prefixes, report, types).changed(tree)


class _Expander:
    def __init__(self, prefixes: Prefixes, report: Report, types: set[str] | frozenset[str]) -> None:
        self._prefixes = prefixes
        self._report = report
        self._types = types

    def changed(self, value: Any) -> Any:
        if isinstance(value, tuple) and type(value) is tuple:
            items = tuple([self.changed(item) for item in value])
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        if not type(value).__module__.startswith(syntax.__name__):
            return value
        match value:
            case syntax.Annotated(syntax.Name((prefix,)), syntax.TypeName((name,), ()), tight=True):
                return self._iri(value, prefix, name)
            case syntax.Construct(path, (text, syntax.Argument(None, syntax.Annotated(tight=True) as datatype), tag)):
                if path == LITERAL_CONSTRUCTOR:
                    return self._literal(value, text, datatype, tag)
        parts = {field.name: getattr(value, field.name) for field in fields(value) if field.name != "span"}
        made = {name: self.changed(part) for name, part in parts.items()}
        return replace(value, **made) if any(made[name] is not part for name, part in parts.items()) else value

    def _literal(
        self,
        written: syntax.Construct,
        text: syntax.Argument,
        datatype: syntax.Annotated,
        tag: syntax.Argument,
    ) -> syntax.Construct:
        """Return a literal with the IRI of its datatype, which is a text."""
        iri = self.changed(datatype)
        value = iri.arguments[0].value if isinstance(iri, syntax.Construct) else datatype
        return replace(written, arguments=(self.changed(text), syntax.Argument(None, value, span=datatype.span), tag))

    def _iri(self, written: syntax.Annotated, prefix: str, name: str) -> syntax.Expr:
        declared = self._prefixes.get(prefix)
        if declared is None and (name in self._types or name in _TYPES):
            return written
        if declared is None:
            self._report.add(
                "E0206",
                f"unknown prefix `{prefix}`",
                written.operand.span,
                note=f"`{prefix}:{name}` is an IRI if `prefix {prefix}: <...>` is declared in this module, "
                f"and `{prefix}: {name}`, with a blank, a value with its type",
                hint=did_you_mean(prefix, self._prefixes),
            )
        text = syntax.StringLiteral(((declared.iri if declared else "") + name,), span=written.span)
        argument = syntax.Argument(None, text, span=written.span)
        return syntax.Construct(IRI_CONSTRUCTOR, (argument,), span=written.span)

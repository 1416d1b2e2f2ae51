"""The modules of a program with more declarations, or without some, and with the rules in force.

Rules come and go one by one (`passes.Analysis.with_rules`); for a declaration everything is looked at again, so that
what comes out is what the whole text would give.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from tidelog.base.diagnostic import Report, shortened
from tidelog.base.span import Source, Span
from tidelog.lang import syntax
from tidelog.lang.parse.parse import parse_rules
from tidelog.lang.syntax import (
    Declaration,
    FunctionDef,
    ImperativeRule,
    IndexDef,
    Module,
    RelationDef,
    RuleDef,
    TypeDef,
)
from tidelog.logic.names.modules import MAIN, Modules
from tidelog.logic.names.prefixes import expanded, prefixes_of

NAMED = (RelationDef, FunctionDef, TypeDef, IndexDef)
"""The declarations that have a name by which they can be removed."""


def redeclared(
    modules: Modules, in_force: Iterable[Span], more: Iterable[Declaration], gone: Collection[str]
) -> Modules:
    """Return the modules with more declarations of the main one, without those of some names, and with these rules."""
    spans = {(span.source.name, span.start): span for span in in_force}
    by_path = {}
    for path, module in modules.by_path.items():
        if path in modules.library:
            by_path[path] = module
            continue
        kept = [one for one in module.declarations if not _is_rule(one) or _place(one) in spans]
        if path == MAIN:
            kept = [one for one in kept if not (isinstance(one, NAMED) and one.name in gone)]
            there = {_place(one) for other in modules.by_path.values() for one in other.declarations if _is_rule(one)}
            kept += _added(module, [span for place, span in spans.items() if place not in there])
            kept += more
        by_path[path] = replace(module, declarations=tuple(kept))
    return replace(modules, by_path=by_path)


def users(modules: Modules, spans: Iterable[Span]) -> list[str]:
    """Return what the declarations and rules are, in words, in which some places are."""
    found: dict[str, None] = {}
    for span in spans:
        for module in modules.by_path.values():
            for one in module.declarations:
                own = one.span
                if own.source.name == span.source.name and own.start <= span.start < own.end:
                    found[_called(one)] = None
    return list(found)


def _added(main: Module, spans: Iterable[Span]) -> Iterator[Declaration]:
    """The rules that were added to a program, read again."""
    sources: dict[str, tuple[Source, set[int]]] = {}
    for span in spans:
        sources.setdefault(span.source.name, (span.source, set()))[1].add(span.start)
    for source, starts in sources.values():
        rules = expanded(parse_rules(source, Report()), prefixes_of(main), Report())
        yield from (rule for rule in rules if rule.span.start in starts)


def _is_rule(declaration: Declaration) -> bool:
    return isinstance(declaration, RuleDef | ImperativeRule)


def _place(declaration: Declaration) -> tuple[str, int]:
    return declaration.span.source.name, declaration.span.start


def _called(declaration: Declaration) -> str:
    match declaration:
        case RelationDef():
            return f"relation `{declaration.name}`"
        case FunctionDef():
            return f"function `{declaration.name}`"
        case TypeDef():
            return f"type `{declaration.name}`"
        case IndexDef():
            return f"index `{declaration.name}`"
        case syntax.RuleDef() | syntax.ImperativeRule():
            return f"the rule `{shortened(declaration.span.text)}`"
        case _:
            return f"`{shortened(declaration.span.text)}`"

"""Columns in place of the fields of a row that was put together from them.

    r in Host(.os = os), r.name == os      Host(name, os), r := Host{name, os}, r.name == os
                                           Host(name, os), name == os

Rows and tuples that are only taken apart are never made; engines then see plain columns, which they can index.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace

from tidelog.base.expr import Const, Construct, Expr, MakeTuple, Project, Var
from tidelog.base.free import free_variables, substitute, with_parts
from tidelog.logic.literals import bound_variables, variable_names, with_expressions
from tidelog.logic.program import Atom, Bind, Literal, Negative, Positive, Term, Unnest, Wildcard
from tidelog.logic.rewrite.checked import Body, Rule

Rows = Mapping[str, tuple[Expr, ...]]


def unfold_rows(rule: Rule[Literal]) -> Rule[Literal]:
    """Return the rule with fields of known rows replaced by what they are made of."""
    body, arguments = _unfold(rule.body, rule.arguments)
    return replace(rule, body=body, arguments=arguments) if body is not rule.body else rule


def _unfold(
    body: Body[Literal], reads: tuple[Expr, ...], kept: frozenset[str] = frozenset()
) -> tuple[Body[Literal], tuple[Expr, ...]]:
    """Unfold a body and the expressions that read its variables; `kept` are variables that others read too."""
    grouping = body.grouping
    if grouping is not None:
        if len(grouping.alternatives) == 1:
            inner, (value, key) = _unfold(grouping.alternatives[0], (grouping.value, grouping.key))
            grouping = replace(grouping, alternatives=(inner,), value=value, key=key)
        else:
            read = frozenset([*free_variables(grouping.value), *free_variables(grouping.key)])
            bodies = tuple(_unfold(alternative, (), read)[0] for alternative in grouping.alternatives)
            grouping = replace(grouping, alternatives=bodies)
        body = Body(grouping, body.literals)
        kept |= frozenset(free_variables(grouping.key))
    rows = _rows(body.literals)
    if not rows:
        return body, reads
    literals = [with_expressions(literal, lambda e: _replace(e, rows)) for literal in body.literals]
    reads = tuple(_replace(e, rows) for e in reads)
    literals, reads = _rename(_prune(literals, reads, rows, kept), reads)
    return Body(grouping, tuple(literals)), reads


def _rows(literals: Iterable[Literal]) -> Rows:
    """The variables bound to a construction of variables and constants."""
    found: dict[str, tuple[Expr, ...]] = {}
    for literal in literals:
        match literal:
            case Bind(variable, Construct(_, items) | MakeTuple(items)):
                if all(isinstance(item, Var | Const) for item in items):
                    found.setdefault(variable.name, items)
            case _:
                pass
    return found


def _replace(expression: Expr, rows: Rows) -> Expr:
    match expression:
        case Var() | Const():
            return expression
        case Project(Var(name), index, _, ()) if name in rows:
            return rows[name][index]
        case Project(Var(name), index, _, positions) if name in rows and len(positions) == 1:
            return rows[name][positions[0]]
        case _:
            return with_parts(expression, lambda part: _replace(part, rows))


def _prune(literals: list[Literal], reads: Iterable[Expr], rows: Rows, kept: frozenset[str]) -> list[Literal]:
    """Drop rows that nothing reads any more, and made-up variables that occur once."""
    counts = Counter(kept)
    for literal in literals:
        counts.update(variable_names(literal))
    for expression in reads:
        counts.update(free_variables(expression).keys())
    left: list[Literal] = []
    for literal in literals:
        if isinstance(literal, Bind) and literal.variable.name in rows and counts[literal.variable.name] == 1:
            counts.subtract(free_variables(literal.expression).keys())
        else:
            left.append(literal)
    return [_forget(literal, counts) for literal in left]


def _rename(literals: list[Literal], reads: tuple[Expr, ...]) -> tuple[list[Literal], tuple[Expr, ...]]:
    """Do without made-up variables that equal another variable: `R(#1), x := #1` is `R(x)`."""
    bound = Counter(variable.name for literal in literals for variable in bound_variables(literal))
    names: dict[str, Var] = {}
    left: list[Literal] = []
    for literal in literals:
        if isinstance(literal, Bind) and isinstance(literal.expression, Var):
            old, new = literal.expression, literal.variable
            if new.name[0] == "#" and bound[new.name] == 1:
                old, new = new, old
            old, new = names.get(old.name, old), names.get(new.name, new)
            if old.name[0] == "#" and bound[old.name] and bound[new.name]:
                names = {name: new if value.name == old.name else value for name, value in names.items()}
                names[old.name] = new
                continue
        left.append(literal)
    if not names:
        return literals, reads
    return [_renamed(literal, names) for literal in left], tuple(substitute(e, names) for e in reads)


def _renamed(literal: Literal, names: Mapping[str, Var]) -> Literal:
    match literal:
        case Positive(atom) | Negative(atom):
            terms = tuple(names.get(t.name, t) if isinstance(t, Var) else t for t in atom.arguments)
            return replace(literal, atom=Atom(atom.relation, terms, span=atom.span))
        case Bind(variable) | Unnest(variable):
            literal = replace(literal, variable=names.get(variable.name, variable))
    return with_expressions(literal, lambda e: substitute(e, names))


def _forget(literal: Literal, counts: Counter[str]) -> Literal:
    if not isinstance(literal, Positive):
        return literal
    terms: tuple[Term, ...] = tuple(
        Wildcard(t.type) if isinstance(t, Var) and t.name[0] == "#" and counts[t.name] == 1 else t
        for t in literal.atom.arguments
    )
    return Positive(Atom(literal.atom.relation, terms, span=literal.atom.span))

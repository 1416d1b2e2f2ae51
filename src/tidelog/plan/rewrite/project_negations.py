"""Take wildcards out of negated atoms, by way of an auxiliary relation without the columns that do not matter.

Before: `Leaf(x) :- Node(x), not Edge(x, _).`
After:  `Leaf(x) :- Node(x), not Edge#from(x).` and `Edge#from(from) :- Edge(from, _).`

A changed tuple of a negated atom blocks or frees derivations by itself only if no other tuple can fit the same binding.
The auxiliary relation makes it so: its tuples come and go with the last `Edge` of a node, which the counting of
derivations finds anyway. Its name is made of the relation's and the columns kept (`_` for none), so rules share it.
"""

from __future__ import annotations

from dataclasses import replace

from tidelog.base.expr import Var
from tidelog.base.span import Span
from tidelog.logic.program import (
    Atom,
    Negative,
    Origin,
    Positive,
    Program,
    Relation,
    Rule,
    Wildcard,
    auxiliary_relation,
)


def project_negations(program: Program) -> Program:
    """Return the program with no wildcard in a negated atom."""
    made: dict[str, tuple[Relation, Rule]] = {}
    rules = [_rewrite(rule, program, made) for rule in program.rules]
    if not made:
        return program
    relations = {**program.relations, **{name: relation for name, (relation, _) in made.items()}}
    return replace(program, relations=relations, rules=(*rules, *(rule for _, rule in made.values())))


def _rewrite(rule: Rule, program: Program, made: dict[str, tuple[Relation, Rule]]) -> Rule:
    if not any(isinstance(literal, Negative) and _has_wildcard(literal.atom) for literal in rule.body):
        return rule
    body = tuple(
        Negative(_projected(literal.atom, program, made))
        if isinstance(literal, Negative) and _has_wildcard(literal.atom)
        else literal
        for literal in rule.body
    )
    return replace(rule, body=body)


def _has_wildcard(atom: Atom) -> bool:
    return any(isinstance(term, Wildcard) for term in atom.arguments)


def _projected(atom: Atom, program: Program, made: dict[str, tuple[Relation, Rule]]) -> Atom:
    """Return the atom over the auxiliary relation, which is made if it is new."""
    relation = program.relations[atom.relation]
    kept = [i for i, term in enumerate(atom.arguments) if not isinstance(term, Wildcard)]
    name = f"{relation.name}#{'.'.join(relation.columns[i].name for i in kept) or '_'}"
    if name not in made:
        made[name] = _projection(name, relation, kept, atom.span)
    return Atom(name, tuple(atom.arguments[i] for i in kept), span=atom.span)


def _projection(name: str, relation: Relation, kept: list[int], span: Span) -> tuple[Relation, Rule]:
    columns = tuple(relation.columns[i] for i in kept)
    variables = tuple(Var(column.name, column.type) for column in columns)
    arguments = tuple(
        Var(column.name, column.type) if i in kept else Wildcard(column.type)
        for i, column in enumerate(relation.columns)
    )
    head = ", ".join(variable.name for variable in variables)
    body = ", ".join(column.name if i in kept else "_" for i, column in enumerate(relation.columns))
    origin = Origin(f"{name}({head}) :- {relation.name}({body}).", span=span)
    auxiliary = auxiliary_relation(name, columns, relation.span)
    return auxiliary, Rule(name, variables, (Positive(Atom(relation.name, arguments, span=span)),), origin)

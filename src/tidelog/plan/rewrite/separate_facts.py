"""Keep stored facts apart from what rules derive, where a relation has both.

Before: `input relation Owner(node: u32, who: string)` and the fact `Owner(1, "ann").` in the program
After:  also `Owner(node, who) :- Owner#facts(node, who).`, where transactions store their facts in `Owner#facts`

A fact of the program and the same fact stored by a transaction are then two derivations of one tuple, which goes when
the last of them goes. `stored_in` says where an engine keeps the stored facts of a relation.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from tidelog.base.expr import Var
from tidelog.logic.program import Atom, Origin, Positive, Program, Relation, Rule


def stored_in(relation: str, relations: Container[str]) -> str:
    """Return the relation of a plan that holds the stored facts of a relation: itself, unless rules derive it, too."""
    apart = f"{relation}#facts"
    return apart if apart in relations else relation


def separate_facts(program: Program) -> Program:
    """Return the program with an auxiliary input relation for each input relation that has rules."""
    heads = {rule.head for rule in program.rules}
    mixed = [relation for relation in program.relations.values() if relation.role == "input" and relation.name in heads]
    if not mixed:
        return program
    made = {f"{relation.name}#facts": _apart(relation) for relation in mixed}
    rules = tuple(_rule(relation) for relation in mixed)
    return replace(program, relations={**program.relations, **made}, rules=(*program.rules, *rules))


def _apart(relation: Relation) -> Relation:
    return replace(relation, name=f"{relation.name}#facts", primary_key=None, auxiliary=True)


def _rule(relation: Relation) -> Rule:
    variables = tuple(Var(column.name, column.type) for column in relation.columns)
    names = ", ".join(column.name for column in relation.columns)
    origin = Origin(f"{relation.name}({names}) :- {relation.name}#facts({names}).", span=relation.span)
    return Rule(relation.name, variables, (Positive(Atom(f"{relation.name}#facts", variables)),), origin)

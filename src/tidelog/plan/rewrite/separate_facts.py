"""Keep stored facts apart from what rules derive, where a relation has both.

Before: `input relation Owner(node: u32, who: string)` and the fact `Owner(1, "ann").` in the program
After:  also `Owner(node, who) :- Owner#facts(node, who).`, where transactions store their facts in `Owner#facts`

A fact of the program and the same fact stored by a transaction are then two derivations of one tuple, which goes when
the last of them goes. `stored_in` says where an engine keeps the stored facts of a relation.

For a multiset `M` there are always such rules, with a column more: `M(x) :- M#each(x, _).`, and if it takes facts,
`M#each(x, n) :- M#facts(x, n).`, where n counts how often a fact was given.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import replace

from tidelog.base.expr import Var
from tidelog.logic.program import Atom, Origin, Positive, Program, Relation, Rule, each_of


def stored_in(relation: str, relations: Container[str]) -> str:
    """Return the relation of a plan that holds the stored facts of a relation: itself, unless rules derive it, too."""
    apart = f"{relation}#facts"
    return apart if apart in relations else relation


def separate_facts(program: Program) -> Program:
    """Return the program with an auxiliary input relation for each input relation that has rules."""
    heads = {rule.head for rule in program.rules}
    inputs = [relation for relation in program.relations.values() if relation.role == "input"]
    mixed = [relation for relation in inputs if relation.name in heads and relation.kind != "multiset"]
    multisets = [relation for relation in program.relations.values() if relation.kind == "multiset"]
    if not mixed and not multisets:
        return program
    made = {f"{relation.name}#facts": _apart(relation) for relation in mixed}
    rules = [_rule(relation, relation, f"{relation.name}#facts") for relation in mixed]
    for relation in multisets:
        each = program.relations[each_of(relation.name)]
        rules.append(_rule(relation, each, each.name))
        if relation.role == "input":
            name = f"{relation.name}#facts"
            made[name] = replace(each, name=name, role="input")
            rules.append(_rule(each, each, name))
    return replace(program, relations={**program.relations, **made}, rules=(*program.rules, *rules))


def _apart(relation: Relation) -> Relation:
    return replace(relation, name=f"{relation.name}#facts", primary_key=None, auxiliary=True)


def _rule(head: Relation, like: Relation, source: str) -> Rule:
    """Return the rule by which a relation has the rows of another one, which may have more columns."""
    variables = tuple(Var(column.name, column.type) for column in like.columns)
    names = [column.name for column in like.columns]
    given = ", ".join(names[: len(head.columns)])
    origin = Origin(f"{head.name}({given}) :- {source}({', '.join(names)}).", span=head.span)
    return Rule(head.name, variables[: len(head.columns)], (Positive(Atom(source, variables)),), origin)

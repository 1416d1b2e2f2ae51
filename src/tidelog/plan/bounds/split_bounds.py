"""Keep the bounds of a relation apart from the best of each key, which is all that others see.

Before: `Dist(m, d + w) :- Dist(n, d), Link(n, m, w).` with `output relation Dist(node: string, min d: u64)`
After:  `Dist#bounds:min.d(m, d + w) :- Dist#bounds:min.d(n, d), Link(n, m, w).` and
        `Dist(node, d) :- var d = d.group_by(node).min() over Dist#bounds:min.d(node, d).`

Rules of the same stratum read bounds. All others read the relation itself, which is an aggregate like any other: so an
improvement is one deletion and one insertion there. A relation with a `bound` in a plan is one of bounds: engines admit
a tuple to it only if it is better than all that it has of its key.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from tidelog.base.expr import Call, Function, Parameter, Var
from tidelog.base.types import GROUP, Named, Tuple, Type, show
from tidelog.base.values import Group, Value
from tidelog.logic.program import Aggregate, Atom, Bound, Literal, Origin, Positive, Program, Relation, Rule
from tidelog.plan.nodes import BOUNDS


def split_bounds(program: Program, components: Sequence[Collection[str]]) -> Program:
    """Return the program with an auxiliary relation of bounds for each relation that has some and is derived."""
    place = {name: i for i, component in enumerate(components) for name in component}
    bounded = {name: r for name, r in program.relations.items() if r.bound is not None and name in place}
    if not any(relation.bound is not None for relation in program.relations.values()):
        return program
    rules = [_among_bounds(rule, bounded, place) for rule in program.rules]
    relations = {name: replace(relation, bound=None) for name, relation in program.relations.items()}
    functions = dict(program.functions)
    for relation in bounded.values():
        relations[bounds_of(relation)] = replace(
            relation, name=bounds_of(relation), role="internal", auxiliary=True, demand=False, primary_key=None
        )
        rule, function = _best(relation)
        rules.append(rule)
        functions[function.name] = function
    return replace(program, relations=relations, rules=tuple(rules), functions=functions)


def bounds_of(relation: Relation) -> str:
    """Return the name of the relation that holds the bounds of another.

    It says which: one that is declared anew, with `max` in place of `min`, has other bounds.
    """
    bound = relation.bound
    assert bound is not None
    return f"{relation.name}{BOUNDS}{bound.word}.{relation.columns[bound.column].name}"


def _among_bounds(rule: Rule, bounded: Mapping[str, Relation], place: dict[str, int]) -> Rule:
    """Return a rule that derives bounds where its head has some, and reads those of its own stratum."""

    def of_bounds(literal: Literal) -> Literal:
        if not isinstance(literal, Positive):
            return literal
        name = literal.atom.relation
        if name not in bounded or place[name] != place[rule.head]:
            return literal
        return Positive(replace(literal.atom, relation=bounds_of(bounded[name])))

    body = tuple(map(of_bounds, rule.body))
    if rule.head in bounded:
        return replace(rule, head=bounds_of(bounded[rule.head]), body=body)
    return rule if body == rule.body else replace(rule, body=body)


def _best(relation: Relation) -> tuple[Rule, Function]:
    """Return the rule that reads the best bound of each key off, and the function that chooses it."""
    bound = relation.bound
    assert bound is not None
    variables = tuple([Var(column.name, column.type) for column in relation.columns])
    value = variables[bound.column]
    keys = tuple([variable for i, variable in enumerate(variables) if i != bound.column])
    kind = Tuple(tuple([key.type for key in keys])) if len(keys) != 1 else keys[0].type
    group = Var(f"#{value.name}", Named(GROUP, (kind, value.type)))
    function = _choosing(bound, group.type, value.type)
    reduce = Call(function.name, (group,), value.type)
    names = ", ".join(column.name for column in relation.columns)
    text = f"{relation.name}({names}) :- {bound.word} {value.name} over {bounds_of(relation)}({names})."
    result = Var(f"{value.name}'", value.type)
    literal = Aggregate(Atom(bounds_of(relation), variables), keys, value, group, reduce, result)
    head = tuple([result if i == bound.column else variable for i, variable in enumerate(variables)])
    return Rule(relation.name, head, (literal,), Origin(text, span=relation.span)), function


def _choosing(bound: Bound, group: Type, value: Type) -> Function:
    """Return the function of the library that chooses the best of a group, at some types."""
    name = f"std::{bound.word}<#bounds {show(group)}>"
    python = _greatest if bound.greatest else _least
    return Function(name, (Parameter("g", group),), value, python=python, trusted=True)


def _least(group: Group) -> Value:
    return group.members[0][0]


def _greatest(group: Group) -> Value:
    return group.members[-1][0]

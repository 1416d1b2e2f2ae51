"""Give every aggregate a rule of its own.

Before: `Busy(h) :- Link(h, _, n), var c = n.group_by(h).count(), c > 3, Host(h).`
After:  `Busy#group.1a2b(h, c) :- var c = n.group_by(h).count() over Link(h, _, n).` and
        `Busy(h) :- Busy#group.1a2b(h, c), c > 3, Host(h).`

An engine then keeps an aggregate up to date by its touched groups alone, and everything else about the rule is a join
like any other. The relation is named by its rule's text, so that other rules may come and go without renaming it.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b

from tidelog.base import types
from tidelog.base.types import Field
from tidelog.logic.program import Aggregate, Atom, Literal, Positive, Program, Relation, Rule


def isolate_aggregates(program: Program) -> Program:
    """Return the program with aggregates only in bodies of one literal."""
    relations: dict[str, Relation] = {}
    rules: list[Rule] = []
    for rule in program.rules:
        if len(rule.body) > 1 and any(isinstance(literal, Aggregate) for literal in rule.body):
            body = tuple(_isolated(literal, i, rule, relations, rules) for i, literal in enumerate(rule.body))
            rules.append(replace(rule, body=body))
        else:
            rules.append(rule)
    if not relations:
        return program
    return replace(program, relations={**program.relations, **relations}, rules=tuple(rules))


def _isolated(literal: Literal, place: int, rule: Rule, relations: dict[str, Relation], rules: list[Rule]) -> Literal:
    if not isinstance(literal, Aggregate):
        return literal
    variables = (*literal.keys, literal.result)
    digest = blake2b(f"{place} {rule.origin.text}".encode(), digest_size=4).hexdigest()
    name = f"{rule.head}#group.{digest}"
    if name not in relations:
        columns = tuple(Field(variable.name, variable.type) for variable in variables)
        element = types.Tuple(tuple(variable.type for variable in variables))
        relations[name] = Relation(name, "internal", columns, element, auxiliary=True, span=rule.origin.span)
        rules.append(Rule(name, variables, (literal,), rule.origin))
    return Positive(Atom(name, variables, literal.span))

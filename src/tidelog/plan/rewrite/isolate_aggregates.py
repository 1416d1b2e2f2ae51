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

from tidelog.logic.program import Aggregate, Atom, Literal, Positive, Program, Relation, Rule, auxiliary_relation


def isolate_aggregates(program: Program) -> Program:
    """Return the program with aggregates only in bodies of one literal."""
    relations: dict[str, Relation] = {}
    aggregates: dict[str, Aggregate] = {}
    rules: list[Rule] = []
    for rule in program.rules:
        if len(rule.body) > 1 and any(isinstance(literal, Aggregate) for literal in rule.body):
            body: list[Literal] = []
            for i, literal in enumerate(rule.body):
                if isinstance(literal, Aggregate):
                    name = _name(i, literal, rule, aggregates)
                    variables = (*literal.keys, literal.result)
                    if name not in relations:
                        relations[name] = auxiliary_relation(name, variables, rule.origin.span)
                        rules.append(Rule(name, variables, (literal,), rule.origin))
                    body.append(Positive(Atom(name, variables, span=literal.span)))
                else:
                    body.append(literal)
            rules.append(replace(rule, body=tuple(body)))
        else:
            rules.append(rule)
    if not relations:
        return program
    return replace(program, relations={**program.relations, **relations}, rules=tuple(rules))


def _name(place: int, literal: Aggregate, rule: Rule, aggregates: dict[str, Aggregate]) -> str:
    """Return the relation's name; a text that gave several rules may have different aggregates at one place."""
    digest = blake2b(f"{place} {rule.origin.text}".encode(), digest_size=2).hexdigest()
    name = f"{rule.head}#group.{digest}"
    while aggregates.setdefault(name, literal) != literal:
        name += "'"
    return name

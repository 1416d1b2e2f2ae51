"""Take atoms out of a grouped body that only say which groups there are, where the group would depend on itself.

    Few(x)   :- Reach(x), Link(x, y), var n = y.group_by(x).count(), n < 3.
    Reach(y) :- Few(x), Link(x, y).

Before: `Few#1(x, y) :- Reach(x), Link(x, y).` and `Few(x) :- group Few#1(x, y) by x: n = count(y), n < 3.`
After:  `Few#1(x, y) :- Link(x, y).`           and `Few(x) :- group Few#1(x, y) by x: n = count(y), Reach(x), n < 3.`

An atom whose variables are all keys holds for all derivations of a group or for none, and there is one way in which it
does: so nothing is aggregated over its relation. It is left where it is unless stratification would fail, and where
the rest of the body does not bind the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.free import free_variables
from tidelog.logic.literals import bound_variables, read_variables
from tidelog.logic.program import Aggregate, Literal, Positive, Program, Rule, Term

Strata = tuple[list[list[str]], list[tuple[str, str]]]


def take_out_of_groups(program: Program, components_of: Callable[[Program], Strata]) -> Program:
    """Return the program with atoms of keys beside groups, where they would make a group depend on itself.

    `components_of` finds the strata, and which relations need one of their own complete; it is asked if that matters.
    """
    grouped = _grouped(program)
    if not grouped:
        return program
    components, wrong = components_of(program)
    if not wrong:
        return program
    place = {name: i for i, component in enumerate(components) for name in component}
    changed: dict[int, Rule] = {}
    for number, (reader, literal) in grouped.items():
        rule = program.rules[number]
        if place.get(rule.head) == place[program.rules[reader].head]:
            found = _taken_out(rule, literal, {name for name, at in place.items() if at == place[rule.head]})
            if found is not None:
                changed[number], beside = found
                whole = changed.get(reader, program.rules[reader])
                at = whole.body.index(literal) + 1
                changed[reader] = replace(whole, body=(*whole.body[:at], *beside, *whole.body[at:]))
    if not changed:
        return program
    return replace(program, rules=tuple([changed.get(i, rule) for i, rule in enumerate(program.rules)]))


def _grouped(program: Program) -> Mapping[int, tuple[int, Aggregate]]:
    """Return the rules of auxiliary relations that one rule groups, each with that rule's number and literal."""
    made: dict[str, list[int]] = {}
    for number, rule in enumerate(program.rules):
        if program.relations[rule.head].auxiliary:
            made.setdefault(rule.head, []).append(number)
    readers: dict[str, list[tuple[int, Aggregate]]] = {}
    for number, rule in enumerate(program.rules):
        for literal in rule.body:
            if isinstance(literal, Aggregate) and literal.atom.relation in made:
                readers.setdefault(literal.atom.relation, []).append((number, literal))
    return {made[name][0]: own[0] for name, own in readers.items() if len(own) == len(made[name]) == 1}


def _taken_out(rule: Rule, literal: Aggregate, inside: set[str]) -> tuple[Rule, list[Positive]] | None:
    """Return the rule of a grouped body without its atoms of keys over some relations, and these for its reader."""
    keys: dict[str, Var] = {}
    for argument, term in zip(rule.arguments, literal.atom.arguments, strict=True):
        if isinstance(argument, Var) and isinstance(term, Var) and term in literal.keys:
            keys[argument.name] = term
    out: list[Positive] = []
    kept: list[Literal] = []
    for one in rule.body:
        terms = _renamed(one, keys) if isinstance(one, Positive) and one.atom.relation in inside else None
        if terms is None:
            kept.append(one)
        else:
            assert isinstance(one, Positive)
            out.append(Positive(replace(one.atom, arguments=terms)))
    body = sorted(kept, key=lambda one: not isinstance(one, Positive))  # what the others read is bound by these
    return (replace(rule, body=tuple(body)), out) if out and _binds(body, rule.arguments) else None


def _renamed(one: Positive, keys: Mapping[str, Var]) -> tuple[Term, ...] | None:
    """Return the terms of an atom in other names; None if not all of them are keys or constants."""
    terms: list[Term] = []
    for term in one.atom.arguments:
        match term:
            case Const():
                terms.append(term)
            case Var(name) if name in keys:
                terms.append(keys[name])
            case _:
                return None
    return tuple(terms)


def _binds(body: list[Literal], arguments: tuple[Expr, ...]) -> bool:
    """Tell whether a body binds all that its literals read, in their order, and the head."""
    known: set[str] = set()
    for literal in body:
        if not known.issuperset(read_variables(literal)):
            return False
        known.update(variable.name for variable in bound_variables(literal))
    return all(known.issuperset(free_variables(argument)) for argument in arguments)

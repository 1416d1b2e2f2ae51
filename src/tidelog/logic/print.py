"""The typed program as text, for golden tests and for people; it is not promised to parse.

    input relation Edge(a: string, b: string)
    relation Reach(a: string, b: string)
    Reach(a, c) :- Reach(a, b), Edge(b, c).
    N(k, n) :- group N#1(x, k) by (k): n = count(x).

A condition is its expression, `x := e` is a binding, `x in e` an element of a collection.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.base.free import substitute
from tidelog.base.text.show import show_expression
from tidelog.base.types import TypeDefinition, show
from tidelog.logic import program as logic


def print_program(program: logic.Program) -> str:
    """Return types, relations, indexes and rules, a line each. Types and functions of the library are left out."""
    rows = {relation.name for relation in program.relations.values()}
    lines = [_type(t) for t in program.types.values() if t.name not in rows and not t.name.startswith("std::")]
    lines += map(_relation, program.relations.values())
    lines += map(_index, program.indexes.values())
    lines += map(print_rule, program.rules)
    return "".join(f"{line}\n" for line in lines)


def print_rule(rule: logic.Rule) -> str:
    """Return a rule of the typed program as one line."""
    head = f"{rule.head}({', '.join(map(show_expression, rule.arguments))})"
    return f"{head} :- {', '.join(map(print_literal, rule.body))}." if rule.body else f"{head}."


def print_literal(literal: logic.Literal) -> str:
    """Return a literal as text."""
    match literal:
        case logic.Positive(atom):
            return print_atom(atom)
        case logic.Negative(atom):
            return f"not {print_atom(atom)}"
        case logic.Condition(expression):
            return show_expression(expression)
        case logic.Bind(variable, expression):
            return f"{variable.name} := {show_expression(expression)}"
        case logic.Unnest(variable, expression):
            return f"{variable.name} in {show_expression(expression)}"
        case logic.Aggregate(atom, keys, value, group, reduce, result):
            by = ", ".join(key.name for key in keys)
            shown = show_expression(substitute(reduce, {group.name: Var("group", group.type)}))
            of = show_expression(value)
            return f"group {of} of {print_atom(atom)} by ({by}): {result.name} := {shown}"
        case _:
            assert_never(literal)


def print_atom(atom: logic.Atom) -> str:
    """Return an atom as text."""
    return f"{atom.relation}({', '.join(map(_term, atom.arguments))})"


def _term(term: logic.Term) -> str:
    match term:
        case Var(name):
            return name
        case Const():
            return show_expression(term)
        case logic.Wildcard():
            return "_"
        case _:
            assert_never(term)


def _type(definition: TypeDefinition) -> str:
    parameters = f"<{', '.join(chr(39) + p for p in definition.parameters)}>" if definition.parameters else ""
    if not definition.constructors:
        return f"extern type {definition.name}{parameters}"
    return f"typedef {definition.name}{parameters} = {' | '.join(_constructors(definition))}"


def _constructors(definition: TypeDefinition) -> Iterator[str]:
    for constructor in definition.constructors:
        fields = ", ".join(f"{f.name}: {show(f.type)}" for f in constructor.fields)
        yield f"{constructor.name}{{{fields}}}" if fields else constructor.name


def _relation(relation: logic.Relation) -> str:
    role = "" if relation.role == "internal" else f"{relation.role} "
    columns = ", ".join(f"{c.name}: {show(c.type)}" for c in relation.columns)
    key = f" primary key {show_expression(relation.primary_key)}" if relation.primary_key else ""
    return f"{'auxiliary ' if relation.auxiliary else role}relation {relation.name}({columns}){key}"


def _index(index: logic.Index) -> str:
    parameters = ", ".join(f"{p.name}: {show(p.type)}" for p in index.parameters)
    return f"index {index.name}({parameters}) on {print_atom(index.atom)}"

"""Rules of the typed program as text, for people; it is not promised to parse.

    Reach(a, c) :- Reach(a, b), Edge(b, c).
    N(k, n) :- group N#1(x, k) by (k): n = count(x).

A condition is its expression, `x := e` is a binding, `x in e` an element of a collection.
"""

from __future__ import annotations

from typing import assert_never

from tidelog.base.expr import Const, Var
from tidelog.base.free import substitute
from tidelog.base.text.show import show_expression
from tidelog.logic import program as logic


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

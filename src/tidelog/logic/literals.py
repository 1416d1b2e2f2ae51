"""What the literals of a body bind, read and compute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, get_args

from tidelog.base.expr import Expr, Var
from tidelog.base.free import free_variables
from tidelog.base.walk import Walk
from tidelog.logic.program import Aggregate, Atom, Bind, Condition, Literal, Negative, Positive, Unnest


def atoms(body: Iterable[Literal]) -> Iterator[Atom]:
    """The atoms of a body: positive, negated and aggregated ones."""
    return (literal.atom for literal in body if isinstance(literal, Positive | Negative | Aggregate))


def atom_variables(atom: Atom) -> list[Var]:
    """The variables of an atom, each as often as it occurs."""
    return [term for term in atom.arguments if isinstance(term, Var)]


def bound_variables(literal: Literal) -> list[Var]:
    """The variables that are bound after the literal."""
    match literal:
        case Positive(atom):
            return atom_variables(atom)
        case Bind(variable) | Unnest(variable):
            return [variable]
        case Aggregate(keys=keys, result=result):
            return [*keys, result]
        case Negative() | Condition():
            return []


def read_variables(literal: Literal) -> Mapping[str, Var]:
    """The variables that must be bound before the literal."""
    match literal:
        case Negative(atom):
            return {v.name: v for v in atom_variables(atom)}
        case Condition(expression) | Bind(_, expression) | Unnest(_, expression):
            return free_variables(expression)
        case Positive() | Aggregate():
            return {}


def variable_names(literal: Literal) -> list[str]:
    """The names of the variables that a literal binds or reads."""
    return [*(variable.name for variable in bound_variables(literal)), *read_variables(literal)]


_EXPRESSIONS: Walk[Any] = Walk(get_args(Expr), "Expr")


def expressions(literal: Literal) -> list[Expr]:
    """The expressions that a literal computes."""
    return _EXPRESSIONS.parts(literal)


def with_expressions(literal: Literal, change: Callable[[Expr], Expr]) -> Literal:
    """Return the literal with each of its expressions changed."""
    return _EXPRESSIONS.with_parts(literal, change)  # type: ignore[no-any-return]

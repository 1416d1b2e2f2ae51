"""Rules between checking and flattening: typed, with patterns still inside atoms and grouping still inside bodies.

`check_rules` makes these, `flatten_patterns` turns atoms and matches into the literals of `program`, `split_groups`
turns grouped bodies into auxiliary relations. A body reads from left to right: what is grouped, then the literals that
see the group.
"""

from __future__ import annotations

from dataclasses import field
from typing import Generic, TypeVar

from tidelog.base.expr import Expr, Pattern, Var
from tidelog.base.record import record
from tidelog.base.span import Placed
from tidelog.logic import program
from tidelog.logic.program import Origin, Relation


@record
class Atom(Placed):
    """A relation with a pattern or an expression for each column; `row` is the pattern of the whole row, if any.

    `plain` says that the arguments are variables and wildcards only, typed by their columns, and that there is no row.
    """

    relation: Relation
    arguments: tuple[Pattern | Expr, ...]
    row: Pattern | Expr | None = None
    plain: bool = False


@record
class Positive:
    """The atom holds, and binds the variables of its patterns."""

    atom: Atom


@record
class Negative:
    """No tuple fits the atom."""

    atom: Atom


@record
class Assignment(Placed):
    """`pattern = e`: the value fits the pattern, which binds its variables."""

    pattern: Pattern
    expression: Expr


@record
class Unnest(Placed):
    """`pattern = FlatMap(e)`: one of the elements fits the pattern."""

    pattern: Pattern
    expression: Expr


Clause = Positive | Negative | program.Condition | Assignment | Unnest

L = TypeVar("L")


@record
class Grouping(Placed, Generic[L]):
    """`value.group_by(key)` over the derivations of any of the alternatives; later literals see `group`."""

    alternatives: tuple[Body[L], ...]
    value: Expr
    key: Expr
    group: Var


@record
class Body(Generic[L]):
    """The grouped part, if any, and the literals after it."""

    grouping: Grouping[L] | None
    literals: tuple[L, ...]


@record
class Rule(Generic[L]):
    """A rule with one head, an expression for each column of it."""

    head: Relation
    arguments: tuple[Expr, ...]
    body: Body[L]
    origin: Origin = field(compare=False)

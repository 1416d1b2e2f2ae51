"""A row of a relation as one value, and its columns.

For `R(f: T, ...)` a row is a struct with the columns as fields; for `R[T]` it is a T, whose fields are the columns if
T is a struct, otherwise there is the one column `value`. References (`Ref`, `Intern`) are equal by content and have
the representation of what they refer to, so they make no difference here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tidelog.base.expr import Construct, Expr, Project
from tidelog.base.span import Span
from tidelog.base.types import Constructor, Named, TypeDefinition, content
from tidelog.logic.program import Relation

Definitions = Callable[[str], TypeDefinition]


def row_constructor(relation: Relation, definition: Definitions) -> Constructor | None:
    """The constructor of a relation's rows, or None if a row is the value of its only column."""
    row = content(relation.element)
    if not isinstance(row, Named):
        return None
    constructors = definition(row.name).constructors
    return constructors[0] if len(constructors) == 1 else None


def make_row(relation: Relation, columns: Sequence[Expr], definition: Definitions, span: Span) -> Expr:
    """The row that has the given columns."""
    constructor = row_constructor(relation, definition)
    if constructor is None:
        (value,) = columns
        return value
    return Construct(constructor, tuple(columns), relation.element, span=span)


def row_columns(row: Expr, relation: Relation, definition: Definitions) -> tuple[Expr, ...]:
    """The columns of a row."""
    if row_constructor(relation, definition) is None:
        return (row,)
    if isinstance(row, Construct):
        return row.arguments
    return tuple(Project(row, i, column.type, (), span=row.span) for i, column in enumerate(relation.columns))

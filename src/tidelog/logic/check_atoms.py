"""Atoms against the columns of their relations: how many, which name, which type.

A positive atom may leave out named columns; a head must give all. The variables of the atom's patterns are already in
the scope, so an argument that is a variable costs one unification.
"""

from __future__ import annotations

from collections.abc import Mapping

from tidelog.base.diagnostic import Report, did_you_mean
from tidelog.base.expr import AnyPattern, Expr, Pattern, VarPattern
from tidelog.base.types import Field, show
from tidelog.lang import syntax
from tidelog.logic import checked
from tidelog.logic.infer import Inference, is_pattern
from tidelog.logic.program import Relation
from tidelog.logic.scope import Scope

ANY = AnyPattern()


def check_atom(atom: syntax.Atom, relation: Relation, scope: Scope, inference: Inference) -> checked.Atom:
    """Infer the arguments of an atom in a body; all variables are in the scope."""
    row: Pattern | Expr | None = None
    if atom.binding is not None:
        row = _variable(atom.binding, scope, inference, Field("", relation.element), atom, relation)
    if atom.whole is not None:
        row = _argument(atom.whole, scope, inference, Field("", relation.element), relation)
    columns = relation.columns
    if atom.arguments is None or atom.whole is not None:
        return checked.Atom(relation, (ANY,) * len(columns), row, atom.span)
    given = place_arguments(atom, relation, inference.report)
    arguments = tuple(
        _argument(given[i], scope, inference, column, relation) if i in given else ANY
        for i, column in enumerate(columns)
    )
    return checked.Atom(relation, arguments, row, atom.span)


def _argument(e: syntax.Expr, scope: Scope, inference: Inference, column: Field, relation: Relation) -> Pattern | Expr:
    match e:
        case syntax.Wildcard():
            return ANY
        case syntax.Name((name,)) | syntax.VarDecl(name):
            return _variable(name, scope, inference, column, e, relation)
        case _ if is_pattern(e):
            return inference.pattern(e, scope, column.type)
        case _:
            return inference.expression(e, scope, column.type)


def _variable(
    name: str,
    scope: Scope,
    inference: Inference,
    column: Field,
    at: syntax.Expr | syntax.Atom,
    relation: Relation,
) -> VarPattern:
    variable = scope.lookup(name)
    assert variable is not None, "the variables of a rule are declared before its atoms are checked"
    if not inference.types.unify(column.type, variable.type):
        what = f"column `{column.name}` of `{relation.name}`" if column.name else f"a row of `{relation.name}`"
        inference.unify(column.type, variable.type, at.span, f"{what} has type `{show(column.type)}`")
    return VarPattern(variable.unique, variable.type)


def place_arguments(atom: syntax.Atom, relation: Relation, report: Report) -> Mapping[int, syntax.Expr]:
    """Return the argument for each column position; mistakes are reported."""
    arguments = atom.arguments or ()
    placed: dict[int, syntax.Expr] = {}
    positional = [argument for argument in arguments if argument.name is None]
    if positional and len(arguments) != len(relation.columns):
        report.add(
            "E0405",
            f"`{relation.name}` has {_columns(len(relation.columns))}, but {len(arguments)} are given",
            atom.span,
            note=f"it is declared as `{_signature(relation)}`",
            hint="use `_` for a column that does not matter, or name the columns that do: `.name = value`",
        )
        return dict(enumerate(argument.value for argument in positional[: len(relation.columns)]))
    index = {column.name: i for i, column in enumerate(relation.columns)}
    for i, argument in enumerate(arguments):
        position = i if argument.name is None else index.get(argument.name)
        if position is None:
            report.add(
                "E0404",
                f"`{relation.name}` has no column `{argument.name}`",
                argument.span,
                note=f"it is declared as `{_signature(relation)}`",
                hint=did_you_mean(argument.name or "", index),
            )
        elif position in placed:
            report.add(
                "E0404",
                f"column `{relation.columns[position].name}` is given twice",
                argument.span,
                note="an atom names each column at most once",
            )
        else:
            placed[position] = argument.value
    return placed


def _columns(number: int) -> str:
    return "1 column" if number == 1 else f"{number} columns"


def _signature(relation: Relation) -> str:
    return f"{relation.name}({', '.join(f'{c.name}: {show(c.type)}' for c in relation.columns)})"

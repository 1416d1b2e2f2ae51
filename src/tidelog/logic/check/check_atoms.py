"""Atoms against the columns of their relations: how many, which name, which type.

An atom is placed first: its arguments are put in the order of the columns. A positive atom then declares its variables,
which have the types of their columns, so that a variable that only atoms mention needs no inference. When all variables
are known, its patterns and expressions are inferred; an atom of variables and wildcards, as nearly all are, is done
with at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidelog.base.diagnostic import Report, did_you_mean
from tidelog.base.expr import AnyPattern, Expr, Pattern, VarPattern
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Named, Type, content, show
from tidelog.lang import syntax
from tidelog.logic.infer.inference import Inference
from tidelog.logic.names.environment import Environment
from tidelog.logic.names.patterns import is_pattern, pattern_names
from tidelog.logic.names.scope import Scope, Variable
from tidelog.logic.program import Relation
from tidelog.logic.rewrite import checked

ANY = AnyPattern()


@record
class PlacedAtom:
    """An atom with its relation; `arguments` has an expression or None for each column."""

    atom: syntax.Atom
    relation: Relation
    arguments: Sequence[syntax.Expr | None]


def row_atom(atom: syntax.Atom, relation: Relation, environment: Environment) -> syntax.Atom:
    """Write an atom with the pattern of a whole row where DDlog reads it so.

    `&R[p]` is `R[&p]`: p fits what rows refer to. `R(a, b)` on a relation of a union is `R[R{a, b}]` if the union has a
    constructor of the relation's name.
    """
    if atom.whole is not None:
        if not atom.reference:
            return atom
        return replace(atom, whole=syntax.Unary("&", atom.whole, span=atom.whole.span), reference=False)
    row = content(relation.element)
    if atom.arguments is None or len(relation.columns) != 1 or not isinstance(row, Named):
        return atom
    constructors = environment.definition(row.name).constructors
    if len(constructors) == 1 or all(c.name != relation.name for c in constructors):
        return atom
    whole: syntax.Expr = syntax.Construct(atom.relation, atom.arguments, span=atom.span)
    if relation.element is not row:
        whole = syntax.Unary("&", whole, span=atom.span)
    return replace(atom, arguments=None, whole=whole)


def place_atom(atom: syntax.Atom, relation: Relation, report: Report) -> PlacedAtom:
    """Put the arguments of an atom in the order of the columns; mistakes are reported."""
    columns = relation.columns
    arguments = atom.arguments
    if not arguments or atom.whole is not None:  # `R()` leaves out all columns
        return PlacedAtom(atom, relation, (None,) * len(columns))
    if all(argument.name is None for argument in arguments):
        if len(arguments) == len(columns):
            return PlacedAtom(atom, relation, [argument.value for argument in arguments])
        _wrong_number(atom, len(arguments), relation, report)
        return PlacedAtom(atom, relation, ([a.value for a in arguments] + [None] * len(columns))[: len(columns)])
    return PlacedAtom(atom, relation, _place_named(arguments, atom, relation, report))


def _place_named(
    arguments: tuple[syntax.Argument, ...], atom: syntax.Atom, relation: Relation, report: Report
) -> list[syntax.Expr | None]:
    placed: list[syntax.Expr | None] = [None] * len(relation.columns)
    index = {column.name: i for i, column in enumerate(relation.columns)}
    for argument in arguments:
        if argument.name is None:
            _wrong_number(atom, len(arguments), relation, report)
            continue
        position = index.get(argument.name)
        if position is None:
            report.add(
                "E0404",
                f"`{relation.name}` has no column `{argument.name}`",
                argument.span,
                note=f"it is declared as `{signature(relation)}`",
                hint=did_you_mean(argument.name, index),
            )
        elif placed[position] is not None:
            report.add(
                "E0404",
                f"column `{argument.name}` is given twice",
                argument.span,
                note="an atom names each column at most once",
                hint="remove one of them",
            )
        else:
            placed[position] = argument.value
    return placed


def _wrong_number(atom: syntax.Atom, given: int, relation: Relation, report: Report) -> None:
    columns = len(relation.columns)
    named = atom.arguments is not None and any(argument.name is not None for argument in atom.arguments)
    report.add(
        "E0405",
        "an atom names all of its columns or none"
        if named
        else f"`{relation.name}` has {columns} column{'' if columns == 1 else 's'}, but {given} "
        f"{'is' if given == 1 else 'are'} given",
        atom.span,
        note=f"it is declared as `{signature(relation)}`",
        hint="remove what is no column"
        if given > columns
        else "use `_` for a column that does not matter, or name the columns that do: `.name = value`",
    )


def signature(relation: Relation) -> str:
    """Write a relation as it is declared.

    >>> from tidelog.base.types import BOOL, UNIT, Field
    >>> signature(Relation("R", "input", (Field("x", BOOL),), UNIT))
    'R(x: bool)'
    """
    return f"{relation.name}({', '.join(f'{c.name}: {show(c.type)}' for c in relation.columns)})"


def declare_variables(
    placed: PlacedAtom, scope: Scope, given: Mapping[str, Variable], inference: Inference
) -> checked.Atom | None:
    """Declare the variables that a positive atom binds; `given` has those shared with other bodies, by name.

    Returns the checked atom if its arguments are only variables and wildcards.
    """
    relation, atom = placed.relation, placed.atom
    plain = True
    terms: list[Pattern] = []
    for column, e in zip(relation.columns, placed.arguments, strict=True):
        match e:
            case None | syntax.Wildcard():
                terms.append(ANY)
            case syntax.Name((name,), span=span) | syntax.VarDecl(name, span=span):
                variable = _declare(name, column.type, span, relation, column.name, scope, given, inference)
                terms.append(VarPattern(variable.unique, column.type))
            case _:
                declare_pattern(e, scope, given, inference)
                plain = False
    row = None
    if atom.binding is not None:
        variable = _declare(atom.binding, relation.element, atom.span, relation, "a row", scope, given, inference)
        row = VarPattern(variable.unique, relation.element)
    if atom.whole is not None:
        declare_pattern(atom.whole, scope, given, inference)
        plain = False
    return checked.Atom(relation, tuple(terms), row, row is None, span=atom.span) if plain else None


def declare_pattern(e: syntax.Expr, scope: Scope, given: Mapping[str, Variable], inference: Inference) -> None:
    """Declare the variables of a pattern, their types still unknown."""
    if not is_pattern(e):
        return
    for name, span in pattern_names(e):
        if name in scope.variables:
            continue
        if name in given:
            scope.variables[name] = given[name]
        else:
            scope.declare(name, inference.fresh(), "rule", span)


def _declare(
    name: str,
    type: Type,
    span: Span,
    relation: Relation,
    column: str,
    scope: Scope,
    given: Mapping[str, Variable],
    inference: Inference,
) -> Variable:
    variable = scope.variables.get(name)
    if variable is None:
        if name not in given:
            return scope.declare(name, type, "rule", span)
        variable = scope.variables[name] = given[name]
    if variable.type is not type:
        _unify(variable, type, span, relation, column, inference)
    return variable


def _unify(variable: Variable, type: Type, span: Span, relation: Relation, column: str, inference: Inference) -> None:
    if not inference.types.unify(type, variable.type):
        what = f"column `{column}` of `{relation.name}`" if column != "a row" else f"a row of `{relation.name}`"
        inference.unify(type, variable.type, span, f"{what} has type `{show(type)}`")


def check_atom(placed: PlacedAtom, scope: Scope, inference: Inference) -> checked.Atom:
    """Infer the arguments of an atom in a body; all variables are in the scope."""
    atom, relation = placed.atom, placed.relation
    row: Pattern | Expr | None = None
    if atom.whole is not None:
        row = _argument(atom.whole, relation.element, relation, "a row", scope, inference)
    if atom.binding is not None:
        inner = row if isinstance(row, Pattern) else ANY  # with a binding, `lift_expressions` leaves patterns only
        row = VarPattern(scope.variables[atom.binding].unique, relation.element, inner)
    arguments = tuple(
        [
            ANY if e is None else _argument(e, column.type, relation, column.name, scope, inference)
            for column, e in zip(relation.columns, placed.arguments, strict=True)
        ]
    )
    return checked.Atom(relation, arguments, row, span=atom.span)


def _argument(
    e: syntax.Expr, type: Type, relation: Relation, column: str, scope: Scope, inference: Inference
) -> Pattern | Expr:
    match e:
        case syntax.Wildcard():
            return ANY
        case syntax.Name((name,), span=span) | syntax.VarDecl(name, span=span):
            variable = scope.variables[name]
            if variable.type is not type:  # a negated atom, or a variable whose type another clause gave
                _unify(variable, type, span, relation, column, inference)
            return VarPattern(variable.unique, type)
        case _ if is_pattern(e):
            return inference.pattern(e, scope, type)
        case _:
            return inference.expression(e, scope, type)

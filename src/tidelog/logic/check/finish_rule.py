"""The end of checking a rule: unknown types replaced by what they became, in everything the rule holds."""

from __future__ import annotations

from typing import assert_never

from tidelog.base.expr import AnyPattern, Expr, Pattern, Var, VarPattern
from tidelog.logic import program
from tidelog.logic.infer.finish import Finisher
from tidelog.logic.rewrite import checked
from tidelog.logic.rewrite.checked import Body, Clause, Grouping, Rule


def finish_rule(rule: Rule[Clause], finisher: Finisher) -> Rule[Clause]:
    """Return the rule with all types known; the inference is settled."""
    arguments = tuple(
        [
            e if isinstance(e, Var) and e.type is column.type and e.name[0] != "?" else finisher.expr(e)
            for e, column in zip(rule.arguments, rule.head.columns, strict=True)
        ]
    )
    return Rule(rule.head, arguments, _body(rule.body, finisher), rule.origin)


def _body(body: Body[Clause], finisher: Finisher) -> Body[Clause]:
    grouping = body.grouping
    if grouping is not None:
        group = finisher.expr(grouping.group)
        assert isinstance(group, Var)
        alternatives = tuple([_body(alternative, finisher) for alternative in grouping.alternatives])
        value, key = finisher.expr(grouping.value), finisher.expr(grouping.key)
        grouping = Grouping(alternatives, value, key, group, grouping.span)
    return Body(grouping, tuple([_clause(clause, finisher) for clause in body.literals]))


def _clause(clause: Clause, finisher: Finisher) -> Clause:
    match clause:
        case checked.Positive(atom):
            return clause if atom.plain else checked.Positive(_atom(atom, finisher))
        case checked.Negative(atom):
            return checked.Negative(_atom(atom, finisher))
        case program.Condition(expression, span):
            return program.Condition(finisher.expr(expression), span)
        case checked.Assignment(pattern, expression, span):
            return checked.Assignment(finisher.pattern(pattern), finisher.expr(expression), span)
        case checked.Unnest(pattern, expression, span):
            return checked.Unnest(finisher.pattern(pattern), finisher.expr(expression), span)
        case _:
            assert_never(clause)


def _atom(atom: checked.Atom, finisher: Finisher) -> checked.Atom:
    if atom.plain:
        return atom
    row = None if atom.row is None else _argument(atom.row, finisher)
    return checked.Atom(atom.relation, tuple([_argument(a, finisher) for a in atom.arguments]), row, span=atom.span)


def _argument(argument: Pattern | Expr, finisher: Finisher) -> Pattern | Expr:
    match argument:
        case AnyPattern() | VarPattern(_, _, AnyPattern()):  # the type is a column's, which is known
            return argument
        case _ if isinstance(argument, Pattern):
            return finisher.pattern(argument)
        case _:
            return finisher.expr(argument)

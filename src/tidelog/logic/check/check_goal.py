"""Goals: bodies that are asked instead of derived from.

    Reach($from, x), not Blocked(x)        goal#(x) :- Reach($from, x), not Blocked(x).

A goal is a rule whose head are its variables, in order: those that are visible at its end in each of its alternatives,
but for names that begin with `_`. Its parameters (`$from`) are variables that are bound everywhere; their types are
inferred like those of others, and then each gets its value from whoever asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain

from tidelog.base.diagnostic import Report
from tidelog.base.expr import Const
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Field, Tuple, Type, TypeDefinition, show
from tidelog.base.values import Value
from tidelog.logic.check.check_rules import CheckedBody, SourceRule, check_body
from tidelog.logic.infer.finish import has_unknown
from tidelog.logic.names.environment import Declarations
from tidelog.logic.program import Relation
from tidelog.logic.rewrite import checked
from tidelog.logic.rewrite.rule_names import common_names

GOAL = "goal#"
"""The name of the relation of a goal's answers, which no program can have."""
ValueOf = Callable[[str, Type, Mapping[str, TypeDefinition]], Value]
"""Gives the value of a parameter, named without its `$`, whose type has been found, and what that is made of."""


@record
class CheckedGoal:
    """The relation of a goal's answers, its rules, and the values of its parameters."""

    relation: Relation
    rules: tuple[checked.Rule[checked.Clause], ...]
    values: dict[str, Const]


def check_goal(
    rules: Sequence[SourceRule],
    parameters: Sequence[str],
    value_of: ValueOf,
    declarations: Declarations,
    report: Report,
) -> CheckedGoal | None:
    """Return the typed form of a goal, of which there is a rule without head for each alternative."""
    span = rules[0].origin.span
    visible = common_names([source.rule.body for source in rules])
    names = [name for name in visible if name.isidentifier() and not name.startswith("_")]
    bodies = [body for source in rules if (body := check_body(source, names, parameters, declarations, report))]
    if len(bodies) < len(rules):
        return None
    first = bodies[0]
    for variable in chain.from_iterable(body.columns for body in bodies[1:]):
        wanted = next(column.type for column in first.columns if column.name == variable.name)
        _same(variable.name, wanted, variable.type, span, report)
    values = _values(parameters, bodies, value_of, declarations, report, span)
    if report.errors:
        return None
    columns = tuple([Field(name, column.type) for name, column in zip(names, first.columns, strict=True)])
    element = Tuple(tuple([column.type for column in columns]))
    relation = Relation(GOAL, "goal", columns, element, auxiliary=True, span=span)
    made = [
        checked.Rule(relation, body.columns, body.body, source.origin)
        for source, body in zip(rules, bodies, strict=True)
    ]
    return CheckedGoal(relation, tuple(made), values)


def _values(
    parameters: Sequence[str],
    bodies: Sequence[CheckedBody],
    value_of: ValueOf,
    declarations: Declarations,
    report: Report,
    span: Span,
) -> dict[str, Const]:
    values: dict[str, Const] = {}
    for name in parameters:
        found = [type for body in bodies if not has_unknown(type := body.parameters[name])]
        if not found:
            report.add(
                "E0306",
                f"cannot tell the type of `{name}`",
                span,
                note="the type of a parameter is inferred from the goal; nothing there tells this one",
                hint=f"annotate it: `({name}: T)`",
            )
            continue
        for type in found[1:]:
            _same(name, found[0], type, span, report)
        type = found[0]
        values[name] = Const(value_of(name[1:], type, declarations.complete((type,))), type)
    return values


def _same(name: str, expected: Type, found: Type, span: Span, report: Report) -> None:
    if expected != found:
        report.add(
            "E0301",
            f"expected `{show(expected)}`, found `{show(found)}`",
            span,
            note=f"`{name}` has the same type in all alternatives of a goal",
        )

"""Goals: bodies in the language, checked and planned as a rule more of the program, whose head are their variables.

A goal that only looks rows of one relation up is told apart (`Selection`), since indexes answer it. Any other is
evaluated by an engine that goes over to the plan with the rule, and back: what is kept of it are the indexes it built.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidelog.base.arguments import expect
from tidelog.base.diagnostic import Report, did_you_mean
from tidelog.base.errors import DataError, ProgramError, UserError
from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.base.types import Field, Type
from tidelog.base.values import Value
from tidelog.logic import program as logic
from tidelog.logic.check.check_goal import GOAL
from tidelog.plan.nodes import Plan, Scan
from tidelog.plan.passes import plan_program
from tidelog.run.contract.engine import Row, Rows
from tidelog.session.frames.misfit import Misfit
from tidelog.session.frames.plain import Plain
from tidelog.session.program.rules import RuleBase
from tidelog.session.program.standing import Standing, is_shared, standing

KEPT = 100
"""How many goals a program keeps planned."""
SIMPLE = (bool, int, float, str)
"""The types of parameters by which a goal is found again: values of different ones are different."""


@record
class Selection:
    """Rows of a relation that have these values in some columns, of which some columns are wanted."""

    relation: str
    bound: tuple[tuple[int, Value], ...]
    wanted: tuple[int, ...]
    whole: bool
    """Whether all columns are wanted in order."""

    def project(self, rows: Rows) -> Rows:
        """Return the columns that are wanted, each row once."""
        if self.whole:
            return rows
        places = self.wanted
        if len(places) == 1:
            (place,) = places
            return dict.fromkeys([(row[place],) for row in rows])
        return dict.fromkeys([tuple([row[place] for place in places]) for row in rows])


@record
class Goal:
    """A goal as part of a program's plan, and the columns of its answers."""

    plan: Plan
    columns: tuple[Field, ...]
    selection: Selection | None


class Goals:
    """Plans goals of one program, and keeps those planned last."""

    def __init__(self, rules: RuleBase) -> None:
        self.rules = rules
        self._planned: dict[Any, Goal] = {}

    def goal(self, text: str, parameters: Mapping[str, Any]) -> Goal:
        """Return a goal, planned; raise `ProgramError` with its mistakes, `DataError` for a parameter that misfits."""
        expect(text, str, "goal", "a goal as text")
        expect(parameters, Mapping, "parameters", "values by the name of a parameter")
        key = (text, *((name, value.__class__, value) for name, value in parameters.items()))
        simple = all(value.__class__ in SIMPLE for value in parameters.values())
        found = self._planned.get(key) if simple else None
        if found is None:
            found = _planned(self.rules, text, parameters)
            if simple:
                if len(self._planned) >= KEPT:
                    del self._planned[next(iter(self._planned))]
                self._planned[key] = found
        return found

    def rows(self, relation: str, bound: Mapping[int, Value]) -> Goal:
        """Return the goal of the rows of a relation that have these values in some columns, by their places."""
        return _planned_rows(self.rules, relation, bound)


def _planned_rows(rules: RuleBase, name: str, bound: Mapping[int, Value]) -> Goal:
    """Return the goal of the rows of a relation that have these values in some columns."""
    relation = rules.program.relations[name]
    terms = tuple([
        Const(bound[place], column.type) if place in bound else Var(column.name, column.type)
        for place, column in enumerate(relation.columns)
    ])  # fmt: skip
    goal = replace(relation, name=GOAL, role="goal", primary_key=None, auxiliary=True, demand=False)
    rule = logic.Rule(GOAL, terms, (logic.Positive(logic.Atom(name, terms)),), logic.Origin(f"the rows of {name}"))
    whole = rules.whole
    program = replace(whole, relations={**whole.relations, GOAL: goal}, rules=(*whole.rules, rule))
    report = Report()
    plan = plan_program(program, report, earlier=rules.plan, planning=rules.planning, extent=rules.extent)
    assert plan is not None, "a goal reads what is there"
    return Goal(plan, relation.columns, None)


def _planned(rules: RuleBase, text: str, parameters: Mapping[str, Any]) -> Goal:
    program, _ = _checked(rules, text, parameters)
    report = Report()
    plan = plan_program(program, report, earlier=rules.plan, planning=rules.planning, extent=rules.extent)
    assert plan is not None, "a goal reads what is there"
    selection = _selection(plan)
    kept = selection is not None and selection.relation in rules.program.relations.keys() - rules.plan.partial
    return Goal(plan, plan.relations[GOAL].columns, selection if kept else None)  # else it is made for this goal


def _checked(rules: RuleBase, text: str, parameters: Mapping[str, Any]) -> tuple[logic.Program, dict[str, Const]]:
    """Return the program with a goal, and the values of its parameters; raise what is wrong with either."""
    plain = Plain(rules.program.types)
    asked: dict[str, Const] = {}

    def value_of(name: str, type: Type) -> Value:
        if name not in parameters:
            raise DataError(f"the goal has the parameter `${name}`, for which no value is given")
        try:
            asked[name] = value = Const(plain.read(type)(parameters[name]), type)
        except Misfit as misfit:
            raise DataError(f"parameter `{name}`: {misfit}") from None
        return value.value

    report = Report()
    program = rules.analysis.with_goal(rules.whole, Source("<goal>", text), value_of, report)
    if program is None:
        raise ProgramError(report.errors)
    for name in parameters:
        if name not in asked:
            hint = did_you_mean(name, asked)
            raise UserError(f"the goal has no parameter `${name}`" + (f"; {hint}" if hint else ""))
    return program, asked


def stand(rules: RuleBase, text: str, parameters: Mapping[str, Any]) -> tuple[Standing, Row]:
    """Return a goal that stays, perhaps one that is there, and what is given for its parameters."""
    expect(text, str, "goal", "a goal as text")
    expect(parameters, Mapping, "parameters", "values by the name of a parameter")
    program, values = _checked(rules, text, parameters)
    shared = is_shared(program.rules[len(rules.whole.rules) :])
    given = tuple([value.value for value in values.values()])
    key = text if shared else (text, given)
    found = rules.goals.get(key)
    if found is None:
        name = f"{GOAL}{rules.watched + 1}"
        found = standing(key, text, name, values if shared else {}, rules.whole, program)
    return found, given if shared else ()


def _selection(plan: Plan) -> Selection | None:
    """Return what a goal looks up, if it is one atom of constants and different variables."""
    made = [rule for stratum in plan.strata for rule in stratum.rules if rule.head == GOAL]
    tree = made[0].full.tree
    scan = tree.input
    if len(made) > 1 or not isinstance(scan, Scan) or not all(isinstance(e, Var) for e in tree.expressions):
        return None
    places = {term.name: column for column, term in enumerate(scan.terms) if isinstance(term, Var)}
    if len(places) < sum(isinstance(term, Var) for term in scan.terms):
        return None
    bound = tuple([(column, term.value) for column, term in enumerate(scan.terms) if isinstance(term, Const)])
    wanted = tuple([places[e.name] for e in tree.expressions if isinstance(e, Var)])
    return Selection(scan.relation, bound, wanted, wanted == tuple(range(len(scan.terms))))


def bound_columns(columns: Sequence[Field], values: Mapping[str, Any], what: str, plain: Plain) -> dict[int, Value]:
    """Return values given by the names of columns, checked, by their places."""
    places = {column.name: place for place, column in enumerate(columns)}
    bound: dict[int, Value] = {}
    for name, value in values.items():
        if name not in places:
            hint = did_you_mean(name, places)
            raise UserError(f"{what} has no column `{name}`" + (f"; {hint}" if hint else ""))
        try:
            bound[places[name]] = plain.read(columns[places[name]].type)(value)
        except Misfit as misfit:
            raise DataError(f"{what}, column `{name}`: {misfit}") from None
    return bound


def key_of(row: Row, columns: Sequence[int]) -> Row:
    """Return what a row has in some columns."""
    return tuple([row[column] for column in columns])

"""Goals: bodies in the language, checked and planned as a rule more of the program, whose head are their variables.

A goal that only looks rows of one relation up is told apart (`Selection`), since indexes answer it. Any other is
evaluated by an engine that goes over to the plan with the rule, and back: what is kept of it are the indexes it built.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from tidelog.base.arguments import expect
from tidelog.base.diagnostic import Report, did_you_mean
from tidelog.base.errors import DataError, ProgramError, UserError
from tidelog.base.expr import Const, Var
from tidelog.base.plain.misfit import Misfit
from tidelog.base.plain.plain import Plain
from tidelog.base.record import record
from tidelog.base.span import Source
from tidelog.base.text.read import read_cell
from tidelog.base.types import Field, Type, TypeDefinition
from tidelog.base.values import Value
from tidelog.logic import program as logic
from tidelog.logic.check.check_goal import GOAL
from tidelog.plan.nodes import Plan, Scan
from tidelog.plan.passes import plan_program
from tidelog.run.contract.engine import Delta, Row, Rows
from tidelog.session.program.rules import RuleBase
from tidelog.session.program.standing import Standing, asked_relation, is_shared, standing

Kept = TypeVar("Kept")
KEPT = 100
"""How many goals a program keeps planned."""
SIMPLE = (bool, int, float, str)
"""The types of parameters by which a goal is found again: values of different ones are different."""


class Cell(str):
    """The value of a parameter as text, as in a cell of a table."""

    __slots__ = ()


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
    """A goal as part of a program's plan, and the columns of its answers; a `selection` is looked up instead.

    While it is evaluated `asked`, if there is such a relation, has the fact of what is `given` for its parameters.
    """

    plan: Plan
    columns: tuple[Field, ...]
    selection: Selection | None = None
    asked: str | None = None
    given: Row = ()

    @property
    def facts(self) -> dict[str, Delta]:
        """The facts that ask for its answers."""
        return {} if self.asked is None else {self.asked: Delta([self.given])}


@record
class Shape:
    """A goal with parameters, planned once for all that is given for them.

    What is looked up has, in place of a value, the parameter's number, or a constant.
    """

    goal: Goal
    parameters: tuple[Field, ...]

    def of(self, given: Row) -> Goal:
        """Return the goal of these values."""
        selection = self.goal.selection
        if selection is not None:
            bound = [(c, given[one] if isinstance(one, int) else one.value) for c, one in selection.bound]
            selection = replace(selection, bound=tuple(bound))
        return replace(self.goal, selection=selection, given=given)


class Goals:
    """Plans goals of one program, and keeps those planned last."""

    def __init__(self, rules: RuleBase) -> None:
        self.rules = rules
        self._shapes: dict[Hashable, Shape] = {}
        self._planned: dict[Hashable, Goal] = {}

    def goal(self, text: str, parameters: Mapping[str, Any]) -> Goal:
        """Return a goal, planned; raise `ProgramError` with its mistakes, `DataError` for a parameter that misfits."""
        expect(text, str, "goal", "a goal as text")
        expect(parameters, Mapping, "parameters", "values by the name of a parameter")
        shape = self._shapes.get(text)
        if shape is not None:
            return shape.of(_given(shape.goal.plan.types, shape.parameters, parameters))
        key = (text, *((name, value.__class__, value) for name, value in parameters.items()))
        simple = all(value.__class__ in SIMPLE for value in parameters.values())
        found = self._planned.get(key) if simple else None
        if found is None:
            found = self._made(text, parameters)
            if simple and found.asked is None:
                _keep(self._planned, key, found)
        return found

    def rows(self, relation: str, bound: Mapping[int, Value]) -> Goal:
        """Return the goal of the rows of a relation that have these values in some columns, by their places."""
        columns = tuple(sorted(bound))
        shape = self._shapes.get((relation, columns))
        if shape is None:
            shape = self._of_rows(relation, columns)
            _keep(self._shapes, (relation, columns), shape)
        return shape.of(tuple([bound[column] for column in columns]))

    def _made(self, text: str, parameters: Mapping[str, Any]) -> Goal:
        """Plan a goal, if possible for all values of its parameters."""
        whole = self.rules.whole
        program, values = _checked(self.rules, text, parameters)
        if not values or not is_shared(program.rules[len(whole.rules) :]):
            plan = self._plan(program)
            columns, selection = plan.relations[GOAL].columns, _selection(plan)
            return Goal(plan, columns, selection if self._is_kept(selection) else None)
        asked = standing(text, text, GOAL, values, whole, program, once=True)
        selection = _selected(asked)
        goal = Goal(
            self._plan(asked.added_to(whole)),
            asked.columns,
            selection if self._is_kept(selection) else None,
            asked.asked,
        )
        shape = Shape(goal, asked.parameters)
        _keep(self._shapes, text, shape)
        return shape.of(tuple([value.value for value in values.values()]))

    def _of_rows(self, name: str, columns: tuple[int, ...]) -> Shape:
        """Return the goal of the rows of a relation that have given values in some columns."""
        relation, whole = self.rules.program.relations[name], self.rules.whole
        terms = tuple([Var(column.name, column.type) for column in relation.columns])
        goal = replace(relation, name=GOAL, role="goal", primary_key=None, auxiliary=True, demand=False)
        rule = logic.Rule(GOAL, terms, (logic.Positive(logic.Atom(name, terms)),), logic.Origin(f"the rows of {name}"))
        parameters = tuple([terms[column] for column in columns])
        if not columns:
            program = replace(whole, relations={**whole.relations, GOAL: goal}, rules=(*whole.rules, rule))
            return Shape(Goal(self._plan(program), relation.columns), ())
        asked = asked_relation(GOAL, parameters, relation.span)
        guarded = replace(rule, body=(logic.Positive(logic.Atom(asked.name, parameters)), *rule.body))
        relations = {**whole.relations, GOAL: goal, asked.name: asked}
        plan = self._plan(replace(whole, relations=relations, rules=(*whole.rules, guarded)))
        return Shape(Goal(plan, relation.columns, None, asked.name), tuple([relation.columns[c] for c in columns]))

    def _plan(self, program: logic.Program) -> Plan:
        rules, report = self.rules, Report()
        plan = plan_program(program, report, earlier=rules.plan, planning=rules.planning, extent=rules.extent)
        assert plan is not None, "a goal reads what is there"
        return plan

    def _is_kept(self, selection: Selection | None) -> bool:
        """Tell whether rows can be looked up: all of the relation are there, and it was not made for this goal."""
        rules = self.rules
        return selection is not None and selection.relation in rules.program.relations.keys() - rules.plan.partial


def _keep(kept: dict[Hashable, Kept], key: Hashable, value: Kept) -> None:
    if len(kept) >= KEPT:
        del kept[next(iter(kept))]
    kept[key] = value


def _checked(rules: RuleBase, text: str, parameters: Mapping[str, Any]) -> tuple[logic.Program, dict[str, Const]]:
    """Return the program with a goal, and the values of its parameters; raise what is wrong with either."""
    asked: dict[str, Const] = {}

    def value_of(name: str, type: Type, definitions: Mapping[str, TypeDefinition]) -> Value:
        asked[name] = value = Const(_value(name, type, parameters, Plain(definitions)), type)
        return value.value

    report = Report()
    program = rules.analysis.with_goal(rules.whole, Source("<goal>", text), value_of, report)
    if program is None:
        raise ProgramError(report.errors)
    _check_names(parameters, asked)
    return program, asked


def _given(types: Mapping[str, TypeDefinition], fields: Sequence[Field], parameters: Mapping[str, Any]) -> Row:
    """Return the values of a known goal's parameters; raise what is wrong with them."""
    plain = Plain(types)
    given = {field.name[1:]: _value(field.name[1:], field.type, parameters, plain) for field in fields}
    _check_names(parameters, given)
    return tuple(given.values())


def _value(name: str, type: Type, parameters: Mapping[str, Any], plain: Plain) -> Value:
    if name not in parameters:
        hint = f": it is given as `{name}`, without `$`" if f"${name}" in parameters else ""
        raise DataError(f"the goal has the parameter `${name}`, for which no value is given{hint}")
    given = parameters[name]
    try:
        return read_cell(given, type, plain.definitions) if isinstance(given, Cell) else plain.read(type)(given)
    except (Misfit, DataError) as error:
        raise DataError(f"parameter `{name}`: {error}") from None


def _check_names(parameters: Iterable[str], known: Collection[str]) -> None:
    for name in parameters:
        if name not in known:
            hint = did_you_mean(name, known)
            raise UserError(f"the goal has no parameter `${name}`" + (f"; {hint}" if hint else ""))


def stand(rules: RuleBase, text: str, parameters: Mapping[str, Any]) -> tuple[Standing, Row]:
    """Return a goal that stays, perhaps one that is there, and what is given for its parameters."""
    expect(text, str, "goal", "a goal as text")
    expect(parameters, Mapping, "parameters", "values by the name of a parameter")
    known = rules.goals.get(text)
    if known is not None:
        return known, _given(known.program.types, known.parameters, parameters)
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
    if len(made) != 1:  # none if a condition is never true
        return None
    tree = made[0].full.tree
    scan = tree.input
    if not isinstance(scan, Scan) or not all(isinstance(e, Var) for e in tree.expressions):
        return None
    places = {term.name: column for column, term in enumerate(scan.terms) if isinstance(term, Var)}
    if len(places) < sum(isinstance(term, Var) for term in scan.terms):
        return None
    bound = tuple([(column, term.value) for column, term in enumerate(scan.terms) if isinstance(term, Const)])
    wanted = tuple([places[e.name] for e in tree.expressions if isinstance(e, Var)])
    return Selection(scan.relation, bound, wanted, wanted == tuple(range(len(scan.terms))))


def _selected(goal: Standing) -> Selection | None:
    """Return what a goal with parameters looks up, if it is one atom of these, constants and different variables."""
    if len(goal.program.rules) != 1:
        return None
    (rule,) = goal.program.rules
    if len(rule.body) != 2 or not isinstance(literal := rule.body[1], logic.Positive):
        return None
    numbers = {field.name: number for number, field in enumerate(goal.parameters)}
    bound: list[tuple[int, int | Const]] = []
    places: dict[str, int] = {}
    for column, term in enumerate(literal.atom.arguments):
        if isinstance(term, Const):
            bound.append((column, term))
        elif isinstance(term, Var) and term.name in numbers:
            bound.append((column, numbers[term.name]))
        elif isinstance(term, Var) and places.setdefault(term.name, column) != column:
            return None
    if not all(isinstance(e, Var) and e.name in places for e in rule.arguments):
        return None
    wanted = tuple([places[e.name] for e in rule.arguments if isinstance(e, Var)])
    return Selection(literal.atom.relation, tuple(bound), wanted, wanted == tuple(range(len(literal.atom.arguments))))


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

"""Goals that stay: the relations and rules that a program has for them.

    goal#1(from, x) :- goal#1#asked(from), Reach(from, x).          db.watch("Reach($from, x)", ...)

All who watch the same goal share its rules: what each gave for the parameters is a fact of `goal#1#asked`, so whoever
comes or goes is one fact. A goal that groups under a parameter has rules for each of the values given, and an empty row
in `asked` while somebody watches.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from tidelog.base.expr import Const, Var
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Field
from tidelog.logic.check.check_goal import GOAL
from tidelog.logic.literals import atoms
from tidelog.logic.program import (
    Aggregate,
    Atom,
    Bind,
    Literal,
    Negative,
    Positive,
    Program,
    Relation,
    Rule,
    auxiliary_relation,
)


@record
class Standing:
    """A goal that stays: its relation, with a column for each parameter and then for each answer, and its rules."""

    key: Hashable
    text: str
    name: str
    parameters: tuple[Field, ...]
    columns: tuple[Field, ...]
    program: Program
    """Its relations and rules, and all types and functions that they need."""

    @property
    def asked(self) -> str:
        """The relation of what is given for its parameters."""
        return asked_for(self.name)

    def added_to(self, program: Program) -> Program:
        """Return a program with the goal."""
        own = self.program
        return Program(
            {**own.types, **program.types},
            {**program.relations, **own.relations},
            {**own.functions, **program.functions},
            (*program.rules, *own.rules),
            program.indexes,
        )

    def reads(self) -> set[str]:
        """Return the relations that its rules read."""
        return {atom.relation for rule in self.program.rules for atom in atoms(rule.body)}


def asked_for(goal: str) -> str:
    """Return the name of the relation of what is given for a goal's parameters."""
    return f"{goal.removesuffix('#')}#asked"


def asked_relation(goal: str, parameters: Sequence[Var], span: Span) -> Relation:
    """Return the relation of what is given for a goal's parameters."""
    return replace(auxiliary_relation(asked_for(goal), parameters, span), role="input")


def is_shared(rules: Iterable[Rule]) -> bool:
    """Tell whether the parameters of a goal's rules can be columns: all are bound in the rules of the goal itself."""
    for rule in rules:
        if any(isinstance(literal, Aggregate) for literal in rule.body):
            return False
        if rule.head != GOAL and any(map(_parameter, rule.body)):
            return False
    return True


def standing(
    key: Hashable,
    text: str,
    name: str,
    values: Mapping[str, Const],
    before: Program,
    after: Program,
    *,
    once: bool = False,
) -> Standing:
    """Return a goal that stays, of the rules that a program has more with the goal and these values than without.

    If it is asked for `once`, with one value for each parameter, its answers need not say which.
    """
    rules = after.rules[len(before.rules) :]
    made = {old: relation for old, relation in after.relations.items() if old not in before.relations}
    parameters = tuple([Var(f"${parameter}", value.type) for parameter, value in values.items()])
    goal, kept = made[GOAL], () if once else parameters
    asked = asked_relation(name, parameters, goal.span)
    guard = Positive(Atom(asked.name, parameters))
    fields = tuple([Field(variable.name, variable.type) for variable in parameters])
    names = {old: name + old.removeprefix(GOAL) for old in made}
    relations = {names[old]: replace(relation, name=names[old]) for old, relation in made.items()}
    relations[name] = replace(goal, name=name, columns=(*(() if once else fields), *goal.columns))
    relations[asked.name] = asked
    own = []
    for rule in rules:
        body: tuple[Literal, ...] = tuple(
            [_renamed(one, names) for one in rule.body if not (parameters and _parameter(one))]
        )
        if rule.head == GOAL:
            own.append(Rule(name, (*kept, *rule.arguments), (guard, *body), rule.origin))
        else:
            own.append(Rule(names[rule.head], rule.arguments, body, rule.origin))
    # All types and functions: those that the program has now may be of no use to it when other things are declared.
    program = Program(after.types, relations, after.functions, tuple(own), {})
    return Standing(key, text, name, fields, goal.columns, program)


def _parameter(literal: Literal) -> bool:
    """Tell whether a literal gives a parameter its value."""
    return isinstance(literal, Bind) and literal.variable.name.startswith("$") and isinstance(literal.expression, Const)


def _renamed(literal: Literal, names: Mapping[str, str]) -> Literal:
    if isinstance(literal, Positive | Negative | Aggregate) and literal.atom.relation in names:
        return replace(literal, atom=replace(literal.atom, relation=names[literal.atom.relation]))
    return literal


def relation_of(goal: Standing) -> Relation:
    """Return the relation of a goal's answers, as users see it: named by its text, without parameters."""
    return replace(goal.program.relations[goal.name], name=goal.text, columns=goal.columns)

"""Types of rules: every variable of a rule gets one type, found from all of its uses, whatever their order.

    R(x, y + 1) :- S(x, y), var z = x.len(), z > 3.      x: string, y: bit<32> from S; z: bit<64> from len

Atoms are looked at first, since their columns have written types, then the other clauses and the head. A body with a
`group_by` is checked in two parts: the grouped part has a scope of its own, and the rest sees the variables of the
key and, in place of `e.group_by(k)`, a variable of type `Group<K, V>`.

A rule with a mistake is left out; mistakes that would only follow from another one are not reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from tidelog.base import types
from tidelog.base.diagnostic import Report
from tidelog.base.expr import Expr, Var
from tidelog.base.record import record
from tidelog.base.span import Span
from tidelog.base.types import Named, Type, TypeSizeError
from tidelog.lang import syntax
from tidelog.lang.syntax import Clause, Path, RuleDef
from tidelog.lang.syntax.walk import rewrite, subexpressions
from tidelog.logic import program
from tidelog.logic.check import rule_mistakes
from tidelog.logic.check.check_atoms import (
    PlacedAtom,
    check_atom,
    declare_pattern,
    declare_variables,
    place_atom,
    row_atom,
)
from tidelog.logic.check.check_time import check_stream, is_in_time
from tidelog.logic.check.finish_rule import finish_rule
from tidelog.logic.infer import access as infer_access
from tidelog.logic.infer.control import element_type
from tidelog.logic.infer.finish import Finisher
from tidelog.logic.infer.infer import BodyInference
from tidelog.logic.names.environment import Declarations, Environment
from tidelog.logic.names.patterns import is_pattern
from tidelog.logic.names.scope import Scope, Variable
from tidelog.logic.names.unify import ERROR
from tidelog.logic.program import Origin, Relation
from tidelog.logic.rewrite import checked
from tidelog.logic.rewrite.rows import row_columns
from tidelog.logic.rewrite.rule_names import (
    alternatives,
    bound_names,
    common_names,
    groupings,
    key_names,
    last_grouping,
    reads,
)

Body = checked.Body[checked.Clause]


@record
class SourceRule:
    """A rule of the text, the module it stands in, and what it came from."""

    module: Path
    rule: RuleDef
    origin: Origin


def check_rules(
    rules: Iterable[SourceRule], declarations: Declarations, report: Report
) -> list[checked.Rule[checked.Clause]]:
    """Return the typed form of the rules that have no mistake."""
    found = []
    for source in rules:
        checker = _Checker(declarations.environments[source.module], report)
        rule = checker.rule(source.rule, source.origin)
        if rule is not None:
            found.append(rule)
    return found


@record
class CheckedBody:
    """A typed body, the variables asked for that it binds, and what is known of the types of its parameters."""

    body: Body
    columns: tuple[Var, ...]
    parameters: Mapping[str, Type]


def check_body(
    source: SourceRule, names: Iterable[str], parameters: Iterable[str], declarations: Declarations, report: Report
) -> CheckedBody | None:
    """Return the typed form of a rule without head whose body binds `names`; None if it has a mistake."""
    checker = _Checker(declarations.environments[source.module], report)
    try:
        return checker.asked(source.rule, names, parameters)
    except TypeSizeError:
        checker.inference.too_large(source.rule.span)
        return None


@dataclass(slots=True)
class _Checker:
    """The check of one rule."""

    environment: Environment
    report: Report
    inference: BodyInference = field(init=False)
    taken: dict[str, int] = field(default_factory=dict)
    groups: int = 0
    hidden: dict[str, Span] = field(default_factory=dict)
    """Variables that a `group_by` hides, with its place."""
    parameters: dict[str, Variable] = field(default_factory=dict)
    """What is given with a goal: bound everywhere in it."""

    def __post_init__(self) -> None:
        self.inference = BodyInference(self.environment, self.report)

    def rule(self, rule: RuleDef, origin: Origin) -> checked.Rule[checked.Clause] | None:
        try:
            return self._rule(rule, origin)
        except TypeSizeError:
            self.inference.too_large(rule.span)
            return None

    def _rule(self, rule: RuleDef, origin: Origin) -> checked.Rule[checked.Clause] | None:
        mistakes = self.report.mistakes
        (head,) = rule.heads
        relation = self.environment.relation(head.atom.relation, head.atom.span, self.report)
        body, scope = self.body(rule.body, {})
        arguments = self.head(head, relation, scope, bool(rule.body)) if relation is not None else ()
        if self.report.mistakes > mistakes:
            return None
        assert relation is not None
        check_stream(rule, relation, self.environment, self.report)
        self.inference.settle()
        finished = finish_rule(checked.Rule(relation, arguments, body, origin), Finisher(self.inference))
        if self.report.mistakes > mistakes:
            return None
        return finished

    def asked(self, rule: RuleDef, names: Iterable[str], parameters: Iterable[str]) -> CheckedBody | None:
        mistakes = self.report.mistakes
        given = self.scope()
        for name in parameters:
            self.parameters[name] = given.declare(name, self.inference.fresh(), "rule", rule.span)
        body, scope = self.body(rule.body, {})
        if self.report.mistakes > mistakes:
            return None
        self.inference.settle()
        finisher = Finisher(self.inference)
        columns = tuple([finisher.variable(scope.variables[name].use(rule.span)) for name in names])
        head = Relation("", "internal", (), types.UNIT)
        finished = finish_rule(checked.Rule(head, (), body, Origin("")), finisher)
        if self.report.mistakes > mistakes:
            return None
        known = {name: finisher.type(variable.type) for name, variable in self.parameters.items()}
        variables = tuple([column for column in columns if isinstance(column, Var)])
        return CheckedBody(finished.body, variables, known)

    # --- scopes ------------------------------------------------------------------------------------------------------

    def body(self, clauses: Sequence[Clause], given: Mapping[str, Variable]) -> tuple[Body, Scope]:
        """Infer a body; `given` has variables that it shares with other bodies, by name."""
        scope = self.scope()
        position = last_grouping(clauses)
        grouping = None
        if position is not None:
            found = groupings(clauses[position])
            if len(found) > 1:
                rule_mistakes.several_groupings(found[1].span, self.report)
                for clause in clauses:
                    self.declare_mistaken(clause, scope)
                return checked.Body(None, ()), scope
            grouping = self.grouping(clauses[:position], found[0], given, scope)
            clauses = (_see_group(clauses[position], found[0], grouping.group.name), *clauses[position + 1 :])
        literals: dict[int, checked.Clause | None] = {}
        for i, atom in self.declare(clauses, given, scope).items():
            if isinstance(atom, checked.Atom):
                literals[i] = checked.Positive(atom)
            elif self.is_bound(atom, scope):
                literals[i] = checked.Positive(check_atom(atom, scope, self.inference))
        for i, clause in enumerate(clauses):
            if not isinstance(clause, syntax.Positive):
                literals[i] = self.clause(clause, scope)
        made = [literal for i in range(len(clauses)) if (literal := literals.get(i)) is not None]
        return checked.Body(grouping, tuple(made)), scope

    def scope(self) -> Scope:
        scope = Scope(rule=True)
        scope.taken = self.taken
        scope.variables.update(self.parameters)
        return scope

    def declare(
        self, clauses: Sequence[Clause], given: Mapping[str, Variable], scope: Scope
    ) -> dict[int, checked.Atom | PlacedAtom]:
        """Declare each variable that the clauses bind; return the positive atoms, plain ones already checked."""
        atoms: dict[int, checked.Atom | PlacedAtom] = {}
        for i, clause in enumerate(clauses):
            match clause:
                case syntax.Positive(atom):
                    relation = self.relation(atom)
                    if relation is not None:
                        placed = self.placed(atom, relation)
                        atoms[i] = declare_variables(placed, scope, given, self.inference) or placed
                    else:
                        self.declare_mistaken(clause, scope)
                case syntax.Condition(syntax.Assign(target, _)) | syntax.FlatMap(target, _):
                    for e in subexpressions(target):
                        if isinstance(e, syntax.VarDecl) and e.name in scope.variables:
                            rule_mistakes.declared_again(e.name, e.span, scope.variables[e.name].span, self.report)
                    declare_pattern(target, scope, given, self.inference)
                case _:
                    pass
        return atoms

    def relation(self, atom: syntax.Atom) -> Relation | None:
        """Return what an atom of a body reads: a relation, perhaps as it was some commits ago."""
        found = self.environment.relation(atom.relation, atom.span, self.report)
        if found is None or not is_in_time(atom, found, self.report):
            return None
        return self.environment.declarations.delayed(found, atom.delay) if atom.delay else found

    def placed(self, atom: syntax.Atom, relation: Relation) -> PlacedAtom:
        return place_atom(row_atom(atom, relation, self.environment), relation, self.report)

    def declare_mistaken(self, clause: Clause, scope: Scope) -> None:
        """Declare the variables of a clause that has a mistake, so that their uses are none."""
        for name, span in bound_names(clause):
            if name not in scope.variables:
                scope.declare(name, ERROR, "rule", span)

    def is_bound(self, placed: PlacedAtom, scope: Scope, negated: bool = False) -> bool:
        """Report variables of an atom that nothing binds, and groupings in it."""
        arguments = [e for e in placed.arguments if e is not None]
        if placed.atom.whole is not None:
            arguments.append(placed.atom.whole)
        sound = True
        for e in arguments:
            match e:
                case syntax.Wildcard():
                    pass
                case syntax.Name((name,), span=span):
                    if name not in scope.variables:
                        self.unbound(name, span, scope, negated)
                case _ if negated or not is_pattern(e):
                    sound = self.check_reads(e, scope, negated) and sound
                case _:
                    pass
        return sound

    def grouping(
        self, clauses: Sequence[Clause], grouping: syntax.MethodCall, given: Mapping[str, Variable], outer: Scope
    ) -> checked.Grouping[checked.Clause]:
        """Infer the grouped part of a body, and declare in `outer` what stays visible."""
        bodies = alternatives(clauses)
        inner = self.scope()
        keys = {name for name, _ in key_names(grouping)}
        for name, span in common_names(bodies).items():
            if name in keys and name in given:
                inner.variables[name] = given[name]
            elif name not in self.parameters:
                inner.declare(name, self.inference.fresh(), "rule", span)
        made = tuple(self.body(body, inner.variables)[0] for body in bodies)
        value = self.expression(grouping.receiver, inner)
        if len(grouping.arguments) == 1:
            key = self.expression(grouping.arguments[0], inner)
        else:
            rule_mistakes.one_key(grouping.span, self.report)
            key = value
        for name, variable in inner.variables.items():
            if name in keys:
                outer.variables[name] = variable
            else:
                self.hidden.setdefault(name, grouping.span)
        self.groups += 1
        group = outer.declare(f"#group{self.groups}", Named(types.GROUP, (key.type, value.type)), "rule", grouping.span)
        return checked.Grouping(made, value, key, group.use(grouping.span), span=grouping.span)

    # --- clauses -----------------------------------------------------------------------------------------------------

    def clause(self, clause: Clause, scope: Scope) -> checked.Clause | None:
        match clause:
            case syntax.Negative(atom):
                relation = self.relation(atom)
                if atom.binding not in scope.variables:  # it would name the row that is not there
                    atom = replace(atom, binding=None)
                placed = relation and self.placed(atom, relation)
                if not placed or not self.is_bound(placed, scope, negated=True):
                    return None
                return checked.Negative(check_atom(placed, scope, self.inference))
            case syntax.Condition(syntax.Assign(target, value), span=span):
                return self.assignment(target, value, scope, span)
            case syntax.Condition(expression, span=span):
                if not self.check_reads(expression, scope):
                    return None
                return program.Condition(self.inference.condition(expression, scope), span=span)
            case syntax.FlatMap(pattern, expression, span=span):
                return self.unnest(pattern, expression, scope, span)
            case syntax.Positive() | syntax.OldAggregate() | syntax.Inspect() | syntax.Either():
                raise AssertionError("the caller, or an earlier pass, has dealt with it")
            case _:
                assert_never(clause)

    def assignment(
        self, target: syntax.Expr, value: syntax.Expr, scope: Scope, span: Span
    ) -> checked.Assignment | None:
        if not is_pattern(target):
            rule_mistakes.no_pattern(target.span, self.report)
            return None
        target = rewrite(target, _undeclared)
        if isinstance(target, syntax.Name | syntax.Annotated):  # the written type helps to infer the value
            type = self.inference.fresh()
            pattern = self.inference.pattern(target, scope, type)
            return checked.Assignment(pattern, self.expression(value, scope, type), span=span)
        expression = self.expression(value, scope)
        return checked.Assignment(self.inference.pattern(target, scope, expression.type), expression, span=span)

    def unnest(self, pattern: syntax.Expr, e: syntax.Expr, scope: Scope, span: Span) -> checked.Unnest | None:
        if not is_pattern(pattern):
            rule_mistakes.no_pattern(pattern.span, self.report)
            return None
        expression = self.expression(e, scope)
        element = self.inference.fresh()

        def check(final: bool) -> bool:
            collection = infer_access.content(self.inference, expression.type)
            if self.inference.is_open(collection) and not final:
                return False
            found = element_type(collection)
            if found is not None:
                self.inference.types.unify(element, found)
            elif collection is not ERROR:
                rule_mistakes.no_collection(self.inference.types.show(collection), e.span, self.report)
            return True

        self.inference.later(check)
        return checked.Unnest(
            self.inference.pattern(rewrite(pattern, _undeclared), scope, element), expression, span=span
        )

    def head(self, head: syntax.Head, relation: Relation, scope: Scope, derived: bool) -> tuple[Expr, ...]:
        atom = row_atom(head.atom, relation, self.environment)
        if relation.primary_key is not None and derived:
            rule_mistakes.keyed_head(relation, atom.span, self.report)
        if head.location is not None:
            self.expression(head.location, scope)
            rule_mistakes.location(head.location.span, self.report)
        if atom.whole is not None:
            row = self.expression(atom.whole, scope, relation.element)
            return row_columns(row, relation, self.environment.definition)
        placed = place_atom(atom, relation, self.report)
        missing = [c.name for c, e in zip(relation.columns, placed.arguments, strict=True) if e is None]
        if missing and all(argument.name is not None for argument in atom.arguments or ()):
            rule_mistakes.missing_columns(relation, missing, atom.span, self.report)
        return tuple(
            [
                self.head_argument(e, scope, column.type)
                for column, e in zip(relation.columns, placed.arguments, strict=True)
                if e is not None
            ]
        )

    def head_argument(self, e: syntax.Expr, scope: Scope, type: Type) -> Expr:
        if isinstance(e, syntax.Name):  # nearly all are variables that an atom gave the very type of the column
            variable = scope.variables.get(e.path[0])
            if variable is not None and variable.type is type and len(e.path) == 1:
                return Var(variable.unique, type, span=e.span)
        return self.expression(e, scope, type)

    # --- expressions -------------------------------------------------------------------------------------------------

    def expression(self, e: syntax.Expr, scope: Scope, expected: Type | None = None) -> Expr:
        if not self.check_reads(e, scope):
            return Var("#error", ERROR, span=e.span)
        return self.inference.expression(e, scope, expected)

    def check_reads(self, e: syntax.Expr, scope: Scope, negated: bool = False) -> bool:
        """Report variables that nothing binds; return whether the expression has no misplaced `group_by`."""
        match e:
            case syntax.Name((name,), span=span):
                if name not in scope.variables and not self.environment.functions((name,)):
                    self.unbound(name, span, scope, negated)
                return True
            case syntax.IntLiteral() | syntax.BoolLiteral() | syntax.StringLiteral(()) | syntax.StringLiteral((str(),)):
                return True
            case _:
                pass
        found = reads(e)
        for name, span in found.names:
            if name not in scope.variables and not self.environment.functions((name,)):
                self.unbound(name, span, scope, negated)
        if found.grouping is not None:
            rule_mistakes.misplaced_grouping(found.grouping.span, self.report)
        return found.grouping is None

    def unbound(self, name: str, span: Span, scope: Scope, negated: bool) -> None:
        if name in self.hidden:
            rule_mistakes.hidden(name, span, self.hidden[name], self.report)
        elif negated:
            rule_mistakes.unbound_in_negation(name, span, scope.variables, self.report)
        else:
            rule_mistakes.unbound(name, span, scope.variables, self.report)
        scope.declare(name, ERROR, "rule", span)


def _undeclared(e: syntax.Expr) -> syntax.Expr | None:
    return syntax.Name((e.name,), span=e.span) if isinstance(e, syntax.VarDecl) else None


def _see_group(clause: Clause, grouping: syntax.Expr, group: str) -> Clause:
    """Put the variable of the group in place of `e.group_by(k)`."""
    assert isinstance(clause, syntax.Condition | syntax.FlatMap)
    variable = syntax.Name((group,), span=grouping.span)
    return replace(clause, expression=rewrite(clause.expression, lambda e: variable if e is grouping else None))

"""Atoms over variables and constants only: patterns and expressions inside them become literals of their own.

    S(Some{x}, y + 1), (a, _) = f(x)      S(#1, #2), #1 is Some, x := #1.0, #2 := y + 1, #3 := f(x), a := #3.0

A row bound as a whole (`r in R(...)`, `R[r]`) is made from the columns: `r := R{#1, #2}`. A pattern in a negated atom
that has wildcards inside cannot be tested after the fact, so it gets an auxiliary relation:

    not S(Some{(x, _)}, _)                not A#1(x)      with  A#1(x) :- S(#1, _), #1 is Some, x := #1.0.0
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import assert_never

from tidelog.base import expr
from tidelog.base.expr import AnyPattern, Const, ConstPattern, Expr, Operate, Pattern, Project, Var, VarPattern
from tidelog.base.free import pattern_variables
from tidelog.base.span import Span
from tidelog.base.types import BOOL, Constructor, Named, Tuple, Type, content, field_types
from tidelog.logic import program
from tidelog.logic.infer.control import element_type
from tidelog.logic.program import Bind, Condition, Literal, Term, Wildcard
from tidelog.logic.rewrite import checked
from tidelog.logic.rewrite.auxiliaries import Auxiliaries
from tidelog.logic.rewrite.checked import Body, Grouping, Rule
from tidelog.logic.rewrite.fold_constants import fold_expression
from tidelog.logic.rewrite.rows import Definitions, make_row, row_columns, row_constructor


def flatten_patterns(rule: Rule[checked.Clause], definition: Definitions, auxiliaries: Auxiliaries) -> Rule[Literal]:
    """Return the rule with literals of the typed program as its body."""
    flattener = _Flattener(rule, definition, auxiliaries)
    return Rule(rule.head, rule.arguments, flattener.body(rule.body), rule.origin)


@dataclass(slots=True)
class _Flattener:
    rule: Rule[checked.Clause]
    definition: Definitions
    auxiliaries: Auxiliaries
    literals: list[Literal] = field(default_factory=list)
    made: int = 0

    def body(self, body: Body[checked.Clause]) -> Body[Literal]:
        grouped: Grouping[Literal] | None = None
        if body.grouping is not None:
            given = body.grouping
            bodies = tuple([self.body(alternative) for alternative in given.alternatives])
            grouped = Grouping(bodies, given.value, given.key, given.group, span=given.span)
        self.literals = []
        for clause in body.literals:
            self.clause(clause)
        return Body(grouped, tuple(self.literals))

    def clause(self, clause: checked.Clause) -> None:
        match clause:
            case checked.Positive(atom):
                self.positive(atom)
            case checked.Negative(atom):
                self.negative(atom)
            case program.Condition():
                self.literals.append(clause)
            case checked.Assignment(pattern, expression, span=span):
                self.bind(pattern, expression, span)
            case checked.Unnest(pattern, expression, span=span):
                variable = self.variable(pattern, _element(expression.type), span)
                self.literals.append(program.Unnest(variable, expression, span=span))
                self.destructure(variable, _inside(pattern), span)
            case _:
                assert_never(clause)

    # --- atoms -------------------------------------------------------------------------------------------------------

    def positive(self, atom: checked.Atom) -> None:
        relation, span = atom.relation, atom.span
        if atom.plain:
            plain = tuple(
                [
                    Var(a.name, c.type, span=span) if isinstance(a, VarPattern) else Wildcard(c.type)
                    for a, c in zip(atom.arguments, relation.columns, strict=True)
                ]
            )
            self.literals.append(program.Positive(program.Atom(relation.name, plain, span=span)))
            return
        arguments, row = self.spread(atom)
        after: list[tuple[Var, Pattern]] = []
        terms = [self.term(a, c.type, span, after) for a, c in zip(arguments, relation.columns, strict=True)]
        if row is not None:
            terms = [self.fresh(t.type, span) if isinstance(t, Wildcard) else t for t in terms]
        columns = [t for t in terms if not isinstance(t, Wildcard)]
        self.literals.append(program.Positive(program.Atom(relation.name, tuple(terms), span=span)))
        for variable, pattern in after:
            self.destructure(variable, pattern, span)
        if row is not None:
            self.bind(row, make_row(relation, columns, self.definition, span), span)

    def spread(self, atom: checked.Atom) -> tuple[Sequence[Pattern | Expr], Pattern | None]:
        """Return the arguments, with what is said of the whole row said of its columns where possible."""
        relation, row = atom.relation, atom.row
        constructor = row_constructor(relation, self.definition)
        match row:
            case None | AnyPattern():
                return atom.arguments, None
            case expr.ConstructorPattern(_, items) if constructor is not None:
                return items, None
            case VarPattern() if constructor is not None:
                return atom.arguments, row
            case VarPattern() | ConstPattern() | expr.TuplePattern() | expr.ConstructorPattern():
                if not isinstance(atom.arguments[0], AnyPattern):  # `x in R(pattern)` over a relation of values
                    return atom.arguments, row
                return (row,), None
            case _:
                return row_columns(row, relation, self.definition), None

    def term(self, argument: Pattern | Expr, type: Type, span: Span, after: list[tuple[Var, Pattern]]) -> Term:
        """Return the term for an argument of a positive atom; what is left of its pattern goes to `after`."""
        if isinstance(argument, AnyPattern):
            return Wildcard(type)
        if isinstance(argument, VarPattern) and isinstance(argument.inner, AnyPattern):
            return Var(argument.name, type, span=span)
        match argument:
            case VarPattern() | expr.TuplePattern() | expr.ConstructorPattern() | ConstPattern():
                constant = self.constant(argument, type)
                if constant is not None:
                    return constant
                variable = self.variable(argument, type, span)
                after.append((variable, _inside(argument)))
                return variable
            case _:
                return self.computed(argument)

    def computed(self, expression: Expr) -> Var | Const:
        """Return the value of an expression as a term."""
        folded = fold_expression(expression)
        if isinstance(folded, Var | Const):
            return folded
        variable = self.fresh(folded.type, folded.span)
        self.literals.append(Bind(variable, folded, span=folded.span))
        return variable

    def negative(self, atom: checked.Atom) -> None:
        relation, span = atom.relation, atom.span
        arguments, row = self.spread(atom)
        if isinstance(row, VarPattern) and all(isinstance(a, AnyPattern) for a in arguments):
            arguments, row = row_columns(Var(row.name, row.type, span=span), relation, self.definition), None
        values = [
            Wildcard(c.type) if isinstance(a, AnyPattern) else self.value(a, c.type)
            for a, c in zip(arguments, relation.columns, strict=True)
        ]
        if row is not None or any(value is None for value in values):
            self.negative_pattern(checked.Atom(relation, tuple(arguments), row, span=span))
            return
        terms = tuple(v if isinstance(v, Wildcard) else self.computed(v) for v in values if v is not None)
        self.literals.append(program.Negative(program.Atom(relation.name, terms, span=span)))

    def negative_pattern(self, atom: checked.Atom) -> None:
        """Negate an atom whose patterns have wildcards inside, through an auxiliary relation."""
        relation, span = atom.relation, atom.span
        outer, self.literals = self.literals, []
        patterns: list[Pattern] = []
        for argument, column in zip(atom.arguments, relation.columns, strict=True):
            if isinstance(argument, Pattern):
                patterns.append(argument)
            else:
                variable = self.fresh(column.type, span)
                outer.append(Bind(variable, fold_expression(argument), span=span))
                patterns.append(VarPattern(variable.name, column.type))
        rows = [atom.row] if isinstance(atom.row, Pattern) else []
        keys = {variable.name: variable for pattern in (*patterns, *rows) for variable in pattern_variables(pattern)}
        self.positive(checked.Atom(relation, tuple(patterns), atom.row, span=span))
        variables = tuple(Var(variable.name, variable.type, span=span) for variable in keys.values())
        made = self.auxiliaries.relation(self.rule.head.name, variables, self.rule.origin)
        self.auxiliaries.rule(made, variables, self.literals, self.rule.origin)
        self.literals = [*outer, program.Negative(program.Atom(made.name, variables, span=span))]

    # --- patterns ----------------------------------------------------------------------------------------------------

    def bind(self, pattern: Pattern, value: Expr, span: Span) -> None:
        """Add the literals by which a pattern fits a value."""
        match pattern, value:
            case expr.TuplePattern(patterns), expr.MakeTuple(items):
                for inner, item in zip(patterns, items, strict=True):
                    self.bind(inner, item, span)
                return
            case _:
                pass
        if isinstance(value, Var) and not isinstance(pattern, VarPattern):
            self.destructure(value, pattern, span)
            return
        variable = self.variable(pattern, value.type, span)
        self.literals.append(Bind(variable, value, span=span))
        self.destructure(variable, _inside(pattern), span)

    def destructure(self, value: Expr, pattern: Pattern, span: Span) -> None:
        match pattern:
            case AnyPattern():
                pass
            case VarPattern(name, type, inner):
                variable = Var(name, type, span=span)
                self.literals.append(Bind(variable, value, span=span))
                self.destructure(variable, inner, span)
            case ConstPattern(constant, type):
                equal = Operate("==", (value, Const(constant, type, span=span)), BOOL, span=span)
                self.literals.append(Condition(equal, span=span))
            case expr.TuplePattern(items):
                for i, (item, type) in enumerate(zip(items, _items(value.type), strict=True)):
                    self.destructure(Project(value, i, type, (), span=span), item, span)
            case expr.ConstructorPattern(constructor, items):
                if len(self.definition(constructor.type_name).constructors) > 1:
                    self.literals.append(Condition(expr.Is(value, constructor, span=span), span=span))
                field_types = self.field_types(constructor, value.type)
                for i, item in enumerate(items):
                    self.destructure(Project(value, i, field_types[i], (), span=span), item, span)
            case _:
                assert_never(pattern)

    def value(self, pattern: Pattern | Expr, type: Type) -> Expr | None:
        """Return the only value that fits, once the pattern's variables are bound; None if there are several."""
        match pattern:
            case AnyPattern():
                return None
            case VarPattern(name, _, AnyPattern()):
                return Var(name, type)
            case VarPattern():
                return None
            case ConstPattern(constant, _):
                return Const(constant, type)
            case expr.TuplePattern(items):
                values = [self.value(item, t) for item, t in zip(items, _items(type), strict=True)]
                made = tuple(v for v in values if v is not None)
                return expr.MakeTuple(made, type) if len(made) == len(values) else None
            case expr.ConstructorPattern(constructor, items):
                field_types = self.field_types(constructor, type)
                values = [self.value(item, t) for item, t in zip(items, field_types, strict=True)]
                made = tuple(v for v in values if v is not None)
                return expr.Construct(constructor, made, type) if len(made) == len(values) else None
            case _:
                return pattern

    def constant(self, pattern: Pattern, type: Type) -> Const | None:
        """Return the constant that a pattern without variables and wildcards stands for."""
        if isinstance(pattern, ConstPattern):
            return Const(pattern.value, type)
        value = self.value(pattern, type) if not pattern_variables(pattern) else None
        folded = fold_expression(value) if value is not None else None
        return folded if isinstance(folded, Const) else None

    def field_types(self, constructor: Constructor, type: Type) -> tuple[Type, ...]:
        named = content(type)
        assert isinstance(named, Named)
        return field_types(constructor, self.definition(named.name), named.arguments)

    def variable(self, pattern: Pattern, type: Type, span: Span) -> Var:
        """Return the variable that a pattern gives to the whole value, or a fresh one."""
        return Var(pattern.name, type, span=span) if isinstance(pattern, VarPattern) else self.fresh(type, span)

    def fresh(self, type: Type, span: Span) -> Var:
        self.made += 1
        return Var(f"#{self.made}", type, span=span)


def _inside(pattern: Pattern) -> Pattern:
    return pattern.inner if isinstance(pattern, VarPattern) else pattern


def _items(type: Type) -> tuple[Type, ...]:
    """The component types of a tuple, perhaps behind references."""
    of = content(type)
    assert isinstance(of, Tuple)
    return of.items


def _element(collection: Type) -> Type:
    found = element_type(content(collection))
    assert found is not None, "`check_rules` admits collections only"
    return found

"""Closures written so that the end that is given stays, whichever rules the user has written for them.

    T(x, z) :- E(x, z).                     with the target given:
    T(x, z) :- T(x, y), E(y, z).            T(x, z) :- E(x, y), T(y, z).

Demand in place of that would ask for every node on the way, and find all pairs of them (Naughton et al., Efficient
evaluation of right-, left-, and multi-linear rules, 1989). What closures are made of:

* nonlinear ones, and linear ones of their own steps (`exact`), are turned; symmetric ones take steps both ways;
* `T(x, z) :- T(x, y), E(y, z)` fed by something else, with the target given, is `T#base(x, y), T#along(y, z)`, where
  `T#along` is the closure of the steps; with the rule the other way round likewise.

Where both ends are given, the rows of the source are found and looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from tidelog.base.expr import Const, Expr, Var
from tidelog.base.record import record
from tidelog.logic.literals import atoms
from tidelog.logic.program import (
    Atom,
    Literal,
    Origin,
    Positive,
    Program,
    Relation,
    Rule,
    Term,
    Wildcard,
    auxiliary_relation,
)
from tidelog.plan.closures.recognise import Closure, Form, Kind, closure_of
from tidelog.plan.join.estimate import Estimate
from tidelog.plan.join.plan_rules import plan_rule
from tidelog.plan.nodes import Scan, Stratum

X, Y, Z = "#x", "#y", "#z"


@record
class Step:
    """An atom that steps from the variable `near` to the variable `far`."""

    atom: Atom
    near: str
    far: str

    def between(self, start: Var, end: Var) -> Positive:
        """Return the atom between two variables."""
        by = {self.near: start, self.far: end}
        terms = [by.get(t.name, t) if isinstance(t, Var) else t for t in self.atom.arguments]
        return Positive(replace(self.atom, arguments=tuple(terms)))


@record
class Turn:
    """A closure: the terms of its atoms, with the places of its ends, what feeds it, and its steps.

    `turns` says that it is the closure of its steps, fed by them, so that it can be continued at either end. If not,
    the end `kept` by the rules as they stand needs no change; for the other `base` and `along` are joined.
    """

    relation: Relation
    terms: tuple[Term, ...]
    source: int
    target: int
    feeds: tuple[Rule, ...]
    steps: tuple[Step, ...]
    origin: Origin
    turns: bool
    kept: int | None = None

    def atom(self, start: Var, end: Var, name: str | None = None) -> Atom:
        """Return an atom of the relation, or of one with the same columns, between two variables."""
        by = {self.source: start, self.target: end}
        terms = tuple([by.get(column, term) for column, term in enumerate(self.terms)])
        return Atom(name or self.relation.name, terms, span=self.origin.span)

    def rule(self, start: Var, end: Var, body: tuple[Literal, ...]) -> Rule:
        """Return a rule that derives what is between two variables."""
        arguments = self.atom(start, end).arguments
        return Rule(self.relation.name, arguments, body, self.origin)  # type: ignore[arg-type]  # no wildcards here

    def ends(self) -> tuple[Var, Var, Var]:
        """Return variables for the source, a node on the way, and the target."""
        start, end = (self.relation.columns[column].type for column in (self.source, self.target))
        return Var(X, start), Var(Y, start if self.kept == self.target else end), Var(Z, end)


class Turned:
    """The closures of a program among some relations, and their rules for what is given."""

    def __init__(self, program: Program, among: Collection[str], components: Iterable[list[str]], estimate: Estimate):
        self._program = program
        self.relations: dict[str, Relation] = {}
        """Those that it has made."""
        self._turns: dict[str, Turn] = {}
        self._rules: dict[str, tuple[Rule, ...]] = {}
        by_head: dict[str, list[Rule]] = {}
        for rule in program.rules:
            by_head.setdefault(rule.head, []).append(rule)
        for component in components:
            name = component[0]
            bounded = program.relations[name].bound is not None  # a closure knows no best bounds
            if len(component) == 1 and name in among and not bounded and _is_recursive(by_head[name]):
                planned = [plan_rule(rule, f"{i}", estimate) for i, rule in enumerate(by_head[name])]
                closure = closure_of(Stratum(0, (name,), recursive=True, rules=tuple(planned)))
                if closure is not None:
                    self._add(program.relations[name], closure)

    def bound(self, relation: str, columns: tuple[int, ...]) -> tuple[int, ...]:
        """Return which of the columns that are given are made use of."""
        turn = self._turns.get(relation)
        if turn is None:
            return columns
        dropped = {turn.target} if turn.source in columns else set()
        return tuple([column for column in columns if column not in dropped])

    def rules(self, relation: str, columns: tuple[int, ...]) -> tuple[Rule, ...] | None:
        """Return the rules of a closure of which some columns are given; None: those that the program has."""
        if relation in self._rules:
            return self._rules[relation]
        turn = self._turns.get(relation)
        if turn is None:
            return None
        for kept in (turn.source, turn.target):
            if kept in columns and kept != turn.kept:
                return self._continued(turn, kept) if turn.turns else self._composed(turn)
        return self._continued(turn, turn.source) if relation in self.relations else None

    # --- recognising -------------------------------------------------------------------------------------------------

    def _add(self, relation: Relation, closure: Closure) -> None:
        terms = _terms(relation, closure)
        feeds = tuple([rule.source for rule in closure.feeds if rule.source is not None])
        origin = closure.rules[0].origin
        ends = closure.source, closure.target
        linear = closure.form is not Form.NONLINEAR
        if linear:
            scans = zip(closure.steps, closure.step_columns, strict=True)
            steps = tuple([_step(scan, columns, self._program.relations) for scan, columns in scans])
            turns = closure.exact
        else:
            symmetric = closure.kind is not Kind.TRANSITIVE
            if symmetric and closure.constants:
                return
            simple = None if symmetric or len(feeds) != 1 else _simple(feeds[0], closure, terms)
            if simple is None:
                base = self._base(relation, feeds, ends if symmetric else None)
                whole = [Var(f"#{column.name}", column.type) for column in relation.columns]
                feeds = (Rule(relation.name, tuple(whole), (Positive(Atom(base, tuple(whole))),), origin),)
                near, far = (Var(name, relation.columns[c].type) for name, c in zip((X, Y), ends, strict=True))
                own = [near if c == ends[0] else far if c == ends[1] else term for c, term in enumerate(terms)]
                simple = Step(Atom(base, tuple(own), span=origin.span), X, Y)
            steps, turns = (simple,), True
        kept = None
        if not turns:
            kept = ends[0] if closure.form is Form.LEFT else ends[1]
        self._turns[relation.name] = Turn(relation, terms, *ends, feeds, steps, origin, turns, kept)

    def _base(self, relation: Relation, feeds: tuple[Rule, ...], turned: tuple[int, int] | None) -> str:
        """Make a relation of what feeds a closure, with `turned` also the other way round; return its name."""
        name = f"{relation.name}#base"
        if name not in self.relations:
            self.relations[name] = replace(relation, name=name, role="internal", primary_key=None, auxiliary=True)
            rules = [replace(rule, head=name) for rule in feeds]
            if turned is not None:
                rules += [replace(rule, arguments=_exchanged(rule.arguments, turned)) for rule in rules]
            self._rules[name] = tuple(rules)
        return name

    # --- rules -------------------------------------------------------------------------------------------------------

    @staticmethod
    def _continued(turn: Turn, kept: int) -> tuple[Rule, ...]:
        """Return the rules of a closure of its steps that are continued at the end that is not kept."""
        start, between, end = turn.ends()
        made = []
        for step in turn.steps:
            if kept == turn.source:
                body = (Positive(turn.atom(start, between)), step.between(between, end))
            else:
                body = (Positive(turn.atom(between, end)), step.between(start, between))
            made.append(turn.rule(start, end, body))
        return (*turn.feeds, *made)

    def _composed(self, turn: Turn) -> tuple[Rule, ...]:
        """Return the rules of a closure that begins, or ends, with what feeds it and goes on along its steps."""
        base = self._base(turn.relation, turn.feeds, None)
        along = self._along(turn)
        start, between, end = turn.ends()
        whole = [Var(f"#{column.name}", column.type) for column in turn.relation.columns]
        copied = Rule(turn.relation.name, tuple(whole), (Positive(Atom(base, tuple(whole))),), turn.origin)
        if turn.kept == turn.source:
            body = (Positive(turn.atom(start, between, base)), Positive(Atom(along, (between, end))))
        else:
            body = (Positive(Atom(along, (start, between))), Positive(turn.atom(between, end, base)))
        return copied, turn.rule(start, end, body)

    def _along(self, turn: Turn) -> str:
        """Make the closure of the steps; return its name."""
        name = f"{turn.relation.name}#along"
        if name not in self.relations:
            moving = turn.source if turn.kept == turn.target else turn.target
            type = turn.relation.columns[moving].type
            near, far = Var(X, type), Var(Z, type)
            relation = self.relations[name] = auxiliary_relation(name, (near, far), turn.relation.span)
            feeds = tuple([Rule(name, (near, far), (step.between(near, far),), turn.origin) for step in turn.steps])
            self._turns[name] = Turn(relation, (near, far), 0, 1, feeds, turn.steps, turn.origin, turns=True)
        return name


def _is_recursive(rules: Iterable[Rule]) -> bool:
    return any(atom.relation == rule.head for rule in rules for atom in atoms(rule.body))


def _terms(relation: Relation, closure: Closure) -> tuple[Term, ...]:
    """Return the terms of a closure's atoms: its constants, and a variable for each other column."""
    constants = dict(closure.constants)
    return tuple([constants.get(c, Var(f"#p{c}", column.type)) for c, column in enumerate(relation.columns)])


def _step(scan: Scan, columns: tuple[int, int], relations: Mapping[str, Relation]) -> Step:
    """Return the step that a scan takes."""
    types = [column.type for column in relations[scan.relation].columns]
    terms = [Wildcard(type) if term is None else term for term, type in zip(scan.terms, types, strict=True)]
    near, far = (term.name for column in columns if isinstance(term := scan.terms[column], Var))
    return Step(Atom(scan.relation, tuple(terms)), near, far)


def _simple(feed: Rule, closure: Closure, terms: tuple[Term, ...]) -> Step | None:
    """Return the only feed of a closure as a step, if it copies the rows of one atom."""
    if len(feed.body) != 1 or not isinstance(literal := feed.body[0], Positive):
        return None
    there = {term.name for term in literal.atom.arguments if isinstance(term, Var)}
    by: dict[str, Term] = {}
    for own, wanted in zip(feed.arguments, terms, strict=True):
        if isinstance(wanted, Const):
            if own != wanted:
                return None
        elif not isinstance(own, Var) or own.name in by or own.name not in there:
            return None
        else:
            by[own.name] = wanted
    near, far = (own.name for c in (closure.source, closure.target) if isinstance(own := feed.arguments[c], Var))
    by = {name: term for name, term in by.items() if name not in (near, far)}
    moved = [by.get(t.name, t) if isinstance(t, Var) else t for t in literal.atom.arguments]
    return Step(replace(literal.atom, arguments=tuple(moved)), near, far)


def _exchanged(arguments: tuple[Expr, ...], columns: tuple[int, int]) -> tuple[Expr, ...]:
    one, other = columns
    by = {one: arguments[other], other: arguments[one]}
    return tuple([by.get(column, argument) for column, argument in enumerate(arguments)])

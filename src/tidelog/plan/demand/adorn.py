"""Magic sets: the rules of relations of which some columns are given, and the rules that say what is asked for.

    Reach(a, b) :- Link(a, b).                   Reach#for.a(a, b) :- Reach#asked.a(a), Link(a, b).
    Reach(a, c) :- Reach(a, b), Link(b, c).      Reach#for.a(a, c) :- Reach#for.a(a, b), Link(b, c).
    Seen(x) :- Start(s), Reach(s, x).            Seen(x) :- Start(s), Reach#for.a(s, x).
                                                 Reach#asked.a(s) :- Start(s).

`R#for.a` has those rows of R that are asked for by the column `a`, `R#asked.a` (in the literature the magic relation)
what it is asked for. A prefix of a body that both an asking and an answering rule need is a *supplementary* relation,
`R#so.far.1f2e` (Beeri and Ramakrishnan, On the power of magic, 1991). A relation that somebody asks for without giving
a column is computed in full, under its own name.

Two things keep an evaluation by demand from being worse than one in full. What is asked for in a recursion are values
that are there, or were asked for: computing new ones on the way down might never end. And negated relations of `late`
are looked at last, and left out of what asks for others, where a cycle through negation would come of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Sequence
from dataclasses import replace
from hashlib import blake2b

from tidelog.base.expr import Const, Var
from tidelog.base.free import free_variables
from tidelog.logic.literals import atoms, bound_variables, read_variables
from tidelog.logic.program import (
    Aggregate,
    Atom,
    Bind,
    Literal,
    Negative,
    Origin,
    Positive,
    Program,
    Relation,
    Rule,
    Unnest,
    auxiliary_relation,
)
from tidelog.plan.demand.order_literals import Asking, order_literals
from tidelog.plan.demand.turn_closures import Turned
from tidelog.plan.join.estimate import Estimate

Columns = tuple[int, ...]
"""The columns of a relation that are given, in ascending order."""


class Adorning:
    """Makes the rules of a program in which some relations are computed by demand.

    `full` are those of them that are computed in full all the same; `late` the negated ones that are looked at last.
    """

    def __init__(
        self,
        program: Program,
        demanded: Collection[str],
        components: Sequence[Sequence[str]],
        turned: Turned,
        estimate: Estimate,
    ) -> None:
        self.program = program
        self.demanded = {*demanded, *turned.relations}
        self.turned = turned
        self.estimate = Asking(estimate.sizes, estimate.distinct, estimate.planning, estimate.fixed, self._is_useful)
        self.component = {name: i for i, component in enumerate(components) for name in component}
        self.by_head: dict[str, list[Rule]] = {}
        for rule in program.rules:
            self.by_head.setdefault(rule.head, []).append(rule)
        self.full: set[str] = set()
        self.late: set[str] = set()
        self.origin: dict[str, str] = {}
        """The relation of the program that each relation made stands for."""
        self.relations: dict[str, Relation] = {}
        self.rules: list[Rule] = []
        self._waiting: deque[tuple[str, Columns]] = deque()
        self._grouping: dict[str, Origin] = {}
        """The rule that groups the rows of a relation that is not computed by demand."""

    def run(self) -> Program:
        """Return the program."""
        while True:
            self.relations, self.rules, self.origin = {**self.program.relations, **self.turned.relations}, [], {}
            self._waiting.clear()
            self.demanded |= self.turned.relations.keys()
            known, reached = len(self.full) + len(self.demanded), set[str]()
            for rule in self.program.rules:
                if rule.head not in self.demanded:
                    self._rewrite(rule, rule.head, None, ())
            while self._waiting:
                relation, columns = self._waiting.popleft()
                if columns or relation not in reached:
                    reached |= {relation} if not columns else set()
                    self._make(relation, columns)
            if (
                len(self.full) + len(self.demanded | self.turned.relations.keys()) == known
            ):  # else some of what was made is of relations that turned out to be full
                used = {rule.head for rule in self.rules}
                unused = self.turned.relations.keys() - used
                relations = {name: relation for name, relation in self.relations.items() if name not in unused}
                return replace(self.program, relations=relations, rules=tuple(self.rules))

    # --- relations ---------------------------------------------------------------------------------------------------

    def _make(self, relation: str, columns: Columns) -> None:
        """Make the rules of a relation of which some columns are given."""
        name = self.name(relation, columns) if columns else relation
        if relation not in self.demanded:
            variables = [Var(column.name, column.type) for column in self.relations[relation].columns]
            copied = Positive(Atom(relation, tuple(variables)))
            guard = self.asked_atom(relation, columns, tuple(variables))
            self.rules.append(Rule(name, tuple(variables), (guard, copied), self._grouping[name]))
            return
        rules = self.turned.rules(relation, columns) if columns or relation in self.turned.relations else None
        for rule in self.by_head.get(relation, ()) if rules is None else rules:
            self._rewrite(rule, name, relation if columns else None, columns)

    def name(self, relation: str, columns: Columns) -> str:
        """Return the name of the rows of a relation that are asked for by some columns, which is made if it is new."""
        given = [self.relations[relation].columns[column] for column in columns]
        what = ".".join(column.name for column in given)
        name = f"{relation}#for.{what}"
        if name not in self.relations:
            whole = self.relations[relation]
            self.relations[name] = replace(
                whole, name=name, role="internal", primary_key=None, auxiliary=True, demand=False
            )
            asked = f"{relation}#asked.{what}"
            self.relations[asked] = auxiliary_relation(asked, given, whole.span)
            self.origin[name] = self.origin[asked] = relation
            self._waiting.append((relation, columns))
        return name

    def asked_atom(self, relation: str, columns: Columns, terms: Sequence[object]) -> Positive:
        """Return the atom that says that a relation is asked for the values of some of its columns."""
        what = ".".join(self.relations[relation].columns[column].name for column in columns)
        given = tuple([terms[column] for column in columns])
        return Positive(Atom(f"{relation}#asked.{what}", given))  # type: ignore[arg-type]

    def in_full(self, relation: str) -> None:
        """Compute a relation in full."""
        """Compute a relation in full."""
        if relation not in self.full:
            self.full.add(relation)
        self._waiting.append((relation, ()))

    def _is_useful(self, relation: str, columns: Columns) -> bool | None:
        """Tell whether less of a relation is asked for when these columns are given; None if nothing is."""
        return None if relation not in self.demanded - self.full else bool(self.bound(relation, columns))

    def bound(self, relation: str, columns: Columns) -> Columns:
        """Return which of the columns that are given can be made use of."""
        if relation in self.full:
            return ()
        for rule in self.by_head.get(relation, ()):
            if rule.body and isinstance(literal := rule.body[0], Aggregate):
                keys = {key.name for key in literal.keys}
                terms = rule.arguments
                columns = tuple([
                    c for c in columns
                    if isinstance(term := terms[c], Const) or (isinstance(term, Var) and term.name in keys)
                ])  # fmt: skip
        return self.turned.bound(relation, columns)

    # --- rules -------------------------------------------------------------------------------------------------------

    def _rewrite(self, rule: Rule, head: str, asked: str | None, columns: Columns) -> None:
        """Add a rule for `head`, of which some columns are given if it is `asked` for them, and what it asks for."""
        body = rule.body
        if len(body) == 1 and isinstance(body[0], Aggregate):
            self._group(rule, body[0], head, asked, columns)
            return
        if asked is None and head == rule.head and not any(atom.relation in self.demanded for atom in atoms(body)):
            self.rules.append(rule)
            return
        guard, compared = self._guarded(rule, asked, columns)
        guarded = replace(rule, body=(*guard, *rule.body, *compared))
        if not any(atom.relation in self.demanded for atom in atoms(body)):
            self.rules.append(replace(guarded, head=head))
            return
        ordered = order_literals(guarded, self.relations, self.estimate, guarded=bool(guard))
        _Body(self, ordered, rule, head, asked, columns).rewrite()

    def _guarded(self, rule: Rule, asked: str | None, columns: Columns) -> tuple[list[Literal], list[Literal]]:
        """Return the atom that gives the columns asked for, and equations for those that the rule computes."""
        if asked is None:
            return [], []
        terms: list[object] = list(rule.arguments)
        compared: list[Literal] = []
        for column in columns:
            argument = rule.arguments[column]
            if not isinstance(argument, Var | Const):
                terms[column] = variable = Var(f"#given{column}", argument.type)
                compared.append(Bind(variable, argument))
        return [self.asked_atom(asked, columns, terms)], compared

    def _group(self, rule: Rule, literal: Aggregate, head: str, asked: str | None, columns: Columns) -> None:
        """Add a rule that groups rows: of those groups that are asked for all rows are asked for."""
        relation = literal.atom.relation
        given = {term.name for c in columns if isinstance(term := rule.arguments[c], Var)} if asked else set()
        terms = literal.atom.arguments
        bound = tuple([c for c, term in enumerate(terms) if isinstance(term, Var) and term.name in given])
        if relation in self.demanded:
            bound = self.bound(relation, bound)
        if bound and asked is not None:
            name = self.name(relation, bound)
            guard = self.asked_atom(asked, columns, rule.arguments)
            self._grouping.setdefault(name, rule.origin)
            self.ask(relation, bound, terms, (guard,), rule)
            literal = replace(literal, atom=replace(literal.atom, relation=name))
        elif relation in self.demanded:
            self.in_full(relation)
        self.rules.append(Rule(head, rule.arguments, (literal,), rule.origin))

    def ask(
        self, relation: str, columns: Columns, terms: Sequence[object], body: tuple[Literal, ...], rule: Rule
    ) -> None:
        """Add a rule that asks for a relation."""
        atom = self.asked_atom(relation, columns, terms).atom
        if body and all(isinstance(one, Positive) and one.atom == atom for one in body):
            return
        self.rules.append(Rule(atom.relation, atom.arguments, body, rule.origin))  # type: ignore[arg-type]


class _Body:
    """One rule that reads demanded relations, in the order in which they are asked for."""

    def __init__(
        self, adorning: Adorning, ordered: Rule, rule: Rule, head: str, asked: str | None, columns: Columns
    ) -> None:
        self.adorning, self.ordered, self.rule, self.head = adorning, ordered, rule, head
        self.asked, self.columns = asked, columns
        self.prefix: list[Literal] = []
        self.known: set[str] = set()
        self.there: set[str] = set()
        """The variables whose values are in a relation: there are finitely many."""
        self.computed: dict[str, set[str]] = {}
        """The variables that each computed one is computed from."""
        self.passed: set[str] = set()
        """Those that the guard gives."""

    def rewrite(self) -> None:
        """Add the rule, and the rules that ask for what it reads."""
        literals = list(self.ordered.body)
        if self.asked is not None:
            guard = literals.pop(0)
            self.prefix.append(guard)
            self.passed = {variable.name for variable in bound_variables(guard)}
            self.known |= self.passed
        last: list[Literal] = []
        for number, literal in enumerate(literals):
            is_late = isinstance(literal, Negative) and literal.atom.relation in self.adorning.late
            answered = self._answered(literal, [*literals[number + 1 :], *last])
            if is_late:
                last.append(answered)
                continue
            self.prefix.append(answered)
            self._drop_guard()
            self._learn(literal)
        self.adorning.rules.append(Rule(self.head, self.ordered.arguments, (*self.prefix, *last), self.rule.origin))

    def _renamed(self, literal: Literal) -> Literal:
        assert isinstance(literal, Positive | Negative)
        columns = self._given(literal.atom)
        relation = literal.atom.relation
        name = self.adorning.name(relation, columns) if columns else relation
        return replace(literal, atom=replace(literal.atom, relation=name))

    def _answered(self, literal: Literal, rest: Sequence[Literal]) -> Literal:
        """Return a literal over what is asked for, and ask for it."""
        if not isinstance(literal, Positive | Negative) or literal.atom.relation not in self.adorning.demanded:
            return literal
        relation, columns = literal.atom.relation, self._given(literal.atom)
        if not columns:
            self.adorning.in_full(relation)
            return literal
        self._share([literal, *rest])
        renamed = self._renamed(literal)
        self.adorning.ask(relation, columns, literal.atom.arguments, tuple(self.prefix), self.rule)
        return renamed

    def _given(self, atom: Atom) -> Columns:
        """Return the columns of an atom that are asked for."""
        component = self.adorning.component
        recursive = component.get(atom.relation, -1) == component.get(self.rule.head, -2)
        usable = (
            {name for name in self.known if name in self.passed or self._is_there(name)} if recursive else self.known
        )
        columns = [
            column
            for column, term in enumerate(atom.arguments)
            if isinstance(term, Const) or (isinstance(term, Var) and term.name in usable)
        ]
        return self.adorning.bound(atom.relation, tuple(columns))

    def _is_there(self, name: str) -> bool:
        """Tell whether a variable's values are in a relation, or computed from such."""
        if name in self.there or name not in self.computed:
            return name in self.there
        return all(map(self._is_there, self.computed[name]))

    def _share(self, rest: Sequence[Literal]) -> None:
        """Make the prefix a supplementary relation, if it joins anything."""
        if sum(isinstance(one, Positive) for one in self.prefix) < 2:
            return
        wanted = {name for expression in self.ordered.arguments for name in free_variables(expression)}
        for literal in rest:
            wanted.update(read_variables(literal))
            wanted.update(variable.name for variable in bound_variables(literal))
        variables = {v.name: v for one in self.prefix for v in bound_variables(one) if v.name in wanted}
        if not variables:
            return
        body, columns = tuple(self.prefix), tuple(variables.values())
        # With other columns it is another relation, also in the plan that an update goes over to.
        text = f"{self.head} {self.rule.origin.text} {[(column.name, column.type) for column in columns]}"
        name, number = "", 0
        while not name or name in self.adorning.relations:
            digest = blake2b(f"{number} {text}".encode(), digest_size=2).hexdigest()
            name, number = f"{self.rule.head}#so.far.{digest}", number + 1
        self.adorning.relations[name] = auxiliary_relation(name, columns, self.rule.origin.span)
        self.adorning.rules.append(Rule(name, columns, body, self.rule.origin))
        self.adorning.origin[name] = self.rule.head
        self.prefix = [Positive(Atom(name, columns))]

    def _drop_guard(self) -> None:
        """Leave the guard out where the relation itself, asked for the same, says as much."""
        if self.asked is None or len(self.prefix) != 2:
            return
        guard, own = self.prefix
        if not isinstance(guard, Positive) or not isinstance(own, Positive) or own.atom.relation != self.head:
            return
        if guard == self.adorning.asked_atom(self.asked, self.columns, own.atom.arguments):
            self.prefix = [own]

    def _learn(self, literal: Literal) -> None:
        """Note what a literal binds."""
        names = {variable.name for variable in bound_variables(literal)}
        match literal:
            case Positive():
                fresh = names if literal.atom.relation not in self.adorning.demanded else names - self.known
                self.there |= fresh
            case Bind(variable, expression) | Unnest(variable, expression):
                if variable.name not in self.known:
                    self.computed[variable.name] = set(free_variables(expression))
            case _:
                pass
        self.known |= names

"""DYRE: a Datalog reasoner whose rules change like its facts (paper 000), by itself, without Tidelog's language.

Push and retract rules and facts, then `poll`: what follows from them is brought up to date in one step of the circuit.
The *frontier* is what the last step changed, *consolidated* is all that holds.

>>> dyre = Dyre()
>>> dyre.push('P("a", "b")', 'P("b", "c")', "R(x, y) <- P(x, y)")
>>> dyre.poll()
>>> dyre.consolidated("R")
[('a', 'b'), ('b', 'c')]
>>> dyre.push("R(x, z) <- P(x, y), R(y, z)")
>>> dyre.retract('P("a", "b")')
>>> dyre.poll()
>>> dyre.frontier("R")
[(('a', 'b'), -1)]
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tidelog.base.arguments import expect
from tidelog.run.dbsp.interpreter import Interpreter
from tidelog.run.dbsp.rewriting import kit
from tidelog.run.dbsp.terms import ANY, Atom, Fact, Rule, Var, levels, read, safe
from tidelog.run.dbsp.zsets.values import Values
from tidelog.run.dbsp.zsets.zset import Row, ZSet

Statement = Rule | Fact | str


class Dyre:
    """The state of a dynamic program. `indexed` says whether facts are indexed by join orders (section 4.3)."""

    def __init__(self, *, indexed: bool = True) -> None:
        self.interpreter = Interpreter(indexed=indexed)
        self._values = Values()
        self._facts: set[Fact] = set()
        self._rules: dict[Rule, None] = {}
        self._clauses: dict[Rule, kit.Clause] = {}
        self._pending: dict[Rule | Fact, bool] = {}
        self._frontier: dict[str, ZSet] = {}
        self._widths: dict[str, int] = {}

    def push(self, *statements: Statement) -> None:
        """Add rules and facts with the next `poll`; those that are there already stay."""
        self._collect(statements, holds=True)

    def retract(self, *statements: Statement) -> None:
        """Take rules and facts away with the next `poll`; those that are not there change nothing."""
        self._collect(statements, holds=False)

    def _collect(self, statements: Sequence[Statement], *, holds: bool) -> None:
        widths, found = dict(self._widths), dict[Rule | Fact, bool]()
        for statement in statements:
            expect(statement, (str, Rule, Fact), "statement", "a rule or a fact, or the text of one")
            read_ = checked(read(statement) if isinstance(statement, str) else statement)
            for atom in _atoms(read_):
                width = widths.setdefault(atom.relation, len(atom.terms))
                if width != len(atom.terms):
                    raise ValueError(f"{read_}: {atom.relation} has {width} columns, not {len(atom.terms)}")
            found[read_] = holds
        self._widths = widths
        self._pending = self._pending | found

    def poll(self) -> None:
        """Bring everything up to date.

        If the rules have no levels of negation it is refused, and nothing changes: what was pushed and retracted still
        waits, so that the next `poll` does it once the rule that is wrong is retracted. The same after an interrupt.
        """
        facts: dict[str, dict[Row, int]] = {}
        turned = [statement for statement, holds in self._pending.items() if holds != self._holds(statement)]
        for statement in turned:
            if isinstance(statement, Fact):
                facts.setdefault(statement.relation, {})[statement.values] = 1 if self._pending[statement] else -1
        rules, clauses, changes = self._rules, self._clauses, dict[kit.Clause | kit.Gather, int]()
        if any(isinstance(statement, Rule) for statement in turned):
            rules, clauses, changes = self._changed(turned)
        coded = {name: ZSet.of(rows, values=self._values) for name, rows in facts.items()}
        frontier = self._step(coded, changes) if turned else {}
        self._frontier, self._rules, self._clauses, self._pending = frontier, rules, clauses, {}
        self._facts ^= {statement for statement in turned if isinstance(statement, Fact)}
        if changes:
            self.interpreter.kit.keep(clauses.values())

    def _holds(self, statement: Rule | Fact) -> bool:
        return statement in (self._rules if isinstance(statement, Rule) else self._facts)

    def _changed(self, turned: Sequence[Rule | Fact]) -> Changed:
        """Return all rules, the clauses of all, and which clauses come and go."""
        rules = {rule: None for rule in self._rules if self._pending.get(rule, True)}
        rules.update((rule, None) for rule in turned if isinstance(rule, Rule) and self._pending[rule])
        clauses = {rule: clause(rule, level, self._values) for rule, level in levels(expanded(rules)).items()}
        changes: dict[kit.Clause | kit.Gather, int] = {}
        for held, weight in ((self._clauses, -1), (clauses, 1)):
            for made in held.values():
                changes[made] = changes.get(made, 0) + weight
        return rules, clauses, changes

    def _step(self, facts: dict[str, ZSet], changes: dict[kit.Clause | kit.Gather, int]) -> dict[str, ZSet]:
        state = self.interpreter.snapshot()
        try:
            found = dict(self.interpreter.step(facts, changes))
        except BaseException:
            self.interpreter.restore(state)
            raise
        return found

    def frontier(self, relation: str) -> list[tuple[Row, int]]:
        """Return what the last `poll` changed in a relation: rows with 1 or -1, in order."""
        change = self._frontier.get(relation)
        return sorted(change.items(self._values), key=repr) if change is not None else []

    def consolidated(self, relation: str) -> list[Row]:
        """Return all rows of a relation, in order."""
        facts = self.interpreter.index.facts(relation)
        return sorted((row for row, _ in facts.all().items(self._values)), key=repr) if facts is not None else []


Changed = tuple[dict[Rule, None], dict[Rule, kit.Clause], dict[kit.Clause | kit.Gather, int]]


def checked(statement: Rule | Fact) -> Rule | Fact:
    """Return a statement, or refuse one that the interpreter could not have, when it is pushed and not later."""
    if isinstance(statement, Rule):
        statement = safe(statement)
    for atom in _atoms(statement):
        expect(atom.relation, str, "relation", "the name of a relation")
        hash(atom.terms)
        if isinstance(statement, Fact) and any(isinstance(term, Var) for term in atom.terms):
            raise ValueError(f"{statement}: a fact has values, no variables")
    return statement


def _atoms(statement: Rule | Fact) -> tuple[Atom, ...]:
    if isinstance(statement, Rule):
        return statement.head, *statement.body
    return (Atom(statement.relation, statement.values),)


def expanded(rules: Collection[Rule]) -> dict[Rule, None]:
    """Return rules whose negated atoms have no `_`: each of these reads a projection, a relation of its own."""
    made: dict[Rule, None] = {}
    for rule in rules:
        body = []
        for atom in rule.body:
            if atom.negated and ANY in atom.terms:
                places = [place for place, term in enumerate(atom.terms) if term != ANY]
                name = f"{atom.relation} at {places}"
                terms = tuple(Var(f"v{place}") if place in places else ANY for place in range(len(atom.terms)))
                kept = tuple(terms[place] for place in places)
                made[Rule(Atom(name, kept), (Atom(atom.relation, terms),))] = None
                body.append(Atom(name, tuple(atom.terms[place] for place in places), negated=True))
            else:
                body.append(atom)
        made[Rule(rule.head, tuple(body))] = None
    return made


def clause(rule: Rule, level: int, values: Values) -> kit.Clause:
    """Return a rule as the interpreter has it; after each atom only the variables that are read again are kept."""
    steps = []
    bound: list[str] = []
    for i, atom in enumerate(rule.body):
        bound += [term.name for term in atom.terms if isinstance(term, Var) and term != ANY]
        later = {term for other in (*rule.body[i + 1 :], rule.head) for term in other.terms}
        bound = [name for name in dict.fromkeys(bound) if Var(name) in later]
        steps.append(kit.Step(kit.Atom(atom.relation, _terms(atom, values), atom.negated), (), tuple(bound)))
    return kit.Clause(level, tuple(steps), rule.head.relation, _terms(rule.head, values))


def _terms(atom: Atom, values: Values) -> tuple[kit.Term, ...]:
    return tuple(
        None if term == ANY else term.name if isinstance(term, Var) else values.code(term) for term in atom.terms
    )

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

from collections.abc import Sequence

from tidelog.base.arguments import expect
from tidelog.run.dbsp.interpreter import Interpreter
from tidelog.run.dbsp.rewriting import kit
from tidelog.run.dbsp.terms import Atom, Fact, Rule, Var, levels, read
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
        for statement in statements:
            expect(statement, (str, Rule, Fact), "statement", "a rule or a fact, or the text of one")
            found = read(statement) if isinstance(statement, str) else statement
            atoms = (found.head, *found.body) if isinstance(found, Rule) else (Atom(found.relation, found.values),)
            for atom in atoms:
                width = self._widths.setdefault(atom.relation, len(atom.terms))
                if width != len(atom.terms):
                    raise ValueError(f"{found}: {atom.relation} has {width} columns, not {len(atom.terms)}")
            self._pending[found] = holds

    def poll(self) -> None:
        """Bring everything up to date; if the rules have no levels of negation, refuse, and change nothing."""
        rules = dict(self._rules)
        facts: dict[str, dict[Row, int]] = {}
        for statement, holds in self._pending.items():
            if isinstance(statement, Rule):
                rules.pop(statement, None)
                if holds:
                    rules[statement] = None
            elif holds != (statement in self._facts):
                facts.setdefault(statement.relation, {})[statement.values] = 1 if holds else -1
        pending, self._pending = self._pending, {}
        at = levels(rules)
        clauses = {rule: clause(rule, level, self._values) for rule, level in at.items()}
        changes: dict[kit.Clause | kit.Gather, int] = {}
        for held, weight in ((self._clauses, -1), (clauses, 1)):
            for made in held.values():
                changes[made] = changes.get(made, 0) + weight
        coded = {name: ZSet.of(rows, values=self._values) for name, rows in facts.items()}
        self._frontier = dict(self.interpreter.step(coded, changes))
        self._rules, self._clauses = rules, clauses
        self.interpreter.kit.keep(clauses.values())
        for statement, holds in pending.items():
            if isinstance(statement, Fact):
                (self._facts.add if holds else self._facts.discard)(statement)

    def frontier(self, relation: str) -> list[tuple[Row, int]]:
        """Return what the last `poll` changed in a relation: rows with 1 or -1, in order."""
        change = self._frontier.get(relation)
        return sorted(change.items(self._values), key=repr) if change is not None else []

    def consolidated(self, relation: str) -> list[Row]:
        """Return all rows of a relation, in order."""
        facts = self.interpreter.index.facts(relation)
        return sorted((row for row, _ in facts.all().items(self._values)), key=repr) if facts is not None else []


def clause(rule: Rule, level: int, values: Values) -> kit.Clause:
    """Return a rule as the interpreter has it; after each atom only the variables that are read again are kept."""
    steps = []
    bound: list[str] = []
    for i, atom in enumerate(rule.body):
        bound += [term.name for term in atom.terms if isinstance(term, Var) and term.name not in bound]
        later = {term for other in (*rule.body[i + 1 :], rule.head) for term in other.terms}
        bound = [name for name in dict.fromkeys(bound) if Var(name) in later]
        steps.append(kit.Step(kit.Atom(atom.relation, _terms(atom, values), atom.negated), (), tuple(bound)))
    return kit.Clause(level, tuple(steps), rule.head.relation, _terms(rule.head, values))


def _terms(atom: Atom, values: Values) -> tuple[kit.Term, ...]:
    return tuple(term.name if isinstance(term, Var) else values.code(term) for term in atom.terms)

"""What a program says to the interpreter: the grounding kit (paper 000, Definitions 4.2 to 4.7).

A rule is a `Clause`: steps through its body, then a head. A *step* matches an atom with the facts of its relation, and
then does what concerns single rewrites only: conditions, variables with computed values. The *expected provenance* of a
rewrite is how far it has come: a number for the steps taken so far, the same for all rules that begin alike (Definition
4.2 adds up hashes; numbers have no collisions). From the rules follow

* the directions, from a provenance by a step to the next one (`directions`, Definition 4.3);
* the grounding signals, from the last provenance to the head (`signals`, Definition 4.4);
* the join orders, which columns of a relation are known when it is matched (`join_orders`, Definition 4.6).

All are Z-sets, so that a rule that comes or goes is a change of them like any other. Values are codes, variables names.
A rewrite keeps only the variables that its rule still needs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from itertools import count

from tidelog.base.expr import Expr
from tidelog.base.record import record
from tidelog.base.types import Type
from tidelog.plan.nodes import Aggregate
from tidelog.run.dbsp.circuits.tagged import Weighted

Term = str | int | None
"""The name of a variable, the code of a constant, or nothing: any value, which is not looked at."""

LEVEL = 32


def start(level: int) -> int:
    """Return the first inner time of a level: no level has iterations enough to come there."""
    return level << LEVEL


Order = tuple[str, tuple[int, ...]]
"""A relation, and the columns by which its facts are looked up."""


@record
class Atom:
    """A pattern for the facts of a relation; a negated one has no variables of its own."""

    relation: str
    terms: tuple[Term, ...]
    negated: bool = False


@record
class Where:
    """A condition. Parts of rules are known by a key: expressions may be too deep to compare."""

    key: str
    condition: Expr = field(compare=False, repr=False)


@record
class Let:
    """A variable with a computed value."""

    key: str
    variable: str
    expression: Expr = field(compare=False, repr=False)


@record
class Each:
    """A variable that has each element of a collection as value."""

    key: str
    variable: str
    type: Type = field(compare=False, repr=False)
    expression: Expr = field(compare=False, repr=False)


@record
class Made:
    """A column of a head with a computed value."""

    key: str
    expression: Expr = field(compare=False, repr=False)


Part = Where | Let | Each


@record
class Step:
    """An atom to match, if any, what to do then, and the variables to keep."""

    atom: Atom | None
    parts: tuple[Part, ...]
    keep: tuple[str, ...]


@record
class Clause:
    """A rule: its level (how often negation must be passed before it), its steps, its head."""

    level: int
    steps: tuple[Step, ...]
    head: str
    terms: tuple[Term | Made, ...]


@record
class Gather:
    """A rule whose body is an aggregate: the facts of a relation, by the columns of their group, and a head.

    Beyond the paper. Known by its key, like the parts of rules.
    """

    key: str
    level: int
    relation: str
    positions: tuple[int, ...]
    head: str
    terms: tuple[Term | Made, ...]
    node: Aggregate = field(compare=False, repr=False)


@record
class Direction:
    """From a provenance by a step to another; `bound` are the variables of the rewrites it starts from."""

    source: int
    target: int
    step: Step
    bound: tuple[str, ...]

    def positions(self) -> tuple[int, ...]:
        """Return the columns of the atom's relation whose values are known: constants and bound variables."""
        terms = self.step.atom.terms if self.step.atom is not None else ()
        return tuple(i for i, term in enumerate(terms) if isinstance(term, int) or term in self.bound)


@record
class Signal:
    """From the provenance of a whole body to the head; `bound` are the variables of the rewrites that arrive."""

    source: int
    relation: str
    terms: tuple[Term | Made, ...]
    bound: tuple[str, ...]


class Kit:
    """The numbering of provenances, and the kit of rules with it."""

    def __init__(self) -> None:
        self._free = count()
        self.numbers: dict[int | tuple[int, Step], int] = {}
        """The provenances: before any step by the level, after one by the step and where it began."""

    def root(self, level: int) -> int:
        """Return the provenance of the empty rewrite of a level."""
        return self._number(level)

    def provenance(self, before: int, step: Step) -> int:
        """Return the provenance after a step."""
        return self._number((before, step))

    def _number(self, way: int | tuple[int, Step]) -> int:
        found = self.numbers.get(way)
        if found is None:
            found = self.numbers[way] = next(self._free)
        return found

    def keep(self, rules: Iterable[Clause | Gather]) -> None:
        """Forget provenances that no rule comes to; their numbers are not used again.

        Makes another mapping, so that a snapshot may hold the one before.
        """
        kept: dict[int | tuple[int, Step], int] = {}
        kept.update((way, number) for way, number in self.numbers.items() if isinstance(way, int))
        for rule in rules:
            for direction in self.path(rule) if isinstance(rule, Clause) else ():
                kept[direction.source, direction.step] = direction.target
        self.numbers = kept

    def path(self, clause: Clause) -> list[Direction]:
        """Return the directions of a rule, first to last."""
        at, bound = self.root(clause.level), tuple[str, ...]()
        found = []
        for step in clause.steps:
            target = self.provenance(at, step)
            found.append(Direction(at, target, step, bound))
            at, bound = target, step.keep
        return found

    def directions(self, rules: Weighted) -> Weighted:
        """Return the directions of a Z-set of rules, those that rules share counted for each: `dir`."""
        total = Weighted()
        for clause, weight in rules:
            if isinstance(clause, Clause):
                total += Weighted(dict.fromkeys(self.path(clause), weight))
        return total

    def signals(self, rules: Weighted) -> Weighted:
        """Return the grounding signals of a Z-set of rules: `sig`."""
        total = Weighted()
        for clause, weight in rules:
            if isinstance(clause, Gather):
                continue
            path = self.path(clause)
            source = path[-1].target if path else self.root(clause.level)
            bound = clause.steps[-1].keep if path else ()
            total += Weighted({Signal(source, clause.head, clause.terms, bound): weight})
        return total

    def gathers(self, rules: Weighted) -> Weighted:
        """Return the aggregating rules of a Z-set of rules."""
        return Weighted({rule: weight for rule, weight in rules if isinstance(rule, Gather)})

    def join_orders(self, rules: Weighted) -> Weighted:
        """Return the join orders of a Z-set of rules: `jorder`."""
        total = Weighted()
        for clause, weight in rules:
            if isinstance(clause, Gather):
                total += Weighted({(clause.relation, clause.positions): weight})
                continue
            for direction in self.path(clause):
                if direction.step.atom is not None:
                    total += Weighted({(direction.step.atom.relation, direction.positions()): weight})
        return total

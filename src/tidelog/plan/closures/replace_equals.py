"""Let rules that replace equals by equals in a relation be a module: one step a tuple, not one for each name it has.

    P(y, p, o) :- P(x, "same", y), P(x, p, o).      Fed(x, p, o) :- P(x, "same", x), P(x, p, o), p != "same".
    P(s, p, y) :- P(x, "same", y), P(s, p, x).  =>  Fed(s, p, x) :- P(x, "same", x), P(s, p, x), p != "same".
                                                    Replaced is Fed with every name in place of every other
                                                    P(s, p, o) :- Replaced(s, p, o).

What is the same is a part of the relation that is closed by symmetric and transitive rules, a module itself
(`split_parts`): its pairs say which names a name has. The tuples that say so are closed already, so nothing is replaced
in them; and what has one name only is not fed. Of n names of one thing and m of another that a fact connects, n m facts
follow: by rules each of them is derived n + m times, by the module once. For the engine alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from itertools import permutations, product

from tidelog.base.expr import Const, Operate, Var
from tidelog.base.record import record
from tidelog.base.types import Bool
from tidelog.logic.program import Atom, Condition, Literal, Positive
from tidelog.logic.program import Rule as Source
from tidelog.plan.closures.recognise import Closure
from tidelog.plan.closures.split_modules import ClosureRule, as_fields
from tidelog.plan.nodes import Project, Relation, Rule, Scan, Variant, Version

Terms = tuple[Var | Const, ...]


@record
class ReplacingRule(ClosureRule):
    """All rules in one that replace equals in some columns: what its relation holds, given what feeds it and `equals`.

    `closure` is that of the equals, in the second relation that it reads.
    """

    columns: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def told(self) -> str:
        """What it does, in words for users."""
        return "equals in place of each other"


@record
class Replaced:
    """A rule that replaces the name in a column by its equals: the atom that says what is equal, the other's terms."""

    rule: Rule
    column: int
    equal: Atom
    terms: Terms
    names: frozenset[Var]

    @property
    def alone(self) -> bool:
        """Whether that is all the rule does, with a variable of its own in each column."""
        variables = {term for term in self.terms if isinstance(term, Var)}
        return len(variables) == len(self.terms) and all(self._is_idle(one) for one in self._others)

    @property
    def _others(self) -> Iterator[Literal]:
        source = self.rule.source
        assert source is not None
        atoms = (self.equal, Atom(self.rule.head, self.terms))
        return (one for one in source.body if not isinstance(one, Positive) or one.atom not in atoms)

    def _is_idle(self, literal: Literal) -> bool:
        return unequal(literal) == self.names  # a name in place of itself leads nowhere new

    def narrowed(self, constants: Sequence[tuple[int, Const]]) -> Source:
        """Return the rule without the tuples that say what is equal: these are closed already."""
        source = self.rule.source
        assert source is not None
        return replace(source, body=(*source.body, *_apart(source.arguments, constants)))

    def feeding(self, fed: str, constants: Sequence[tuple[int, Const]]) -> Source:
        """Return the rule of what the module is fed: tuples that have a name of several in the column."""
        source, name = self.rule.source, self.terms[self.column]
        assert source is not None
        named = tuple(name if term in self.names else term for term in self.equal.arguments)
        atoms = Positive(Atom(self.rule.head, named)), Positive(Atom(self.rule.head, self.terms))
        return Source(fed, self.terms, (*atoms, *_apart(self.terms, constants)), source.origin)


def replacing(rule: Rule, begin: int, end: int, constants: Sequence[tuple[int, Const]]) -> Replaced | None:
    """Return which column a rule replaces by equals: by the pairs in two columns of tuples that have constants."""
    source = rule.source
    head = plain(source.arguments) if source is not None else None
    if source is None or head is None:
        return None
    own = [one.atom for one in source.body if isinstance(one, Positive) and one.atom.relation == source.head]
    for equal, other in permutations(own, 2):
        pair, terms = plain(equal.arguments), plain(other.arguments)
        if pair is None or terms is None or any(pair[column] != constant for column, constant in constants):
            continue
        nodes = pair[begin], pair[end]
        for column, (old, new) in product((begin, end), (nodes, nodes[::-1])):
            if terms[column] != old or old == new or (*terms[:column], new, *terms[column + 1 :]) != head:
                continue
            if isinstance(old, Var) and isinstance(new, Var) and new not in terms:
                return Replaced(rule, column, equal, terms, frozenset((old, new)))
    return None


def replacing_rule(own: Relation, fed: Relation, closure: Closure, those: Sequence[Replaced]) -> ReplacingRule:
    """Return the one rule of a relation that holds what it is fed with equals in place of each other."""
    variables = tuple(Var(f"x{number}", column.type) for number, column in enumerate(own.columns))
    columns = tuple(sorted({one.column for one in those}))

    def tree(relation: str, version: Version, occurrence: int) -> Project:
        return Project(Scan(relation, variables, version, occurrence, variables), own.name, variables)

    reads = fed.name, closure.relation
    full = Variant(None, negative=False, tree=tree(fed.name, Version.ALL, 0))
    variants = tuple(
        Variant(place, negative=False, tree=tree(name, Version.DELTA, place)) for place, name in enumerate(reads)
    )
    constants = tuple((column, constant.value) for column, constant in closure.constants)
    kind = closure.source, closure.target, constants, columns
    identity = f"{own.name} as what it is fed with equals in place of each other: {reads} {kind}"
    never = False, False
    made = Rule(identity, own.name, full.tree, full, variants, reads, never, never, those[0].rule.origin)
    return ReplacingRule(**as_fields(made), closure=closure, columns=columns)


def plain(terms: Sequence[object]) -> Terms | None:
    """Return terms that are all variables and constants."""
    found = tuple(term for term in terms if isinstance(term, Var | Const))
    return found if len(found) == len(terms) else None


def unequal(literal: Literal) -> frozenset[Var | Const] | None:
    """Return the two variables that a condition says are not equal."""
    match literal:
        case Condition(Operate("!=", (Var() as one, Var() as other))):
            return frozenset((one, other))
        case _:
            return None


def _apart(terms: Sequence[object], constants: Sequence[tuple[int, Const]]) -> list[Condition]:
    """Return conditions that a tuple says nothing of what is equal."""
    those = ((terms[column], constant) for column, constant in constants)
    return [Condition(Operate("!=", (term, constant), Bool())) for term, constant in those if isinstance(term, Var)]

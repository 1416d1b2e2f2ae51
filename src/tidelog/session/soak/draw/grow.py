"""Grows random programs: typed, stratified, safe, and mostly with answers.

Everything is drawn from a `random.Random`, so a seed names a program; given hypothesis's own `Random` instead
(`strategies.py`) failures shrink. Favoured: recursion (also of three relations through each other), negation,
aggregates, self-joins, repeated variables, constants in heads, relations without columns, three strata.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

from tidelog.session.soak.brute import Facts, Patience, TooBigError, consequences, saturate
from tidelog.session.soak.spec import (
    CONSTANTS,
    KINDS,
    Atom,
    C,
    Clause,
    Compare,
    Compute,
    Declared,
    Either,
    Given,
    Goal,
    GroupBy,
    Kind,
    PairOf,
    Program,
    Row,
    Rule,
    SomeOf,
    Spread,
    Sum,
    Term,
    Unpack,
    V,
    Wild,
    variables_of,
)

AGGREGATES: dict[Kind, tuple[str, ...]] = {
    "int": ("count", "count_distinct", "sum", "min", "max", "first"),
    "str": ("count", "count_distinct", "min", "max"),
    "bool": ("any", "all", "count", "min"),
    "opt": ("count", "count_distinct", "min", "max"),
    "pair": ("count", "count_distinct", "min", "max"),
    "wide": ("count", "count_distinct", "min", "max"),
    "big": ("count", "count_distinct", "sum", "min", "max"),
    "real": ("count", "count_distinct", "min", "max"),
    "word": ("count", "count_distinct", "min", "max"),
}


def grow(
    random: Random,
    *,
    kinds: tuple[Kind, ...] = KINDS,
    features: frozenset[str] | None = None,
    wide: bool = False,
) -> Program:
    """Return a random program; `features` restricts it (see `Grower.may`), `wide` has more columns and facts."""
    while True:
        try:
            return Grower(random, kinds, features, wide=wide).program()
        except TooBigError:
            continue


def random_row(random: Random, relation: Declared) -> Row:
    """Return a random tuple of a relation."""
    return tuple(random.choice(CONSTANTS[kind]) for kind in relation.kinds)


class Grower:
    """Makes the parts of one program."""

    def __init__(
        self, random: Random, kinds: tuple[Kind, ...], features: frozenset[str] | None, *, wide: bool = False
    ) -> None:
        self.random = random
        self.wide = wide
        # Few kinds in one program, so that variables meet.
        others = [kind for kind in kinds if kind != "int"]
        number = random.randint(2 if wide else 0, 3)
        self.kinds: tuple[Kind, ...] = ("int", *random.sample(others, min(len(others), number)))
        self.features = features
        self.fresh = 0
        self.given: dict[str, Any] | None = None
        """The parameters of a goal so far; None in a program, which has none."""

    def may(self, feature: str, chance: float) -> bool:
        """Tell whether to use a feature here: negation, group, given, either, spread, compute, heads, shuffle."""
        return (self.features is None or feature in self.features) and self.random.random() < chance

    def program(self) -> Program:
        """Make relations, facts and rules."""
        inputs = [self.relation(f"A{i}", 0) for i in range(self.random.randint(2, 4))]
        most = self.random.choice((9, 40)) if self.wide else 9
        given = {
            r.name: frozenset(random_row(self.random, r) for _ in range(self.random.randint(2, most))) for r in inputs
        }
        relations, rules = list(inputs), []
        facts: Facts = {name: set(rows) for name, rows in given.items()}
        patience = Patience(300_000)
        for stratum in range(1, self.random.choice((1, 2, 3, 3)) + 1):
            group = [self.relation(f"D{stratum}{letter}", stratum) for letter in "abc"[: self.random.randint(1, 3)]]
            given |= {
                r.name: frozenset(random_row(self.random, r) for _ in range(self.random.randint(0, 4)))
                for r in group
                if r.given
            }
            facts |= {relation.name: set(given.get(relation.name, ())) for relation in group}
            rules += self.stratum(group, list(relations), facts, patience)
            relations += group
        return Program(tuple(relations), tuple(dict.fromkeys(rules)), given)

    def stratum(self, group: list[Declared], below: list[Declared], facts: Facts, patience: Patience) -> list[Rule]:
        """Make the rules of a stratum, one after the other, nearly all with answers; `facts` grow with them."""
        rules: list[Rule] = []
        for turn in range(self.random.choice((2, 2, 3))):
            for i, relation in enumerate(group):
                ring = [group[i - 1]] if len(group) == 3 else group
                around = ring if turn and self.random.random() < 0.8 else []
                for _ in range(5):
                    rule = self.rule(relation, group, below, around)
                    if any(consequences(rule, facts, patience)) or self.random.random() < 0.02:
                        rules.append(rule)
                        saturate(rules, facts, patience)
                        break
        return rules

    def relation(self, name: str, stratum: int) -> Declared:
        """Declare a relation."""
        arities, chances = ((2, 3, 4, 5), (4, 4, 2, 1)) if self.wide else ((0, 1, 2, 3), (1, 4, 8, 2))
        arity = self.random.choices(arities, chances)[0]
        weights = [3 if kind == "int" and not self.wide else 1 for kind in self.kinds]
        kinds = tuple(self.random.choices(self.kinds, weights, k=arity))
        return Declared(name, kinds, stratum, given=bool(stratum) and self.may("given", 0.15))

    def rule(self, head: Declared, group: list[Declared], below: list[Declared], around: list[Declared]) -> Rule:
        """Make a rule for a relation; `around` are the relations of its stratum it may use."""
        if self.random.random() < 0.04:
            return Rule((self.head(head, [], constant=1.0),), (), ())
        body, order, bound = self.body(below, around)
        heads = [self.head(head, bound)]
        if self.may("heads", 0.1):
            heads.append(self.head(self.random.choice(group), bound))
        return Rule(tuple(heads), body, order)

    def body(
        self, below: list[Declared], around: list[Declared]
    ) -> tuple[tuple[Clause, ...], tuple[int, ...], list[V]]:
        """Make a body; return it with the order in which it is written, and the variables visible at its end."""
        body: list[Clause] = []
        bound: list[V] = []
        grouped = not around and self.may("group", 0.25)
        if around:
            body.append(self.atom(self.random.choice(around), bound))
        for _ in range(self.random.choices((0, 1, 2), (2, 4, 1))[0] if around else self.random.choice((1, 2, 2, 3))):
            candidates = below if grouped or not around or self.random.random() < 0.8 else around
            again = [r for r in below if any(isinstance(c, Atom) and c.relation == r.name for c in body)]
            relation = self.random.choice(again if again and self.random.random() < 0.3 else candidates)
            body.append(self.atom(relation, bound))
        if self.may("either", 0.12):
            body += self.either(below, bound)
        body += self.computed(bound)
        if self.may("negation", 0.35):
            body.append(self.negated(self.random.choice(below), bound))
        if bound and self.random.random() < 0.3:
            body.append(self.compared(bound))
        order = list(range(len(body)))
        if self.may("shuffle", 0.3):
            self.random.shuffle(order)
        if grouped:
            order.append(len(body))
            bound = self.grouped(body, bound)
        return tuple(body), tuple(order), bound

    def goal(self, relations: Sequence[Declared]) -> Goal:
        """Make a goal about relations, in which some constants are given as parameters."""
        self.given = {}
        body, order, bound = self.body(list(relations), [])
        rule = Rule((Atom("goal", tuple(bound)),), body, order)
        written = set(re.findall(r"\$(\w+)", str(rule)))
        return Goal(rule, tuple((name, value) for name, value in self.given.items() if name in written))

    def variable(self, kind: Kind) -> V:
        """Make a new variable."""
        self.fresh += 1
        return V(f"{kind[0]}{self.fresh}", kind)

    def known(self, kind: Kind, bound: list[V], chance: float) -> V | None:
        """Choose a bound variable of a kind, perhaps."""
        found = [v for v in bound if v.kind == kind]
        return self.random.choice(found) if found and self.random.random() < chance else None

    def constant(self, kind: Kind) -> C:
        """Choose a constant, of a goal perhaps one that is given with it."""
        value = self.random.choice(CONSTANTS[kind])
        if self.given is None or self.random.random() < 0.5:
            return C(value, kind)
        name = f"p{len(self.given)}"
        self.given[name] = value
        return Given(value, kind, name)

    def atom(self, relation: Declared, bound: list[V]) -> Atom:
        """Make a positive atom; its new variables become bound."""
        terms: list[Term] = []
        before = list(bound)
        for kind in relation.kinds:
            number = self.known("int", before, 0.06) if kind == "int" else None
            term = Sum(number, self.random.choice((1, 2))) if number else self.term(kind, bound)
            terms.append(term)
            bound += [v for v in variables_of(term) if v not in bound]
        return Atom(relation.name, tuple(terms), named=self.random.random() < 0.1)

    def term(self, kind: Kind, bound: list[V]) -> Term:
        """Choose an argument of a positive atom."""
        old = self.known(kind, bound, 0.5)
        if old:
            return old
        chance = self.random.random()
        if chance < 0.12:
            return self.constant(kind)
        if chance < 0.22:
            return Wild(kind)
        if chance < 0.5 and kind == "opt":
            return SomeOf(self.known("int", bound, 0.4) or self.variable("int"))
        if chance < 0.5 and kind == "pair":
            first = self.known("int", bound, 0.4) or self.variable("int")
            return PairOf(first, self.known("bool", bound, 0.4) or self.variable("bool"))
        return self.variable(kind)

    def negated(self, relation: Declared, bound: list[V]) -> Atom:
        """Make a negated atom; it binds nothing."""
        terms: list[Term] = []
        for kind in relation.kinds:
            rest: Term = Wild(kind) if self.random.random() < 0.5 else self.constant(kind)
            terms.append(self.known(kind, bound, 0.75) or rest)
        return Atom(relation.name, tuple(terms), negated=True)

    def either(self, below: list[Declared], bound: list[V]) -> list[Clause]:
        """Make a disjunction of two atoms with the same new variable."""
        kinds = [kind for r in below for kind in r.kinds]
        if not kinds:
            return []
        variable = self.variable(self.random.choice(kinds))
        alternatives = []
        for _ in range(2):
            relation = self.random.choice([r for r in below if variable.kind in r.kinds])
            place = self.random.choice([i for i, kind in enumerate(relation.kinds) if kind == variable.kind])
            terms: list[Term] = [self.known(kind, bound, 0.4) or Wild(kind) for kind in relation.kinds]
            terms[place] = variable
            alternatives.append((Atom(relation.name, tuple(terms)),))
        bound.append(variable)
        return [Either(tuple(alternatives))]

    def computed(self, bound: list[V]) -> list[Clause]:
        """Make up to one computed variable and one spread."""
        made: list[Clause] = []
        number = self.known("int", bound, 1.0)
        if self.may("compute", 0.25):
            clause = self.computation(number, bound)
            if clause:
                made.append(clause)
                bound.append(clause.variable)
        whole = self.known(self.random.choice(("opt", "pair")), bound, 1.0)
        if whole and self.may("compute", 0.2):
            single = whole.kind == "opt"
            pattern = SomeOf(self.variable("int")) if single else PairOf(self.variable("int"), self.variable("bool"))
            made.append(Unpack(pattern, whole))
            bound += variables_of(pattern)
        if number and self.may("spread", 0.08):
            spread = Spread(self.variable("int"), (number, self.known("int", bound, 0.5) or self.constant("int")))
            made.append(spread)
            bound.append(spread.variable)
        return made

    def computation(self, number: V | None, bound: list[V]) -> Compute | None:
        """Make a computed variable of whatever is there."""
        text, option, truth = (self.known(kind, bound, 1.0) for kind in ("str", "opt", "bool"))
        choices: list[Compute] = []
        if number:
            other = self.known("int", bound, 0.6) or self.constant("int")
            choices += [Compute(self.variable("int"), "plus", (number, other))] * 2
            choices.append(Compute(self.variable("int"), "least", (number, other)))
            if "opt" in self.kinds:
                choices.append(Compute(self.variable("opt"), "wrap", (number,)))
            if truth and "pair" in self.kinds:
                choices.append(Compute(self.variable("pair"), "pack", (number, truth)))
        if option:
            choices.append(Compute(self.variable("int"), "unwrap", (option,)))
        if text:
            choices.append(Compute(self.variable("str"), "join", (text, self.constant("str"))))
        return self.random.choice(choices) if choices else None

    def compared(self, bound: list[V]) -> Compare:
        """Make a comparison of a bound variable."""
        left = self.random.choice(bound)
        right = self.known(left.kind, [v for v in bound if v != left], 0.7) or self.constant(left.kind)
        return Compare(self.random.choice(("!=", "!=", "==", "<", "<=", ">", ">=")), left, right)

    def grouped(self, body: list[Clause], bound: list[V]) -> list[V]:
        """Group the body; return the variables visible after it."""
        keys = tuple(self.random.sample(bound, min(len(bound), self.random.choice((0, 1, 1, 2)))))
        rest = [v for v in bound if v not in keys]
        value: V | C = self.random.choice(rest) if rest and self.random.random() < 0.85 else self.constant("int")
        aggregate = self.random.choice(AGGREGATES[value.kind])
        kinds: dict[str, Kind] = {"count": "int", "count_distinct": "int"}
        result = self.variable(kinds.get(aggregate, value.kind))
        body.append(GroupBy(result, value, keys, aggregate))
        return [*keys, result]

    def head(self, relation: Declared, bound: list[V], constant: float = 0.12) -> Atom:
        """Make a head."""
        terms: list[Term] = []
        for kind in relation.kinds:
            old = self.known(kind, bound, 1 - constant)
            if old and kind == "int" and self.random.random() < 0.08:
                terms.append(Sum(old, self.random.choice((1, 2))))
            else:
                terms.append(old or self.constant(kind))
        return Atom(relation.name, tuple(terms))

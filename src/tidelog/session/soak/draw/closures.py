"""Random programs that are mostly closures: every form, fed in many ways, with strata below and above."""

from __future__ import annotations

from random import Random

from tidelog.session.soak.draw.grow import random_row
from tidelog.session.soak.histories import History, history_of
from tidelog.session.soak.spec import Atom, C, Clause, Declared, GroupBy, Kind, Program, Row, Rule, Term, V, Wild

Place = tuple[int, ...]
"""Where source, target and, in a relation of three columns, the third term stand."""


class Closures:
    """Makes the parts of one program. Nodes are of one kind; `E`, `F`, `G`, `W` are facts, `T` and `S` closures.

    `mixed`: T is a nonlinear closure that another recursive rule feeds.
    """

    def __init__(self, random: Random, *, mixed: bool = False) -> None:
        self.random = random
        self.mixed = mixed
        self.kind: Kind = random.choice(("int", "int", "str", "opt", "pair"))
        self.x, self.y, self.z = (V(name, self.kind) for name in "xyz")
        self.group = V("g", "int")
        self.wide = random.random() < 0.4
        self.place: Place = tuple(random.sample(range(3), 3)) if self.wide else (0, 1)
        self.third: Term = random.choice((self.group, C(3, "int")))

    def may(self, chance: float) -> bool:
        """Tell whether to do something."""
        return self.random.random() < chance

    def t(self, source: Term, target: Term, third: Term | None = None, relation: str = "T") -> Atom:
        """Return an atom of the closure."""
        if not self.wide:
            return Atom(relation, (source, target))
        terms: list[Term] = [source, source, source]
        for place, term in zip(self.place, (source, target, self.third if third is None else third), strict=True):
            terms[place] = term
        return Atom(relation, tuple(terms))

    def program(self) -> Program:
        """Make relations, facts and rules."""
        kinds: list[Kind] = [self.kind] * (3 if self.wide else 2)
        if self.wide:
            kinds[self.place[2]] = "int"
        inputs = [
            Declared("E", (self.kind, self.kind), 0),
            Declared("F", (self.kind, self.kind), 0),
            Declared("G", (self.kind,), 0),
            Declared("W", (self.kind, "int", self.kind), 0),
        ]
        derived = [
            Declared("B", (self.kind, self.kind), 1),
            Declared("T", tuple(kinds), 1),
            Declared("S", (self.kind, self.kind), 1),
            Declared("U", (self.kind, self.kind), 2),
            Declared("N", (self.kind, "int"), 2),
        ]
        rules = [*self.below(), *self.feeds(), *self.closing(), *self.above()]
        self.random.shuffle(rules)
        facts: dict[str, frozenset[Row]] = {
            relation.name: frozenset(random_row(self.random, relation) for _ in range(self.random.randint(2, 9)))
            for relation in inputs
        }
        return Program((*inputs, *derived), tuple(dict.fromkeys(rules)), facts)

    def below(self) -> list[Rule]:
        """Rules of a relation below the closure."""
        x, y, z = self.x, self.y, self.z
        bodies: list[tuple[Clause, ...]] = [
            (Atom("E", (x, y)),),
            (Atom("W", (x, Wild("int"), y)), Atom("G", (x,))),
            (Atom("E", (x, z)), Atom("F", (z, y))),
        ]
        return [rule(Atom("B", (x, y)), *body) for body in self.random.sample(bodies, self.random.randint(1, 2))]

    def feeds(self) -> list[Rule]:
        """Rules that feed the closure, one at least."""
        x, y = self.x, self.y
        bodies: list[tuple[Clause, ...]] = [
            (Atom("E", (x, y)),),
            (Atom("E", (x, y)),),
            (Atom("F", (y, x)),),
            (Atom("B", (x, y)),),
            (Atom("W", (x, Wild("int"), y)),),
            (Atom("E", (x, y)), Atom("G", (y,))),
            (Atom("F", (x, y)), Atom("E", (x, y), negated=True)),
        ]
        chosen = self.random.sample(bodies, self.random.choice((1, 1, 2, 3)))
        if not self.wide:
            return [rule(self.t(x, y), *body) for body in chosen]
        made = []
        for body in chosen:
            third = self.random.choice((C(3, "int"), C(4, "int"), self.group))
            by = (Atom("W", (Wild(self.kind), self.group, Wild(self.kind))),) if third == self.group else ()
            made.append(rule(self.t(x, y, third), *body, *by))
        return made

    def closing(self) -> list[Rule]:
        """The rules that make a closure."""
        x, y, z = self.x, self.y, self.z
        made: list[Rule] = []
        form = "nonlinear" if self.mixed else self.random.choice(("nonlinear", "nonlinear", "left", "right", "none"))
        kind = self.random.choice("EBFWC")

        def step(a: V, b: V) -> Atom:
            match kind:
                case "F":
                    return Atom("F", (b, a))
                case "W":
                    return Atom("W", (a, Wild("int"), b))
                case "C":
                    return Atom("W", (a, C(2, "int"), b))
                case _:
                    return Atom(kind, (a, b))

        if form == "nonlinear":
            made.append(rule(self.t(x, z), self.t(x, y), self.t(y, z)))
        elif form == "left":
            made.append(rule(self.t(x, z), self.t(x, y), step(y, z)))
        elif form == "right":
            made.append(rule(self.t(x, z), step(x, y), self.t(y, z)))
        if form in ("left", "right") and self.may(0.2):
            again = (self.t(x, y), Atom("F", (y, z))) if form == "left" else (Atom("F", (x, y)), self.t(y, z))
            made.append(rule(self.t(x, z), *again))
        if self.may(0.4):
            made.append(rule(self.t(x, y), self.t(y, x)))
        if self.may(0.2):
            made.append(rule(self.t(x, x), self.t(x, y)))
        if self.may(0.2):
            by = (Atom("W", (Wild(self.kind), self.group, Wild(self.kind))),) if self.third == self.group else ()
            made.append(rule(self.t(x, x), Atom("G", (x,)), *(by if self.wide else ())))
        if self.mixed or self.may(0.1):
            made.append(rule(self.t(x, z), self.t(x, y), Atom("F", (z, y))))
        return made

    def above(self) -> list[Rule]:
        """Rules that read the closure: joins, negation, aggregates, another closure."""
        x, y, z = self.x, self.y, self.z
        third: Term = C(3, "int") if self.third != self.group else Wild("int")
        n = V("n", "int")
        choices = [
            rule(Atom("U", (x, x)), self.t(x, x, third)),
            rule(Atom("U", (x, z)), self.t(x, y, third), Atom("F", (y, z))),
            rule(Atom("U", (x, y)), Atom("F", (x, y)), negated(self.t(x, y, C(3, "int")))),
            rule(Atom("N", (x, n)), self.t(x, y, third), GroupBy(n, y, (x,), "count")),
            rule(Atom("S", (x, y)), self.t(x, y, third), Atom("G", (x,))),
        ]
        made = self.random.sample(choices, self.random.randint(1, 4))
        if self.may(0.5):
            made.append(rule(Atom("S", (x, y)), Atom("F", (x, y))))
            made.append(rule(Atom("S", (x, z)), Atom("S", (x, y)), Atom("S", (y, z))))
        elif self.may(0.6):
            made.append(rule(Atom("S", (x, y)), Atom("F", (x, y))))
            made.append(self.same_generation())
        return made

    def same_generation(self) -> Rule:
        """A rule that leads on from pairs of `S`, side by side."""
        x, y, a, b = (V(name, self.kind) for name in "xyab")
        near = self.random.choice(((a, b), (b, a)))
        steps = [
            Atom(self.random.choice("EFB"), (one, other) if self.may(0.7) else (other, one))
            for one, other in zip(near, (x, y), strict=True)
        ]
        body = [*steps, Atom("S", (a, b))]
        self.random.shuffle(body)
        return rule(Atom("S", (x, y)), *body)


def rule(head: Atom, *body: Clause) -> Rule:
    """Return a rule written as it is."""
    return Rule((head,), body, tuple(range(len(body))))


def negated(atom: Atom) -> Atom:
    """Return the negation of an atom."""
    return Atom(atom.relation, atom.terms, negated=True)


def closure_history(random: Random, length: int = 12) -> History:
    """Return a random program of closures and what happens to it."""
    return history_of(Closures(random).program(), random, length)

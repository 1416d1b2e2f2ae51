"""Random programs of closures among other rules: modules that take turns.

Binary relations `T`, `S` and `I` and triples `P` are of one stratum: closures, symmetric ones and equivalences that
feed each other, inverses and relations that are equal, properties named in rules and properties named in facts.
"""

from __future__ import annotations

from random import Random

from tidelog.session.soak.draw.closures import negated, rule
from tidelog.session.soak.draw.grow import random_row
from tidelog.session.soak.histories import History, history_of
from tidelog.session.soak.spec import Atom, C, Compare, Declared, Kind, Program, Row, Rule, V, Wild

PROPERTIES = (0, 1, 2)


class Mixed:
    """Makes the parts of one program. `E`, `F`, `G`, `W` are facts; `W` has triples, `G` properties."""

    def __init__(self, random: Random) -> None:
        self.random = random
        self.kind: Kind = random.choice(("int", "int", "str"))
        self.x, self.y, self.z = (V(name, self.kind) for name in "xyz")
        self.p, self.q = V("p", "int"), V("q", "int")

    def may(self, chance: float) -> bool:
        """Tell whether to do something."""
        return self.random.random() < chance

    def program(self) -> Program:
        """Make relations, facts and rules."""
        pair: tuple[Kind, ...] = (self.kind, self.kind)
        triple: tuple[Kind, ...] = (self.kind, "int", self.kind)
        inputs = [
            Declared("E", pair, 0),
            Declared("F", pair, 0),
            Declared("G", ("int",), 0),
            Declared("W", triple, 0),
        ]
        derived = [Declared(name, pair, 1) for name in "TSI"] + [Declared("P", triple, 1), Declared("U", pair, 2)]
        rules = [*self.closure("T", "E"), *self.others(), *self.above()]
        if self.may(0.6):
            rules += self.closure("S", "F")
        if self.may(0.6):
            rules += self.triples()
        self.random.shuffle(rules)
        facts: dict[str, frozenset[Row]] = {
            relation.name: frozenset(random_row(self.random, relation) for _ in range(self.random.randint(1, 6)))
            for relation in inputs
        }
        facts["W"] = frozenset((a, b % len(PROPERTIES), c) for a, b, c in facts["W"])
        return Program((*inputs, *derived), tuple(dict.fromkeys(rules)), facts)

    def closure(self, name: str, fed: str) -> list[Rule]:
        """Rules that make a relation a closure of any kind, and rules that feed it facts."""
        x, y, z = self.x, self.y, self.z
        made = [
            rule(Atom(name, (x, y)), Atom(fed, (x, y))),
            rule(Atom(name, (x, z)), Atom(name, (x, y)), Atom(name, (y, z))),
        ]
        if self.may(0.4):
            made.append(rule(Atom(name, (x, y)), Atom(name, (y, x))))
        if self.may(0.2):
            made.append(rule(Atom(name, (x, x)), Atom(name, (x, y))))
        if self.may(0.3):
            made.append(rule(Atom(name, (x, y)), Atom("W", (x, C(1, "int"), y))))
        return made

    def others(self) -> list[Rule]:
        """Other recursive rules: some of them make an inverse or an equal of a closure."""
        x, y, z = self.x, self.y, self.z
        t, f, s = Atom("T", (x, y)), Atom("F", (z, y)), Atom("S", (x, y))
        choices = [
            [rule(Atom("I", (y, x)), t), rule(Atom("T", (y, x)), Atom("I", (x, y)))],
            [rule(Atom("I", (x, y)), t), rule(t, Atom("I", (x, y)))],
            [rule(s, t), rule(t, s)],
            [rule(Atom("T", (x, z)), t, f)],
            [rule(Atom("I", (x, z)), t, f), rule(t, Atom("I", (x, y)))],
            [rule(s, t), rule(Atom("T", (x, z)), s, Atom("S", (y, z)), f)],
            [rule(Atom("S", (y, x)), t), rule(t, s, Atom("F", (x, y)))],
            [rule(s, t, Compare("!=", x, y)), rule(Atom("T", (y, z)), s, Atom("E", (x, z)))],
        ]
        return [one for some in self.random.sample(choices, self.random.randint(1, 3)) for one in some]

    def triples(self) -> list[Rule]:
        """Rules over triples: transitive properties by name or by facts, properties of properties, inverses."""
        x, y, z, p, q = self.x, self.y, self.z, self.p, self.q
        a, b = (C(number, "int") for number in self.random.sample(PROPERTIES, 2))

        def triple(source: V, by: V | C, target: V) -> Atom:
            return Atom("P", (source, by, target))

        choices = [
            [rule(triple(x, a, z), triple(x, a, y), triple(y, a, z))],
            [rule(triple(y, a, x), triple(x, a, y)), rule(triple(x, a, z), triple(x, a, y), triple(y, a, z))],
            [
                rule(triple(y, a, x), triple(x, a, y)),
                rule(triple(x, a, z), triple(x, a, y), Compare("!=", x, y), triple(y, a, z)),
                rule(triple(y, p, z), triple(x, a, y), triple(x, p, z)),
                rule(triple(z, p, y), triple(x, a, y), Compare("!=", x, y), triple(z, p, x)),
            ],
            [rule(triple(x, p, z), Atom("G", (p,)), triple(x, p, y), triple(y, p, z))],
            [rule(triple(x, p, z), triple(x, p, y), triple(y, p, z))],
            [rule(triple(x, b, y), triple(x, a, y)), rule(triple(y, a, x), triple(x, b, y))],
            [rule(triple(x, q, y), triple(x, p, y), Atom("W", (Wild(self.kind), q, y)), Atom("G", (p,)))],
            [rule(Atom("T", (x, y)), triple(x, a, y)), rule(triple(x, b, y), Atom("T", (x, y)))],
        ]
        fed = rule(triple(x, p, y), Atom("W", (x, p, y)))
        return [fed, *(one for some in self.random.sample(choices, self.random.randint(1, 3)) for one in some)]

    def above(self) -> list[Rule]:
        """Rules that read what was closed."""
        x, y, z = self.x, self.y, self.z
        choices = [
            rule(Atom("U", (x, z)), Atom("T", (x, y)), Atom("F", (y, z))),
            rule(Atom("U", (x, y)), Atom("F", (x, y)), negated(Atom("T", (x, y)))),
            rule(Atom("U", (x, y)), Atom("P", (x, C(1, "int"), y))),
            rule(Atom("U", (x, y)), Atom("I", (x, y)), Atom("S", (x, y))),
        ]
        return self.random.sample(choices, 2)


def mixed_history(random: Random, length: int = 10) -> History:
    """Return a random program of closures among other rules and what happens to it."""
    return history_of(Mixed(random).program(), random, length)

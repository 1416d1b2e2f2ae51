"""Histories of larger graphs: programs that people write, over some hundred facts, with thousands of derived tuples.

Random programs (`grow`) have every feature, but few tuples. Here rules are well known, and graphs have the shapes that
decide how an engine works: hubs, chains, trees, clusters, no cycles. From one fact to a third of them come and go in a
step; one more rule comes and goes, too. Nodes are values of some kind, so that rows have different layouts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tidelog.session.soak.histories import History, Step, after, frozen
from tidelog.session.soak.spec import (
    Atom,
    C,
    Clause,
    Compare,
    Declared,
    GroupBy,
    Kind,
    Program,
    Row,
    Rule,
    Term,
    V,
    Wild,
)

NODES: dict[Kind, Callable[[int], Any]] = {
    "wide": lambda node: node,
    "big": lambda node: node * 10**25,
    "str": lambda node: f"n{node}",
    "real": lambda node: node / 2 - 10,
}
"""Nodes as values, in the order of their numbers but for strings."""


@dataclass(frozen=True)
class Family:
    """A program whose columns are nodes, a rule that comes and goes, and how many nodes and facts a node it can bear.

    Columns of relations are nodes, or numbers where `c` stands for `n`.
    """

    inputs: str
    outputs: str
    rules: str
    extra: str
    nodes: int
    density: float = 1.0


FAMILIES = (
    Family("E(n,n)", "R(n,n)", "R(a,b) :- E(a,b). R(a,c) :- R(a,b), E(b,c).", "R(b,a) :- E(a,b), E(b,_).", 150),
    Family(
        "E(n,n) X(n)",
        "R(n,n)",
        "R(a,b) :- E(a,b), not X(b). R(a,c) :- R(a,b), R(b,c), not X(a).",
        "R(a,a) :- X(a).",
        150,
    ),
    Family("E(n,n)", "R(n,n)", "R(x,y) :- E(p,x), E(p,y). R(x,y) :- E(a,x), R(a,b), E(b,y).", "R(x,x) :- E(x,_).", 150),
    Family(
        "E(n,n)",
        "T(n,n,n) S(n,n)",
        "T(x,y,z) :- E(x,y), E(y,z), E(x,z). S(x,z) :- T(x,_,z), not E(z,x).",
        "T(x,x,y) :- E(x,y), E(y,x).",
        100,
        4.0,
    ),
    Family(
        "E(n,n) A(n,n) L(n,n) S(n,n)",
        "R(n,n)",
        """R(y,x) :- E(y,x). R(y,x) :- A(y,z), R(z,x).
           R(y,w) :- L(y,x), R(x,z), R(z,w). R(z,w) :- S(y,x), R(y,z), R(x,w).""",
        "R(x,y) :- A(x,y), L(y,_).",
        150,
        0.8,
    ),
    Family(
        "E(n,n) D(n,n)",
        "F(n,n) M(n,n) A(n,n)",
        """F(y,x) :- E(y,x). F(x,y) :- E(x,z), M(z,y). F(x,y) :- F(x,z), F(z,y). F(x,x) :- E(x,_). M(x,x) :- E(_,x).
           M(x,w) :- D(y,x), A(y,z), D(z,w). A(x,y) :- F(z,x), F(z,y). A(x,y) :- F(z,x), M(z,w), F(w,y).""",
        "A(x,x) :- D(x,_).",
        40,
        0.8,
    ),
    Family(
        "E(n,n,n)",
        "T(n,n,n)",
        """T(s,p,o) :- E(s,p,o). T(x,0,z) :- T(x,0,y), T(y,0,z). T(x,4,c) :- T(x,p,_), T(p,2,c).
           T(y,4,c) :- T(_,p,y), T(p,3,c). T(x,4,d) :- T(x,4,c), T(c,0,d). T(x,q,y) :- T(x,p,y), T(p,1,q).""",
        "T(y,4,x) :- T(x,4,y).",
        60,
        3.0,
    ),
    Family(
        "E(n,n) W(n,n)",
        "Q(n,n) M(n,n) C(n,c) N(n)",
        """Q(a,b) :- E(a,b). Q(a,c) :- Q(a,b), E(b,c), W(b,w), w > 2. N(a) :- E(a,_), not M(a,_).
           M(a,m) :- Q(a,b), W(b,w), m = max w by a. C(a,k) :- Q(a,b), k = count b by a.""",
        "Q(b,a) :- E(a,b), W(a,3).",
        150,
    ),
    Family(
        "E(n,n) F(n,n)",
        "U(n,n) V(n,n)",
        "U(a,b) :- E(a,b). U(a,c) :- V(a,b), E(b,c). V(a,c) :- U(a,b), F(b,c). V(a,b) :- F(b,a), U(a,_).",
        "U(b,a) :- F(a,b), a < b.",
        120,
        0.8,
    ),
)


PAIRED = FAMILIES[2:4]
"""Same generation and triangles: an engine may have ways of their own for these."""


CLOSURES = (
    Family("E(n,n)", "R(n,n)", "R(a,b) :- E(a,b). R(a,c) :- R(a,b), E(b,c).", "R(a,a) :- E(a,_).", 40),
    Family("E(n,n)", "R(n,n)", "R(a,b) :- E(a,b). R(a,c) :- E(a,b), R(b,c).", "R(b,a) :- E(a,b), a < b.", 40),
    Family(
        "E(n,n)", "R(n,n) C(n)", "R(a,b) :- E(a,b). R(a,c) :- R(a,b), R(b,c). C(a) :- R(a,a).", "C(a) :- E(_,a).", 40
    ),
)
"""Closures alone, for graphs of many small components."""


def graph_history(random: Random, scale: float = 1.0, families: Sequence[Family] = FAMILIES) -> History:
    """Return a random graph, a program about it, and what happens to both; `scale` makes it smaller."""
    family = random.choice(families)
    nodes = max(8, int(family.nodes * scale * random.choice((0.2, 0.5, 1, 1.5))))
    return _history(random, family, nodes, random_edge(random, nodes))


def sparse_history(random: Random) -> History:
    """Return the closure of a graph of many small components, and what happens to it."""
    family = random.choice(CLOSURES)
    return _history(random, family, family.nodes, _apart(random, family.nodes))


def _history(random: Random, family: Family, nodes: int, edge: Callable[[], tuple[int, int]]) -> History:
    kind = random.choice(("wide", "wide", "wide", *NODES))
    written = _Reader(kind)
    rules, extra = written.rules(family.rules), written.rules(family.extra)
    relations = (*written.relations(family.inputs, 0), *written.relations(family.outputs, 1))
    program = Program(relations, rules, {})
    facts = max(5, int(nodes * family.density * random.choice((0.5, 1, 2))))

    def row(relation: Declared) -> Row:
        found = edge()
        labels = (random.choice((4, 4, 4, 0, 1, 2, 3, *range(5, 12))),) if len(relation.kinds) == 3 else ()
        return tuple(NODES[kind](node) for node in (found[0], *labels, found[1])[: len(relation.kinds)])

    steps = [Step({r.name: frozenset(row(r) for _ in range(facts)) for r in program.inputs})]
    now = after(program, steps[0])
    for _ in range(random.randint(3, 8)):
        step = _facts_step(random, now, row, random.choice((1, 1, 3, 10, 30, 100, facts // 3 + 1)))
        if random.random() < 0.25:
            there = extra[0] in now.rules
            step = replace(step, rules_removed=extra) if there else replace(step, rules_added=extra)
        steps.append(step)
        now = after(now, step)
    return History(program, tuple(steps))


def random_edge(random: Random, nodes: int) -> Callable[[], tuple[int, int]]:
    """Return what draws edges of a graph of some shape."""

    def any_edge() -> tuple[int, int]:
        return random.randrange(nodes), random.randrange(nodes)

    def from_hubs() -> tuple[int, int]:
        a, b = any_edge()
        return (a % 3 if random.random() < 0.4 else a), b

    def upwards() -> tuple[int, int]:
        a, b = sorted(any_edge())
        return a, b + 1

    def along() -> tuple[int, int]:
        a, b = any_edge()
        return a, (a + 1 if random.random() < 0.9 else b)

    def from_parents() -> tuple[int, int]:
        child = random.randrange(1, nodes)
        return random.randrange(child), child

    def close() -> tuple[int, int]:
        a, b = any_edge()
        return a, (a - a % 8 + b % 8 if random.random() < 0.9 else b)

    return random.choice((any_edge, from_hubs, upwards, along, from_parents, close, _apart(random, nodes)))


def _apart(random: Random, nodes: int) -> Callable[[], tuple[int, int]]:
    """Return what draws edges within groups of up to four nodes, many of them loops."""

    def edge() -> tuple[int, int]:
        a, b = random.randrange(nodes), random.randrange(4)
        return random.choice(((a, a), (a, a ^ 1), (a & ~1, a | 1), (a, a - a % 4 + b)))

    return edge


def _facts_step(random: Random, now: Program, row: Callable[[Declared], Row], size: int) -> Step:
    """Return a step of about `size` facts, most of which come, most of which go, or half of which do."""
    going, leaving = random.choice((0.2, 0.5, 0.9)), {r.name: sorted(now.facts[r.name]) for r in now.inputs}
    inserted: dict[str, set[Row]] = {r.name: set() for r in now.inputs}
    deleted: dict[str, set[Row]] = {r.name: set() for r in now.inputs}
    for _ in range(size):
        relation = random.choice(now.inputs)
        if leaving[relation.name] and random.random() < going:
            deleted[relation.name].add(random.choice(leaving[relation.name]))
        else:
            inserted[relation.name].add(row(relation))
    return Step(frozen(inserted), frozen(deleted))


class _Reader:
    """Reads programs of this module, whose nodes are of some kind."""

    def __init__(self, kind: Kind) -> None:
        self._kind: Kind = kind
        self._counts: set[str] = set()

    def relations(self, text: str, stratum: int) -> list[Declared]:
        """Read declarations such as `E(n,n) X(n)`."""
        kinds: dict[str, Kind] = {"n": self._kind, "c": "int"}
        found = re.findall(r"(\w+)\(([\w,]*)\)", text)
        return [
            Declared(name, tuple(kinds[column] for column in columns.split(",")), stratum) for name, columns in found
        ]

    def rules(self, text: str) -> tuple[Rule, ...]:
        """Read rules that end with a full stop."""
        return tuple(self._rule(*rule.split(":-")) for rule in text.split(".") if rule.strip())

    def _rule(self, head: str, body: str) -> Rule:
        clauses = tuple(map(self._clause, re.split(r",(?![^(]*\))", body)))
        return Rule((self._atom(head),), clauses, tuple(range(len(clauses))))

    def _clause(self, text: str) -> Clause:
        match text.split():
            case [left, ("<" | ">") as operator, right]:
                return Compare(operator, V(left, self._kind), self._place(right))
            case [result, "=", aggregate, value, "by", key]:
                if aggregate == "count":
                    self._counts.add(result)
                return GroupBy(self._variable(result), self._variable(value), (self._variable(key),), aggregate)
            case _:
                return self._atom(text)

    def _atom(self, text: str) -> Atom:
        found = re.fullmatch(r"\s*(not )?(\w+)\((.*)\)\s*", text)
        assert found is not None, text
        terms = (self._term(term) for term in found[3].split(","))
        return Atom(found[2], tuple(terms), negated=bool(found[1]))

    def _term(self, text: str) -> Term:
        return Wild(self._kind) if text == "_" else self._place(text)

    def _place(self, text: str) -> V | C:
        return C(NODES[self._kind](int(text)), self._kind) if text.isdigit() else self._variable(text)

    def _variable(self, name: str) -> V:
        return V(name, "int" if name in self._counts else self._kind)

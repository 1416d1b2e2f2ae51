"""Programs of which modules are a part, with facts made for them.

The last four have the shape of the paper's benchmarks (table 1): objects in places, with large cliques of related
places; universities, where people who work for one are colleagues of each other; categories with long chains, an
inverse and a symmetric relation; a random acyclic graph. How many facts there are is what a few seconds allow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

Facts = Mapping[str, Sequence[tuple[Any, ...]]]


@dataclass(frozen=True, slots=True)
class Family:
    """A program, its facts by size (small or not), the relation whose facts go and come back, and how many."""

    name: str
    program: str
    facts: Callable[[bool], Facts]
    changed: str
    small: int = 10
    large: float = 0.0
    """How many facts a small deletion has, and what part of the relation a large one has; 0: there is none."""


def declared(inputs: str, outputs: str) -> str:
    """Declare binary relations of numbers."""
    names = [("input", name) for name in inputs.split()] + [("output", name) for name in outputs.split()]
    return "".join(f"{role} relation {name}(x: u32, y: u32)\n" for role, name in names)


CLOSURE = "T(x, y) :- E(x, y).\nT(x, z) :- T(x, y), T(y, z).\n"
FED = f"{declared('E F', 'T R')}{CLOSURE}T(x, y) :- R(x, y).\nR(x, z) :- T(x, y), F(y, z).\n"
INVERSE = f"{declared('E', 'T I')}{CLOSURE}I(y, x) :- T(x, y).\nT(y, x) :- I(x, y).\n"
SKOS_INPUTS, SKOS_OUTPUTS = "Broad Narrow Near", "Broader Narrower Above Below Related Semantic"
RELATED = "Related(x, y) :- Near(x, y).\nRelated(x, y) :- Related(y, x).\nSemantic(x, y) :- Related(x, y).\n"
SKOS = f"""{declared(SKOS_INPUTS, SKOS_OUTPUTS)}{RELATED}
Broader(x, y) :- Broad(x, y).
Narrower(x, y) :- Narrow(x, y).
Broader(x, y) :- Narrower(y, x).
Narrower(x, y) :- Broader(y, x).
Above(x, y) :- Broader(x, y).
Below(x, y) :- Narrower(x, y).
Above(x, y) :- Below(y, x).
Below(x, y) :- Above(y, x).
Above(x, z) :- Above(x, y), Above(y, z).
Below(x, z) :- Below(x, y), Below(y, z).
Semantic(x, y) :- Above(x, y).
Semantic(x, y) :- Below(x, y).
"""
SKOS_BY_HAND = f"""{declared(SKOS_INPUTS, "Broader Above Related Semantic")}{RELATED}
Broader(x, y) :- Broad(x, y).
Broader(x, y) :- Narrow(y, x).
Above(x, y) :- Broader(x, y).
Above(x, z) :- Above(x, y), Above(y, z).
Semantic(x, y) :- Above(x, y).
Semantic(x, y) :- Above(y, x).
"""
TRIPLES = """input relation W(s: u32, p: string, o: u32)
input relation Transitive(p: string)
input relation Sub(p: string, q: string)
output relation P(s: u32, p: string, o: u32)
P(s, p, o) :- W(s, p, o).
P(s, q, o) :- P(s, p, o), Sub(p, q).
"""
BY_NAME = TRIPLES + 'P(x, "in", z) :- P(x, "in", y), P(y, "in", z).\n'
BY_FACTS = TRIPLES + "P(x, p, z) :- Transitive(p), P(x, p, y), P(y, p, z).\n"
PLACES = f"""{declared("Part Place Near Moved", "PartOf In Related")}
PartOf(x, y) :- Part(x, y).
PartOf(x, z) :- PartOf(x, y), PartOf(y, z).
In(x, y) :- Place(x, y).
In(x, z) :- PartOf(x, y), In(y, z).
In(x, z) :- In(x, y), In(y, z).
Related(x, y) :- Near(x, y).
Related(x, y) :- Related(y, x).
Related(x, z) :- Related(x, y), Related(y, z).
Related(x, y) :- Moved(o, x), In(o, z), Related(z, y).
In(o, y) :- Moved(o, x), Related(x, y).
PartOf(x, z) :- PartOf(x, y), Moved(y, z).
"""
UNIVERSITY = f"""{declared("Works Sub Knows Degree", "Member Within Colleague Same Alumnus")}
Within(x, y) :- Sub(x, y).
Within(x, z) :- Within(x, y), Within(y, z).
Member(x, y) :- Works(x, y).
Member(x, z) :- Member(x, y), Within(y, z).
Alumnus(x, y) :- Degree(x, y).
Colleague(x, y) :- Knows(x, y).
Colleague(x, y) :- Colleague(y, x).
Colleague(x, z) :- Colleague(x, y), Colleague(y, z).
Same(x, y) :- Colleague(x, y), Degree(x, z), Degree(y, z).
Colleague(x, y) :- Same(x, z), Knows(z, y).
"""


def chain(n: int) -> list[tuple[int, int]]:
    """Return n edges in a row."""
    return [(i, i + 1) for i in range(n)]


def acyclic(nodes: int, edges: int, seed: int = 1) -> list[tuple[int, int]]:
    """Return random edges, each to a greater node."""
    random, found = Random(seed), dict[tuple[int, int], None]()
    while len(found) < edges:
        a, b = sorted(random.sample(range(nodes), 2))
        found[a, b] = None
    return list(found)


def categories(concepts: int, seed: int = 1) -> Facts:
    """Return chains of broader categories with branches, some of them told the other way round."""
    random = Random(seed)
    broad = [(x, max(0, x - random.randint(1, 20))) for x in range(1, concepts)]
    more = [(x, max(0, x - random.randint(1, 20))) for x in random.sample(range(1, concepts), concepts // 2)]
    narrow = [(max(0, x - random.randint(1, 20)), x) for x in random.sample(range(1, concepts), concepts // 10)]
    near = [tuple(random.sample(range(concepts), 2)) for _ in range(concepts // 5)]
    return {"Broad": list(dict.fromkeys([*broad, *more])), "Narrow": narrow, "Near": near}


def triples(n: int) -> Facts:
    """Return a chain of triples, every other one of a property below the transitive one."""
    made = [(i, "in" if i % 2 else "at", i + 1) for i in range(n)]
    return {"W": made, "Transitive": [("in",)], "Sub": [("at", "in"), ("in", "near")]}


def objects(count: int, clique: int, seed: int = 1) -> Facts:
    """Return objects of parts, in places, places in places; places of a region are all related."""
    random, places = Random(seed), count // 4
    return {
        "Part": [(x, x - 1) for x in range(1, count) if x % 12],
        "Place": [(x, count + random.randrange(places)) for x in range(0, count, 12)]
        + [(count + p, count + p // 2) for p in range(1, places)],
        "Near": [(count + p, count + p + 1) for p in range(places) if (p + 1) % clique],
        "Moved": [(random.randrange(count), count + random.randrange(places)) for _ in range(count // 40)],
    }


def universities(count: int, staff: int, seed: int = 1) -> Facts:
    """Return universities of departments and groups, with people who know some of the others there."""
    random = Random(seed)
    units = [(200 * u + d, 200 * u) for u in range(count) for d in range(1, 20)]
    groups = [(200 * u + g, 200 * u + 1 + g % 19) for u in range(count) for g in range(20, 200)]
    people = [1_000_000 + p for p in range(count * staff)]
    return {
        "Sub": [*units, *groups],
        "Works": [(p, 200 * ((p - 1_000_000) // staff) + random.randrange(20, 200)) for p in people],
        "Knows": [(p, p + random.randint(1, 3)) for p in people if (p - 1_000_000) % staff < staff - 3],
        "Degree": [(p, 200 * random.randrange(count)) for p in people],
    }


SAME = """input relation W(s: u32, p: string, o: u32)
output relation P(s: u32, p: string, o: u32)
P(s, p, o) :- W(s, p, o).
P(y, "same", x) :- P(x, "same", y).
P(x, "same", z) :- P(x, "same", y), P(y, "same", z).
P(y, p, o) :- P(x, "same", y), P(x, p, o).
P(s, p, y) :- P(x, "same", y), P(s, p, x).
"""


def names(n: int) -> Facts:
    """Return n names of one thing, and what is said of some of them."""
    said = [(3, "in", 1_000), (5, "near", 1_001), (1_002, "has", 9)]
    return {"W": [*((i, "same", i + 1) for i in range(n - 1)), *said]}


def two(n: int) -> Facts:
    """Return n names of one thing and n of another, and that the one knows the other."""
    chains = [(first + i, "same", first + i + 1) for first in (0, 10_000) for i in range(n - 1)]
    return {"W": [*chains, (3, "knows", 10_005)]}


FAMILIES = (
    Family("200 names of one thing", SAME, lambda _: names(200), "W", 1),
    Family("two things of 200 names", SAME, lambda _: two(200), "W", 1),
    Family("inverse, chain of 200", INVERSE, lambda _: {"E": chain(200)}, "E", 1),
    Family("SKOS-like, 1,820 facts", SKOS, lambda _: categories(1_011), "Broad"),
    Family("  by hand, without inverses", SKOS_BY_HAND, lambda _: categories(1_011), "Broad"),
    Family(
        "DAG of 30,000 edges, fed",
        FED,
        lambda tiny: {"E": acyclic(*((100, 300) if tiny else (3_000, 30_000))), "F": acyclic(100, 60, seed=2)},
        "E",
    ),
    Family("clique of 200, fed", FED + "T(x, y) :- T(y, x).\n", lambda _: {"E": chain(199), "F": [(5, 7)]}, "E", 1),
    Family("triples, property by name", BY_NAME, lambda _: triples(200), "W", 1),
    Family("triples, properties by facts", BY_FACTS, lambda _: triples(200), "W", 1),
)
"""Those of the goals."""
PAPER = (
    Family("Claros-like", PLACES, lambda tiny: objects(*((200, 10) if tiny else (3_000, 20))), "Part", 100, large=0.25),
    Family(
        "LUBM-like",
        UNIVERSITY,
        lambda tiny: universities(*((2, 10) if tiny else (40, 150))),
        "Works",
        1_000,
        large=0.25,
    ),
    Family("SKOS-like", SKOS, lambda tiny: categories(100 if tiny else 4_000), "Broad", 100, large=0.25),
    Family(
        "DAG-R",
        declared("E", "T") + CLOSURE,
        lambda tiny: {"E": acyclic(*((50, 200) if tiny else (10_000, 100_000)))},
        "E",
        1_000,
        large=0.25,
    ),
)
"""Those of tables 1 and 2, and of which relation facts go."""
PUBLISHED = {
    "Claros-like": ((733.55, 3593.32), (0.93, 1035.28), (0.17, 0.80), (314.33, 3616.93)),
    "LUBM-like": ((291.90, 1100.22), (0.32, 3.87), (0.01, 0.01), (182.93, 1369.77)),
    "SKOS-like": ((103.23, 3623.37), (21.77, 691.32), (0.20, 2.78), (111.28, 3826.87)),
    "DAG-R": ((29.60, 3238.86), (64.92, 3005.11), (14.56, 116.78), (62.48, 4316.71)),
}
"""Seconds with modules and without, on the larger data of the paper: from scratch, small deletions, small insertions,
large deletions."""

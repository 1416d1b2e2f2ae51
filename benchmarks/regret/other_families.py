"""Families of programs that are not about one graph: points-to, permissions, triples, wide programs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from benchmarks import generate
from benchmarks.regret.families import Facts, Family, Made
from benchmarks.regret.graphs import Edges, distinct

PROGRAMS = Path(__file__).parents[1] / "programs"
DYCK = """
input relation Edge(a: node, b: node)
input relation Open(a: node, b: node, label: u32)
input relation Close(a: node, b: node, label: u32)
output relation Dyck(a: node, b: node)
Dyck(a, b) :- Edge(a, b).
Dyck(a, c) :- Dyck(a, b), Dyck(b, c).
Dyck(a, d) :- Open(a, b, l), Dyck(b, c), Close(c, d, l).
Dyck(a, d) :- Open(a, b, l), Close(b, d, l).
"""
PERMISSIONS = """
input relation Member(who: node, group: node)
input relation Inside(group: node, outer: node)
input relation Grant(group: node, folder: node)
input relation Below(folder: node, above: node)
input relation Deny(who: node, folder: node)
relation Belongs(who: node, group: node)
relation Holds(folder: node, above: node)
relation Given(who: node, folder: node)
relation Denied(who: node, folder: node)
output relation May(who: node, folder: node)
output relation Readers(folder: node, n: usize)
Belongs(p, g) :- Member(p, g).
Belongs(p, h) :- Belongs(p, g), Inside(g, h).
Holds(f, f) :- Below(f, _).
Holds(f, g) :- Holds(f, e), Below(e, g).
Given(p, f) :- Belongs(p, g), Grant(g, f).
Denied(p, f) :- Deny(p, e), Holds(f, e).
May(p, f) :- Given(p, e), Holds(f, e), not Denied(p, f).
Readers(f, n) :- May(p, f), var n = p.group_by(f).count().
"""
TRIPLES = """
input relation Triple(s: u32, p: u32, o: u32)
output relation T(s: u32, p: u32, o: u32)
T(s, p, o) :- Triple(s, p, o).
T(x, 0, z) :- T(x, 0, y), T(y, 0, z).
T(x, 1, z) :- T(x, 1, y), T(y, 1, z).
T(x, 4, c) :- T(x, p, _), T(p, 2, c).
T(y, 4, c) :- T(_, p, y), T(p, 3, c).
T(x, 4, d) :- T(x, 4, c), T(c, 0, d).
T(x, q, y) :- T(x, p, y), T(p, 1, q).
"""
NOTHING = """
T(u, 6, v) :- T(p, 4, 7), T(u, p, v), T(v, p, u).
T(x, 4, y) :- T(c, 8, y), T(c, 9, p), T(u, p, x), T(u, 4, c).
"""
FLOWS = 8
"""Rules of a wide program to each kind of its facts."""


def andersen(random: np.random.Generator, size: int) -> Made:
    """Points-to of variables in functions."""
    variables = min(max(30, size * 4 // 10), 6_000)
    facts = generate.andersen(variables, int(random.integers(1 << 30)))
    return Made(_program("andersen"), _arrays(facts), f"{variables:,} variables")


def cspa(random: np.random.Generator, size: int) -> Made:
    """Flow of values and aliases of memory."""
    variables = min(max(30, size * 8 // 10), 4_000)
    facts = generate.cspa(variables, int(random.integers(1 << 30)))
    return Made(_program("cspa"), _arrays(facts), f"{variables:,} variables")


def _program(name: str) -> str:
    return (PROGRAMS / f"{name}.dl").read_text().replace("u32", "node")


def _arrays(facts: Mapping[str, generate.Pairs]) -> Facts:
    return {name: np.array(pairs, np.int64).reshape(-1, 2) for name, pairs in facts.items()}


def dyck(random: np.random.Generator, size: int) -> Made:
    """Paths whose brackets match: calls that open and close one of several labels, in functions of some nodes."""
    size = min(size, 3_000)
    nodes, labels = max(10, size // 2), int(random.integers(2, 30))
    near = random.integers(0, nodes, (size // 2, 1))
    steps = random.integers(1, 6, near.shape)
    edges = distinct(np.concatenate((near, (near + steps) % nodes), axis=1))

    def brackets() -> Edges:
        ends = random.integers(0, nodes, (size // 4, 2))
        return distinct(np.concatenate((ends, random.integers(0, labels, (len(ends), 1))), axis=1))

    facts = {"Edge": edges, "Open": brackets(), "Close": brackets()}
    return Made(DYCK, facts, f"{nodes:,} nodes, {labels} labels")


def permissions(random: np.random.Generator, size: int) -> Made:
    """Who may read which folder: members of nested groups, grants on nested folders, denials."""
    people = max(10, size // 3)
    groups, folders = max(3, people // int(random.integers(4, 40))), max(10, size // 4)
    per_folder = max(1, min(groups, int(random.integers(1, 4))))
    members = np.stack((random.integers(0, people, size // 3), random.integers(0, groups, size // 3)), axis=1)
    deny = np.stack((random.integers(0, people, size // 10 + 1), random.integers(0, folders, size // 10 + 1)), axis=1)
    top = max(1, folders // 10)
    grants = np.stack((random.integers(0, groups, top * per_folder), random.integers(0, folders, top * per_folder)), 1)
    depth = int(random.choice((2, 8)))
    facts = {
        "Member": distinct(members),
        "Inside": _upwards(random, groups, depth),
        "Grant": distinct(grants)[: max(1, 5_000 * groups // people)],
        "Below": _upwards(random, folders, depth * 2),
        "Deny": distinct(deny),
    }
    return Made(PERMISSIONS, facts, f"{people:,} people, {groups:,} groups, {folders:,} folders")


def _upwards(random: np.random.Generator, count: int, fan_out: int) -> Edges:
    """Return a forest in which each has about `fan_out` children and some are roots."""
    children = np.arange(1, count)
    keep = random.random(len(children)) < 0.95
    parents = np.maximum(0, (children - 1) // fan_out - random.integers(0, 2, len(children)))
    return np.stack((children[keep], parents[keep]), axis=1)


def triples(random: np.random.Generator, size: int) -> Made:
    """Triples with a hierarchy of classes and of properties; sometimes with rules that derive nothing."""
    classes, properties = max(3, min(300, size // 30)), max(3, min(60, size // 100))
    first_class, first_property, first_thing = 100, 1_000, 10_000
    things = max(10, size // 4)
    schema = [(first_class + one, 0, first_class + int(random.integers(0, one))) for one in range(1, classes)]
    for one in range(1, properties):
        schema.append((first_property + one, 1, first_property + int(random.integers(0, one))))
        schema.append((first_property + one, int(random.integers(2, 4)), first_class + int(random.integers(classes))))
    count = max(5, size - len(schema))
    typed = random.random(count) < 0.2
    subjects = first_thing + random.integers(0, things, count)
    predicates = np.where(typed, 4, first_property + random.integers(0, properties, count))
    others = first_thing + random.integers(0, things, count)
    objects = np.where(typed, first_class + random.integers(0, classes, count), others)
    rows = np.concatenate((np.array(schema, np.int64), np.stack((subjects, predicates, objects), axis=1)))
    nothing = random.random() < 0.4
    program = TRIPLES + (NOTHING if nothing else "")
    graph = f"{classes} classes, {properties} properties" + (", rules that derive nothing" if nothing else "")
    return Made(program, {"Triple": distinct(rows)}, graph)


def wide(random: np.random.Generator, size: int) -> Made:
    """Hundreds of small rules: features of ports and networks, each turned into flows, as a controller does."""
    features = int(random.choice((20, 50, 80))) if size > 300 else 20
    size = min(size, 50_000)
    ports, networks = max(5, size // 3), max(2, size // 60)
    parts = [
        "input relation Port(id: node, network: node)",
        "input relation Feature(port: node, kind: u32, value: node)",
        "input relation Disabled(network: node, kind: u32)",
        "output relation Flow(port: node, table: u32, value: node)",
        "output relation Load(network: node, n: usize)",
        "Load(w, n) :- Port(p, w), Flow(p, _, _), var n = p.group_by(w).count().",
    ]
    parts += [_feature(kind, kind + 1 < features) for kind in range(features)]
    given = random.integers(0, ports, size // 3)
    columns = (given, random.integers(0, features, len(given)), random.integers(0, networks, len(given)))
    facts = {
        "Port": np.stack((np.arange(ports), random.integers(0, networks, ports)), axis=1),
        "Feature": distinct(np.stack(columns, axis=1)),
        "Disabled": distinct(np.stack((np.arange(networks), random.integers(0, features, networks)), axis=1)),
    }
    return Made("\n".join(parts) + "\n", facts, f"{features * FLOWS} rules, {ports:,} ports, {networks:,} networks")


def _feature(kind: int, more: bool) -> str:
    """Return the rules of one kind of feature: about `FLOWS`, one of them recursive."""
    follow = f"On{kind + 1}(p, v) :- Steady{kind}(p, v), Port(v, _)." if more else ""
    return f"""
relation On{kind}(port: node, value: node)
relation Off{kind}(port: node)
relation Peer{kind}(port: node, other: node)
relation Steady{kind}(port: node, value: node)
On{kind}(p, v) :- Feature(p, {kind}, v), Port(p, w), not Disabled(w, {kind}).
Off{kind}(p) :- Feature(p, {kind}, _), Port(p, w), Disabled(w, {kind}).
Peer{kind}(p, q) :- On{kind}(p, q), Port(q, _).
Peer{kind}(p, r) :- Peer{kind}(p, q), On{kind}(q, r), Port(r, _).
Steady{kind}(p, v) :- On{kind}(p, v), not Off{kind}(p).
{follow}
Flow(p, {kind}, v) :- Steady{kind}(p, v).
Flow(p, {1000 + kind}, q) :- Peer{kind}(p, q), Steady{kind}(q, _).
Flow(p, {2000 + kind}, p) :- Off{kind}(p).
"""


OTHERS: Mapping[str, Family] = {
    "points-to, Andersen": andersen,
    "points-to, CSPA": cspa,
    "Dyck reachability": dyck,
    "permissions": permissions,
    "triples": triples,
    "wide": wide,
}

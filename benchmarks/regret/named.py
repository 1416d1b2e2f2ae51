"""Workloads with names: cases in which a default was found to be far from the best, kept so that it stays found.

Those that need data take them from the folder of data, and are left out where it has not got them.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from benchmarks import generate
from benchmarks.regret import families, graphs, other_families
from benchmarks.regret.changes import History, Step, load
from benchmarks.regret.families import Facts
from benchmarks.regret.workloads import Workload, draw

Make = Callable[[Path], Workload | None]
"""Makes a workload with the data of a folder; None where it has not got them."""
GROWING = (1, 10, 100, 1_000)


def _random() -> np.random.Generator:
    return np.random.default_rng(16)


def _reach_few(nodes: int, edges: int) -> Make:
    def make(_: Path) -> Workload:
        random = _random()
        some = graphs.random_pairs(random, nodes, edges + edges // 8)
        chosen = random.permutation(len(some))
        loaded, spare = some[chosen[:edges]], some[chosen[edges:]]
        facts = {"Edge": loaded, "Source": random.choice(nodes, 20, replace=False).reshape(-1, 1)}
        history = History(random, facts, {"Edge": spare})
        steps = [history.back("Edge", edges * 12 // 100), history.out("Edge", edges * 3 // 100)]
        steps += [history.out("Edge", 1), history.back("Edge", 1)]
        return _workload(families.REACH, [load(facts), *steps], "reach from few", f"random, {nodes:,} nodes")

    return make


def _growing(family: families.Family, size: int, what: str) -> Make:
    """Make a workload of a family whose commits grow, out and back, in the relation that has most facts."""

    def make(_: Path) -> Workload:
        random = _random()
        made = family(random, size)
        relation = max(made.facts, key=lambda name: len(made.facts[name]))
        history = History(random, made.facts, {})
        most = len(made.facts[relation])
        sizes = dict.fromkeys(min(size, most // 2) for size in (*GROWING, most // 10, most // 2))
        steps = [step for size in sizes for step in (history.out(relation, size), history.back(relation, size))]
        return _workload(made.program, [load(made.facts), *steps], what, made.graph)

    return make


def _hops(random: np.random.Generator, size: int) -> families.Made:
    edges = graphs.random_graph(3)(random, size)
    facts = {"Edge": edges, "Source": random.choice(graphs.nodes_of(edges), 20, replace=False).reshape(-1, 1)}
    return families.Made(families.HOPS.replace("{limit}", "8"), facts, "random, degree 3, 20 sources, at most 8 hops")


def _andersen_half(_: Path) -> Workload:
    random = _random()
    pairs = generate.andersen(10_000)
    facts = {name: np.array(rows, np.int64).reshape(-1, 2) for name, rows in pairs.items()}
    half: Facts = {}
    rest: Facts = {}
    for name, rows in facts.items():
        chosen = random.permutation(len(rows))
        half[name], rest[name] = rows[chosen[::2]], rows[chosen[1::2]]
    program = other_families.PROGRAMS.joinpath("andersen.dl").read_text()
    come, go = Step("+half of all", rest), Step("-half of all", deleted=rest)
    return _workload(program, [load(half), come, go, come], "points-to, Andersen", "10,000 variables")


def _crdt_first(data: Path) -> Workload | None:
    """The first inserts of a text: thousands of rounds that find a few tuples each."""
    path = data / "crdt" / "insert.csv.gz"
    if not path.exists():
        return None
    with gzip.open(path, "rt") as lines:
        rows = np.array(
            [[int(cell) for cell in line.split(",")] for line, _ in zip(lines, range(18_231), strict=False)]
        )
    program = other_families.PROGRAMS.joinpath("crdt.dl").read_text()
    history = History(_random(), {"Insert": rows}, {})
    steps = [history.out("Insert", 1), history.back("Insert", 1)]
    return _workload(program, [load({"Insert": rows}), *steps], "text editor (CRDT)", "its first 18,231 inserts")


def _rows(data: Path, *names: str) -> Facts | None:
    """Return the numbers in files of the folder of data, by the names of their relations; None if one is missing."""
    if not all((data / f"{name}.csv.gz").exists() for name in names):
        return None
    return {name.partition("/")[2]: np.loadtxt(data / f"{name}.csv.gz", np.int64, delimiter=",") for name in names}


def _owl2rl(data: Path) -> Workload | None:
    """The rules of OWL 2 RL on LUBM: most of them derive nothing, and what they cost depends on the order of joins."""
    found = _rows(data, "lubm_encoded/abox", "lubm_encoded/tbox")
    if found is None:
        return None
    facts = {"Triple": np.concatenate(list(found.values()))}
    history = History(_random(), facts, {})
    steps = [step for size in GROWING for step in (history.out("Triple", size), history.back("Triple", size))]
    program = other_families.PROGRAMS.joinpath("owl2rl.dl").read_text()
    return _workload(program, [load(facts), *steps], "triples, OWL 2 RL", "LUBM-1, 100,838 triples")


def _galen(data: Path) -> Workload | None:
    """A medical ontology, whose memory counts: 24 million tuples."""
    found = _rows(data, *(f"galen/{name}" for name in "pqrcus"))
    if found is None:
        return None
    program = other_families.PROGRAMS.joinpath("galen.dl").read_text()
    facts = {name.upper() + ("0" if name in "pq" else ""): rows for name, rows in found.items()}
    history = History(_random(), facts, {})
    steps = [step for size in (1, 10) for step in (history.out("P0", size), history.back("P0", size))]
    return _workload(program, [load(facts), *steps], "ontology, Galen", "976,602 facts")


def _chain(_: Path) -> Workload:
    """A chain of 15,000 rounds with one tuple each."""
    nodes = np.arange(15_001)
    facts = {"Edge": np.stack((nodes[:-1], nodes[1:]), axis=1), "Source": np.zeros((1, 1), np.int64)}
    history = History(_random(), facts, {})
    steps = [history.out("Edge", 1), history.back("Edge", 1)]
    return _workload(families.EVEN_ODD, [load(facts), *steps], "mutual, even and odd", "a chain of 15,000")


def _inverse(_: Path) -> Workload:
    """Broader, narrower and related terms in a tree: a closure and its inverse feed each other."""
    random = _random()
    terms = np.arange(1, 1_500)
    facts = {
        "Broader": np.stack((terms, (terms * random.random(len(terms))).astype(np.int64)), axis=1)[:300],
        "Related": random.integers(0, 300, (300, 2)),
    }
    history = History(random, facts, {})
    steps = [history.out("Broader", 1), history.back("Broader", 1)]
    return _workload(families.INVERSE, [load(facts), *steps], "closure with inverse", "a tree of 300 terms")


def _nothing(_: Path) -> Workload:
    """Triples with rules that derive nothing, whose order decides what that costs."""
    random = _random()
    facts = other_families.triples(random, 100_000).facts
    history = History(random, facts, {})
    steps = [step for size in GROWING for step in (history.out("Triple", size), history.back("Triple", size))]
    program = other_families.TRIPLES + other_families.NOTHING
    return _workload(program, [load(facts), *steps], "triples", "100,000 triples, rules that derive nothing")


def _workload(program: str, steps: list[Step], family: str, graph: str) -> Workload:
    return Workload("", program, tuple(steps), family, graph)


def _drawn(seed: int) -> Make:
    """Return what makes the workload of a seed, which a run on new seeds has found far from the best."""
    return lambda _: draw(seed)


NAMED: Mapping[str, Make] = {
    "reach-few-55037": _reach_few(55_037, 55_037),
    "reach-few-100000": _reach_few(100_000, 112_000),
    "reach-few-100937": _reach_few(100_937, 100_937),
    "permissions": _growing(other_families.permissions, 200_000, "permissions"),
    "hops-large": _growing(_hops, 93_000, "hops with a limit"),
    "hops-small": _growing(_hops, 9_000, "hops with a limit"),
    "dyck": _growing(other_families.dyck, 1_500, "Dyck reachability"),
    "andersen-half": _andersen_half,
    "crdt-first": _crdt_first,
    "chain-15000": _chain,
    "fed-closures": _growing(families.fed, 3_000, "closure fed by two"),
    "fed-inverse": _inverse,
    "triples-nothing": _nothing,
    "owl2rl": _owl2rl,
    "galen": _galen,
    "same-generation": _drawn(8200040),
    "triples-parts": _drawn(8300024),
    "triples-few": _drawn(8300011),
    "even-odd-dense": _drawn(8200029),
    "even-odd-few": _drawn(8300006),
    "inverse-acyclic": _drawn(8200025),
    "inverse-tree": _drawn(8300017),
    "inverse-few": _drawn(8300030),
    "permissions-few": _drawn(8100016),
    "counts-few": _drawn(8100000),
    "wide": _growing(other_families.wide, 6_000, "wide"),
    "tiny": _growing(families.reach_few, 60, "reach from few"),
}
"""By name; `tiny` takes a second and keeps the benchmark from rotting."""


def chosen(suite: str) -> list[str]:
    """Return the names that are meant, with commas between: each is one, the beginning of some, or `all` but `tiny`."""
    found: list[str] = []
    for part in suite.split(","):
        some = [name for name in NAMED if (part == "all" and name != "tiny") or name == part]
        some = some or [name for name in NAMED if name.startswith(part)]
        if not some:
            raise SystemExit(f"there is no workload `{part}`; there are all, {', '.join(NAMED)}")
        found += some
    return list(dict.fromkeys(found))

"""What small commits cost on Spark: beside seconds the jobs, the records that their tasks read, the bytes they spilled.

Facts are loaded, then ten of them go and come again, three times; at last a rule comes. This is done as the engine
chooses by default, which is on the driver as long as that holds everything, and with nothing there (`executors`). Of
three commits the median counts; in brackets are its records as a part of those of the load, by the same way.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from benchmarks.batch import Settings
from benchmarks.generate import random_graph
from benchmarks.inputs import prepare
from benchmarks.race_spark import ENGINE, start
from benchmarks.race_tidelog import planned
from benchmarks.tables import count, seconds, table
from benchmarks.workloads import PROGRAMS, WORKLOADS
from tidelog.base.plain.plain import Plain
from tidelog.plan.nodes import Plan
from tidelog.run.contract.engine import Delta, Row
from tidelog.run.spark.engine import SparkEngine
from tidelog.run.spark.frames.accounts import Account, opened_account
from tidelog.session.formats.files import read_facts

WAYS = ("spark", "executors")
FEW = 10
TIMES = 3
HEADING = ("commit", "seconds", "jobs", "records", "", "spilled", "how")
SAME = """
relation Same(a: u32, b: u32)
output relation Component(a: u32, least: u32)
Same(x, y) :- Edge(x, y).
Same(y, x) :- Same(x, y).
Same(x, z) :- Same(x, y), Same(y, z).
Component(x, l) :- Same(x, y), var l = y.group_by(x).min().
"""
REACH = """
input relation Start(a: u32)
output relation Reach(a: u32, b: u32)
Reach(x, x) :- Start(x).
Reach(x, z) :- Reach(x, y), Edge(y, z).
"""
DEGREE = """
output relation Degree(a: u32, n: u64)
Degree(a, n) :- Edge(a, b), var n = b.group_by(a).count().
"""
EDGE = "input relation Edge(a: u32, b: u32)\n"
RULE = "output relation Loop(a: u32)\nLoop(x) :- {}(x, x{}).\n"


@dataclass(frozen=True, slots=True)
class Load:
    """A program as text, the facts to begin with, and the relation whose facts change."""

    text: str
    facts: Mapping[str, list[Row]]
    changing: str

    @property
    def another(self) -> str:
        """The program with another rule."""
        arity = len(self.facts[self.changing][0])
        return self.text + RULE.format(self.changing, ", _" * (arity - 2))


def _graph(program: str, edges: int, starts: int = 0) -> Load:
    facts: dict[str, list[Row]] = {"Edge": sorted(set(random_graph(edges // 2, edges)))}
    return Load(EDGE + program, facts | ({"Start": [(node,) for node in range(starts)]} if starts else {}), "Edge")


def _triples(settings: Settings, *, quick: bool) -> Load:
    name = "lubm-1" if quick else "lubm-10"
    path = PROGRAMS / f"{WORKLOADS[name].program}.dl"
    plan = planned(path)
    read = read_facts(prepare(name, settings.data, settings.work), plan.relations, Plain(plan.types)).rows
    return Load(path.read_text(), {relation: [tuple(row) for row in rows] for relation, rows in read.items()}, "Triple")


def loads(settings: Settings, *, quick: bool) -> Mapping[str, Callable[[], Load]]:
    """Return what is loaded, by name."""
    size = 1_000 if quick else 1_000_000
    return {
        "count of edges": lambda: _graph(DEGREE, size),
        "reach from 5 sources": lambda: _graph(REACH, 3 * size, 5),
        "connected components": lambda: _graph(SAME, 4 * size),
        "RDFS, LUBM": lambda: _triples(settings, quick=quick),
    }


def run_commits(settings: Settings, only: str | None, *, quick: bool) -> list[str]:
    """Measure all commits; print a table for each load; return what is wrong."""
    mistakes: list[str] = []
    for name, load in loads(settings, quick=quick).items():
        if only is None or name.startswith(only):
            made = load()
            told = {way: list(_commits(way, made, settings)) for way in WAYS}
            print(f"\n== {name}: {sum(map(len, made.facts.values())):,} facts")
            for way, commits in told.items():
                print(f"\n{way}\n{table(HEADING, [_line(one, commits[0]) for one in _middle(commits)])}", flush=True)
            sizes = {tuple(tuple(sorted(one.sizes.items())) for one in commits) for commits in told.values()}
            mistakes += [f"{name}: the ways have other tuples"] if len(sizes) > 1 else []
    return mistakes


@dataclass(frozen=True, slots=True)
class Commit:
    """What a commit took, and how many tuples outputs have after it."""

    name: str
    seconds: float
    account: Account
    how: str
    sizes: Mapping[str, int]


def _middle(commits: Sequence[Commit]) -> Iterator[Commit]:
    """Yield of commits of the same name the one that took the median of their seconds."""
    for name in dict.fromkeys(commit.name for commit in commits):
        several = [commit for commit in commits if commit.name == name]
        middle = median_low(one.seconds for one in several)
        yield next(one for one in several if one.seconds == middle)


def _line(commit: Commit, load: Commit) -> tuple[str, ...]:
    account, whole = commit.account, load.account.records
    part = f"({account.records / whole:.2%})" if whole and commit is not load else ""
    figures = (count(account.jobs), count(account.records), part, count(account.spilled))
    return (commit.name, seconds(commit.seconds), *figures, commit.how)


def _commits(way: str, load: Load, settings: Settings) -> Iterator[Commit]:
    spark = start("spark")
    engine = SparkEngine(_plan(load.text, settings), spark=spark, **ENGINE[way])  # type: ignore[arg-type]
    yield _commit("load", engine, {name: Delta(rows) for name, rows in load.facts.items()})
    chosen = random.Random(1)
    for _ in range(TIMES):
        some = chosen.sample(load.facts[load.changing], FEW)
        yield _commit(f"-{FEW}", engine, {load.changing: Delta((), some)})
        yield _commit(f"+{FEW}", engine, {load.changing: Delta(some)})
    yield _commit("+ a rule", engine, {}, _plan(load.another, settings))


def _commit(name: str, engine: SparkEngine, facts: Mapping[str, Delta], plan: Plan | None = None) -> Commit:
    account, begun = opened_account(start("spark")), time.perf_counter()
    update = engine.update(facts, plan)
    took, read = time.perf_counter() - begun, account()
    outputs = [relation for relation, found in engine.plan.relations.items() if found.role == "output"]
    how = ", ".join(sorted({work.reason if "driver" in work.reason else work.strategy for work in update.work}))
    return Commit(name, took, read or Account(), how, {relation: engine.count(relation) for relation in outputs})


def _plan(text: str, settings: Settings) -> Plan:
    settings.work.mkdir(parents=True, exist_ok=True)
    path = settings.work / "commits.dl"
    path.write_text(text)
    return planned(path)

"""What the papers say of their algorithms, seen on ours: figures of `docs/strategies.md` on `modular` and `elastic`.

    modular, Example 1      a path of n edges under a closure that is fed by what it feeds: rule instances to evaluate
                            it, and to take out the edge in the middle, where the transitive rule alone has n cubed / 6
    modular, deletions      what a commit of ten edges derives that is no closure
    elastic, filter         rows that re-discovery matches with its filter whole and divided (section 4.2)
    elastic and ranked      updates that go on to the end

Everything is made here, in this process; times are processor time. Every setting must find the same tuples.
"""

from __future__ import annotations

import json
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any
from unittest.mock import patch

from benchmarks import generate
from benchmarks.batch import Settings
from benchmarks.tables import count, seconds, table
from tidelog import Database, Fallback
from tidelog.plan.nodes import Scan
from tidelog.run.columnar.store import Store
from tidelog.run.contract.engine import Row
from tidelog.run.contract.phase import Phase
from tidelog.run.tuples.relation import Find
from tidelog.run.tuples.store import Seen

Facts = Mapping[str, Sequence[Row]]
Options = dict[str, Any]
Spent = tuple[float, int]
"""Processor time in seconds, and derivations."""

FED = """
input relation E(a: u32, b: u32)
input relation F(a: u32, b: u32)
output relation T(a: u32, b: u32)
relation R(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), T(y, z).
T(x, y) :- R(x, y).
R(x, z) :- T(x, y), F(y, z).
"""
APART = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z), x != z.
"""
CLOSURE = """
input relation E(a: u32, b: u32)
output relation T(a: u32, b: u32)
T(x, y) :- E(x, y).
T(x, z) :- T(x, y), E(y, z).
"""
NONLINEAR = CLOSURE.replace("E(y, z)", "T(y, z)")
HUB = """
input relation Has(x: u32, a: u32)
input relation E(y: u32, a: u32)
input relation Passes(x: u32, y: u32, a: u32)
relation Owns(x: u32, a: u32)
output relation T(x: u32, y: u32)
Owns(x, a) :- Has(x, a).
Owns(y, a) :- T(x, y), Passes(x, y, a).
T(x, y) :- Owns(x, a), E(y, a).
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A program of which `T` is read, its facts, and facts of `E` that go and come back, some at a time."""

    name: str
    program: str
    facts: Facts
    changes: Sequence[Sequence[Row]]


@dataclass(frozen=True, slots=True)
class Line:
    """What a case took under some options: (seconds, derivations) and what was counted; of changes the medians."""

    table: str
    case: str
    setting: str
    tuples: int
    scratch: Spent
    deleted: Spent
    inserted: Spent
    counted: int = 0


@contextmanager
def matches() -> Iterator[list[int]]:
    """Count the rows that re-discovery matches."""
    found: list[int] = []
    finder, spend = Seen.finder, Store.spend_on_matches

    def spending(self: Store, rows: int, sifted: int = 0) -> None:
        if self.phase is Phase.REDISCOVER:
            found.append(rows + sifted)
        spend(self, rows, sifted)

    def finding(self: Seen, scan: Scan, columns: tuple[int, ...], *, negated: bool = False) -> Find:
        find = finder(self, scan, columns, negated=negated)

        def counting(key: Any) -> Any:
            rows = find(key)
            if self._store.phase is Phase.REDISCOVER:
                found.append(len(rows))
            return rows

        return counting

    with patch.object(Store, "spend_on_matches", spending), patch.object(Seen, "finder", finding):
        yield found


def run_papers(suite: str | None, settings: Settings) -> list[str]:
    """Measure, print a table each, and return what is wrong; the suite `tiny` has small cases."""
    mistakes: list[str] = []
    lines: list[Line] = []
    for name, (cases, options, counting) in tables(tiny=suite == "tiny").items():
        found = [measured(name, case, how, counting) for case in cases for how in options]
        sizes = {(line.case, line.tuples) for line in found}
        mistakes += [f"{name}: settings differ on {case.name}" for case in cases] if len(sizes) > len(cases) else []
        print(f"\n== {name}\n{table(HEADING, [_row(line) for line in found])}", flush=True)
        lines += found
    if settings.json is not None:
        settings.json.write_text(json.dumps([asdict(line) for line in lines], indent=1))
    return mistakes


Counting = Callable[[], Any]
HEADING = ("case", "setting", "tuples", "scratch", "derived", "deleted", "derived", "inserted", "derived", "counted")


def tables(*, tiny: bool) -> dict[str, tuple[list[Case], list[Options], Counting | None]]:
    """Return the cases of each table, the options each is measured with, and what is counted of its deletions."""
    strategies: list[Options] = [{"strategy": name} for name in ("modular", "ranked", "dred")]
    elastic: Options = {"strategy": "elastic"}
    paths = (10, 20) if tiny else (75, 150, 300)
    hub, nodes = (5, 20) if tiny else (200, 400)
    few = nodes if tiny else nodes // 4
    filters: list[Options] = [
        {**elastic, "engine": engine, "rediscovery": how}
        for engine in ("columnar", "tuples")
        for how in ("whole", "divided")
    ]
    return {
        "modular, Example 1": ([path(n) for n in paths], strategies, None),
        "modular, deletions": ([closures(nodes, APART, 9)], strategies, None),
        "elastic, filter: rows matched": ([hubs(hub), closures(few), two_graphs(few)], filters, matches),
        "elastic and ranked": ([closures(nodes, CLOSURE, 5), two_graphs(few)], [elastic, {"strategy": "ranked"}], None),
    }


def path(n: int) -> Case:
    """Example 1 of Hu, Motik and Horrocks: n edges in a row, of which the middle one goes."""
    edges = [(i, i + 1) for i in range(n)]
    return Case(f"a path of {n} edges", FED, {"E": edges, "F": []}, [[edges[n // 2]]])


def closures(nodes: int, program: str = CLOSURE, times: int = 1) -> Case:
    """Twice as many random edges as nodes, of which ten go at a time."""
    edges = generate.random_graph(nodes, 2 * nodes)
    rng = random.Random(5)
    return Case(
        f"{nodes} nodes, {2 * nodes} edges", program, {"E": edges}, [rng.sample(edges, 10) for _ in range(times)]
    )


def two_graphs(nodes: int) -> Case:
    """Two equal graphs and an edge from one to the other, which goes."""
    inside = generate.random_graph(nodes, 3 * nodes)
    edges = [*inside, *((a + nodes, b + nodes) for a, b in inside), (3, nodes + 5)]
    return Case(f"two graphs of {nodes} nodes, the bridge", CLOSURE, {"E": edges}, [edges[-1:]])


def hubs(size: int) -> Case:
    """Pairs by one thing that all have and want, which goes; each has twenty of its own besides, and wants them."""
    common = [(x, 0) for x in range(size)]
    own = [(x, 20 * x + i + 1) for x in range(size) for i in range(20)]
    facts: Facts = {"Has": [*common, *own], "E": [*common, *own], "Passes": [(1, 2, 0)]}
    return Case(f"a hub of {size}", HUB, facts, [common])


def measured(name: str, case: Case, options: Options, counting: Counting | None) -> Line:
    """Evaluate a case from scratch, then let its facts go and come back."""
    database = Database(case.program, fallback=Fallback(math.inf), **options)
    scratch = _timed(database, lambda tx: [tx.insert(name, rows) for name, rows in case.facts.items()])
    tuples = database.relation("T").count()
    out, back, counted = [], [], 0
    for rows in case.changes:
        out.append(_timed(database, lambda tx, rows=rows: tx.delete("E", rows)))  # type: ignore[misc]
        back.append(_timed(database, lambda tx, rows=rows: tx.insert("E", rows)))  # type: ignore[misc]
        if counting is not None:
            with counting() as found:
                _timed(database, lambda tx, rows=rows: tx.delete("E", rows))  # type: ignore[misc]
            counted += sum(found)
            _timed(database, lambda tx, rows=rows: tx.insert("E", rows))  # type: ignore[misc]
    database.verify()
    deleted, inserted = _median(out), _median(back)
    setting = " ".join(map(str, options.values()))
    return Line(name, case.name, setting, tuples, scratch, deleted, inserted, counted)


def _median(spent: Sequence[Spent]) -> Spent:
    return statistics.median(taken for taken, _ in spent), round(statistics.median(derived for _, derived in spent))


def _timed(database: Database, act: Callable[[Any], Any]) -> Spent:
    start = time.process_time()
    with database.transaction() as transaction:
        act(transaction)
    return time.process_time() - start, sum(work.derivations for work in transaction.result.profile)


def _row(line: Line) -> tuple[str, ...]:
    spent = (line.scratch, line.deleted, line.inserted)
    cells = (cell for taken, derived in spent for cell in (seconds(taken), count(derived)))
    return line.case, line.setting, count(line.tuples), *cells, count(line.counted) if line.counted else "-"

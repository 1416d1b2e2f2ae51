"""Looking up and asking among many rows: by a bound column, by a goal of one atom, and by a join.

Each is measured the first time, which may build an index, then warm with other values, and right after a commit of one
row. Goals of `queries`: the first look-up by a column within 30 ms, each other one, also after a commit, within 1 ms.
Times are of the processor, the median of `REPEATS`, or of the first time alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from statistics import median

import numpy as np
import pyarrow as pa

from benchmarks.batch import Settings
from benchmarks.tables import seconds, table
from tidelog import Database

PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Name(text: string, n: u32)
input relation Off(n: u32)
index by_b(b: u32) on Edge(_, b)
"""
REPEATS = 25
FIRST, LATER = 0.030, 0.001
"""Goals for a look-up the first time, and for every other."""


def run_queries(rows: int, settings: Settings) -> list[str]:
    """Measure look-ups and goals, print a table, and return what is wrong."""
    print(f"\n== queries of {rows:,} rows")
    db, nodes = _database(rows), max(10, rows // 5)
    ways: dict[str, Callable[[int], int]] = {
        "Edge.where(a=...)": lambda n: len(db["Edge"].where(a=n)),
        "Edge.where(b=...)": lambda n: len(db["Edge"].where(b=n)),
        "Name.where(text=...)": lambda n: len(db["Name"].where(text=f"node {n}")),
        "query_index(by_b)": lambda n: len(db.query_index("by_b", n)),
        "Edge($n, x)": lambda n: len(db.query("Edge($n, x)", {"n": n})),
        "Edge($n, x), Edge(x, y), not Off(y)": lambda n: len(db.query("Edge($n, x), Edge(x, y), not Off(y)", {"n": n})),
    }
    found: dict[str, list[float]] = {}
    wrong: list[str] = []
    numbers = iter(np.random.default_rng(1).permutation(nodes).tolist())
    for name, way in ways.items():
        first = _time(way, next(numbers))
        warm = median(_time(way, next(numbers)) for _ in range(REPEATS))
        after = median(_after_commits(db, way, numbers))
        found[name] = [first, warm, after]
        if "where" in name and (first > FIRST or max(warm, after) > LATER):
            wrong.append(f"{name}: {first:.4f} s, then {warm:.5f} s, after a commit {after:.5f} s")
    lines = [(name, *map(seconds, times)) for name, times in found.items()]
    print(table(("what", "first", "warm", "after a commit"), lines), flush=True)
    if settings.json is not None:
        settings.json.write_text(json.dumps(found, indent=1))
    return wrong


def _database(rows: int) -> Database:
    rng = np.random.default_rng(7)
    nodes = max(10, rows // 5)
    numbers = [pa.array(rng.integers(0, nodes, rows, np.uint32)) for _ in range(3)]
    names = pa.array([f"node {n}" for n in range(nodes)]).take(numbers[2])
    return Database(
        PROGRAM,
        facts={
            "Edge": pa.table(numbers[:2], names=["a", "b"]),
            "Name": pa.table([names, numbers[0]], names=["text", "n"]),
            "Off": [(1,), (2,)],
        },
    )


def _after_commits(db: Database, way: Callable[[int], int], numbers: Iterator[int]) -> Iterator[float]:
    for _ in range(5):
        number = next(numbers)
        with db.transaction() as tx:
            tx.insert("Edge", [(number, next(numbers))])
            tx.insert("Name", [(f"node {number}", 1)])
        yield _time(way, number)


def _time(way: Callable[[int], int], number: int) -> float:
    started = time.process_time()
    way(number)
    return time.process_time() - started

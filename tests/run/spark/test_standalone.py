"""A program of realistic size submitted to a cluster of processes of their own, as docs/cluster.md says.

A closure of more than a million tuples, a recursion over 100,000 triples that does not decompose, facts that come and
go, a rule that comes. It takes minutes, so it runs before a release: TIDELOG_STANDALONE=1.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.run.spark.standalone import job
from tests.run.spark.standalone.cluster import cluster, submit
from tidelog import Database

pytestmark = [
    pytest.mark.spark,
    pytest.mark.timeout(3600),
    pytest.mark.skipif(os.environ.get("TIDELOG_STANDALONE") != "1", reason="takes minutes: TIDELOG_STANDALONE=1"),
]

PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Triple(s: u32, p: u32, o: u32)
output relation Reach(a: u32, b: u32)
output relation Known(s: u32, p: u32, o: u32)
output relation Odd(n: u32)
Odd(n) :- Edge(n, _), n % 2 == 1, n < 9.
Reach(x, y) :- Edge(x, y).
Reach(x, z) :- Reach(x, y), Edge(y, z).
Known(s, p, o) :- Triple(s, p, o).
Known(a, 0, c) :- Known(a, 0, b), Known(b, 0, c).
Known(x, 4, d) :- Known(x, 4, c), Known(c, 0, d).
Known(x, q, y) :- Known(x, p, y), Known(p, 1, q).
Known(x, 4, c) :- Known(x, p, y), Known(p, 2, c).
Known(y, 4, c) :- Known(x, p, y), Known(p, 3, c).
"""
NODES, EDGES = 1_200, 3_000
TRIPLES = 110_000
Rows = Sequence[tuple[int, ...]]
Step = dict[str, dict[str, Rows]]


def steps() -> dict[str, Step]:
    """What is inserted and deleted in each step: a random graph; classes and properties, and things that have them."""
    random = Random(7)
    edges = list({(random.randrange(NODES), random.randrange(NODES)) for _ in range(EDGES)})
    classes, properties = range(10, 30), range(50, 80)
    schema = [(c, 0, random.randrange(10, c)) for c in classes[1:]]
    schema += [(p, 1, random.randrange(50, min(p, 53))) for p in properties[1:]]
    schema += [(p, random.choice((2, 3)), random.choice(classes)) for p in properties]
    things = {
        (random.randrange(1_000, 9_000), random.choice(properties), random.randrange(1_000, 9_000))
        for _ in range(TRIPLES)
    }
    triples = [*schema, *things]
    out: dict[str, Rows] = {"Edge": edges[::200], "Triple": [*schema[5:7], *triples[500:-1:500]]}
    later = [(x, 60, x + 1) for x in range(2_000, 2_100)]
    return {
        "load": {"Edge": {"insert": edges}, "Triple": {"insert": triples}},
        "update": {
            "Edge": {"delete": out["Edge"], "insert": [(5, NODES + 1), (NODES + 1, 6)]},
            "Triple": {"delete": out["Triple"], "insert": later},
        },
        "rule": {"Edge": {"insert": out["Edge"]}, "Triple": {"insert": out["Triple"]}},
    }


def rows_of(table: Any, columns: Sequence[str]) -> Any:
    """Return a table's rows, sorted."""
    found = np.stack([table.column(name).to_numpy().astype(np.int64) for name in columns])
    return found[:, np.lexsort(found)]


def test_a_realistic_program(tmp_path: Path) -> None:
    (tmp_path / "program.dl").write_text(PROGRAM)
    for step, relations in steps().items():
        for name, signs in relations.items():
            for sign, rows in signs.items():
                folder = tmp_path / "facts" / step / name / sign
                folder.mkdir(parents=True)
                columns = {"Edge": "ab", "Triple": "spo"}[name]
                table = pa.table(
                    {c: pa.array(v, pa.int64()) for c, v in zip(columns, zip(*rows, strict=True), strict=True)}
                )
                pq.write_table(table, folder / "part.parquet")
    results = tmp_path / "results"
    with cluster(tmp_path) as address:
        arguments = [str(tmp_path / part) for part in ("program.dl", "facts", "results")]
        divided = {"spark.tidelog.driverRows": "0", "spark.tidelog.wholeRows": "0"}
        told = submit(address, tmp_path, Path(job.__file__), *arguments, **divided)
    assert "load: Reach decomposed" in told, told
    assert "load: Known spread" in told, told
    compare(results)


def compare(results: Path) -> None:
    """Compare all changes and all answers with those of the columnar engine."""
    database = Database(PROGRAM, engine="columnar")
    for step, relations in steps().items():
        with database.transaction() as tx:
            for name, signs in relations.items():
                tx.delete(name, signs.get("delete", []))
                tx.insert(name, signs.get("insert", []))
            if step == "rule":
                tx.add_rules(job.RULE)
        written = {folder.name for folder in (results / step).iterdir()}
        assert written == {name for name, change in tx.result.changes.items() if len(change)}, step
        for name in written:
            expected, found = tx.result.changes[name].to_arrow(), pq.read_table(results / step / name)
            columns = expected.column_names
            assert np.array_equal(rows_of(expected, columns), rows_of(found, columns)), (step, name)
    assert database.relation("Reach").count() > 1_000_000
    assert database.relation("Triple").count() > 100_000
    for view in database.relations():
        expected, found = view.to_arrow(), pq.read_table(results / "answers" / view.name)
        columns = expected.column_names
        assert np.array_equal(rows_of(expected, columns), rows_of(found, columns)), view.name

"""A program of realistic size submitted to a cluster of processes of their own, as docs/cluster.md says.

A closure, a recursion over triples that does not decompose, components, wide rows, facts that come and go, a rule that
comes. The small one is for every day; that with a closure of more than a million tuples, 100,000 triples and 100 MB of
wide rows takes minutes, so it runs before a release: TIDELOG_STANDALONE=1.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.run.spark.conftest import Outcomes
from tests.run.spark.standalone import job
from tests.run.spark.standalone.cluster import cluster, submit
from tidelog import Database
from tidelog.base.record import record

pytestmark = [pytest.mark.spark, pytest.mark.timeout(3600)]

PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Triple(s: u32, p: u32, o: u32)
input relation Doc(n: u32, text: string)
output relation Long(n: u32, text: string)
Long(n, t) :- Doc(n, t), n % 2 == 0.
relation Same(a: u32, b: u32)
output relation Component(a: u32, least: u32)
Same(x, y) :- Edge(x, y), x % 3 == 0.
Same(y, x) :- Same(x, y).
Same(x, z) :- Same(x, y), Same(y, z).
Component(x, l) :- Same(x, y), var l = y.group_by(x).min().
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
COLUMNS = {"Edge": ("a", "b"), "Triple": ("s", "p", "o"), "Doc": ("n", "text")}
Rows = Sequence[tuple[Any, ...]]
Step = dict[str, dict[str, Rows]]


@record
class Scale:
    """How large a program is to be, and the least size of its closure."""

    nodes: int
    edges: int
    triples: int
    documents: int
    closure: int


SMALL = Scale(40, 90, 1_500, 500, 500)
LARGE = Scale(1_200, 3_000, 110_000, 70_000, 1_000_000)


def steps(scale: Scale) -> dict[str, Step]:
    """What is inserted and deleted in each step: a random graph; classes and properties, and things that have them."""
    random = Random(7)
    edges = list({(random.randrange(scale.nodes), random.randrange(scale.nodes)) for _ in range(scale.edges)})
    classes, properties = range(10, 30), range(50, 80)
    schema = [(c, 0, random.randrange(10, c)) for c in classes[1:]]
    schema += [(p, 1, random.randrange(50, min(p, 53))) for p in properties[1:]]
    schema += [(p, random.choice((2, 3)), random.choice(classes)) for p in properties]
    things = {
        (random.randrange(1_000, 9_000), random.choice(properties), random.randrange(1_000, 9_000))
        for _ in range(scale.triples)
    }
    triples = [*schema, *things]
    out: dict[str, Rows] = {"Edge": edges[::20], "Triple": [*schema[5:7], *triples[500:-1:500]]}
    documents = [(n, f"{n} {random.getrandbits(4 * 1_500):x}") for n in range(scale.documents)]
    later = [(x, 60, x + 1) for x in range(2_000, 2_100)]
    return {
        "load": {"Edge": {"insert": edges}, "Triple": {"insert": triples}, "Doc": {"insert": documents}},
        "update": {
            "Edge": {"delete": out["Edge"], "insert": [(5, scale.nodes + 1), (scale.nodes + 1, 6)]},
            "Triple": {"delete": out["Triple"], "insert": later},
            "Doc": {"delete": documents[::50], "insert": [(0, "another")]},
        },
        "rule": {"Edge": {"insert": out["Edge"]}, "Triple": {"insert": out["Triple"]}},
    }


def rows_of(table: Any) -> Any:
    """Return a table's rows, sorted, its integers alike."""
    whole = [field if pa.types.is_string(field.type) else field.with_type(pa.int64()) for field in table.schema]
    columns = [table.column(field.name).cast(field.type).combine_chunks() for field in whole]
    found = pa.Table.from_arrays(columns, names=table.column_names)
    return found.sort_by([(name, "ascending") for name in sorted(found.column_names)]).select(
        sorted(found.column_names)
    )


def small(folder: Path) -> None:
    """Run it on little, with queries that are not compiled."""
    tiny = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    play(
        folder,
        SMALL,
        {
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": tiny,
            "spark.executor.extraJavaOptions": tiny,
            "spark.tidelog.partitions": "3",
        },
    )


@pytest.mark.parametrize("fault", [small], ids=["small"])
def test_a_small_program(fault: Callable[[Path], None], faults: Outcomes) -> None:
    faults[fault].result()


@pytest.mark.skipif(os.environ.get("TIDELOG_STANDALONE") != "1", reason="takes minutes: TIDELOG_STANDALONE=1")
def test_a_realistic_program(tmp_path: Path) -> None:
    play(tmp_path, LARGE, {})


def play(folder: Path, scale: Scale, settings: Mapping[str, str]) -> None:
    """Submit the program to a cluster of two workers of 1 GB; compare what it writes."""
    (folder / "program.dl").write_text(PROGRAM)
    every = steps(scale)
    for step, relations in every.items():
        for name, signs in relations.items():
            for sign, rows in signs.items():
                write(folder / "facts" / step / name / sign, COLUMNS[name], rows)
    with cluster(folder) as address:
        arguments = [str(folder / part) for part in ("program.dl", "facts", "results")]
        divided = {"spark.tidelog.driverRows": "0", "spark.tidelog.wholeRows": "0"}
        told = submit(address, folder, Path(job.__file__), *arguments, **divided, **settings)
    for line in ("load: Reach by key", "load: Known exchanging", "load: Same components"):
        assert line in told, told
    compare(folder / "results", every, scale)


def write(folder: Path, columns: Sequence[str], rows: Rows) -> None:
    """Write facts as Parquet."""
    folder.mkdir(parents=True)
    arrays = [pa.array(values) for values in zip(*rows, strict=True)]
    pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), folder / "part.parquet")


def compare(results: Path, every: Mapping[str, Step], scale: Scale) -> None:
    """Compare all changes and all answers with those of the columnar engine."""
    database = Database(PROGRAM, engine="columnar")
    for step, relations in every.items():
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
            assert rows_of(expected).equals(rows_of(found)), (step, name)
    assert database.relation("Reach").count() >= scale.closure
    for view in database.relations():
        assert rows_of(view.to_arrow()).equals(rows_of(pq.read_table(results / "answers" / view.name))), view.name

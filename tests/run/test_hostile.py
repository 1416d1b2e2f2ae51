"""Limits hold against hostile programs: each ends with a `LimitError`, in time, in memory, and with nothing changed."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.run.hostile.programs import FUNCTIONS, RULES
from tidelog import Database, LimitError, Limits, Transaction
from tidelog.base.process.meter import memory_in_use

SECONDS = 0.3
"""The time limit of each program."""
ENGINES = [("columnar", "auto"), ("columnar", "dbsp"), ("tuples", "auto"), ("reference", "auto")]
STRATEGIES = [*ENGINES[1:], *(("columnar", strategy) for strategy in ("recompute", "dred", "elastic", "modular"))]
SHARED = ["nested loops", "folds", "text that doubles", "vectors that double", "trees that double", "squares"]
"""What is tried with every engine; all of the functions share their values and operators."""
BASIC = ["a cross join", "pairs that do not fit", "even and odd", "same generation"]
"""What is tried with every strategy."""
LINEAR = ["triangles through a hub"]
"""What the columnar engine evaluates in time linear in the facts: it may end before the limit is reached."""
CLOSURE = RULES["reachability"][0]


def ended(jobs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Run jobs in a process of their own, where a hang or a lack of memory hurts nobody else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.run.hostile.child"],
        input=json.dumps(jobs),
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(jobs: list[dict[str, Any]]) -> None:
    """Check the bounds: a second limit passed at most, or two seconds; half as much memory again."""
    for one in ended(jobs):
        told = json.dumps(one)
        assert one["ended"].startswith("LimitError") or (one["name"] in LINEAR and one["ended"] == "nothing"), told
        assert "seconds" not in one or one["took"] <= max(2 * SECONDS, SECONDS + 2), told
        assert one["used"] <= 1.5, told
        assert one["same"], told


@pytest.mark.long(reason="programs that run until a limit stops them")
@pytest.mark.parametrize(("engine", "strategy"), ENGINES)
def test_functions(engine: str, strategy: str) -> None:
    names = list(FUNCTIONS) if (engine, strategy) == ENGINES[0] else SHARED
    check([{"name": n, "engine": engine, "strategy": strategy, "seconds": SECONDS, "memory": True} for n in names])


@pytest.mark.long(reason="programs that run until a limit stops them")
def test_values_under_a_limit_of_memory_alone() -> None:
    names = ["text that doubles", "interpolation that doubles", "vectors that double", "a long range"]
    check([{"name": n, "engine": "columnar", "strategy": "auto", "memory": True} for n in names])


@pytest.mark.long(reason="programs that run until a limit stops them")
def test_rules() -> None:
    check([{"name": n, "engine": "columnar", "strategy": "auto", "seconds": SECONDS, "memory": True} for n in RULES])


@pytest.mark.long(reason="programs that run until a limit stops them")
@pytest.mark.parametrize(("engine", "strategy"), STRATEGIES)
def test_rules_with_every_strategy(engine: str, strategy: str) -> None:
    check([{"name": n, "engine": engine, "strategy": strategy, "seconds": SECONDS, "memory": True} for n in BASIC])


@pytest.mark.long(reason="programs that run until a limit stops them")
def test_graphs_from_scratch() -> None:
    """By `recompute`; a closure by `auto` is among the rules."""
    names = ["reachability", "reachability by searches", "same generation at random"]
    check([{"name": n, "engine": "columnar", "strategy": "recompute", "seconds": SECONDS} for n in names])


@pytest.mark.long(reason="programs that run until a limit stops them")
def test_rules_under_a_limit_of_memory_alone() -> None:
    names = ["a cross join", "a set of each", "elements of a long vector", "an endless text", "reachability by halves"]
    names.append("reachability")
    check([{"name": n, "engine": "columnar", "strategy": "auto", "memory": True} for n in names])


@pytest.mark.long(reason="programs that run until a limit stops them")
def test_rules_under_a_limit_of_tuples_alone() -> None:
    names = ["a cross join", "same generation", "an endless count", "a vector of all pairs"]
    check([{"name": n, "engine": "columnar", "strategy": "auto", "tuples": 100_000} for n in names])


@pytest.mark.long(reason="programs that run until a limit stops them")
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("A.csv.gz", b""),
        ("A.jsonl.gz", b""),
        ("A.facts.gz", b""),
        ("A.csv.gz", b'"x"\n'),
        ("A.jsonl.gz", b'{"x":"x"}\n'),
    ],
)
def test_a_file_that_is_huge_when_uncompressed(tmp_path: Path, name: str, line: bytes) -> None:
    with gzip.open(tmp_path / name, "wb", compresslevel=1) as file:
        for _ in range(60):
            file.write(line * (1_000_000 // len(line)) if line else b"x" * 1_000_000)
    program = "input relation A(x: string)\noutput relation R(x: string)\nR(x) :- A(x).\n"
    with pytest.raises(LimitError, match="bytes of memory"):
        Database(program, facts=tmp_path, limits=Limits(memory=memory_in_use() + (30 << 20)))


def test_rows_of_a_closure_that_do_not_fit() -> None:
    database = Database(CLOSURE, limits=Limits(memory=memory_in_use() + (600 << 20)))
    with database.transaction() as transaction:
        transaction.insert("E", [(n, n + 1) for n in range(20_000)])
    with pytest.raises(LimitError, match="bytes of memory"):
        database.relation("R").rows()
    assert database.relation("R").count() == 200_010_000


def test_verifying_and_following_otherwise_keep_the_limits() -> None:
    """Both evaluate from scratch; each of the two transactions stayed within the limit, all of it does not."""
    program = "input relation A(x: u64)\noutput relation R(x: u64)\nR(x) :- A(x).\n"
    database = Database(program, strategy="ranked", limits=Limits(tuples=150))
    for start in (0, 100):
        with database.transaction() as transaction:
            transaction.insert("A", [(n,) for n in range(start, start + 100)])
    with pytest.raises(LimitError, match="more than 150 new tuples"):
        database.verify()
    with pytest.raises(LimitError, match="more than 150 new tuples"):
        database.set_strategy("dred")
    assert database.strategy == "ranked"
    assert database.relation("R").count() == 200


def test_verifying_keeps_to_the_memory() -> None:
    """The engine holds the pairs as bits; they are compared as rows."""
    database = Database(CLOSURE, limits=Limits(memory=memory_in_use() + (400 << 20)))
    with database.transaction() as transaction:
        transaction.insert("E", [(n, n + 1) for n in range(3_000)])
    with pytest.raises(LimitError, match="bytes of memory"):
        database.verify()
    assert database.relation("R").count() == 4_501_500


def deletes_nothing(database: Database, limits: Limits, relation: str, row: tuple[int, ...], match: str) -> None:
    """Check that a preview and a commit of a deletion end with an error, and that nothing has changed then."""
    before = {view.name: view.count() for view in database.relations()}

    def delete(end: Callable[[Transaction], object]) -> None:
        with database.transaction(limits) as transaction:
            transaction.delete(relation, [row])
            end(transaction)

    for end in (Transaction.preview, Transaction.commit):
        with pytest.raises(LimitError, match=match):
            delete(end)
        assert {view.name: view.count() for view in database.relations()} == before


def test_a_deletion_that_does_not_fit() -> None:
    """Without the edge in the middle half of the pairs are gone, and the change has all of them."""
    facts = {"E": [(n, n + 1) for n in range(20_000)]}
    database = Database(CLOSURE, facts=facts)
    limits = Limits(memory=memory_in_use() + (150 << 20))
    deletes_nothing(database, limits, "E", (10_000, 10_001), "bytes of memory")


def test_a_deletion_that_takes_long() -> None:
    program = "input relation A(x: u64)\ninput relation Stop(x: u64)\nrelation Go(x: u64)\noutput relation R(x: u64)\n"
    program += "Go(x) :- A(x), not Stop(0).\nR(x) :- Go(x), Go(y), x + y == 1000000000.\n"
    database = Database(program, facts={"A": [(n,) for n in range(100_000)], "Stop": [(0,)]})
    deletes_nothing(database, Limits(seconds=SECONDS), "Stop", (0,), "more than 0.3 seconds")

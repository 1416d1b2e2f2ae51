"""Large relations: few probes of one that is not searched without a fence, however its rows are held; and loading."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tidelog import Database
from tidelog.base.tuning.table import DEFAULT
from tidelog.session.engines import StrategyName

PROGRAM = """
input relation Edge(a: u32, b: u32)
input relation Start(a: u32)
relation Path(a: u32, b: u32)
output relation Hit(b: u32)
output relation Source(a: u32)
Path(a, b) :- Edge(a, b).
Path(a, c) :- Path(a, b), Edge(b, c).
Hit(b) :- Start(a), Path(a, b).
Source(a) :- Start(b), Path(a, b).
"""
LENGTH = 500
SORT_APART = DEFAULT.sorting.apart


@pytest.mark.parametrize("strategy", ["auto", "recompute", "ranked"])
def test_few_probes_of_many_tuples(strategy: StrategyName) -> None:
    db = Database(PROGRAM, strategy=strategy)
    with db.transaction() as tx:
        tx.insert("Edge", [(n, n + 1) for n in range(LENGTH)])
    assert db.relation("Path").count() == LENGTH * (LENGTH + 1) // 2
    for start in (3, 250, LENGTH):
        with db.transaction() as tx:
            tx.insert("Start", [(start,)])
        assert db.relation("Hit").count() == LENGTH - start
        assert db.relation("Source").count() == start
        with db.transaction() as tx:
            tx.delete("Start", [(start,)])
        assert db.relation("Hit").count() == db.relation("Source").count() == 0


@pytest.mark.parametrize(("type", "width"), [("u32", 20), ("i64", 63), ("double", 40)])
def test_chunks_of_arrow_are_one_set(type: str, width: int) -> None:
    """Many rows are packed chunk by chunk where a word holds them (not `i64` here); repetitions count once."""
    random = np.random.default_rng(5)
    columns = [random.integers(0, 1 << width, SORT_APART // 2).astype(np.int64) for _ in range(2)]
    chunks = [pa.table({"a": columns[0][a:b], "b": columns[1][a:b]}) for a, b in ((0, 90_000), (90_000, 600_000))]
    table = pa.concat_tables([*chunks, *chunks, chunks[0]])
    assert table.num_rows > SORT_APART
    database = Database(f"input relation Pair(a: {type}, b: {type})", strategy="recompute")
    with database.transaction() as tx:
        tx.insert("Pair", table)
    view = database.relation("Pair")
    assert view.count() == len(set(zip(*(column.tolist() for column in columns), strict=True)))
    assert all((columns[0][i].item(), columns[1][i].item()) in view for i in (0, 89_999, 90_000, len(columns[0]) - 1))
    assert (columns[0][0].item(), columns[1][1].item()) not in view


@pytest.mark.parametrize("strategy", ["auto", "recompute", "ranked", "dred"])
def test_rows_wider_than_a_word_are_sorted(strategy: StrategyName) -> None:
    """Buckets of few rows were sorted by their places as well as by their keys: 149 of the 200 were not found."""
    random = np.random.default_rng(14)
    hashes = random.integers(0, 1 << 63, SORT_APART + 8_200, dtype=np.uint64) * np.uint64(2)
    kinds = np.array(["page"] * (SORT_APART + 8_000) + [f"rare{n % 20}" for n in range(200)])
    table = pa.table({"kind": kinds, "hash": hashes})
    rare = list(zip(kinds[-200:].tolist(), hashes[-200:].tolist(), strict=True))
    database = Database(
        """
        input relation Doc(kind: string, hash: u64)
        input relation Asked(kind: string, hash: u64)
        output relation Missing(kind: string, hash: u64)
        Missing(k, h) :- Asked(k, h), not Doc(k, h).
        """,
        strategy=strategy,
    )
    with database.transaction() as tx:
        tx.insert("Doc", table)
        tx.insert("Asked", rare)
    assert database.relation("Missing").rows() == []
    assert all(row in database.relation("Doc") for row in rare)
    with database.transaction() as tx:
        tx.delete("Doc", rare[:150])
    assert tx.result.changes["Missing"].inserted == sorted(rare[:150])
    assert database.relation("Doc").count() == SORT_APART + 8_050
    database.verify()

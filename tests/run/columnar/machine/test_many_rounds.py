"""Many rounds of few tuples load kernels, as many rows do."""

from __future__ import annotations

import tidelog
from tidelog.base.tuning.table import DEFAULT
from tidelog.run.columnar.arrays.table import CompiledArrays
from tidelog.run.columnar.functions import Arrays

CHAIN = """
input relation Edge(a: u32, b: u32)
output relation Even(a: u32)
output relation Odd(a: u32)
Even(0).
Odd(b) :- Even(a), Edge(a, b).
Even(b) :- Odd(a), Edge(a, b).
"""


def test_rounds_count_as_rows_do() -> None:
    arrays = Arrays(DEFAULT.having({"compiling.rows": 100, "compiling.round": 10, "compiling.spared": 1}))
    tables = [isinstance(arrays.after_round(15), CompiledArrays) for _ in range(5)]
    assert tables == [False, False, False, True, True]
    assert isinstance(arrays(), CompiledArrays)


def test_a_long_chain_is_left_to_the_machine() -> None:
    rounds = 400
    edges = [(a, a + 1) for a in range(rounds)]
    found = []
    for each in (30, 1 << 40):
        tuning = DEFAULT.having({"compiling.rows": 3_000, "compiling.round": each})
        database = tidelog.Database(CHAIN, tuning=tuning)
        with database.transaction() as tx:
            tx.insert("Edge", edges)
        found.append((database.relation("Even").rows(), tx.result.profile[-1].rounds))
    assert found[0] == found[1]
    assert found[0][1] == rounds + 2

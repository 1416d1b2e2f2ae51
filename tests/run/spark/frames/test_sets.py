"""Rows of Arrow tables told apart by numbers: the sets that Python makes of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tidelog.run.spark.frames.sets import distinct, numbered, without

WIDE = st.one_of(st.integers(0, 3), st.sampled_from((-(2**63), 2**63 - 1, 2**62)))
ROWS = st.lists(st.tuples(WIDE, st.sampled_from(("", "a", "é")), WIDE, st.booleans()), max_size=30)
NAMES = ("c0", "c1", "c2", "c3")
TYPES = (pa.int64(), pa.string(), pa.int64(), pa.bool_())


def table(rows: list[tuple[Any, ...]]) -> Any:
    """Return rows as a table of two chunks."""
    half = len(rows) // 2
    columns = [
        pa.chunked_array([[row[i] for row in rows[:half]], [row[i] for row in rows[half:]]], type)
        for i, type in enumerate(TYPES)
    ]
    return pa.Table.from_arrays(columns, names=NAMES)


def tuples(found: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in found.to_pylist()]


@given(ROWS)
def test_distinct_keeps_the_first_of_equal_rows(rows: list[tuple[Any, ...]]) -> None:
    assert tuples(distinct(table(rows))) == list(dict.fromkeys(rows))


@given(ROWS, ROWS)
def test_without_leaves_what_others_do_not_have(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> None:
    assert tuples(without(table(rows), table(others))) == [row for row in rows if row not in others]


@given(ROWS, ROWS)
def test_numbers_are_equal_where_rows_are(rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]]) -> None:
    mine, theirs = numbered([table(rows), table(others)])
    for number, row in zip(mine, rows, strict=True):
        assert [number == other for other in theirs] == [row == one for one in others]

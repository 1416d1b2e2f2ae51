"""The three index structures find the same rows after the same changes."""

from __future__ import annotations

import math
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.values import NAN, order_key
from tidelog.run.contract.engine import Row
from tidelog.run.tuples.index import INDEXES, Columns, SpineIndex

ROWS = st.tuples(st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
Changes = list[tuple[bool, set[Row]]]
CHANGES = st.lists(st.tuples(st.booleans(), st.sets(ROWS, max_size=12)), max_size=12)


@pytest.mark.parametrize("name", INDEXES)
@given(CHANGES, st.sampled_from([(0,), (2,), (0, 1), (2, 0)]))
def test_an_index_finds_what_is_there(name: str, changes: Changes, columns: Columns) -> None:
    index = INDEXES[name](columns, lambda key: key)
    there: set[Row] = set()
    for adding, rows in changes:
        if adding:
            index.add(rows - there)
            there |= rows
        else:
            index.remove(rows & there)
            there -= rows
        for key in {tuple(row[column] for column in columns) for row in there} | {(9,) * len(columns)}:
            found = list(index.find(key[0] if len(key) == 1 else key))
            assert len(found) == len(set(found))
            assert set(found) == {row for row in there if tuple(row[column] for column in columns) == key}


@pytest.mark.parametrize("name", INDEXES)
def test_values_without_an_order_of_their_own(name: str) -> None:
    index = INDEXES[name]((0,), order_key)
    rows = [(value, 1) for value in (NAN, 0.0, math.inf, frozenset({1, 2}), frozenset({3}))]
    index.add(rows[:3])
    assert list(index.find(NAN)) == [(NAN, 1)]
    other = INDEXES[name]((0,), order_key)
    other.add(rows[3:])
    assert list(other.find(frozenset({2, 1}))) == [rows[3]]


def test_a_spine_has_few_batches() -> None:
    random, spine = Random(7), SpineIndex((0,), lambda key: key)
    rows = [(random.randrange(100), number) for number in range(1_000)]
    for row in rows:
        spine.add([row])
    assert len(spine._batches) <= 11
    for row in rows:
        spine.remove([row])
    assert not any(spine.find(key) for key in range(100))
    assert sum(len(batch.rows) for batch in spine._batches) < 1_000

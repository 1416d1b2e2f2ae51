"""Z-sets come from numpy and Arrow and go back, whatever the values are."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidelog.dbsp import Values, ZSet

INTEGERS = st.integers(-5, 5) | st.integers(-(2**63), 2**63 - 1)
COLUMNS: list[st.SearchStrategy[Any]] = [INTEGERS, st.floats(allow_nan=False), st.text(max_size=3), st.booleans()]


@settings(max_examples=40)
@given(st.data())
def test_there_and_back(data: st.DataObject) -> None:
    kinds = data.draw(st.lists(st.sampled_from(COLUMNS), min_size=1, max_size=3))
    rows = data.draw(st.dictionaries(st.tuples(*kinds), st.integers(-3, 3).filter(bool), max_size=8))
    values = Values()
    zset = ZSet.of(rows, len(kinds), values)
    columns, weights = zset.to_numpy(values)
    assert ZSet.from_numpy(columns, weights, values) == zset
    table = zset.to_arrow(values=values)
    assert ZSet.from_arrow(table, weight="weight", values=values) == zset
    assert ZSet.from_arrow(pl.from_arrow(table), "weight", values) == zset
    assert {tuple(row.values())[:-1]: row["weight"] for row in table.to_pylist()} == zset.to_dict(values)


def test_missing_values_and_mixed_types() -> None:
    zset = ZSet.of({("a", None): 1, (2, "b"): -1, ((1, 2), 1.5): 3})
    columns, weights = zset.to_numpy()
    assert ZSet.from_numpy(columns, weights) == zset
    with pytest.raises(TypeError, match="column x: Arrow has no one type"):
        zset.to_arrow(["x", "y"])
    table = pa.table({"s": pa.array(["a", None, "a"]).dictionary_encode(), "n": pa.array([1, None, 1], pa.int8())})
    assert ZSet.from_arrow(table).to_dict() == {("a", 1): 2, (None, None): 1}
    assert ZSet.from_arrow(pa.table({"u": pa.array([2**64 - 1, 1], pa.uint64())})).to_dict() == {
        (2**64 - 1,): 1,
        (1,): 1,
    }


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="column 1 has 1 values, there are 2 weights"):
        ZSet.from_numpy([np.arange(2), np.arange(1)])
    with pytest.raises(TypeError, match="weights: expected integers"):
        ZSet.from_numpy([np.arange(2)], [1.0, 2.0])
    with pytest.raises(ValueError, match="one dimension"):
        ZSet.from_numpy([np.zeros((2, 2), int)])
    with pytest.raises(TypeError, match="expected a table of Arrow"):
        ZSet.from_arrow([1])
    with pytest.raises(ValueError, match="there is no column w; there are a"):
        ZSet.from_arrow(pa.table({"a": [1]}), weight="w")
    with pytest.raises(ValueError, match="1 different names"):
        ZSet.of({(1,): 1}).to_arrow(["weight"])
    assert ZSet.from_numpy([], [2, 3]).to_dict() == {(): 5}

"""Z-sets agree with dictionaries, also when they are large enough for kernels; weights are checked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from tests.run.dbsp.generate import zsets
from tidelog.base.errors import EvaluationError
from tidelog.run.columnar.arrays.table import U
from tidelog.run.dbsp.zsets.trace import Trace
from tidelog.run.dbsp.zsets.values import Values
from tidelog.run.dbsp.zsets.zset import ZSet, narrowed


@given(zsets(3), zsets(3))
def test_a_join_is_what_it_says(a: ZSet, b: ZSet) -> None:
    expected: dict[tuple[int, ...], int] = {}
    for x, v in a.items():
        for y, w in b.items():
            if x[0] == y[2] and x[1] == y[0]:
                expected[x + y] = expected.get(x + y, 0) + v * w
    assert a.join(b, on=[(0, 2), (1, 0)]).to_dict() == expected


@given(zsets(), zsets())
def test_sums_are_those_of_dictionaries(a: ZSet, b: ZSet) -> None:
    left, right = a.to_dict(), b.to_dict()
    both = {row: left.get(row, 0) + right.get(row, 0) for row in left.keys() | right.keys()}
    assert (a + b).to_dict() == {row: weight for row, weight in both.items() if weight}
    assert all((a + b)[row] == weight for row, weight in both.items())


def test_large_ones_use_kernels_and_give_the_same() -> None:
    random = np.random.default_rng(7)
    rows, weights = random.integers(0, 300, (2, 40_000)).astype(U), random.integers(-1, 3, 40_000)
    whole = ZSet.made(rows, weights)
    parts = sum((ZSet.made(rows[:, i::40], weights[i::40]) for i in range(40)), start=ZSet.zero(2))
    assert whole == parts
    trace = Trace(2)
    for time in range(10):
        trace.add(ZSet.made(rows[:, time::10], weights[time::10]), time)
    assert trace.all() == whole
    keys = np.arange(0, 300, 7, dtype=U).reshape(1, -1)
    assert trace.among(keys).project([0, 1]) == whole.where(np.isin(whole.rows[0], keys[0]))


def test_wide_columns_keep_their_order() -> None:
    rows = np.array([[1 << 63, 5, 1 << 63], [2, 1 << 62, 1], [0, 0, 0]], U)
    assert narrowed(rows).shape[0] == 3
    made = ZSet.made(rows, np.ones(3, np.int64))
    assert made.rows[0].tolist() == [5, 1 << 63, 1 << 63]
    assert made.rows[1].tolist() == [1 << 62, 1, 2]


def test_values_of_all_kinds() -> None:
    values = Values()
    rows = {(1, "a"): 1, (True, None): 2, (1.0, ("x", 2)): 3, (-5, 1 << 70): -1}
    made = ZSet.of(rows, values=values)
    assert [(repr(row), weight) for row, weight in sorted(made.items(values), key=repr)] == [
        (repr(row), weight) for row, weight in sorted(rows.items(), key=repr)
    ]


def test_zsets_without_columns_count() -> None:
    assert (ZSet.of({(): 2}) + ZSet.of({(): 3})).to_dict() == {(): 5}
    assert ZSet.of({(): 2}) - ZSet.of({(): 2}) == ZSet.zero(0)
    assert ZSet.of({("a",): 2, ("b",): 1}).project([]).to_dict() == {(): 3}


def test_mistakes_are_told() -> None:
    with pytest.raises(ValueError, match="say how many columns"):
        ZSet.of({})
    with pytest.raises(ValueError, match=r"the row \('a', 'b'\) has 2 columns, 1 were expected"):
        ZSet.of({("a", "b"): 1}, columns=1)


def test_weights_beyond_64_bits_are_an_error() -> None:
    huge = ZSet.of({("a",): 1 << 61})
    with pytest.raises(EvaluationError, match="64 bits"):
        huge + huge
    with pytest.raises(EvaluationError, match="64 bits"):
        huge.join(huge, on=[(0, 0)])
    with pytest.raises(EvaluationError, match="64 bits"):
        huge * 2

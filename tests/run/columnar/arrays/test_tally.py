"""Counting derivations in one pass equals its numpy twin, which is held against counting them one by one."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Bit
from tidelog.run.columnar.arrays.table import CompiledArrays, NumpyArrays
from tidelog.run.columnar.arrays.tally import Heads, Overwritten
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.kernels import DOUBTFUL, HERE, LOST
from tidelog.run.columnar.kernels.ranks import level
from tidelog.run.columnar.machine.kernels.operands import UNCOUNTED
from tidelog.run.columnar.storage.batch import Batch, Journal
from tidelog.run.columnar.storage.relation import Relation
from tidelog.run.columnar.support.absorb import Gathered, absorbed, released
from tidelog.run.contract.phase import Support
from tidelog.run.phases import ALIVE, GARBAGE, REMOVED

SLOW, FAST = NumpyArrays(DEFAULT), CompiledArrays(DEFAULT)
ROWS = 12


@st.composite
def derivations(draw: st.DrawFn) -> tuple[Heads, np.ndarray, np.ndarray]:
    """Draw the derivations of some heads, and where each stands among so many rows, if it does."""
    lengths = draw(st.lists(st.integers(1, 4), max_size=ROWS))
    count = sum(lengths)
    rank = draw(st.none() | st.lists(st.integers(0, 3), min_size=count, max_size=count))
    times = draw(st.none() | st.lists(st.integers(1, 3), min_size=count, max_size=count))
    firsts = (np.cumsum(lengths) - lengths).astype(np.int64)
    heads = Heads.of(
        firsts,
        count,
        None if rank is None else np.array(rank, np.int32),
        None if times is None else np.array(times, np.int64),
    )
    low = np.array(draw(st.permutations(range(ROWS))), np.int64)[: len(lengths)]
    high = low + np.array(draw(st.lists(st.integers(0, 1), min_size=len(lengths), max_size=len(lengths))), np.int64)
    return heads, np.sort(low), np.sort(low) + (high - low)


@given(derivations(), st.data(), st.sampled_from([1, -1]), st.sampled_from([ALIVE, REMOVED]))
def test_kernels(drawn: tuple[Heads, np.ndarray, np.ndarray], data: st.DataObject, sign: int, limit: int) -> None:
    heads, low, high = drawn
    lines = data.draw(st.integers(1, 2))
    numbers = st.sampled_from([0, 1, 2, 5, UNCOUNTED])
    counts = np.array(data.draw(st.lists(numbers, min_size=2 * ROWS, max_size=2 * ROWS)), np.int64).reshape(ROWS, 2).T
    counts = counts[:lines] if data.draw(st.booleans()) else np.ascontiguousarray(counts[:lines])
    marks = st.lists(st.sampled_from([ALIVE, REMOVED, GARBAGE]), min_size=ROWS, max_size=ROWS)
    mark = None if data.draw(st.booleans()) else np.array(data.draw(marks), np.uint8)
    ranks = st.lists(st.integers(0, 4), min_size=ROWS, max_size=ROWS)
    rank = data.draw(st.sampled_from([None, 2])) if data.draw(st.booleans()) else np.array(data.draw(ranks), np.int32)
    found: list[tuple[Any, ...]] = []
    for table in (SLOW, FAST):
        about, held = deepcopy(heads), counts.copy(order="K")
        before = Overwritten.of(lines, len(low))
        lost = table.tally((low, high), about, (mark, rank, held), limit, sign, before)
        size = before.size[0]
        changed = held.tolist()
        held[:, before.places[:size]] = before.values[:, :size]
        assert (held == counts).all()
        found.append((lost.tolist(), changed, before.size.tolist(), about.state.tolist(), about.own.tolist()))
        found[-1] += tuple(some.tolist() for some in table.summed(about))
    assert found[0] == found[1]
    assert found[0][1] == one_by_one(heads, low, high, (mark, rank, counts), limit, sign)


def one_by_one(
    heads: Heads, low: np.ndarray, high: np.ndarray, batch: tuple[Any, Any, Any], limit: int, sign: int
) -> list[list[int]]:
    """Return the counts after each derivation was counted by itself."""
    mark, rank, counts = batch
    after: list[list[int]] = counts.tolist()
    ends = np.append(heads.firsts[1:], len(heads.rank))[: len(heads.firsts)].tolist()
    for head, (start, end) in enumerate(zip(heads.firsts.tolist(), ends, strict=True)):
        row = int(low[head])
        if high[head] == row or (mark is not None and mark[row] > limit):
            continue
        own = rank[row] if isinstance(rank, np.ndarray) else rank or 0
        for k in range(start, end):
            times = 1 if heads.times is None else int(heads.times[k])
            after[0][row] += sign * times * int(heads.rank[k] < own)
            if len(after) > 1:
                after[1][row] += sign * times
    return after


@pytest.mark.parametrize("table", [SLOW, FAST])
def test_what_becomes_of_heads(table: NumpyArrays) -> None:
    heads = Heads.of(np.arange(5), 5, None, None)
    counts = np.array([[1, 2, UNCOUNTED, 1, 1]], np.int64)
    low, high = np.array([0, 1, 2, 3, 4]), np.array([1, 2, 3, 4, 4])
    mark = np.array([ALIVE, ALIVE, ALIVE, REMOVED, ALIVE], np.uint8)
    lost = table.tally((low, high), heads, (mark, 1, counts), REMOVED, -1, Overwritten.of(1, 5))
    assert heads.state.tolist() == [LOST, HERE, DOUBTFUL, HERE, 0]
    assert lost.tolist() == [0]
    assert [some.tolist() for some in table.summed(heads)] == [[4], [1], [level(1)]]


def relation(table: NumpyArrays) -> Relation:
    """A relation of two tuples, one of which has as many derivations as can be counted."""
    made = Relation("", [Bit(8)], Arrays(DEFAULT, table), support=Support.RANKED)
    made.set_delta(Batch(np.array([[3, 5]], np.uint64), 1, np.array([[1, 2**63 - 1], [1, 2**63 - 1]])))
    made.settle()
    return made


def counts_of(target: Relation) -> np.ndarray:
    counts = target.gathered().counts
    assert counts is not None
    return counts


@pytest.fixture(params=[SLOW, FAST], ids=["numpy", "numba"])
def table(request: pytest.FixtureRequest) -> NumpyArrays:
    assert isinstance(request.param, NumpyArrays)
    return request.param


def test_a_count_that_grows_too_far_is_refused_and_put_back(table: NumpyArrays) -> None:
    target, journal = relation(table), Journal()
    found = Gathered(np.array([[3, 5]], np.uint64), None, None)
    with pytest.raises(OverflowError, match="more than 2\\*\\*63 derivations"):
        absorbed(target, found, journal)
    journal.undo()
    assert np.array_equal(counts_of(target), counts_of(relation(table)))


def test_what_is_taken_away_is_put_back(table: NumpyArrays) -> None:
    target, journal = relation(table), Journal()
    lost, where, doubtful = released(target, Gathered(np.array([[3, 4]], np.uint64), None, None), journal)
    assert lost.rows.tolist() == [[3]]
    assert [places.tolist() for _, places in where] == [[0]]
    assert not doubtful.size
    journal.undo()
    assert np.array_equal(counts_of(target), counts_of(relation(table)))

"""The kernels for codes that spread little equal their numpy twins; maps of bits know exactly what a relation holds."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.tuning.table import DEFAULT
from tidelog.base.types import Bit
from tidelog.run.columnar.arrays.narrow import Runs
from tidelog.run.columnar.arrays.table import CompiledArrays, NumpyArrays, Places, Words
from tidelog.run.columnar.functions import usual
from tidelog.run.columnar.rules import head_bitmap as known
from tidelog.run.columnar.rules.bag import Bag
from tidelog.run.columnar.rules.head_bitmaps import HeadBitmaps
from tidelog.run.columnar.storage.batch import Batch
from tidelog.run.columnar.storage.layout import Range
from tidelog.run.columnar.storage.relation import Relation

SLOW, FAST = NumpyArrays(DEFAULT), CompiledArrays(DEFAULT)
U32 = Bit(32)
LOW = np.array([[0, 0, 15, 0, 0, 0]], np.uint64)
BOTH = np.array([[0, 0, 3, 1, 0, 0], [0, 2, 3, 0, 0, 3]], np.uint64)


def words(rng: np.random.Generator, top: int, count: int) -> Words:
    return rng.integers(0, top, (1, count), np.uint64)


@given(st.integers(0, 2**32 - 1), st.integers(0, 300), st.sampled_from([1, 60, 1000]))
def test_fresh(seed: int, count: int, top: int) -> None:
    rng = np.random.default_rng(seed)
    slow, fast = np.zeros(16, np.uint64), np.zeros(16, np.uint64)
    for _ in range(2):
        rows = words(rng, top, count)
        assert (SLOW.fresh(rows, slow) == FAST.fresh(rows, fast)).all()
        assert (slow == fast).all()
    assert np.bitwise_count(slow).sum() <= top


def matched(rng: np.random.Generator, count: int) -> tuple[Places, Places, Words, Words]:
    """So many rows, a sorted batch, and the range of it that each row matches."""
    low = rng.integers(0, 40, count)
    return low, rng.integers(low, 41), words(rng, 16, count) << np.uint64(4), np.sort(words(rng, 256, 40))


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([LOW, BOTH]))
def test_emit_fresh(seed: int, count: int, moves: Words) -> None:
    rng = np.random.default_rng(seed)
    low, high, left, batch = matched(rng, count)
    slow, fast = np.zeros(8, np.uint64), np.zeros(8, np.uint64)
    expected = SLOW.emit_fresh(low, high, left, batch, moves, slow)
    assert (FAST.emit_fresh(low, high, left, batch, moves, fast) == expected).all()
    assert (slow == fast).all()


@given(st.integers(0, 2**32 - 1), st.integers(0, 60), st.sampled_from([LOW, BOTH]))
def test_emit_unknown(seed: int, count: int, moves: Words) -> None:
    rng = np.random.default_rng(seed)
    low, high, left, batch = matched(rng, count)
    bits = rng.integers(0, 1 << 63, 8, np.uint64)
    every = SLOW.emit(low, high, left, batch, moves)
    expected = SLOW.emit_unknown(low, high, left, batch, moves, bits)
    assert (FAST.emit_unknown(low, high, left, batch, moves, bits) == expected).all()
    assert (FAST.unknown(every, bits) == expected).all()
    assert (np.unique(expected) == SLOW.fresh(np.unique(every)[np.newaxis], bits.copy())).all()


def test_threads_share_a_map() -> None:
    bits = np.zeros(1 << 10, np.uint64)
    rows = np.random.default_rng(1).integers(0, 1 << 16, (8, 1, 50_000), np.uint64)
    with ThreadPoolExecutor(4) as pool:
        found = np.concatenate([*pool.map(lambda part: FAST.fresh(part, bits)[0], rows)])
    assert (np.sort(found) == np.unique(rows)).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 200), st.sampled_from([0, 3, 40]), st.sampled_from([0, 1 << 50]))
def test_directory_and_find(seed: int, size: int, shift: int, base: int) -> None:
    rng = np.random.default_rng(seed)
    batch = (np.sort(words(rng, 150, size)) << np.uint64(shift if shift == 40 else 0)) + np.uint64(base)
    slow, fast = SLOW.directory(batch, shift), FAST.directory(batch, shift)
    assert slow.origin == fast.origin
    assert (slow.starts == fast.starts).all()
    keys = np.concatenate((batch >> np.uint64(shift), words(rng, 200, 20), np.array([[2**64 - 1]], np.uint64)), axis=1)
    low, high, total = SLOW.ranges(keys, batch, 0 if shift else 1, shift or 64)
    for found in (SLOW.find(keys, slow), FAST.find(keys, fast)):
        assert found[2] == total
        assert (found[1] - found[0] == high - low).all()
        assert (found[0][high > low] == low[high > low]).all()


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([20, 5000]),
    st.sampled_from([0, 1 << 19]),
    st.sampled_from([6, 40]),
    st.sampled_from([0, 1, 8, 1 << 20]),
)
def test_emit_meeting(seed: int, size: int, marks: int, count: int, gallop: int) -> None:
    """Two relations of (key, code) with codes in other places of a word; keys often repeat, runs differ in length."""
    rng = np.random.default_rng(seed)
    most = 300
    keys = [np.sort(rng.integers(0, 5, size)), np.sort(rng.integers(0, 5, 30))]
    codes = [rng.integers(10, most, len(key)).astype(np.uint64) for key in keys]
    batches = [np.unique((keys[0].astype(np.uint64) << np.uint64(32)) | codes[0])]
    batches.append(
        np.unique((keys[1].astype(np.uint64) << np.uint64(16)) | ((codes[1] - np.uint64(9)) << np.uint64(3)))
    )
    fields = [np.array(field, np.uint64) for field in ((0, (1 << 32) - 1, 0), (3, (1 << 13) - 1, 9))]
    runs = []
    for batch, field, shift in zip(batches, fields, (32, 16), strict=True):
        wanted = np.sort(rng.integers(0, 6, count)) if shift == 16 else rng.integers(0, 6, count)
        low, high, _ = SLOW.ranges(wanted.astype(np.uint64).reshape(1, -1), batch.reshape(1, -1), 0, shift)
        runs.append(Runs(low, high, batch.reshape(1, -1), field, 10, most))
    left = np.arange(count, dtype=np.uint64).reshape(1, -1) << np.uint64(16)
    moves = np.array([[0, 0, (1 << 32) - 1, 0, 0, 0]], np.uint64)
    first, second = runs
    fast = CompiledArrays(DEFAULT.having({"joins.marks": marks, "joins.gallop": gallop}))
    assert (fast.emit_meeting(left, first, second, moves) == SLOW.emit_meeting(left, first, second, moves)).all()


def test_a_map_that_no_longer_tells_the_relation_is_forgotten() -> None:
    relation = Relation("r", [U32, U32], usual)
    relation.admit([Range(0, 99)] * 2)
    relation.set_delta(Batch(relation.layout.pack({c: np.array([7, 8], np.uint64) for c in range(2)}, 2)))
    bitmaps = HeadBitmaps(())
    first = bitmaps.made(relation, [Range(0, 50)] * 2, DEFAULT.maps.least, list)
    assert first is not None
    assert first.count == 2
    assert bitmaps.made(relation, [Range(0, 5000)] * 2, DEFAULT.maps.least, list) is None  # it has no place for these
    rows = relation.layout.pack({c: np.array([8, 9, 9], np.uint64) for c in range(2)}, 3)
    new = bitmaps.sifted(relation, [Bag(relation.layout, rows)], counted=False)
    assert new is not None
    assert first.layout.codes(new[0].rows, 0).tolist() == [9]
    bitmaps.check(lambda _: relation)  # nobody gave the relation what was new
    assert bitmaps.of(relation) is None


def test_a_large_map_for_which_there_is_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    relation = Relation("r", [U32, U32], usual)
    relation.admit([Range(0, 1 << 15)] * 2)
    relation.set_delta(Batch(relation.layout.pack({c: np.array([7, 8], np.uint64) for c in range(2)}, 2)))
    matches, ranges = 1 << 24, [Range(0, 1 << 15)] * 2
    made = HeadBitmaps(()).made(relation, ranges, matches, lambda: [9, 1])
    assert made is not None
    assert [*made.layout.fields] == [1, 0]  # the column that changes least goes first
    assert made.count == 2

    def refuse(_wide: int) -> Words:
        raise MemoryError

    monkeypatch.setattr(known, "_new_bits", refuse)
    assert HeadBitmaps(()).made(relation, ranges, matches, lambda: [9, 1]) is None


@pytest.mark.parametrize("code", [5000, 1 << 40])
def test_a_tuple_without_a_place_in_the_map(code: int) -> None:
    relation = Relation("r", [U32, U32], usual)
    bitmaps = HeadBitmaps(())
    assert bitmaps.made(relation, [Range(0, 50)] * 2, DEFAULT.maps.least, list) is not None
    relation.admit([Range(0, 1 << 41), Range(0, 50)])
    rows = relation.layout.pack({0: np.array([code], np.uint64), 1: np.array([1], np.uint64)}, 1)
    assert bitmaps.sifted(relation, [Bag(relation.layout, rows)], counted=False) is None
    assert bitmaps.of(relation) is None

"""Every kernel equals its numpy twin, which defines it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidelog.base.tuning.table import DEFAULT, all_thresholds
from tidelog.base.tuning.thresholds import Number
from tidelog.run.columnar.arrays.table import CompiledArrays, NumpyArrays, Words, prefix
from tidelog.run.threads import helpers, share

SLOW, FAST = NumpyArrays(DEFAULT), CompiledArrays(DEFAULT)
THRESHOLDS = dict(all_thresholds())


@st.composite
def tables(draw: st.DrawFn, *names: str) -> CompiledArrays:
    """Draw a table of kernels with any value of these thresholds, on either side of which kernels go other ways."""
    values: dict[str, Number] = {}
    for name in names:
        one = THRESHOLDS[name]
        values[name] = draw(st.sampled_from([*one.metadata["draws"], one.default]))
    return CompiledArrays(DEFAULT.having(values))


@st.composite
def packed(draw: st.DrawFn, words: int, low: int = 0) -> Words:
    """Draw packed rows over a small or large domain."""
    top = draw(st.sampled_from([1, 3, 255, 256, 1 << 33, (1 << 64) - 1]))
    rows = draw(st.lists(st.lists(st.integers(low, top), min_size=words, max_size=words), max_size=40))
    return np.array(rows, np.uint64).reshape(len(rows), words).T.copy()


def ordered(rows: Words) -> Words:
    return SLOW.unique(SLOW.sort(rows))


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(st.data(), st.integers(1, 3), tables("sorting.apart", "sorting.insertion", "threads.parts"))
def test_sort_and_order(data: st.DataObject, words: int, table: CompiledArrays) -> None:
    rows = data.draw(packed(words))
    assert (table.sort(rows.copy()) == SLOW.sort(rows)).all()
    assert (table.order(rows.copy()) == SLOW.order(rows)).all()
    values = np.arange(rows.shape[1], dtype=np.int32)[::-1]
    slow, fast = SLOW.sort_with(rows, values), table.sort_with(rows.copy(), values)
    assert (fast[0] == slow[0]).all()
    assert (fast[1] == slow[1]).all()


@given(st.data(), st.integers(1, 3))
def test_unique_and_firsts(data: st.DataObject, words: int) -> None:
    rows = SLOW.sort(data.draw(packed(words)))
    assert (FAST.firsts(rows) == SLOW.firsts(rows)).all()
    expected = SLOW.unique(rows.copy())
    assert (FAST.unique(rows.copy()) == expected).all()
    assert expected.shape[1] == len({tuple(row) for row in rows.T.tolist()})


@given(st.data(), st.integers(1, 2))
def test_extents(data: st.DataObject, words: int) -> None:
    rows = data.draw(packed(words).filter(lambda rows: rows.shape[1] > 0))
    lines = np.array([[0, 3, 255, 7], [words - 1, 0, (1 << 64) - 1, 0], [0, 0, 0, 9]], np.uint64)
    slow, fast = SLOW.extents(rows, lines), FAST.extents(rows, lines)
    assert [*map(list, slow)] == [*map(list, fast)]
    assert slow[0][1] == rows[words - 1].min()
    assert slow[0][2] == slow[1][2] == 9


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(st.data(), st.integers(1, 3), st.booleans())
def test_ranges(data: st.DataObject, words: int, in_order: bool) -> None:
    batch = ordered(data.draw(packed(words)))
    probes = data.draw(packed(words))
    full = data.draw(st.integers(0, words))
    shift = 64 if full == words else data.draw(st.sampled_from([1, 4, 33, 63, 64]))
    keys = np.concatenate((prefix(probes, full, shift), prefix(batch, full, shift)), axis=1)
    keys = SLOW.sort(keys) if in_order and keys.shape[0] else keys
    low, high, total = SLOW.ranges(keys, batch, full, shift)
    fast_low, fast_high, fast_total = FAST.ranges(keys, batch, full, shift)
    assert total == fast_total
    assert ((fast_high - fast_low) == (high - low)).all()
    assert (fast_low[high > low] == low[high > low]).all()


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([0, 3, 9]),
    st.sampled_from([300, 5000]),
    st.integers(1, 3 * DEFAULT.joins.together),
    st.booleans(),
    tables("joins.together", "batches.fence_gap"),
)
def test_ranges_by_a_fence(seed: int, shift: int, top: int, count: int, in_order: bool, table: CompiledArrays) -> None:
    rng = np.random.default_rng(seed)
    batch = np.unique(rng.integers(0, top, 2000, np.uint64)).reshape(1, -1)
    keys = rng.integers(0, (top >> shift) + 2, (1, count), np.uint64)
    keys = np.sort(keys) if in_order else keys
    slow = SLOW.ranges(keys, batch, 0 if shift else 1, shift or 64)
    fence = batch[:, :: table.tuning.batches.fence_gap].copy()
    fast = table.ranges(keys, batch, 0 if shift else 1, shift or 64, fence)
    assert (slow[0] == fast[0]).all()
    assert (slow[1] == fast[1]).all()


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(st.data(), st.integers(1, 3))
def test_without_and_merge(data: st.DataObject, words: int) -> None:
    a, b = ordered(data.draw(packed(words))), ordered(data.draw(packed(words)))
    rest = SLOW.without(a.copy(), b)
    assert (FAST.without(a.copy(), b) == rest).all()
    assert {*map(tuple, rest.T.tolist())} == {*map(tuple, a.T.tolist())} - {*map(tuple, b.T.tolist())}
    assert (FAST.merge(a, b) == SLOW.merge(a, b)).all()
    places = SLOW.merge_places(a, b)
    assert (FAST.merge_places(a, b) == places).all()
    assert (SLOW.scatter(a, b, places) == SLOW.merge(a, b)).all()
    assert (FAST.scatter(a, b, places) == SLOW.merge(a, b)).all()


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(st.data(), st.integers(1, 2), st.integers(1, 2), tables("joins.recent"))
def test_emit_and_move(data: st.DataObject, left_words: int, batch_words: int, table: CompiledArrays) -> None:
    batch = ordered(data.draw(packed(batch_words)))
    left = data.draw(packed(left_words))
    n, m = left.shape[1], batch.shape[1]
    low = np.array([data.draw(st.integers(0, m)) for _ in range(n)], np.int64)
    high = np.array([data.draw(st.integers(int(start), m)) for start in low], np.int64)
    moves = np.array(
        [
            [
                data.draw(st.integers(0, batch_words - 1)),
                data.draw(st.integers(0, 63)),
                (1 << data.draw(st.integers(1, 64))) - 1,
                data.draw(st.sampled_from([0, 7, (1 << 64) - 3])),
                data.draw(st.integers(0, left_words - 1)),
                data.draw(st.integers(0, 63)),
            ]
            for _ in range(data.draw(st.integers(0, 3)))
        ],
        np.uint64,
    ).reshape(-1, 6)
    assert (FAST.emit(low, high, left, batch, moves) == SLOW.emit(low, high, left, batch, moves)).all()
    fewer = table.emit_few_times(low, high, left, batch, moves)
    assert (ordered(fewer) == ordered(SLOW.emit_few_times(low, high, left, batch, moves))).all()
    constant = np.arange(left_words, dtype=np.uint64).reshape(left_words, 1)
    assert (FAST.move(batch, moves, constant) == SLOW.move(batch, moves, constant)).all()


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(st.data(), st.integers(1, 2), st.booleans(), st.booleans())
def test_emit_ranked_and_visible(data: st.DataObject, words: int, ranked: bool, marked: bool) -> None:
    batch = ordered(data.draw(packed(words)))
    left = data.draw(packed(1))
    n, m = left.shape[1], batch.shape[1]
    low = np.array([data.draw(st.integers(0, m)) for _ in range(n)], np.int64)
    high = np.array([data.draw(st.integers(int(start), m)) for start in low], np.int64)
    left_rank = np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), np.int32)
    rank = np.array(data.draw(st.lists(st.integers(0, 9), min_size=m, max_size=m)), np.int32) if ranked else None
    mark = np.array(data.draw(st.lists(st.integers(0, 3), min_size=m, max_size=m)), np.uint8) if marked else None
    limit = data.draw(st.integers(0, 3))
    moves = np.array([[words - 1, 0, 255, 0, 0, 0]], np.uint64)
    rows, ranks = SLOW.emit_ranked(low, high, left, left_rank, batch, rank, mark, limit, moves)
    fast_rows, fast_ranks = FAST.emit_ranked(low, high, left, left_rank, batch, rank, mark, limit, moves)
    assert (fast_rows == rows).all()
    assert (fast_ranks == ranks).all()
    if mark is not None:
        seen = [sum(1 for j in range(a, b) if mark[j] <= limit) for a, b in zip(low, high, strict=True)]
        assert SLOW.visible(low, high, mark, limit).tolist() == seen
        assert FAST.visible(low, high, mark, limit).tolist() == seen


@pytest.mark.long(reason="kernels and their twins on many random arrays")
@given(st.data(), st.integers(1, 2), st.booleans(), st.booleans(), st.booleans(), tables("batches.fence_gap"))
def test_join_few(
    data: st.DataObject, words: int, followed: bool, ranked: bool, marked: bool, table: CompiledArrays
) -> None:
    more = np.random.default_rng(data.draw(st.integers(0, 99))).integers(0, 300, (words, 400), np.uint64)
    batch = ordered(
        np.concatenate((data.draw(packed(words)), more[:, :: data.draw(st.sampled_from([1, 400]))]), axis=1)
    )
    rows = np.concatenate((data.draw(packed(words)), batch[:, ::29]), axis=1)
    n, m = rows.shape[1], batch.shape[1]
    full = data.draw(st.integers(0, words))
    shift = 64 if full == words else data.draw(st.sampled_from([1, 8, 63, 64]))
    count = full + (shift < 64)
    lines = [[w, 0, (1 << 64) - 1, 0, w, 0] for w in range(full)] + [[full, shift, (1 << 64) - 1, 0, full, 0]]
    key = np.array(lines[:count], np.uint64).reshape(count, 6), np.zeros((count, 1), np.uint64), full, shift
    output = (
        np.array([[0, 0, 255, 0, 0, 8]], np.uint64),
        np.array([[1 << 40]], np.uint64),
        np.array([[words - 1, 0, 255, 3, 0, 16]], np.uint64),
    )
    rank = np.arange(n, dtype=np.int32) % 7 if followed else None
    above = np.arange(m, dtype=np.int32) % 11 if ranked else None
    mark = np.arange(m, dtype=np.uint8) % 4 if marked else None
    limit, most = data.draw(st.integers(0, 3)), data.draw(st.sampled_from([3, 10_000]))
    fence = batch[:, :: table.tuning.batches.fence_gap].copy() if data.draw(st.booleans()) else None
    slow = SLOW.join_few(rows, rank, key, batch, fence, above, mark, limit, output, most)
    fast = table.join_few(rows, rank, key, batch, fence, above, mark, limit, output, most)
    if slow is None or fast is None:
        assert slow is fast
        return
    assert (fast[0] == slow[0]).all()
    if rank is not None:
        assert (fast[1] == slow[1]).all()


@given(st.data(), st.integers(1, 2))
def test_among(data: st.DataObject, words: int) -> None:
    rows = data.draw(packed(words))
    there = np.array(data.draw(st.lists(st.booleans(), max_size=300)), bool)
    field = data.draw(st.integers(0, words - 1)), data.draw(st.sampled_from([0, 7])), (1 << 40) - 1
    offset = data.draw(st.sampled_from([0, 5, (1 << 64) - 200]))
    assert (FAST.among(rows, *field, offset, there) == SLOW.among(rows, *field, offset, there)).all()


def test_helpers_share_their_own_work() -> None:
    with ThreadPoolExecutor(1) as pool:

        def add(depth: int) -> int:
            return 1 if depth == 0 else sum(share(pool, add, [(depth - 1,)] * 3))

        assert share(pool, add, [(3,), (2,), (0,)]) == [27, 9, 1]
        with pytest.raises(ZeroDivisionError):
            share(pool, lambda n: 1 // n, [(1,), (0,), (2,)])


def test_repetitions_are_left_out() -> None:
    batch = np.array([[0, 1, 2, (1 << 64) - 1]], np.uint64)
    whole = np.array([[0, 0, (1 << 64) - 1, 0, 0, 0]], np.uint64)
    left = np.zeros((1, 3), np.uint64)
    low, high = np.zeros(3, np.int64), np.full(3, 4, np.int64)
    assert (FAST.emit_few_times(low, high, left, batch, whole) == batch).all()


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("bits", [3, 8, 20, 64])
def test_sort_many(threads: int, bits: int) -> None:
    words = np.random.default_rng(bits).integers(
        0, (1 << bits) - 1, DEFAULT.sorting.apart + 1, np.uint64, endpoint=True
    )
    words[: len(words) // 2] >>= np.uint64(bits // 2)  # so that buckets are of all sizes
    given = words.copy()
    with ThreadPoolExecutor(max(threads, 1)) as pool:
        before = helpers.set(pool if threads else None)
        try:
            found = FAST.sort(words.reshape(1, -1))
        finally:
            helpers.reset(before)
        values = np.arange(len(words), dtype=np.int32) % 7
        before = helpers.set(pool if threads else None)
        try:
            ordered, carried = FAST.sort_with(words.reshape(1, -1), values)
        finally:
            helpers.reset(before)
    places = np.argsort(given, kind="stable")
    assert (ordered[0] == given[places]).all()
    assert (carried == values[places]).all()
    assert (found[0] == np.sort(given)).all()
    assert (words == given).all()
    assert FAST.sort(found) is found


def test_words_that_differ_in_their_highest_bit() -> None:
    """Random history 301: a kernel that had met smaller differences took this one for a signed number, too large."""
    compiled = CompiledArrays(DEFAULT)
    for words in ([3, 1, 2], [1 << 63, 5, 1]):
        rows = np.array([words], np.uint64)
        assert compiled.sort(rows).tolist() == [sorted(words)]


@pytest.mark.parametrize("order", ["random", "within parts", "throughout", "equal", "highest bit"])
def test_parts_are_sorted_like_one(order: str) -> None:
    random = np.random.default_rng(3)
    words = random.integers(1 << 40, 1 << 41, 5_000, np.uint64)
    words[::7] = words[0]
    if order == "highest bit":
        words[2_000] |= np.uint64(1 << 63)
    parts = [part.reshape(1, -1).copy() for part in np.array_split(words, [1, 2, 700, 4_000])]
    if order == "equal":
        parts = [np.full_like(part, words[0]) for part in parts]
    elif order == "within parts":
        parts = [np.sort(part) for part in parts]
    elif order == "throughout":
        parts = np.array_split(np.sort(words).reshape(1, -1), 5, axis=1)
    expected = np.sort(np.concatenate(parts, axis=1))
    made = [lambda part=part: part.copy() for part in parts]
    with ThreadPoolExecutor(1) as pool:
        for helper in (None, pool):
            before = helpers.set(helper)
            try:
                for table in (NumpyArrays(DEFAULT), CompiledArrays(DEFAULT)):
                    assert table.sort_parts(made).tolist() == expected.tolist()
                    assert table.sort_parts(made[2:3]).tolist() == np.sort(parts[2]).tolist()
            finally:
                helpers.reset(before)

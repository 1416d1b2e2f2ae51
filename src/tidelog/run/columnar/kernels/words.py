"""Kernels over packed rows: arrays of shape (words, rows) of unsigned 64-bit integers, compared word by word.

A *prefix* of a packed row is its first `full` words and the bits above `shift` of the next one (`shift` 64: none of
it). Searching gallops from the last position, so sorted probes cost little more than a merge (about 2 to 5 ns each),
and unsorted ones still find their place.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.kernel_cache import inlined, kernel, part
from tidelog.run.kernel_types import Int, Marks, Mask, Places, Ranks, Rows, Words

U = np.uint64


@inlined
def _less(batch: Rows, j: int, keys: Rows, i: int, full: int, shift: int) -> int:
    """Tell whether the prefix of batch row j comes before key i (1), after it (-1) or equals it (0)."""
    for w in range(full):
        if batch[w, j] != keys[w, i]:
            return 1 if batch[w, j] < keys[w, i] else -1
    if shift < 64:
        a = batch[full, j] >> U(shift)
        b = keys[full, i]
        if a != b:
            return 1 if a < b else -1
    return 0


@inlined
def _seek(batch: Words, s: np.uint64, key: np.uint64, p: int) -> Int:
    """Return the first place from p on whose word, shifted right, is not below the key; gallops."""
    m = batch.shape[0]
    step, a = 1, p
    while a < m and (batch[a] >> s) < key:
        p = a + 1
        a += step
        step <<= 1
    h = min(m, a)
    while p < h:
        middle = (p + h) >> 1
        if (batch[middle] >> s) < key:
            p = middle + 1
        else:
            h = middle
    return p


@inlined
def _run_end(batch: Words, s: np.uint64, key: np.uint64, p: int) -> Int:
    """Return the first place from p on whose word, shifted right, is not the key."""
    m = batch.shape[0]
    step, a = 1, p
    while a < m and (batch[a] >> s) == key:
        p = a + 1
        a += step
        step <<= 1
    h = min(m, a)
    while p < h:
        middle = (p + h) >> 1
        if (batch[middle] >> s) == key:
            p = middle + 1
        else:
            h = middle
    return p


@kernel
def ranges_one(keys: Words, batch: Words, shift: int, low: Places, high: Places) -> Int:
    """Fill low, high with the range of batch rows whose word, shifted right, equals each key; return their total."""
    s = U(shift)
    total = 0
    p = 0
    for i in range(keys.shape[0]):
        key = keys[i]
        if i > 0:
            before = keys[i - 1]
            if key == before:
                low[i] = low[i - 1]
                high[i] = high[i - 1]
                total += high[i] - low[i]
                continue
            if key < before:
                p = 0
        low[i] = _seek(batch, s, key, p)
        high[i] = p = _run_end(batch, s, key, low[i])
        total += high[i] - low[i]
    return total


@kernel
def ranges_apart(
    keys: Words, batch: Words, fence: Words, shift: int, gap: int, together: int, low: Places, high: Places
) -> Int:
    """As `ranges_one`, for keys that lie far apart: some at a time go down the fence, then the batch, level by level.

    The fence has the first of every `gap` rows; `together` keys go side by side. So the processor fetches what
    they need side by side, where one key after the other waits for memory each time.
    """
    s = U(shift)
    count, m, n = keys.shape[0], U(batch.shape[0]), fence.shape[0]
    wanted, at = np.empty(together, U), np.empty(together, U)
    total = 0
    first = 0
    for start in range(0, count, together):
        end = min(start + together, count)
        ordered = start == 0 or keys[start - 1] <= keys[start]
        for i in range(start + 1, end):
            ordered &= keys[i - 1] <= keys[i]
        # Keys in order need only the posts of the fence between those of the first and of the last.
        first = _seek(fence, s, keys[start], first) if ordered else 0
        last = _seek(fence, s, keys[end - 1], first) if ordered else n
        size = end - start
        for i in range(size):
            wanted[i], at[i] = keys[start + i], U(first)
        left = U(last - first)
        while left > U(0):
            half = (left + U(1)) >> U(1)
            for i in range(size):
                at[i] += half * U((fence[at[i] + half - U(1)] >> s) < wanted[i])
            left -= half
        for i in range(size):
            at[i] = (at[i] - U(at[i] > U(0))) * U(gap)
        left = U(gap)
        while left > U(0):
            half = (left + U(1)) >> U(1)
            for i in range(size):
                p = at[i] + half - U(1)
                at[i] += half * U(p < m and (batch[min(p, m - U(1))] >> s) < wanted[i])
            left -= half
        for i in range(size):
            low[start + i] = at[i]
        for i in range(start, end):
            high[i] = _run_end(batch, s, keys[i], low[i])
            total += high[i] - low[i]
    return total


@part
def _lower(batch: Rows, keys: Rows, i: int, full: int, shift: int, p: int, h: int) -> Int:
    """Return the first place from p to h whose prefix is not below key i."""
    while p < h:
        middle = (p + h) >> 1
        if _less(batch, middle, keys, i, full, shift) > 0:
            p = middle + 1
        else:
            h = middle
    return p


@part
def _upper(batch: Rows, keys: Rows, i: int, full: int, shift: int, p: int) -> Int:
    """Return the first place from p on whose prefix is not key i."""
    m = batch.shape[1]
    step, a, q = 1, p, p
    while a < m and _less(batch, a, keys, i, full, shift) == 0:
        q = a + 1
        a += step
        step <<= 1
    h = min(m, a)
    while q < h:
        middle = (q + h) >> 1
        if _less(batch, middle, keys, i, full, shift) == 0:
            q = middle + 1
        else:
            h = middle
    return q


@kernel
def ranges_many(keys: Rows, batch: Rows, full: int, shift: int, low: Places, high: Places) -> Int:
    """As `ranges_one`, for rows and keys of several words."""
    n, m = low.shape[0], batch.shape[1]
    total = 0
    p = 0
    for i in range(n):
        if i > 0:
            order = _less(keys, i - 1, keys, i, full, 64)
            if order == 0 and shift < 64 and keys[full, i - 1] != keys[full, i]:
                order = 1 if keys[full, i - 1] < keys[full, i] else -1
            if order == 0:
                low[i] = low[i - 1]
                high[i] = high[i - 1]
                total += high[i] - low[i]
                continue
            if order < 0:
                p = 0
        step, a = 1, p
        while a < m and _less(batch, a, keys, i, full, shift) > 0:
            p = a + 1
            a += step
            step <<= 1
        low[i] = _lower(batch, keys, i, full, shift, p, min(m, a))
        high[i] = p = _upper(batch, keys, i, full, shift, low[i])
        total += high[i] - low[i]
    return total


@inlined
def _move_row(words: Rows, i: int, moves: Rows, out: Rows, p: int) -> None:
    """Put the fields of row i at their places in row p of `out`."""
    for k in range(moves.shape[0]):
        field = ((words[np.int64(moves[k, 0]), i] >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]
        out[np.int64(moves[k, 4]), p] |= field << moves[k, 5]


@kernel
def join_few(
    rows: Rows,
    rank: Ranks,
    moves: Rows,
    constant: Rows,
    full: int,
    shift: int,
    batch: Rows,
    fence: Rows,
    gap: int,
    batch_rank: Ranks,
    mark: Marks,
    limit: int,
    left: Rows,
    made: Rows,
    right: Rows,
    most: int,
) -> tuple[Rows, Ranks, Int]:
    """Search a batch for the key of each row and write the matches, in one go; return them, their ranks, and how many.

    `moves` and `constant` make keys of rows; `left`, `made` (a constant row) and `right` make a row of a match. Empty
    arrays of ranks or marks stand for ranks not followed and for rows that all hold. More than `most`: none is written.
    """
    n, m = rows.shape[1], batch.shape[1]
    low, high = np.empty(n, np.int64), np.empty(n, np.int64)
    key = np.empty((constant.shape[0], 1), np.uint64)
    total = 0
    for i in range(n):
        low[i], high[i] = 0, m
        if full or shift < 64:
            for w in range(key.shape[0]):
                key[w, 0] = constant[w, 0]
            _move_row(rows, i, moves, key, 0)
            p, h = 0, m
            if fence.shape[1]:
                b = _lower(fence, key, 0, full, shift, 0, fence.shape[1])
                p, h = max(0, (b - 1) * gap), min(m, b * gap)
            low[i] = _lower(batch, key, 0, full, shift, p, h)
            high[i] = _upper(batch, key, 0, full, shift, low[i])
        total += high[i] - low[i]
    if total > most:
        return np.empty((0, 0), np.uint64), np.empty(0, np.int32), total
    ranked = rank.shape[0] > 0
    out = np.empty((made.shape[0], total), np.uint64)
    out_rank = np.empty(total if ranked else 0, np.int32)
    p = 0
    for i in range(n):
        for j in range(low[i], high[i]):
            if mark.shape[0] and mark[j] > limit:
                continue
            for w in range(out.shape[0]):
                out[w, p] = made[w, 0]
            _move_row(rows, i, left, out, p)
            _move_row(batch, j, right, out, p)
            if ranked:
                greater = rank[i]
                if batch_rank.shape[0] and batch_rank[j] > greater:
                    greater = batch_rank[j]
                out_rank[p] = greater
            p += 1
    if p < total:
        return out[:, :p].copy(), out_rank[: p if ranked else 0].copy(), p
    return out, out_rank, total


@kernel
def move(words: Rows, moves: Rows, out: Rows) -> None:
    """Put fields of packed rows at other places: `out` is given with its constant fields filled in."""
    for k in range(moves.shape[0]):
        source, right, mask, add = np.int64(moves[k, 0]), moves[k, 1], moves[k, 2], moves[k, 3]
        target, up = np.int64(moves[k, 4]), moves[k, 5]
        for i in range(out.shape[1]):
            out[target, i] |= (((words[source, i] >> right) & mask) + add) << up


@kernel
def extents(words: Rows, lines: Rows, low: Words, high: Words) -> None:
    """Write the least and greatest code in each field; there is at least one row."""
    for k in range(lines.shape[0]):
        word, right, mask = np.int64(lines[k, 0]), lines[k, 1], lines[k, 2]
        least, greatest = mask, U(0)
        for i in range(words.shape[1]):
            code = (words[word, i] >> right) & mask
            least = min(least, code)
            greatest = max(greatest, code)
        low[k] = least + lines[k, 3]
        high[k] = greatest + lines[k, 3]


@kernel
def runs(words: Rows, first: Places) -> Int:
    """Write the position of the first row of each run of equal rows; return the number of runs."""
    n = words.shape[1]
    p = 0
    for i in range(n):
        same = i > 0
        if same:
            for w in range(words.shape[0]):
                if words[w, i] != words[w, i - 1]:
                    same = False
                    break
        if not same:
            first[p] = i
            p += 1
    return p


@kernel
def unique_one(words: Words) -> Int:
    """Move the distinct words of a sorted array to its front; return their number."""
    n = words.shape[0]
    if n == 0:
        return 0
    p = 1
    last = words[0]
    for i in range(1, n):
        word = words[i]
        if word != last:
            words[p] = word
            last = word
            p += 1
    return p


@kernel
def without_one(words: Words, count: int, batch: Words) -> Int:
    """Move the words not in a sorted batch to the front; return their number. Both sorted."""
    m = batch.shape[0]
    p = 0
    kept = 0
    for i in range(count):
        word = words[i]
        p = _seek(batch, U(0), word, p)
        if p < m and batch[p] == word:
            continue
        words[kept] = word
        kept += 1
    return kept


@kernel
def among(words: Words, shift: int, mask: np.uint64, offset: np.uint64, there: Mask, out: Words) -> Int:
    """Write the words with a field whose value, plus an offset, is a place where `there` is true; return how many."""
    s = U(shift)
    size = U(there.shape[0])
    p = 0
    for i in range(words.shape[0]):
        word = words[i]
        value = ((word >> s) & mask) + offset
        if value < size:
            out[p] = word
            p += there[value]
    return p


@kernel
def merge_one(a: Words, b: Words, out: Words) -> None:
    """Merge two sorted arrays."""
    i = j = 0
    n, m = a.shape[0], b.shape[0]
    for p in range(n + m):
        if i < n and (j >= m or a[i] <= b[j]):
            out[p] = a[i]
            i += 1
        else:
            out[p] = b[j]
            j += 1


@kernel
def scatter(a: Words | Ranks | Places, b: Words | Ranks | Places, places: Places, out: Words | Ranks | Places) -> None:
    """Fill `out` with values of a, and before the value at each of these places one of b."""
    start = p = 0
    for j in range(places.shape[0]):
        for i in range(start, places[j]):
            out[p] = a[i]
            p += 1
        start = places[j]
        out[p] = b[j]
        p += 1
    for i in range(start, a.shape[0]):
        out[p] = a[i]
        p += 1


@kernel
def merge_places(a: Rows, b: Rows, out: Places) -> None:
    """Write for each row of b the place of the first row of a that is not below it; gallops, as a is the longer one."""
    n = a.shape[1]
    p = 0
    for j in range(b.shape[1]):
        if a.shape[0] == 1:
            p = _seek(a[0], U(0), b[0, j], p)
        else:
            step, at = 1, p
            while at < n and _less(a, at, b, j, a.shape[0], 64) > 0:
                p = at + 1
                at += step
                step <<= 1
            p = _lower(a, b, j, a.shape[0], 64, p, min(n, at))
        out[j] = p

"""What small deltas derive: the variants of rules, step by step, each for all bindings at once.

The fields of a tuple of the delta bind variables; each step searches the batches of its relation for the keys that
bindings make, and binds more variables for each match; bindings that have passed all steps give rows of the head. Where
two scans can come next, each tuple of the delta takes the one in which it has fewer matches. What to do is told in
lines of numbers (`lines`).
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.searching import (
    bind,
    compare,
    make_key,
    rank_of,
    read_mark,
    read_word,
    run_end,
    search,
)
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.kernel_cache import kernel

U = np.uint64


@kernel
def derive(told, recent, ranked, room, out, out_rank, out_head, largest, alone):  # type: ignore[no-untyped-def]
    """Write what the delta derives; return how many rows, or -1 if they are too many or have no room, and visits."""
    variants, fields = told[0], told[2]
    table, ranks, begun, count = recent[0], recent[1], recent[5], recent[6]
    left, right, left_rank, right_rank, choice = room[:5]
    search_room, most = room[5:], left.shape[0]
    made = visits = after = np.int64(0)
    while after < variants.shape[0]:
        v = after
        after += 1 + variants[v, lines.TWIN]
        m = variants[v, lines.DELTA]
        if count[m] - begun[m] > most:
            return -1, visits
        base, stride = np.int64(table[m].ctypes.data), 8 * table.shape[2]
        choice[: count[m] - begun[m]] = v
        if after > v + 1:
            visits += _choose(told, recent, v, after, left, search_room, choice)
        for chosen in range(v, after):
            variant = variants[chosen]
            n = np.int64(0)
            for i in range(begun[m], count[m]):
                if choice[i - begun[m]] == chosen and bind(
                    fields, variant[lines.BINDS], variant[lines.BOUND], base, stride, i, left, n
                ):
                    left_rank[n] = ranks[m, i]
                    n += 1
            for s in range(variant[lines.FIRST], variant[lines.LAST]):
                if n > 0:
                    n, more = _step(
                        told, recent, ranked, s, n, visits, left, left_rank, right, right_rank, search_room, alone
                    )
                    visits += more
                    left, right = right, left
                    left_rank, right_rank = right_rank, left_rank
            if n < 0 or made + n > largest:
                return -1, visits
            for i in range(n):
                if not make_key(fields, variant[lines.GIVES], variant[lines.GIVEN], left, i, out, made):
                    return -1, visits
                out_rank[made], out_head[made] = left_rank[i], variant[lines.HEAD]
                made += 1
    return made, visits


@kernel
def _step(  # type: ignore[no-untyped-def]
    told, recent, ranked, s, n, before, left, left_rank, right, right_rank, room, alone
):
    """Take n bindings through a step; return how many there are then, -1 if there were too many visits, and visits.

    An anti-join lets those pass that have no match.
    """
    step, fields, batches = told[1][s], told[2], told[3]
    ranks, begun, count = recent[1], recent[5], recent[6]
    keys, low, which, met = room[:4]
    full, shift, most = step[lines.FULL], step[lines.SHIFT], left.shape[0]
    if before + n > most:
        return -1, n
    distinct = _make_keys(fields, step, n, left, room, alone)
    visits, made = n, 0
    for b in range(step[lines.BATCHES], step[lines.END]):
        rows, stride, member = batches[b, lines.ROWS], batches[b, lines.STRIDE], batches[b, lines.MEMBER]
        size = batches[b, lines.SIZE] if member < 0 else count[member]
        marks, limit = batches[b, lines.MARKS], batches[b, lines.LIMIT]
        search(rows, stride, size, keys, distinct, full, shift, low)
        for i in range(n):
            key = which[i]
            j = low[key] if key >= 0 and not met[i] else size
            while j < size and not met[i] and compare(rows, stride, j, keys, key, full, shift) == 0:
                visits += 1
                if before + visits > most:
                    return -1, visits
                if member >= 0:
                    place = np.int64(read_word(rows + batches[b, lines.LINE] + 8 * j))
                    seen = not step[lines.OLD] or place < begun[member]
                else:
                    seen = not marks or np.int64(read_mark(marks + j)) <= limit
                if seen:
                    for name in range(left.shape[1]):
                        right[made, name] = left[i, name]
                    if bind(fields, step[lines.NEW], step[lines.NAMED], rows, stride, j, right, made):
                        met[i] = step[lines.ANTI]
                        if not met[i]:
                            right_rank[made] = left_rank[i]
                            if ranked and step[lines.RANKED]:
                                right_rank[made] = max(left_rank[i], rank_of(batches, b, j, ranks))
                            made += 1
                j += 1
    if step[lines.ANTI]:
        for i in range(n):
            if not met[i]:
                for name in range(left.shape[1]):
                    right[made, name] = left[i, name]
                right_rank[made] = left_rank[i]
                made += 1
    return made, visits


@kernel
def _make_keys(fields, step, n, left, room, alone):  # type: ignore[no-untyped-def]
    """Make the keys by which n bindings are searched, equal ones once if they are not far apart; return how many.

    The keys of so few bindings as `alone` says are not compared.

    Write for each binding which key is its own, -1 if there is no room for it, and that it has met nothing.
    """
    keys, _, which, met, last = room
    made, wide, some = 0, step[lines.FULL] + (step[lines.SHIFT] < 64), n > alone
    if some:
        last[:] = -1
    for i in range(n):
        met[i] = False
        which[i] = made if make_key(fields, step[lines.KEY], step[lines.KEYED], left, i, keys, made) else -1
        if which[i] < 0 or not some:
            made += which[i] >= 0
            continue
        mixed = U(0)
        for w in range(wide):
            mixed = (mixed ^ keys[made, w]) * U(0x9E3779B97F4A7C15)
        place = np.int64(mixed >> U(64 - lines.PLACES))
        known = last[place]
        same = known >= 0
        for w in range(wide):
            same = same and keys[known, w] == keys[made, w]
        if same:
            which[i] = known
        else:
            last[place] = made
            made += 1
    return made


@kernel
def _choose(told, recent, v, after, left, room, choice):  # type: ignore[no-untyped-def]
    """Choose for each tuple of a delta the variant, of some that differ in order, with fewest matches at first.

    -1 if it has no match in one of them. Return visits.
    """
    variants, steps, fields, batches = told[:4]
    table, begun, count = recent[0], recent[5], recent[6]
    keys, low, room_for = room[:3]
    m = variants[v, lines.DELTA]
    base, stride, n = np.int64(table[m].ctypes.data), 8 * table.shape[2], count[m] - begun[m]
    least = np.full(n, np.iinfo(np.int64).max)
    for chosen in range(v, after):
        variant, step = variants[chosen], steps[variants[chosen, lines.FIRST]]
        found = np.zeros(n, np.int64)
        for i in range(n):
            fits = bind(fields, variant[lines.BINDS], variant[lines.BOUND], base, stride, begun[m] + i, left, 0)
            fits = fits and make_key(fields, step[lines.KEY], step[lines.KEYED], left, 0, keys, i)
            room_for[i] = 0 if fits else -1
        for b in range(step[lines.BATCHES], step[lines.END]):
            rows, apart, member = batches[b, lines.ROWS], batches[b, lines.STRIDE], batches[b, lines.MEMBER]
            size = batches[b, lines.SIZE] if member < 0 else count[member]
            search(rows, apart, size, keys, n, step[lines.FULL], step[lines.SHIFT], low)
            for i in range(n):
                if room_for[i] >= 0:
                    found[i] += (
                        run_end(rows, apart, size, keys, i, step[lines.FULL], step[lines.SHIFT], low[i]) - low[i]
                    )
        for i in range(n):
            if found[i] < least[i]:
                least[i], choice[i] = found[i], chosen if found[i] else -1
    return n * (after - v)

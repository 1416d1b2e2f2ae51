"""Kernels that make rows of matches: each left row with each row of a range of a batch, fields moved into one row.

`moves` are lines of six numbers (see `run.columnar.storage.layout`); left rows come with their own fields in place.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.kernel_cache import inlined, kernel, part
from tidelog.run.kernel_types import Int, Marks, Places, Ranks, Rows, Words

U = np.uint64


@kernel
def emit_one(low: Places, high: Places, left: Words, batch: Words, moves: Rows, out: Words) -> None:
    """For each left word and matching batch word, write the left word with the moved fields of the batch word."""
    p = 0
    if moves.shape[0] == 1:
        right, mask, add, up = moves[0, 1], moves[0, 2], moves[0, 3], moves[0, 5]
        for i in range(low.shape[0]):
            word = left[i]
            for j in range(low[i], high[i]):
                out[p] = word | ((((batch[j] >> right) & mask) + add) << up)
                p += 1
        return
    if moves.shape[0] == 2:
        right, mask, add, up = moves[0, 1], moves[0, 2], moves[0, 3], moves[0, 5]
        right2, mask2, add2, up2 = moves[1, 1], moves[1, 2], moves[1, 3], moves[1, 5]
        for i in range(low.shape[0]):
            word = left[i]
            for j in range(low[i], high[i]):
                b = batch[j]
                out[p] = word | ((((b >> right) & mask) + add) << up) | ((((b >> right2) & mask2) + add2) << up2)
                p += 1
        return
    for i in range(low.shape[0]):
        word = left[i]
        for j in range(low[i], high[i]):
            b = batch[j]
            made = word
            for k in range(moves.shape[0]):
                made |= (((b >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]) << moves[k, 5]
            out[p] = made
            p += 1


@kernel
def emit_few_times(low: Places, high: Places, left: Words, batch: Words, moves: Rows, recent: Words, out: Words) -> Int:
    """As `emit_one`, leaving out most repetitions: words that are among the recent ones. Return how many are written.

    `recent` has a power of two places; the place of a word is given by the top bits of its product with an odd number.
    """
    down = U(64)
    size = recent.shape[0]
    while size > 1:
        size >>= 1
        down -= U(1)
    factor = U(0x9E3779B97F4A7C15)
    # No place may seem to hold a word that belongs there before one was seen: 0 belongs to place 0, ~0 to another one.
    recent[:] = ~U(0)
    recent[(~U(0) * factor) >> down] = U(0)
    p = 0
    if moves.shape[0] == 1:
        right, mask, add, up = moves[0, 1], moves[0, 2], moves[0, 3], moves[0, 5]
        for i in range(low.shape[0]):
            word = left[i]
            for j in range(low[i], high[i]):
                made = word | ((((batch[j] >> right) & mask) + add) << up)
                place = (made * factor) >> down
                out[p] = made
                p += recent[place] != made
                recent[place] = made
        return p
    for i in range(low.shape[0]):
        word = left[i]
        for j in range(low[i], high[i]):
            b = batch[j]
            made = word
            for k in range(moves.shape[0]):
                made |= (((b >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]) << moves[k, 5]
            place = (made * factor) >> down
            out[p] = made
            p += recent[place] != made
            recent[place] = made
    return p


@inlined
def _unite(left: Rows, i: int, batch: Rows, j: int, moves: Rows, out: Rows, p: int) -> None:
    """Write left row i with the moved fields of batch row j as row p."""
    for w in range(out.shape[0]):
        out[w, p] = left[w, i]
    for k in range(moves.shape[0]):
        field = ((batch[np.int64(moves[k, 0]), j] >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]
        out[np.int64(moves[k, 4]), p] |= field << moves[k, 5]


@kernel
def emit_many(low: Places, high: Places, left: Rows, batch: Rows, moves: Rows, out: Rows) -> None:
    """As `emit_one`, for rows of several words."""
    p = 0
    for i in range(low.shape[0]):
        for j in range(low[i], high[i]):
            _unite(left, i, batch, j, moves, out, p)
            p += 1


@kernel
def emit_ranked(
    low: Places,
    high: Places,
    left: Rows,
    left_rank: Ranks,
    batch: Rows,
    rank: Ranks,
    mark: Marks,
    limit: int,
    moves: Rows,
    out: Rows,
    out_rank: Ranks,
) -> Int:
    """As `emit_many`, of the rows whose mark is up to the limit, with the greater rank; return how many there are.

    Empty arrays of ranks or marks stand for rank 0 and for rows that all hold.
    """
    p = 0
    if left.shape[0] == 1 and batch.shape[0] == 1 and moves.shape[0] <= 2:
        return _emit_ranked_one(low, high, left[0], left_rank, batch[0], rank, mark, limit, moves, out[0], out_rank)
    for i in range(low.shape[0]):
        for j in range(low[i], high[i]):
            if mark.shape[0] and mark[j] > limit:
                continue
            _unite(left, i, batch, j, moves, out, p)
            greater = left_rank[i]
            if rank.shape[0] and rank[j] > greater:
                greater = rank[j]
            out_rank[p] = greater
            p += 1
    return p


@part
def _emit_ranked_one(
    low: Places,
    high: Places,
    left: Words,
    left_rank: Ranks,
    batch: Words,
    rank: Ranks,
    mark: Marks,
    limit: int,
    moves: Rows,
    out: Words,
    out_rank: Ranks,
) -> Int:
    """As `emit_ranked`, of rows of one word with up to two fields to move."""
    marked, ranked, p = mark.shape[0] > 0, rank.shape[0] > 0, 0
    right = mask = add = up = right2 = mask2 = add2 = up2 = U(0)
    if moves.shape[0] > 0:
        right, mask, add, up = moves[0, 1], moves[0, 2], moves[0, 3], moves[0, 5]
    if moves.shape[0] > 1:
        right2, mask2, add2, up2 = moves[1, 1], moves[1, 2], moves[1, 3], moves[1, 5]
    for i in range(low.shape[0]):
        word, own = left[i], left_rank[i]
        for j in range(low[i], high[i]):
            if marked and mark[j] > limit:
                continue
            b = batch[j]
            out[p] = word | ((((b >> right) & mask) + add) << up) | ((((b >> right2) & mask2) + add2) << up2)
            out_rank[p] = max(own, rank[j]) if ranked else own
            p += 1
    return p


@kernel
def visible(low: Places, high: Places, mark: Marks, limit: int, counts: Places) -> None:
    """Count the rows of each range whose mark is up to the limit."""
    for i in range(low.shape[0]):
        found = 0
        for j in range(low[i], high[i]):
            if mark[j] <= limit:
                found += 1
        counts[i] = found

"""Kernels that count derivations: add them to their heads, or take them away, in one pass over both."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidelog.run.columnar.kernels import DOUBTFUL, HERE, LOST
from tidelog.run.columnar.kernels.memory import ALIVE, put_count, read_count
from tidelog.run.columnar.kernels.ranks import above
from tidelog.run.kernel_cache import kernel, part
from tidelog.run.kernel_types import Int, Lines, Marks, Places, Ranks

_above: Any = part(above)
MOST = np.iinfo(np.int64).max
"""The greatest count. It is compared before anything is added: compiled sums are taken never to grow too far."""


class Counts(NamedTuple):
    """Where the counts of a batch are: an address, and bytes from line to line (0: there is one) and count to count."""

    address: int
    line: int
    apart: int


@kernel
def tally(
    low: Places,
    high: Places,
    firsts: Places,
    rank: Ranks,
    times: Places,
    mark: Marks,
    limit: int,
    ranks: Ranks,
    own: int,
    where: Counts,
    sign: int,
    state: Marks,
    above: Ranks,
    places: Places,
    before: Lines,
    size: Places,
    lost: Places,
) -> Int:
    """Change the counts of the heads that a batch holds with a mark up to a limit; return how many have none left.

    `low`, `high` say where a head stands; its derivations are those from its first to the next. What is overwritten is
    in `places` and `before`, and `size` says how much it is, and whether a count grew too far. `lost` are the places of
    the heads without support. Empty arrays of times, marks or ranks stand for once, for rows that all hold, and for
    rows all of rank `own`.
    """
    line = where.line
    n, p, gone = firsts.shape[0], 0, 0
    for i in range(n):
        j = low[i]
        if high[i] == j or (mark.shape[0] and mark[j] > limit):
            continue
        above[i] = ranks[j] if ranks.shape[0] else own
        supporting = every = 0
        for k in range(firsts[i], firsts[i + 1] if i + 1 < n else rank.shape[0]):
            more = times[k] if times.shape[0] else 1
            every += more
            if rank[k] < above[i]:
                supporting += more
        at = where.address + j * where.apart
        support = read_count(at)
        after = support + sign * supporting
        places[p], before[0, p] = j, support
        put_count(at, after)
        over = sign > 0 and support > MOST - supporting
        if line:
            all_before = read_count(at + line)
            all_after = all_before + sign * every
            before[1, p] = all_before
            put_count(at + line, all_after)
            over |= sign > 0 and all_before > MOST - every
        p += 1
        size[0] = p
        size[1] |= over
        state[i] = HERE
        if after < 0:
            if supporting > 0:
                state[i] = DOUBTFUL
        elif after == 0 and (mark.shape[0] == 0 or mark[j] == ALIVE):
            state[i] = LOST
            lost[gone] = j
            gone += 1
    return gone


@kernel
def summed(
    firsts: Places, rank: Ranks, times: Places, state: Marks, places: Places, every: Places, above: Ranks
) -> Int:
    """Write the heads that were found nowhere, how many derivations each has, and the level above all of them."""
    n, p = firsts.shape[0], 0
    for i in range(n):
        if state[i]:
            continue
        total, greatest = 0, np.int64(0)
        for k in range(firsts[i], firsts[i + 1] if i + 1 < n else rank.shape[0]):
            total += times[k] if times.shape[0] else 1
            greatest = max(greatest, np.int64(rank[k]))
        places[p], every[p], above[p] = i, total, _above(greatest)
        p += 1
    return p

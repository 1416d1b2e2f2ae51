"""Absorbing in rounds of a few tuples, as `rounds` says: tuples become true."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidelog.run.columnar.kernels.memory import ALIVE
from tidelog.run.columnar.kernels.ranks import above, level
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.deriving import derive
from tidelog.run.columnar.machine.kernels.rounds import add, clear, locate_heads, may_go_on, move, undo
from tidelog.run.columnar.machine.kernels.searching import bisect, rank_of
from tidelog.run.columnar.machine.kernels.state import Bench, Bounds, Code, Derivations, Log, Recent
from tidelog.run.kernel_cache import kernel, part
from tidelog.run.kernel_types import Int, Places, Rows

_above: Any = part(above)
_level: Any = part(level)
U = np.uint64
__all__ = ["Ranking", "gain", "undo"]


class Ranking(NamedTuple):
    """How tuples get ranks, and if derivations are counted."""

    ranked: bool
    """Otherwise, in a bootstrap, a tuple has the rank of its round; what comes later is no support."""
    counting: bool
    round: int
    """The number of the first round."""
    places: int
    """Places that the hash table of tuples begins with, a power of two."""


@kernel
def gain(code: Code, recent: Recent, given: Derivations, bench: Bench, log: Log, how: Ranking, bounds: Bounds) -> None:
    """Absorb what the delta derives, and go on with what is new, within bounds.

    It also stops when many words have been moved: recent tuples had better join the batches. If derivations are given,
    there is no delta yet, and these are absorbed first.
    """
    begun, count, before, answer = recent.begun, recent.end, bench.before, log.answer
    clear(before, 0, before.shape[0])
    size = _noted(code, recent, 0, given.ranks.shape[0], how.places, bench)
    if given.ranks.shape[0]:
        _absorb_all(code, recent, given, given.ranks.shape[0], size, how, bench, log)
    _arrange(code, recent, bench, answer, bounds.insertion)
    while answer[op.ROUNDS] < bounds.rounds and may_go_on(code, recent, bounds.derivations):
        full = answer[op.LOGGED] + 2 * bounds.derivations > log.lines.shape[0]
        if full or max(answer[op.VISITS], answer[op.SHIFTED]) > bounds.work:
            return
        made = derive(
            code, recent, begun, count, recent.ranks, how.ranked, bench, answer, bounds.derivations, bounds.alone
        )
        if made < 0:
            return
        size = _noted(code, recent, size, made, how.places, bench)
        for m in range(before.shape[0]):
            before[m] = count[m]
        _absorb_all(code, recent, bench.derived, made, size, how, bench, log)
        _arrange(code, recent, bench, answer, bounds.insertion)
        for m in range(before.shape[0]):
            begun[m] = before[m]
        answer[op.ROUNDS] += 1


@part
def _absorb_all(
    code: Code, recent: Recent, derived: Derivations, made: int, size: int, how: Ranking, bench: Bench, log: Log
) -> None:
    """Absorb derivations.

    One of a tuple that is recent, or new, counts there; one of another that is present where that is. All in one loop:
    to hand arrays to a function for each derivation would cost more than it does.
    """
    batches, rows, ranks, support, every = code.batches, recent.rows, recent.ranks, recent.support, recent.every
    count, before, found, capacity = recent.end, bench.before, bench.buckets, recent.rows.shape[2]
    locate_heads(code, derived, made, ALIVE, ALIVE, bench)
    for k in range(made):
        rank, m, b, times = derived.ranks[k], derived.members[k], bench.batches[k], derived.times[k]
        p = _bucket_of(found, size, m, recent, derived.rows, k, code.members[m, op.WORDS])
        i, own = found[p] % capacity, _above(rank) if how.ranked else _level(how.round + log.answer[op.ROUNDS])
        if found[p] >= 0:
            every[m, i] += times
            if i >= before[m]:
                support[m, i] += times
                if how.ranked:
                    ranks[m, i] = max(ranks[m, i], own)
            elif how.ranked and own <= ranks[m, i]:
                support[m, i] += times
        elif b < 0:
            i = count[m]
            for w in range(code.members[m, op.WORDS]):
                rows[m, w, i] = derived.rows[k, w]
            ranks[m, i] = own
            support[m, i] = every[m, i] = times
            found[p] = m * capacity + i
            count[m] += 1
        elif how.counting:
            address = batches[b, op.COUNTS] + bench.places[k] * batches[b, op.NEXT]
            if batches[b, op.LINE]:
                add(address + batches[b, op.LINE], times, log)
            if how.ranked and rank < rank_of(batches, b, bench.places[k], ranks):
                add(address, times, log)


# --- the hash table of recent tuples ---------------------------------------------------------------------------------


@part
def _noted(code: Code, recent: Recent, size: int, more: int, least: int, bench: Bench) -> int:
    """Return how many buckets there are, a power of two, so that recent tuples and some more are found fast.

    If there are too few, begin anew with more.
    """
    needed, wanted = more, min(least, bench.buckets.shape[0])
    for m in range(recent.end.shape[0]):
        needed += recent.end[m]
    while wanted < 2 * needed:
        wanted *= 2
    if wanted <= size:
        return size
    found, row = bench.buckets, bench.row
    wanted = min(2 * wanted, found.shape[0]) if size else wanted
    clear(found, -1, wanted)
    for m in range(code.members.shape[0]):
        words = code.members[m, op.WORDS]
        for i in range(recent.end[m]):
            for w in range(words):
                row[0, w] = recent.rows[m, w, i]
            found[_bucket_of(found, wanted, m, recent, row, 0, words)] = m * recent.rows.shape[2] + i
    return wanted


@part
def _bucket_of(found: Places, size: int, m: int, recent: Recent, rows: Rows, k: int, words: int) -> Int:
    """Return the bucket where row k, a tuple of a member, is noted or would be."""
    table, capacity, last = recent.rows, recent.rows.shape[2], size - 1
    mixed = U(m + 1)
    for w in range(words):
        mixed = (mixed ^ rows[k, w]) * U(0x9E3779B97F4A7C15)
        mixed ^= mixed >> U(32)
    p = np.int64(mixed & U(last))
    while found[p] >= 0:
        if found[p] // capacity == m:
            i = found[p] % capacity
            same = True
            for w in range(words):
                same &= table[m, w, i] == rows[k, w]
            if same:
                return p
        p = (p + 1) & last
    return p


# --- every order -----------------------------------------------------------------------------------------------------


@part
def _arrange(code: Code, recent: Recent, bench: Bench, answer: Places, few: int) -> None:
    """Put the recent tuples that have come to their places in every order."""
    ordered, rows, places = recent.sorted, bench.lookup.keys, bench.lookup.these
    stride = 8 * ordered.shape[2]
    for m in range(code.members.shape[0]):
        old, new = bench.before[m], recent.end[m] - bench.before[m]
        if new == 0:
            continue
        for o in range(code.members[m, op.ORDERS], code.members[m, op.ORDERED]):
            width = code.orders[o, op.WIDTH]
            for i in range(new):
                move(code, recent, o, m, old + i, rows, i)
            _sort(rows, new, width, places, bench.lookup.places, bench.registers.last, few)
            base, h = np.int64(ordered.ctypes.data) + o * ordered.shape[1] * stride, old
            for k in range(new - 1, -1, -1):
                i = places[k]
                p = bisect(base, stride, 0, h, rows, i, width, 64, 1)
                for w in range(width + 1):
                    for j in range(h - 1, p - 1, -1):
                        ordered[o, w, j + k + 1] = ordered[o, w, j]
                    ordered[o, w, p + k] = rows[i, w] if w < width else U(old + i)
                answer[op.SHIFTED] += h - p
                h = p


@part
def _sort(rows: Rows, n: int, width: int, places: Places, other: Places, counts: Places, few: int) -> None:
    """Write the places of n rows in their order: a few by insertion, more by radix."""
    for k in range(n):
        places[k] = k
        p = k
        while n <= few and p > 0 and _is_after(rows, places[p - 1], k, width):
            places[p] = places[p - 1]
            places[p - 1] = k
            p -= 1
    for w in range(width - 1 if n > few else -1, -1, -1):
        bits = U(0)
        for i in range(n):
            bits |= rows[i, w] ^ rows[0, w]
        down = U(0)
        while down < U(64) and bits >> down:
            if not (bits >> down) & U(1):
                down += U(1)
                continue
            _place_digit(rows, n, w, down, places, other, counts)
            down += U(8)


@part
def _is_after(rows: Rows, i: int, k: int, width: int) -> bool:
    """Tell whether row i comes after row k."""
    for w in range(width):
        if rows[i, w] != rows[k, w]:
            return rows[i, w] > rows[k, w]
    return False


@part
def _place_digit(rows: Rows, n: int, w: int, down: np.uint64, places: Places, other: Places, counts: Places) -> None:
    """Bring places of rows into the order of eight bits of a word; equal ones keep theirs."""
    clear(counts, 0, 256)
    for i in range(n):
        counts[np.int64((rows[i, w] >> down) & U(255))] += 1
    total = 0
    for d in range(256):
        count = counts[d]
        counts[d] = total
        total += count
    for i in range(n):
        digit = np.int64((rows[places[i], w] >> down) & U(255))
        other[counts[digit]] = places[i]
        counts[digit] += 1
    for i in range(n):
        places[i] = other[i]

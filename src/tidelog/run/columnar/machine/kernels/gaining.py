"""Absorbing in rounds of a few tuples, as `rounds` says: tuples become true."""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.ranks import above, level
from tidelog.run.columnar.kernels.searching import ALIVE, bisect, compare, rank_of
from tidelog.run.columnar.kernels.sorting import order_one
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.columnar.machine.kernels.rounds import (
    add,
    derived_by,
    has_room,
    laid_out,
    locate_heads,
    may_go_on,
    moved,
    undo,
)
from tidelog.run.kernel_cache import kernel

_above, _level = kernel(above), kernel(level)
U = np.uint64
__all__ = ["gain", "undo"]


@kernel
def gain(  # type: ignore[no-untyped-def]
    told, recent, given, bench, log, answer, ranked, counting, number, rounds, most, largest, thresholds
):
    """Absorb what the delta derives, and go on with what is new, for up to so many rounds and about `most` visits.

    It also stops when as many words have been moved: recent tuples had better join the batches. If derivations are
    given (rows, ranks, members, how often), there is no delta yet, and these are absorbed first.

    In a bootstrap (not `ranked`) a tuple has the rank of its round, from `number` on; what comes later is no support.
    The thresholds: of more bindings equal keys are searched once; places that the table of tuples begins with; up to so
    many rows are sorted by insertion.
    """
    alone, places, few = thresholds
    members, table, begun, count = told[4], recent[0], recent[5], recent[6]
    derived, (line, at), scratch, room = laid_out(bench)
    row, before = np.empty((1, table.shape[1] + 1), np.uint64), np.zeros(members.shape[0], np.int64)
    found = np.full(_places_for(count.sum() + given[1].shape[0], places), -1, np.int64)
    _note(members, table, before, count, found)
    how = ranked, counting, number, line, at
    if given[1].shape[0]:
        _absorb_all(told, recent, given, given[1].shape[0], found, before, how, log, answer, scratch)
    _arrange(told, recent, answer, before, row, scratch, few)
    while answer[lines.ROUNDS] < rounds and may_go_on(members, begun, count):
        full = answer[lines.LOGGED] + 2 * largest > log.shape[0]
        busy = max(answer[lines.VISITS], answer[lines.SHIFTED]) > most
        if busy or full or not has_room(count, table.shape[2], largest):
            return
        made = derived_by(told, recent, answer, ranked, room, derived, largest, alone)
        if made < 0:
            return
        if _places_for(count.sum() + made, places) > found.shape[0]:
            found = np.full(2 * _places_for(count.sum() + made, places), -1, np.int64)
            before[:] = 0
            _note(members, table, before, count, found)
        before[:] = count
        _absorb_all(told, recent, derived, made, found, before, how, log, answer, scratch)
        _arrange(told, recent, answer, before, row, scratch, few)
        begun[:] = before
        answer[lines.ROUNDS] += 1


@kernel
def _absorb_all(told, recent, derived, made, found, before, how, log, answer, scratch):  # type: ignore[no-untyped-def]
    """Absorb so many derivations: rows, ranks, members, and how often each occurs.

    One of a tuple that is recent, or new, counts there; one of another that is present where that is. All in one loop:
    to hand arrays to a function for each derivation would cost more than it does.
    """
    batches, members = told[3], told[4]
    table, ranks, support, every, _, _, count = recent
    out, out_rank, out_head, times = derived
    ranked, counting, number, line, at = how
    locate_heads(told, out, out_head, made, np.int64(ALIVE), line, at, scratch)
    for k in range(made):
        rank, m, b = out_rank[k], out_head[k], line[k]
        p = _place_of(found, m, table, out, k, members[m, lines.WORDS])
        i, own = found[p] % table.shape[2], _above(rank) if ranked else _level(number + answer[lines.ROUNDS])
        if found[p] >= 0:
            every[m, i] += times[k]
            if i >= before[m]:
                support[m, i] += times[k]
                if ranked:
                    ranks[m, i] = max(ranks[m, i], own)
            elif ranked and own <= ranks[m, i]:
                support[m, i] += times[k]
        elif b < 0:
            i = count[m]
            for w in range(members[m, lines.WORDS]):
                table[m, w, i] = out[k, w]
            ranks[m, i] = own
            support[m, i] = every[m, i] = times[k]
            found[p] = m * table.shape[2] + i
            count[m] += 1
        elif counting:
            address = batches[b, lines.COUNTS] + at[k] * batches[b, lines.NEXT]
            if batches[b, lines.LINE]:
                add(address + batches[b, lines.LINE], times[k], log, answer)
            if ranked and rank < rank_of(batches, b, at[k], ranks):
                add(address, times[k], log, answer)


@kernel
def _places_for(count, least):  # type: ignore[no-untyped-def]
    """Return how many places a table has in which so many tuples are found fast: a power of two."""
    size = least
    while size < 2 * count:
        size *= 2
    return size


@kernel
def _place_of(found, m, table, rows, k, words):  # type: ignore[no-untyped-def]
    """Return the place where row k, a tuple of a member, is noted or would be."""
    capacity, last = table.shape[2], found.shape[0] - 1
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


@kernel
def _note(members, table, start, count, found):  # type: ignore[no-untyped-def]
    """Note where the tuples of each member's table are."""
    row = np.empty((1, table.shape[1]), np.uint64)
    for m in range(members.shape[0]):
        words = members[m, lines.WORDS]
        for i in range(start[m], count[m]):
            row[0, :words] = table[m, :words, i]
            found[_place_of(found, m, table, row, 0, words)] = m * table.shape[2] + i


@kernel
def _arrange(told, recent, answer, before, row, scratch, few):  # type: ignore[no-untyped-def]
    """Put the tuples that have come to the members' tables to their places in every order."""
    members, orders, moves = told[4:]
    table, ordered, count = recent[0], recent[4], recent[6]
    rows, places = scratch[:2]
    for m in range(members.shape[0]):
        old, new = before[m], count[m] - before[m]
        if new == 0:
            continue
        for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
            width = orders[o, lines.WIDTH]
            for i in range(new):
                moved(orders, o, moves, table, m, old + i, row)
                for w in range(width):
                    rows[i, w] = row[0, w]
            _sort(rows, new, width, places, few)
            base, stride, h = np.int64(ordered[o].ctypes.data), 8 * ordered.shape[2], old
            for k in range(new - 1, -1, -1):
                i = places[k]
                p = bisect(base, stride, 0, h, rows, i, width, 64, 1)
                for w in range(width + 1):
                    for j in range(h - 1, p - 1, -1):
                        ordered[o, w, j + k + 1] = ordered[o, w, j]
                    ordered[o, w, p + k] = rows[i, w] if w < width else U(old + i)
                answer[lines.SHIFTED] += h - p
                h = p


@kernel
def _sort(rows, n, width, places, few):  # type: ignore[no-untyped-def]
    """Write the places of n rows in their order."""
    if n > few:
        found = np.arange(n)
        for w in range(width - 1, -1, -1):
            _, found = order_one(rows[:n, w][found], found, np.empty(n, np.uint64), np.empty(n, np.int64))
        places[:n] = found
        return
    base, apart = np.int64(rows.ctypes.data), 8 * rows.shape[1]
    for k in range(n):
        p = k
        while p > 0 and compare(base + apart * places[p - 1], 8, 0, rows, k, width, 64) < 0:
            places[p] = places[p - 1]
            p -= 1
        places[p] = k

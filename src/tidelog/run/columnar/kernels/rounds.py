"""Rounds of a few tuples, one after the other, without going back to the interpreter in between.

A round of a deep recursion, or of a small update, often has a handful of tuples; made of array functions it costs some
70 microseconds around the kernels for each rule. Here one kernel evaluates all of them (`deriving`). What to do is told
in lines of numbers (`lines`): rows, marks, ranks and counts of batches are known by their addresses.

Tuples that become true are *recent*: in the table of their member (a relation of the stratum) as they came, so that the
delta is the end of it, and sorted in each order of the relation, each row with its place in the table behind it. `gain`
absorbs and `lose` releases derivations, as `run.columnar.absorb` does; what they overwrite is logged. Both stop before
a round for which there may be no room, or that is larger than they are made for, and leave it as if it had not been
begun.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tidelog.run.columnar.kernels import lines
from tidelog.run.columnar.kernels.deriving import derive
from tidelog.run.columnar.kernels.searching import (
    ALIVE,
    bisect,
    compare,
    locate,
    put_count,
    put_mark,
    rank_of,
    read_count,
    read_mark,
)
from tidelog.run.columnar.kernels.sorting import FEW, order_one

U = np.uint64
DYING, REMOVED = 1, 2


@njit(cache=True, nogil=True)
def _may_go_on(members, begun, count):  # type: ignore[no-untyped-def]
    """Tell whether there is a delta that a rule reads, and none that one reads that is not told here."""
    some = False
    for m in range(members.shape[0]):
        if count[m] > begun[m] and members[m, lines.READ]:
            some = True
            if members[m, lines.BLOCKED]:
                return False
    return some


@njit(cache=True, nogil=True)
def _has_room(count, capacity, largest):  # type: ignore[no-untyped-def]
    """Tell whether so many tuples more have room in every table."""
    return count.max() + largest <= capacity


@njit(cache=True, nogil=True)
def _moved(orders, o, moves, table, m, i, row):  # type: ignore[no-untyped-def]
    """Make the row that tuple i of a member's table is in an order."""
    for w in range(row.shape[1]):
        row[0, w] = U(0)
    for k in range(orders[o, lines.MOVES], orders[o, lines.MOVED]):
        field = ((table[m, np.int64(moves[k, 0]), i] >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]
        row[0, np.int64(moves[k, 4])] |= field << moves[k, 5]


@njit(cache=True, nogil=True)
def _derived(told, recent, answer, ranked, room, derived, largest):  # type: ignore[no-untyped-def]
    """Write what the delta derives, and answer for the work; return how many, or below 0 if they are too many."""
    made, visits = derive(told, recent, ranked, room, derived[0], derived[1], derived[2], largest)
    answer[lines.VISITS] += visits
    if made < 0:
        answer[lines.STATUS] = lines.TOO_MANY
    else:
        answer[lines.DERIVATIONS] += made
    return made


@njit(cache=True, nogil=True)
def _laid_out(bench):  # type: ignore[no-untyped-def]
    """Return the room of a workbench: for derivations, where their heads are, places of rows, and bindings."""
    names, keys, visited, numbers, rows, last = bench
    derived = rows[0], numbers[0], numbers[1], numbers[2]
    located, scratch = (numbers[3], numbers[4]), (rows[1], numbers[5], numbers[6], numbers[7], numbers[8])
    bindings = names[0], names[1], visited[0], visited[1], visited[2], keys, visited[3], visited[4], visited[5], last
    return derived, located, scratch, bindings


@njit(cache=True, nogil=True)
def _locate_heads(told, out, out_head, made, most, line, at, scratch):  # type: ignore[no-untyped-def]
    """Write where the tuples of derivations are that have a mark up to a limit: batch, or -1, and place."""
    batches, members, orders = told[3], told[4], told[5]
    keys, these, found, places, low = scratch
    for m in range(members.shape[0]):
        n = 0
        for k in range(made):
            if out_head[k] == m:
                these[n] = k
                for w in range(out.shape[1]):
                    keys[n, w] = out[k, w]
                n += 1
        o = members[m, lines.ORDERS]
        first, end = orders[o, lines.HELD], orders[o, lines.HOLDING]
        locate(batches, first, end, keys, n, members[m, lines.WORDS], ALIVE, most, found, places, low)
        for i in range(n):
            line[these[i]], at[these[i]] = found[i], places[i]


# --- absorbing -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def gain(  # type: ignore[no-untyped-def]
    told, recent, given, bench, log, answer, ranked, counting, number, rounds, most, largest
):
    """Absorb what the delta derives, and go on with what is new, for up to so many rounds and about `most` visits.

    It also stops when as many words have been moved: recent tuples had better join the batches. If derivations are
    given (rows, ranks, members, how often), there is no delta yet, and these are absorbed first.

    In a bootstrap (not `ranked`) a tuple has as rank the `number` of its round, and what comes later is no support.
    """
    members, table, begun, count = told[4], recent[0], recent[5], recent[6]
    derived, (line, at), scratch, room = _laid_out(bench)
    row, before = np.empty((1, table.shape[1] + 1), np.uint64), np.zeros(members.shape[0], np.int64)
    found = np.full(_places_for(count.sum() + given[1].shape[0]), -1, np.int64)
    _note(members, table, before, count, found)
    how = ranked, counting, number, line, at
    if given[1].shape[0]:
        _absorb_all(told, recent, given, given[1].shape[0], found, before, how, log, answer, scratch)
    _arrange(told, recent, answer, before, row, scratch)
    while answer[lines.ROUNDS] < rounds and _may_go_on(members, begun, count):
        full = answer[lines.LOGGED] + 2 * largest > log.shape[0]
        busy = max(answer[lines.VISITS], answer[lines.SHIFTED]) > most
        if busy or full or not _has_room(count, table.shape[2], largest):
            return
        made = _derived(told, recent, answer, ranked, room, derived, largest)
        if made < 0:
            return
        if _places_for(count.sum() + made) > found.shape[0]:
            found = np.full(2 * _places_for(count.sum() + made), -1, np.int64)
            before[:] = 0
            _note(members, table, before, count, found)
        before[:] = count
        _absorb_all(told, recent, derived, made, found, before, how, log, answer, scratch)
        _arrange(told, recent, answer, before, row, scratch)
        begun[:] = before
        answer[lines.ROUNDS] += 1


@njit(cache=True, nogil=True)
def _absorb_all(told, recent, derived, made, found, before, how, log, answer, scratch):  # type: ignore[no-untyped-def]
    """Absorb so many derivations: rows, ranks, members, and how often each occurs.

    One of a tuple that is recent, or new, counts there; one of another that is present where that is. All in one loop:
    to hand arrays to a function for each derivation would cost more than it does.
    """
    batches, members = told[3], told[4]
    table, ranks, support, every, _, _, count = recent
    out, out_rank, out_head, times = derived
    ranked, counting, number, line, at = how
    _locate_heads(told, out, out_head, made, ALIVE, line, at, scratch)
    for k in range(made):
        rank, m, b = out_rank[k], out_head[k], line[k]
        p = _place_of(found, m, table, out, k, members[m, lines.WORDS])
        i, own = found[p] % table.shape[2], rank + 1 if ranked else number + answer[lines.ROUNDS]
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
                _add(address + batches[b, lines.LINE], times[k], log, answer)
            if ranked and rank < rank_of(batches, b, at[k], ranks):
                _add(address, times[k], log, answer)


@njit(cache=True, nogil=True)
def _places_for(count):  # type: ignore[no-untyped-def]
    """Return how many places a table has in which so many tuples are found fast: a power of two."""
    size = 64
    while size < 2 * count:
        size *= 2
    return size


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _note(members, table, start, count, found):  # type: ignore[no-untyped-def]
    """Note where the tuples of each member's table are."""
    row = np.empty((1, table.shape[1]), np.uint64)
    for m in range(members.shape[0]):
        words = members[m, lines.WORDS]
        for i in range(start[m], count[m]):
            row[0, :words] = table[m, :words, i]
            found[_place_of(found, m, table, row, 0, words)] = m * table.shape[2] + i


@njit(cache=True, nogil=True)
def _arrange(told, recent, answer, before, row, scratch):  # type: ignore[no-untyped-def]
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
                _moved(orders, o, moves, table, m, old + i, row)
                for w in range(width):
                    rows[i, w] = row[0, w]
            _sort(rows, new, width, places)
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


@njit(cache=True, nogil=True)
def _sort(rows, n, width, places):  # type: ignore[no-untyped-def]
    """Write the places of n rows in their order."""
    if n > FEW:
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


# --- releasing -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def lose(  # type: ignore[no-untyped-def]
    told, recent, given, where, bench, log, answer, rounds, most, largest
):
    """Release what the delta derives, and go on with what has lost its support, as `gain` does.

    `where` has the batch and the place of each tuple of the tables in each order.
    """
    members, orders = told[4:6]
    table, begun, count = recent[0], recent[5], recent[6]
    derived, (line, at), scratch, room = _laid_out(bench)
    row, before = np.empty((1, table.shape[1] + 1), np.uint64), np.zeros(members.shape[0], np.int64)
    _locate_dying(told, recent, where, before, 0, DYING, row, scratch)
    if given[1].shape[0]:
        _release_all(told, recent, given, given[1].shape[0], where, before, line, at, log, answer, row, scratch)
    entries = 2 * largest + orders.shape[0] * (largest + table.shape[2])
    while answer[lines.ROUNDS] < rounds and _may_go_on(members, begun, count):
        full = answer[lines.LOGGED] + entries > log.shape[0]
        if answer[lines.VISITS] > most or full or not _has_room(count, table.shape[2], largest):
            return
        made = _derived(told, recent, answer, True, room, derived, largest)
        if made < 0:
            return
        _mark(told, where, begun, count, 0, REMOVED, log, answer)
        before[:] = count
        _release_all(told, recent, derived, made, where, before, line, at, log, answer, row, scratch)
        begun[:] = before
        answer[lines.ROUNDS] += 1


@njit(cache=True, nogil=True)
def _release_all(  # type: ignore[no-untyped-def]
    told, recent, derived, made, where, before, line, at, log, answer, row, scratch
):
    """Release so many derivations (rows, ranks, members, how often); what dies comes to the tables and is marked."""
    batches, members, table, ranks, count = told[3], told[4], recent[0], recent[1], recent[6]
    out, out_rank, out_head, times = derived
    _locate_heads(told, out, out_head, made, REMOVED, line, at, scratch)
    for k in range(made):
        m, b, p = out_head[k], line[k], at[k]
        if b < 0:
            continue
        address = batches[b, lines.COUNTS] + p * batches[b, lines.NEXT]
        if batches[b, lines.LINE]:
            _add(address + batches[b, lines.LINE], -times[k], log, answer)
        own = rank_of(batches, b, p, ranks)
        if out_rank[k] >= own:
            continue
        _add(address, -times[k], log, answer)
        if read_count(address) != 0 or read_mark(batches[b, lines.MARKS] + p) != ALIVE:
            continue
        i, o = count[m], members[m, lines.ORDERS]
        for w in range(members[m, lines.WORDS]):
            table[m, w, i] = out[k, w]
        ranks[m, i] = own
        where[o, i, 0], where[o, i, 1] = b, p
        _set_mark(batches, b, p, DYING, log, answer)
        count[m] += 1
    _locate_dying(told, recent, where, before, 1, ALIVE, row, scratch)
    _mark(told, where, before, count, 1, DYING, log, answer)
    for m in range(members.shape[0]):
        for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
            for i in range(before[m], count[m]):
                batches[where[o, i, 0], lines.GONE] += 1


@njit(cache=True, nogil=True)
def _locate_dying(told, recent, where, start, skipped, mark, row, scratch):  # type: ignore[no-untyped-def]
    """Find the tuples of the tables from some places on, which have a mark, in their orders but the first so many."""
    batches, members, orders, moves = told[3:]
    table, count = recent[0], recent[6]
    keys, _, line, at, low = scratch
    for m in range(members.shape[0]):
        n = count[m] - start[m]
        for o in range(members[m, lines.ORDERS] + skipped, members[m, lines.ORDERED]):
            width = orders[o, lines.WIDTH]
            for i in range(n):
                _moved(orders, o, moves, table, m, start[m] + i, row)
                for w in range(width):
                    keys[i, w] = row[0, w]
            locate(batches, orders[o, lines.HELD], orders[o, lines.HOLDING], keys, n, width, mark, mark, line, at, low)
            for i in range(n):
                where[o, start[m] + i, 0], where[o, start[m] + i, 1] = line[i], at[i]


@njit(cache=True, nogil=True)
def _mark(told, where, start, end, skipped, mark, log, answer):  # type: ignore[no-untyped-def]
    """Mark tuples of the tables in their orders but the first so many."""
    batches, members = told[3], told[4]
    for m in range(members.shape[0]):
        for o in range(members[m, lines.ORDERS] + skipped, members[m, lines.ORDERED]):
            for i in range(start[m], end[m]):
                _set_mark(batches, where[o, i, 0], where[o, i, 1], mark, log, answer)


@njit(cache=True, nogil=True)
def _add(address, more, log, answer):  # type: ignore[no-untyped-def]
    """Add to a count."""
    at, old = answer[lines.LOGGED], read_count(address)
    log[at, 0], log[at, 1], log[at, 2] = address, 8, old
    answer[lines.LOGGED] += 1
    put_count(address, old + more)


@njit(cache=True, nogil=True)
def _set_mark(batches, b, p, mark, log, answer):  # type: ignore[no-untyped-def]
    """Mark a row of a batch."""
    at, address = answer[lines.LOGGED], batches[b, lines.MARKS] + p
    log[at, 0], log[at, 1], log[at, 2] = address, 1, np.int64(read_mark(address))
    answer[lines.LOGGED] += 1
    put_mark(address, np.uint8(mark))


@njit(cache=True, nogil=True)
def undo(log):  # type: ignore[no-untyped-def]
    """Put back what was overwritten."""
    for at in range(log.shape[0] - 1, -1, -1):
        if log[at, 1] == 1:
            put_mark(log[at, 0], np.uint8(log[at, 2]))
        else:
            put_count(log[at, 0], log[at, 2])

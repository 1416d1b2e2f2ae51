"""Rounds of a few tuples, one after the other, without going back to the interpreter in between.

A round of a deep recursion, or of a small update, often has a handful of tuples; made of array functions it costs some
70 microseconds around the kernels. Here variants of rules are evaluated tuple at a time: the fields of a tuple of the
delta bind variables, each step searches the sorted batches of its relation for the key that variables make, binds more
of them for each match, and the last gives a row of the head. What to do is told in lines of numbers (`lines`): rows,
marks, ranks and counts of batches are known by their addresses.

Tuples that become true are *recent*: in the table of their member (a relation of the stratum) as they came, so that the
delta is the end of it, and sorted in each order of the relation, each row with its place in the table behind it. `gain`
absorbs and `lose` releases derivations, as `run.columnar.absorb` does. Both stop before a round for which there may be
no room, or that is larger than they are made for, and leave it as if it had not been begun.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from tidelog.run.columnar.kernels import lines

U = np.uint64
ALIVE, DYING, REMOVED = 0, 1, 2


def _reader(kind: Any) -> Any:
    """Return a function that reads a number of some type at an address."""

    @intrinsic
    def read(_typing, _address):  # type: ignore[no-untyped-def]
        def code(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
            pointer = context.get_value_type(kind).as_pointer()
            return builder.load(builder.inttoptr(arguments[0], pointer))

        return kind(types.int64), code

    return read


def _writer(kind: Any) -> Any:
    """Return a function that writes a number of some type at an address."""

    @intrinsic
    def write(_typing, _address, _value):  # type: ignore[no-untyped-def]
        def code(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
            pointer = context.get_value_type(kind).as_pointer()
            builder.store(arguments[1], builder.inttoptr(arguments[0], pointer))
            return context.get_dummy_value()

        return types.void(types.int64, kind), code

    return write


_word, _rank, _mark, _count = (_reader(kind) for kind in (types.uint64, types.int32, types.uint8, types.int64))
_put_mark, _put_count = _writer(types.uint8), _writer(types.int64)


# --- searching -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _compare(rows, stride, j, keys, d, full, shift):  # type: ignore[no-untyped-def]
    """Return 1 if the prefix of row j comes before key d, -1 if after it, 0 if it equals it."""
    for w in range(full):
        a, b = _word(rows + w * stride + 8 * j), keys[d, w]
        if a != b:
            return 1 if a < b else -1
    if shift < 64:
        a, b = _word(rows + full * stride + 8 * j) >> U(shift), keys[d, full]
        if a != b:
            return 1 if a < b else -1
    return 0


@njit(cache=True, nogil=True)
def _lower(rows, stride, size, keys, d, full, shift):  # type: ignore[no-untyped-def]
    """Return the first row whose prefix is not below key d."""
    p, h = 0, size
    if full == 0 and shift == 64:
        return p
    while p < h:
        middle = (p + h) >> 1
        if _compare(rows, stride, middle, keys, d, full, shift) > 0:
            p = middle + 1
        else:
            h = middle
    return p


@njit(cache=True, nogil=True)
def _find(batches, first, end, keys, d, words, least, most):  # type: ignore[no-untyped-def]
    """Return the batch and place of a row whose mark is in a range; -1 if there is none."""
    for b in range(first, end):
        rows, stride, size = batches[b, lines.ROWS], batches[b, lines.STRIDE], batches[b, lines.SIZE]
        p = _lower(rows, stride, size, keys, d, words, 64)
        if p < size and _compare(rows, stride, p, keys, d, words, 64) == 0:
            mark = _mark(batches[b, lines.MARKS] + p) if batches[b, lines.MARKS] else ALIVE
            if least <= mark <= most:
                return b, p
    return -1, 0


@njit(cache=True, nogil=True)
def _make_key(fields, first, end, names, keys, d):  # type: ignore[no-untyped-def]
    """Make key d of variables and constants; return whether there is room for all of them."""
    for w in range(keys.shape[1]):
        keys[d, w] = U(0)
    for f in range(first, end):
        code = fields[f, lines.WHAT]
        if fields[f, lines.KIND] == U(lines.SET):
            code = names[np.int64(code)]
        code -= fields[f, lines.BASE]
        if code > fields[f, lines.MASK]:
            return False
        if fields[f, lines.MASK]:
            keys[d, np.int64(fields[f, lines.WORD])] |= code << fields[f, lines.DOWN]
    return True


@njit(cache=True, nogil=True)
def _bind(fields, first, end, rows, stride, j, names):  # type: ignore[no-untyped-def]
    """Bind variables to fields of row j; return whether fields that must equal something do."""
    for f in range(first, end):
        code = fields[f, lines.BASE]
        if fields[f, lines.MASK]:
            word = _word(rows + np.int64(fields[f, lines.WORD]) * stride + 8 * j)
            code += (word >> fields[f, lines.DOWN]) & fields[f, lines.MASK]
        kind = fields[f, lines.KIND]
        if kind == U(lines.SET):
            names[np.int64(fields[f, lines.WHAT])] = code
        elif kind == U(lines.SAME):
            if names[np.int64(fields[f, lines.WHAT])] != code:
                return False
        elif fields[f, lines.WHAT] != code:
            return False
    return True


@njit(cache=True, nogil=True)
def _next_match(step, fields, batches, begun, count, names, keys, d, line, at):  # type: ignore[no-untyped-def]
    """Go to the next row that matches key d and is seen, and bind variables; return it, -1 if there is none; visits."""
    visits = 0
    while line[d] < step[lines.END]:
        b = line[d]
        rows, stride, member = batches[b, lines.ROWS], batches[b, lines.STRIDE], batches[b, lines.MEMBER]
        size = batches[b, lines.SIZE] if member < 0 else count[member]
        if at[d] < 0:
            at[d] = _lower(rows, stride, size, keys, d, step[lines.FULL], step[lines.SHIFT])
        while at[d] < size and _compare(rows, stride, at[d], keys, d, step[lines.FULL], step[lines.SHIFT]) == 0:
            j = at[d]
            at[d] = j + 1
            visits += 1
            if member >= 0:
                if step[lines.OLD] and np.int64(_word(rows + batches[b, lines.LINE] + 8 * j)) >= begun[member]:
                    continue
            elif batches[b, lines.MARKS] and np.int64(_mark(batches[b, lines.MARKS] + j)) > batches[b, lines.LIMIT]:
                continue
            if _bind(fields, step[lines.NEW], step[lines.NAMED], rows, stride, j, names):
                return j, visits
        line[d] = b + 1
        at[d] = -1
    return -1, visits


# --- deriving --------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def _derive(told, recent, ranked, shape, out, out_rank, out_head):  # type: ignore[no-untyped-def]
    """Write what the delta derives; return how many rows, or -1 if they are too many or have no room, and visits."""
    variants, steps, fields, batches = told[:4]
    table, ranks, begun, count = recent[0], recent[1], recent[5], recent[6]
    names = np.empty(64, np.uint64)
    depth, wide, most = shape
    keys = np.zeros((depth + 1, wide), np.uint64)
    line, at = np.empty(depth + 1, np.int64), np.empty(depth + 1, np.int64)
    rank = np.zeros(depth + 2, np.int64)
    made = visits = 0
    for v in range(variants.shape[0]):
        variant = variants[v]
        m, first, last = variant[lines.DELTA], variant[lines.FIRST], variant[lines.LAST]
        base = np.int64(table[m].ctypes.data)
        for i in range(begun[m], count[m]):
            if not _bind(fields, variant[lines.BINDS], variant[lines.BOUND], base, 8 * table.shape[2], i, names):
                continue
            rank[0] = ranks[m, i]
            s, entering = first, True
            while s >= first:
                d = s - first
                if s == last:
                    if made == out.shape[0] or not _make_key(
                        fields, variant[lines.GIVES], variant[lines.GIVEN], names, out, made
                    ):
                        return -1, visits
                    out_rank[made], out_head[made] = rank[d], variant[lines.HEAD]
                    made += 1
                    s, entering = s - 1, False
                    continue
                step = steps[s]
                j = -1
                if entering or not step[lines.ANTI]:
                    possible = True
                    if entering:
                        line[d], at[d] = step[lines.BATCHES], -1
                        possible = _make_key(fields, step[lines.KEY], step[lines.KEYED], names, keys, d)
                    visits += 1
                    if possible:
                        j, more = _next_match(step, fields, batches, begun, count, names, keys, d, line, at)
                        visits += more
                    if visits > most:
                        return -1, visits
                if (entering and j < 0) if step[lines.ANTI] else j >= 0:
                    rank[d + 1] = rank[d]
                    if ranked and step[lines.RANKED]:
                        rank[d + 1] = max(rank[d], _rank_of(batches, line[d], j, ranks))
                    s, entering = s + 1, True
                else:
                    s, entering = s - 1, False
    return made, visits


@njit(cache=True, nogil=True)
def _rank_of(batches, b, j, ranks):  # type: ignore[no-untyped-def]
    """Return the rank of a row of a batch."""
    member = batches[b, lines.MEMBER]
    if member >= 0:
        return ranks[member, np.int64(_word(batches[b, lines.ROWS] + batches[b, lines.LINE] + 8 * j))]
    return np.int64(_rank(batches[b, lines.RANKS] + 4 * j)) if batches[b, lines.RANKS] else batches[b, lines.RANK]


@njit(cache=True, nogil=True)
def _may_go_on(members, begun, count):  # type: ignore[no-untyped-def]
    """Tell whether there is a delta, and none that a rule reads that is not told here."""
    some = False
    for m in range(members.shape[0]):
        if count[m] > begun[m]:
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
def _derived(told, recent, answer, ranked, shape, out, out_rank, out_head):  # type: ignore[no-untyped-def]
    """Write what the delta derives, and answer for the work; return how many, or below 0 if they are too many."""
    made, visits = _derive(told, recent, ranked, shape, out, out_rank, out_head)
    answer[lines.VISITS] += visits
    if made < 0:
        answer[lines.STATUS] = lines.TOO_MANY
    else:
        answer[lines.DERIVATIONS] += made
    return made


# --- absorbing -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def gain(  # type: ignore[no-untyped-def]
    told, recent, waiting, answer, ranked, counting, number, rounds, most, shape, largest
):
    """Absorb what the delta derives, and go on with what is new, for up to so many rounds and about `most` visits.

    Derivations of tuples that are not recent wait to be counted by others. In a bootstrap (not `ranked`) a tuple has
    as rank the `number` of its round.
    """
    members, table, begun, count = told[4], recent[0], recent[5], recent[6]
    row = np.empty((1, table.shape[1] + 1), np.uint64)
    out = np.empty((largest, table.shape[1]), np.uint64)
    out_rank, out_head = np.empty(largest, np.int64), np.empty(largest, np.int64)
    before = np.empty(members.shape[0], np.int64)
    for m in range(members.shape[0]):
        for i in range(count[m]):
            _insert(told, recent, m, i, row)
    while answer[lines.ROUNDS] < rounds and _may_go_on(members, begun, count):
        waits = answer[lines.LEFT] + largest > waiting[0].shape[1]
        if answer[lines.VISITS] > most or waits or not _has_room(count, table.shape[2], largest):
            return
        made = _derived(told, recent, answer, ranked, shape, out, out_rank, out_head)
        if made < 0:
            return
        before[:] = count
        for k in range(made):
            rank, head = out_rank[k], out_head[k]
            _absorb(told, recent, waiting, answer, ranked, counting, number, before, out, rank, head, k, row)
        begun[:] = before
        answer[lines.ROUNDS] += 1


@njit(cache=True, nogil=True)
def _absorb(  # type: ignore[no-untyped-def]
    told, recent, waiting, answer, ranked, counting, number, before, out, rank, m, k, row
):
    """Absorb derivation k of a tuple of a member."""
    batches, members, orders = told[3], told[4], told[5]
    table, ranks, support, every, ordered, _, count = recent
    o, words = members[m, lines.ORDERS], members[m, lines.WORDS]
    base, stride = np.int64(ordered[o].ctypes.data), 8 * ordered.shape[2]
    p = _lower(base, stride, count[m], out, k, words, 64)
    if p < count[m] and _compare(base, stride, p, out, k, words, 64) == 0:
        i = np.int64(ordered[o, words, p])
        every[m, i] += 1
        if i >= before[m]:
            support[m, i] += 1
            if ranked:
                ranks[m, i] = max(ranks[m, i], rank + 1)
        elif ranked and rank < ranks[m, i]:
            support[m, i] += 1
        return
    b, _ = _find(batches, orders[o, lines.HELD], orders[o, lines.HOLDING], out, k, words, ALIVE, ALIVE)
    if b >= 0:
        if counting:
            at = answer[lines.LEFT]
            waiting[0][:words, at] = out[k, :words]
            waiting[1][at], waiting[2][at] = rank, m
            answer[lines.LEFT] += 1
        return
    i = count[m]
    table[m, :words, i] = out[k, :words]
    ranks[m, i] = rank + 1 if ranked else number + answer[lines.ROUNDS]
    support[m, i] = every[m, i] = 1
    _insert(told, recent, m, i, row)
    count[m] += 1


@njit(cache=True, nogil=True)
def _insert(told, recent, m, i, row):  # type: ignore[no-untyped-def]
    """Put tuple i of a member's table, after those before it, to its place in every order."""
    members, orders, moves = told[4:]
    table, ordered = recent[0], recent[4]
    for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
        width = orders[o, lines.WIDTH]
        _moved(orders, o, moves, table, m, i, row)
        p = _lower(np.int64(ordered[o].ctypes.data), 8 * ordered.shape[2], i, row, 0, width, 64)
        for w in range(width + 1):
            for j in range(i, p, -1):
                ordered[o, w, j] = ordered[o, w, j - 1]
            ordered[o, w, p] = row[0, w] if w < width else U(i)


# --- releasing -------------------------------------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def lose(  # type: ignore[no-untyped-def]
    told, recent, where, log, answer, rounds, most, shape, largest
):
    """Release what the delta derives, and go on with what has lost its support, as `gain` does.

    `where` has the batch and the place of each tuple of the tables in each order. What is overwritten is logged.
    """
    batches, members, orders, moves = told[3:]
    table, begun, count = recent[0], recent[5], recent[6]
    row = np.empty((1, table.shape[1] + 1), np.uint64)
    out = np.empty((largest, table.shape[1]), np.uint64)
    out_rank, out_head = np.empty(largest, np.int64), np.empty(largest, np.int64)
    before = np.empty(members.shape[0], np.int64)
    for m in range(members.shape[0]):
        for i in range(count[m]):
            for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
                _moved(orders, o, moves, table, m, i, row)
                first, end = orders[o, lines.HELD], orders[o, lines.HOLDING]
                where[o, i, 0], where[o, i, 1] = _find(
                    batches, first, end, row, 0, orders[o, lines.WIDTH], DYING, DYING
                )
    entries = 2 * largest + orders.shape[0] * (largest + table.shape[2])
    while answer[lines.ROUNDS] < rounds and _may_go_on(members, begun, count):
        full = answer[lines.LOGGED] + entries > log.shape[0]
        if answer[lines.VISITS] > most or full or not _has_room(count, table.shape[2], largest):
            return
        made = _derived(told, recent, answer, True, shape, out, out_rank, out_head)
        if made < 0:
            return
        for m in range(members.shape[0]):
            for i in range(begun[m], count[m]):
                for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
                    _set_mark(batches, where[o, i, 0], where[o, i, 1], DYING, REMOVED, log, answer)
        before[:] = count
        for k in range(made):
            _release(told, recent, where, log, answer, out, out_rank[k], out_head[k], k, row)
        begun[:] = before
        answer[lines.ROUNDS] += 1


@njit(cache=True, nogil=True)
def _release(told, recent, where, log, answer, out, rank, m, k, row):  # type: ignore[no-untyped-def]
    """Take derivation k from a tuple of a member, which dies if it has no support left."""
    batches, members, orders, moves = told[3:]
    table, ranks, count = recent[0], recent[1], recent[6]
    o, words = members[m, lines.ORDERS], members[m, lines.WORDS]
    b, p = _find(batches, orders[o, lines.HELD], orders[o, lines.HOLDING], out, k, words, ALIVE, REMOVED)
    if b < 0:
        return
    address = batches[b, lines.COUNTS] + p * batches[b, lines.NEXT]
    if batches[b, lines.LINE]:
        _take_one(address + batches[b, lines.LINE], log, answer)
    own = _rank_of(batches, b, p, ranks)
    if rank >= own:
        return
    _take_one(address, log, answer)
    if _count(address) != 0 or _mark(batches[b, lines.MARKS] + p) != ALIVE:
        return
    i = count[m]
    table[m, :words, i] = out[k, :words]
    ranks[m, i] = own
    for order in range(o, members[m, lines.ORDERED]):
        if order > o:
            _moved(orders, order, moves, table, m, i, row)
            first, end = orders[order, lines.HELD], orders[order, lines.HOLDING]
            b, p = _find(batches, first, end, row, 0, orders[order, lines.WIDTH], ALIVE, ALIVE)
        _set_mark(batches, b, p, ALIVE, DYING, log, answer)
        batches[b, lines.GONE] += 1
        where[order, i, 0], where[order, i, 1] = b, p
    count[m] += 1


@njit(cache=True, nogil=True)
def _take_one(address, log, answer):  # type: ignore[no-untyped-def]
    """Take one from a count."""
    at, old = answer[lines.LOGGED], _count(address)
    log[at, 0], log[at, 1], log[at, 2] = address, 8, old
    answer[lines.LOGGED] += 1
    _put_count(address, old - 1)


@njit(cache=True, nogil=True)
def _set_mark(batches, b, p, old, new, log, answer):  # type: ignore[no-untyped-def]
    """Mark a row of a batch."""
    at, address = answer[lines.LOGGED], batches[b, lines.MARKS] + p
    log[at, 0], log[at, 1], log[at, 2] = address, 1, old
    answer[lines.LOGGED] += 1
    _put_mark(address, np.uint8(new))


@njit(cache=True, nogil=True)
def undo(log):  # type: ignore[no-untyped-def]
    """Put back what was overwritten."""
    for at in range(log.shape[0] - 1, -1, -1):
        if log[at, 1] == 1:
            _put_mark(log[at, 0], np.uint8(log[at, 2]))
        else:
            _put_count(log[at, 0], log[at, 2])

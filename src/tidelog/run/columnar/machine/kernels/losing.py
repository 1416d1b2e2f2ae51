"""Releasing in rounds of a few tuples, as `rounds` says: tuples become false.

Where it is not known what a tuple has left that loses support, or where it may stand if it is lifted (`ranks`), it
is settled at once: rules are evaluated backwards, told as others are, and its derivations counted; but where tuples
have many (those that are lifted), only a first one is found (`proving`), and the tuple stays uncounted. So the kernel
does in each round what `run.maintain.rounds` does by `LazySupport`, but for one thing: tuples
in doubt are lifted before it is known whether they need be. Then nothing is looked for twice.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.ranks import lifted, note_lifted
from tidelog.run.columnar.kernels.searching import (
    ALIVE,
    locate,
    put_count,
    put_rank,
    rank_of,
    read_count,
    read_mark,
    read_rank,
)
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.columnar.machine.kernels.proving import stands
from tidelog.run.columnar.machine.kernels.rounds import (
    add,
    derived_by,
    has_room,
    laid_out,
    locate_heads,
    may_go_on,
    moved,
    set_mark,
    undo,
)
from tidelog.run.kernel_cache import kernel

_lifted, _note_lifted = kernel(lifted), kernel(note_lifted)
DYING, REMOVED = 1, 2
plain = np.int64
"""Around constants that functions are given: for a literal they would be compiled by themselves."""
__all__ = ["lose", "undo"]


@kernel
def lose(  # type: ignore[no-untyped-def]
    told, counting, recent, given, where, lowest, bench, log, answer, rounds, most, largest, alone
):
    """Release what the delta derives, and go on with what has lost its support, as `gain` does.

    `where` has the batch and the place of each tuple of the tables in each order. `counting` tells the rules that find
    what tuples have left, `lowest` how far they can be lifted (`ranks`). Of more bindings than `alone` equal keys are
    searched once.
    """
    members, orders = told[4:6]
    table, begun, count = recent[0], recent[5], recent[6]
    derived, located, scratch, room = laid_out(bench)
    row, before = np.empty((1, table.shape[1] + 1), np.uint64), np.zeros(members.shape[0], np.int64)
    how = counting, where, lowest, before, (derived, located, scratch, room), row, (largest, alone)
    _locate_dying(told, recent, where, before, plain(0), plain(DYING), row, scratch)
    if given[1].shape[0] and not _release_all(told, recent, given, given[1].shape[0], how, log, answer):
        undo(log[: answer[lines.LOGGED]])
        answer[lines.LOGGED], answer[lines.STATUS], count[:] = 0, lines.NOTHING, 0
        return
    entries = 2 * largest + orders.shape[0] * (largest + table.shape[2]) + (3 + orders.shape[0]) * largest
    while answer[lines.ROUNDS] < rounds and may_go_on(members, begun, count):
        start = answer[lines.LOGGED]
        if (
            answer[lines.VISITS] > most
            or start + entries > log.shape[0]
            or not has_room(count, table.shape[2], largest)
        ):
            return
        made = derived_by(told, recent, answer, np.bool_(True), room, derived, largest, alone)
        if made < 0:
            return
        _mark(told, where, begun, count, plain(0), plain(REMOVED), log, answer)
        before[:] = count
        if not _release_all(told, recent, derived, made, how, log, answer):
            undo(log[start : answer[lines.LOGGED]])
            answer[lines.LOGGED], answer[lines.STATUS], count[:] = start, lines.TOO_MANY, before
            return
        begun[:] = before
        answer[lines.ROUNDS] += 1


@kernel
def _release_all(told, recent, derived, made, how, log, answer):  # type: ignore[no-untyped-def]
    """Release so many derivations (rows, ranks, members, how often); what dies comes to the tables and is marked.

    Return whether that was possible. If it was not, what was done is in the log and in the tables.
    """
    batches, members, table, ranks, count = told[3], told[4], recent[0], recent[1], recent[6]
    out, out_rank, out_head, times = derived
    _, where, _, before, (_, (line, at), scratch, _), row, _ = how
    locate_heads(told, out, out_head, made, plain(REMOVED), line, at, scratch)
    for k in range(made):
        m, b, p = out_head[k], line[k], at[k]
        if b < 0:
            continue
        address = batches[b, lines.COUNTS] + p * batches[b, lines.NEXT]
        if batches[b, lines.LINE]:
            add(address + batches[b, lines.LINE], -times[k], log, answer)
        own = rank_of(batches, b, p, ranks)
        if out_rank[k] >= own:
            continue
        add(address, -times[k], log, answer)
        if read_count(address) > 0 or read_mark(batches[b, lines.MARKS] + p) != ALIVE:
            continue
        i, o = count[m], members[m, lines.ORDERS]
        for w in range(members[m, lines.WORDS]):
            table[m, w, i] = out[k, w]
        ranks[m, i] = own
        where[o, i, 0], where[o, i, 1] = b, p
        set_mark(batches, b, p, plain(DYING), log, answer)
        count[m] += 1
    _locate_dying(told, recent, where, before, plain(1), plain(ALIVE), row, scratch)
    if not _settle(told, recent, how, log, answer):
        return False
    _mark(told, where, before, count, plain(1), plain(DYING), log, answer)
    for m in range(members.shape[0]):
        for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
            for i in range(before[m], count[m]):
                batches[where[o, i, 0], lines.GONE] += 1
    return True


@kernel
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
                moved(orders, o, moves, table, m, start[m] + i, row)
                for w in range(width):
                    keys[i, w] = row[0, w]
            locate(batches, orders[o, lines.HELD], orders[o, lines.HOLDING], keys, n, width, mark, mark, line, at, low)
            for i in range(n):
                where[o, start[m] + i, 0], where[o, start[m] + i, 1] = line[i], at[i]


@kernel
def _mark(told, where, start, end, skipped, mark, log, answer):  # type: ignore[no-untyped-def]
    """Mark tuples of the tables in their orders but the first so many."""
    batches, members = told[3], told[4]
    for m in range(members.shape[0]):
        for o in range(members[m, lines.ORDERS] + skipped, members[m, lines.ORDERED]):
            for i in range(start[m], end[m]):
                set_mark(batches, where[o, i, 0], where[o, i, 1], mark, log, answer)


# --- what is left of tuples that may not die ------------------------------------------------------------------------


@kernel
def _settle(told, recent, how, log, answer):  # type: ignore[no-untyped-def]
    """Let tuples that are to die hold again, if they have support left, or have some when they are lifted.

    Return whether it was possible to count it.
    """
    members, (_, where, lowest, before, _, _, _), count = told[4], how, recent[6]
    for m in range(members.shape[0]):
        if members[m, lines.SETTLES]:
            _lift(told, recent, m, where, lowest, before[m], log, answer)
    for m in range(members.shape[0]):
        if count[m] == before[m]:
            continue
        if members[m, lines.SETTLES] == lines.LIFTS:
            _prove(told, recent, m, how, answer)
        elif members[m, lines.SETTLES] and not _count_left(told, recent, m, how, answer):
            return False
    for m in range(members.shape[0]):
        if members[m, lines.SETTLES]:
            _hold_again(told, recent, m, where, lowest, before[m], log, answer)
    return True


@kernel
def _prove(told, recent, m, how, answer):  # type: ignore[no-untyped-def]
    """Let those tuples of a member that are to die be uncounted that stand: they have support, but how much is open."""
    counting, where, _, before, (_, _, _, room), _, _ = how
    batches, members = told[3], told[4]
    for i in range(before[m], recent[6][m]):
        if stands(counting, recent, m, i, room, answer):
            b, p = where[members[m, lines.ORDERS], i]
            put_count(batches[b, lines.COUNTS] + p * batches[b, lines.NEXT], lines.UNCOUNTED)
            answer[lines.PROVED] += 1


@kernel
def _count_left(told, recent, m, how, answer):  # type: ignore[no-untyped-def]
    """Count what the tuples of a member have left that are to die; return whether it was possible."""
    counting, _, _, before, (derived, (line, at), scratch, room), _, (largest, alone) = how
    table, count = recent[0], recent[6]
    begun, end = np.zeros_like(count), np.zeros_like(count)
    no_rank = recent[2]  # the support of recent tuples; here there are none
    no_rank[m, before[m] : count[m]] = 0
    begun[m], size = before[m], count[m] - before[m]
    while begun[m] < count[m]:
        end[m] = min(begun[m] + size, count[m])
        these = table, no_rank, no_rank, recent[3], recent[4], begun, end
        made = derived_by(counting, these, answer, np.bool_(True), room, derived, largest, alone)
        if made < 0:
            if size == 1:
                return False
            answer[lines.STATUS], size = 0, (size + 1) // 2
            continue
        locate_heads(told, derived[0], derived[2], made, plain(DYING), line, at, scratch)
        _count(told[3], recent[1], derived[1], made, line, at)
        begun[m] = end[m]
    return True


@kernel
def _lift(told, recent, m, where, lowest, start, log, answer):  # type: ignore[no-untyped-def]
    """Lift the tuples of a member's table from a place on, if it lifts any; let nothing of them be counted."""
    batches, members = told[3], told[4]
    ranks, count = recent[1], recent[6]
    for i in range(start, count[m]):
        rank = _lifted(ranks[m, i], lowest) if members[m, lines.SETTLES] == lines.LIFTS else ranks[m, i]
        if rank != ranks[m, i]:
            ranks[m, i] = rank
            for o in range(members[m, lines.ORDERS], members[m, lines.ORDERED]):
                _set_rank(batches, where[o, i, 0], where[o, i, 1], rank, log, answer)
        b, p = where[members[m, lines.ORDERS], i]
        address = batches[b, lines.COUNTS] + p * batches[b, lines.NEXT]
        add(address, -read_count(address), log, answer)
        if batches[b, lines.LINE]:
            address += batches[b, lines.LINE]
            add(address, -read_count(address), log, answer)


@kernel
def _count(batches, ranks, out_rank, made, line, at):  # type: ignore[no-untyped-def]
    """Count so many derivations, of these ranks, of tuples whose counts are logged already."""
    for k in range(made):
        b, p = line[k], at[k]
        address = batches[b, lines.COUNTS] + p * batches[b, lines.NEXT]
        if batches[b, lines.LINE]:
            every = address + batches[b, lines.LINE]
            put_count(every, read_count(every) + 1)
        if out_rank[k] < rank_of(batches, b, p, ranks):
            put_count(address, read_count(address) + 1)


@kernel
def _hold_again(told, recent, m, where, lowest, start, log, answer):  # type: ignore[no-untyped-def]
    """Take those tuples from a member's table, from a place on, that have support: they hold."""
    batches, members = told[3], told[4]
    table, ranks, count = recent[0], recent[1], recent[6]
    first, end, kept = members[m, lines.ORDERS], members[m, lines.ORDERED], start
    for i in range(start, count[m]):
        b, p = where[first, i]
        if read_count(batches[b, lines.COUNTS] + p * batches[b, lines.NEXT]) != 0:
            set_mark(batches, b, p, plain(ALIVE), log, answer)
            _note_lifted(ranks[m, i], lowest)
            continue
        table[m, :, kept], ranks[m, kept] = table[m, :, i], ranks[m, i]
        where[first:end, kept] = where[first:end, i]
        kept += 1
    count[m] = kept


@kernel
def _set_rank(batches, b, p, rank, log, answer):  # type: ignore[no-untyped-def]
    """Give a row of a batch another rank."""
    at, address = answer[lines.LOGGED], batches[b, lines.RANKS] + 4 * p
    log[at, 0], log[at, 1], log[at, 2] = address, 4, np.int64(read_rank(address))
    answer[lines.LOGGED] += 1
    put_rank(address, np.int32(rank))

"""Releasing in rounds of a few tuples, as `rounds` says: tuples become false.

Where it is not known what a tuple has left that loses support, or where it may stand if it is lifted (`ranks`), it
is settled at once: rules are evaluated backwards, by a program of their own, and its derivations counted; but where
tuples have many (those that are lifted), only a first one is found (`proving`), and the tuple stays uncounted. So the
kernel does in each round what `run.maintain.rounds` does by `LazySupport`, but for one thing: tuples in doubt are
lifted before it is known whether they need be. Then nothing is looked for twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tidelog.run.columnar.kernels.memory import ALIVE, put_count, put_rank, read_count, read_mark, read_rank
from tidelog.run.columnar.kernels.ranks import lifted, note_lifted
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.deriving import derive
from tidelog.run.columnar.machine.kernels.proving import stands
from tidelog.run.columnar.machine.kernels.rounds import (
    add,
    locate_heads,
    may_go_on,
    move,
    note,
    set_mark,
    undo,
    undo_to,
)
from tidelog.run.columnar.machine.kernels.searching import locate, rank_of
from tidelog.run.columnar.machine.kernels.state import Bench, Bounds, Code, Derivations, Log, Recent
from tidelog.run.kernel_cache import kernel, part
from tidelog.run.kernel_types import Lines, Places

_lifted: Any = part(lifted)
_note_lifted: Any = part(note_lifted)
DYING, REMOVED = 1, 2
__all__ = ["Settling", "lose", "undo"]


class Settling(NamedTuple):
    """What finds out what tuples have left, and how far they can be lifted."""

    counting: Code
    """The program of the rules evaluated backwards."""
    lowest: Places


@kernel
def lose(
    code: Code, settling: Settling, recent: Recent, given: Derivations, bench: Bench, log: Log, bounds: Bounds
) -> None:
    """Release what the delta derives, and go on with what has lost its support, within bounds, as `gain` does."""
    begun, count, before, answer, largest = recent.begun, recent.end, bench.before, log.answer, bounds.derivations
    _set(before, begun, 0)
    _locate_dying(code, recent, bench, 0, DYING)
    if given.ranks.shape[0] and not _release_all(
        code, settling, recent, given, given.ranks.shape[0], bench, log, bounds
    ):
        undo_to(log.lines, 0, answer[op.LOGGED])
        answer[op.LOGGED], answer[op.STATUS] = 0, op.NOTHING
        _set(count, count, 0)
        return
    orders, room = code.orders.shape[0], recent.rows.shape[2]
    entries = (5 + 2 * orders) * largest + orders * room
    while answer[op.ROUNDS] < bounds.rounds and may_go_on(code, recent, largest):
        start = answer[op.LOGGED]
        if answer[op.VISITS] > bounds.work or start + entries > log.lines.shape[0]:
            return
        made = derive(code, recent, begun, count, recent.ranks, True, bench, answer, largest, bounds.alone)
        if made < 0:
            return
        _mark(code, bench, begun, count, 0, REMOVED, log)
        _set(before, count, 1)
        if not _release_all(code, settling, recent, bench.derived, made, bench, log, bounds):
            undo_to(log.lines, start, answer[op.LOGGED])
            answer[op.LOGGED], answer[op.STATUS] = start, op.TOO_MANY
            _set(count, before, 1)
            return
        _set(begun, before, 1)
        answer[op.ROUNDS] += 1


@part
def _set(places: Places, values: Places, times: int) -> None:
    """Set places to values, times a number: 0 or 1."""
    for m in range(places.shape[0]):
        places[m] = times * values[m]


@part
def _release_all(
    code: Code, settling: Settling, recent: Recent, derived: Derivations, made: int, bench: Bench, log: Log,
    bounds: Bounds,
) -> bool:  # fmt: skip
    """Release derivations; what dies becomes recent and is marked. Return whether that was possible.

    If it was not, what was done is in the log and in the tables.
    """
    batches, members, count, before, where = code.batches, code.members, recent.end, bench.before, bench.where
    locate_heads(code, derived, made, ALIVE, REMOVED, bench)
    for k in range(made):
        m, b, p, times = derived.members[k], bench.batches[k], bench.places[k], derived.times[k]
        if b < 0:
            continue
        address = batches[b, op.COUNTS] + p * batches[b, op.NEXT]
        if batches[b, op.LINE]:
            add(address + batches[b, op.LINE], -times, log)
        own = rank_of(batches, b, p, recent.ranks)
        if derived.ranks[k] >= own:
            continue
        add(address, -times, log)
        if read_count(address) > 0 or read_mark(batches[b, op.MARKS] + p) != ALIVE:
            continue
        i, o = count[m], members[m, op.ORDERS]
        for w in range(members[m, op.WORDS]):
            recent.rows[m, w, i] = derived.rows[k, w]
        recent.ranks[m, i] = own
        where[o, i, 0], where[o, i, 1] = b, p
        set_mark(batches, b, p, DYING, log)
        count[m] += 1
    _locate_dying(code, recent, bench, 1, ALIVE)
    if not _settle(code, settling, recent, bench, log, bounds):
        return False
    _mark(code, bench, before, count, 1, DYING, log)
    for m in range(members.shape[0]):
        for o in range(members[m, op.ORDERS], members[m, op.ORDERED]):
            for i in range(before[m], count[m]):
                batches[where[o, i, 0], op.GONE] += 1
    return True


@part
def _locate_dying(code: Code, recent: Recent, bench: Bench, skipped: int, mark: int) -> None:
    """Find the latest recent tuples, which have a mark, in all orders but the first `skipped`."""
    members, orders, lookup, where = code.members, code.orders, bench.lookup, bench.where
    for m in range(members.shape[0]):
        start = bench.before[m]
        n = recent.end[m] - start
        for o in range(members[m, op.ORDERS] + skipped, members[m, op.ORDERED]):
            for i in range(n):
                move(code, recent, o, m, start + i, lookup.keys, i)
            first, end, width = orders[o, op.HELD], orders[o, op.HOLDING], orders[o, op.WIDTH]
            locate(code.batches, first, end, width, mark, mark, n, lookup)
            for i in range(n):
                where[o, start + i, 0], where[o, start + i, 1] = lookup.batches[i], lookup.places[i]


@part
def _mark(code: Code, bench: Bench, start: Places, end: Places, skipped: int, mark: int, log: Log) -> None:
    """Mark recent tuples in all orders but the first `skipped`."""
    members, where = code.members, bench.where
    for m in range(members.shape[0]):
        for o in range(members[m, op.ORDERS] + skipped, members[m, op.ORDERED]):
            for i in range(start[m], end[m]):
                set_mark(code.batches, where[o, i, 0], where[o, i, 1], mark, log)


# --- what is left of tuples that may not die ------------------------------------------------------------------------


@part
def _settle(code: Code, settling: Settling, recent: Recent, bench: Bench, log: Log, bounds: Bounds) -> bool:
    """Let tuples that are to die hold again, if they have support left, or have some when they are lifted.

    Return whether it was possible to count it.
    """
    settles, count, before = code.members[:, op.SETTLES], recent.end, bench.before
    for m in range(settles.shape[0]):
        if settles[m]:
            _lift(code, recent, m, settling.lowest, bench, log)
    for m in range(settles.shape[0]):
        if count[m] == before[m]:
            continue
        if settles[m] == op.LIFTS:
            _prove(code, settling.counting, recent, m, bench, log.answer)
        elif settles[m] and not _count_left(code, settling.counting, recent, m, bench, log.answer, bounds):
            return False
    for m in range(settles.shape[0]):
        if settles[m]:
            _hold_again(code, recent, m, settling.lowest, bench, log)
    return True


@part
def _prove(code: Code, counting: Code, recent: Recent, m: int, bench: Bench, answer: Places) -> None:
    """Let those tuples of a member that are to die be uncounted that stand: they have support, but how much is open."""
    o, where = code.members[m, op.ORDERS], bench.where
    for i in range(bench.before[m], recent.end[m]):
        if stands(counting, recent, m, i, bench.registers, answer):
            b, p = where[o, i, 0], where[o, i, 1]
            put_count(code.batches[b, op.COUNTS] + p * code.batches[b, op.NEXT], op.UNCOUNTED)
            answer[op.PROVED] += 1


@part
def _count_left(
    code: Code, counting: Code, recent: Recent, m: int, bench: Bench, answer: Places, bounds: Bounds
) -> bool:
    """Count what the tuples of a member have left that are to die; return whether it was possible."""
    begun, end, count = bench.window[0], bench.window[1], recent.end[m]
    no_rank = recent.support  # dying tuples have no support of their own to keep
    start = bench.before[m]
    size = count - start
    for i in range(start, count):
        no_rank[m, i] = 0
    _set(begun, begun, 0)
    _set(end, end, 0)
    while start < count:
        begun[m], end[m] = start, min(start + size, count)
        made = derive(counting, recent, begun, end, no_rank, True, bench, answer, bounds.derivations, bounds.alone)
        if made < 0:
            if size == 1:
                return False
            answer[op.STATUS], size = 0, (size + 1) // 2
            continue
        locate_heads(code, bench.derived, made, DYING, DYING, bench)
        _count(code.batches, recent.ranks, made, bench)
        start = end[m]
    return True


@part
def _lift(code: Code, recent: Recent, m: int, lowest: Places, bench: Bench, log: Log) -> None:
    """Lift the tuples of a member that are to die, if it lifts any; let nothing of them be counted."""
    batches, members, ranks, where = code.batches, code.members, recent.ranks, bench.where
    for i in range(bench.before[m], recent.end[m]):
        rank = _lifted(ranks[m, i], lowest) if members[m, op.SETTLES] == op.LIFTS else ranks[m, i]
        if rank != ranks[m, i]:
            ranks[m, i] = rank
            for o in range(members[m, op.ORDERS], members[m, op.ORDERED]):
                _set_rank(batches, where[o, i, 0], where[o, i, 1], rank, log)
        o = members[m, op.ORDERS]
        b = where[o, i, 0]
        address = batches[b, op.COUNTS] + where[o, i, 1] * batches[b, op.NEXT]
        add(address, -read_count(address), log)
        if batches[b, op.LINE]:
            address += batches[b, op.LINE]
            add(address, -read_count(address), log)


@part
def _count(batches: Lines, ranks: Lines, made: int, bench: Bench) -> None:
    """Count derivations of tuples whose counts are logged already."""
    for k in range(made):
        b, p = bench.batches[k], bench.places[k]
        address = batches[b, op.COUNTS] + p * batches[b, op.NEXT]
        if batches[b, op.LINE]:
            every = address + batches[b, op.LINE]
            put_count(every, read_count(every) + 1)
        if bench.derived.ranks[k] < rank_of(batches, b, p, ranks):
            put_count(address, read_count(address) + 1)


@part
def _hold_again(code: Code, recent: Recent, m: int, lowest: Places, bench: Bench, log: Log) -> None:
    """Take those of a member's tuples that are to die, and have support, from its recent ones: they hold."""
    batches, members, rows, ranks, where = code.batches, code.members, recent.rows, recent.ranks, bench.where
    first, end, kept = members[m, op.ORDERS], members[m, op.ORDERED], bench.before[m]
    for i in range(kept, recent.end[m]):
        b, p = where[first, i, 0], where[first, i, 1]
        if read_count(batches[b, op.COUNTS] + p * batches[b, op.NEXT]) != 0:
            set_mark(batches, b, p, ALIVE, log)
            _note_lifted(ranks[m, i], lowest)
            continue
        for w in range(rows.shape[1]):
            rows[m, w, kept] = rows[m, w, i]
        ranks[m, kept] = ranks[m, i]
        for o in range(first, end):
            where[o, kept, 0], where[o, kept, 1] = where[o, i, 0], where[o, i, 1]
        kept += 1
    recent.end[m] = kept


@part
def _set_rank(batches: Lines, b: int, p: int, rank: int, log: Log) -> None:
    """Give a row of a batch another rank."""
    address = batches[b, op.RANKS] + 4 * p
    note(log, address, 4, np.int64(read_rank(address)))
    put_rank(address, np.int32(rank))

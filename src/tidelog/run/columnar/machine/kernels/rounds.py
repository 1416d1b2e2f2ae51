"""Rounds of a few tuples, one after the other, without going back to the interpreter in between.

A round of a deep recursion, or of a small update, often has a handful of tuples; made of array functions it costs some
70 microseconds around the kernels for each rule. Here one kernel evaluates all of them (`deriving`). What to do is told
in lines of numbers (`lines`): rows, marks, ranks and counts of batches are known by their addresses.

Tuples that become true are *recent*: in the table of their member (a relation of the stratum) as they came, so that the
delta is the end of it, and sorted in each order of the relation, each row with its place in the table behind it.
`gaining` absorbs and `losing` releases derivations, as `run.columnar.support.absorb` does; what they overwrite is
logged. Both stop before a round for which there may be no room, or that is larger than they are made for, and leave it
as if it had not been begun. Here is what they share.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.searching import (
    ALIVE,
    locate,
    put_count,
    put_mark,
    put_rank,
    read_count,
    read_mark,
)
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.columnar.machine.kernels.deriving import derive
from tidelog.run.kernel_cache import kernel

U = np.uint64


@kernel
def may_go_on(members, begun, count):  # type: ignore[no-untyped-def]
    """Tell whether there is a delta that a rule reads, and none that one reads that is not told here."""
    some = False
    for m in range(members.shape[0]):
        if count[m] > begun[m] and members[m, lines.READ]:
            some = True
            if members[m, lines.BLOCKED]:
                return False
    return some


@kernel
def has_room(count, capacity, largest):  # type: ignore[no-untyped-def]
    """Tell whether so many tuples more have room in every table."""
    return count.max() + largest <= capacity


@kernel
def moved(orders, o, moves, table, m, i, row):  # type: ignore[no-untyped-def]
    """Make the row that tuple i of a member's table is in an order."""
    for w in range(row.shape[1]):
        row[0, w] = U(0)
    for k in range(orders[o, lines.MOVES], orders[o, lines.MOVED]):
        field = ((table[m, np.int64(moves[k, 0]), i] >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]
        row[0, np.int64(moves[k, 4])] |= field << moves[k, 5]


@kernel
def derived_by(told, recent, answer, ranked, room, derived, largest, alone):  # type: ignore[no-untyped-def]
    """Write what the delta derives, and answer for the work; return how many, or below 0 if they are too many."""
    made, visits = derive(told, recent, ranked, room, derived[0], derived[1], derived[2], largest, alone)
    answer[lines.VISITS] += visits
    if made < 0:
        answer[lines.STATUS] = lines.TOO_MANY
    else:
        answer[lines.DERIVATIONS] += made
    return made


@kernel
def laid_out(bench):  # type: ignore[no-untyped-def]
    """Return the room of a workbench: for derivations, where their heads are, places of rows, and bindings."""
    names, keys, visited, numbers, rows, last = bench
    derived = rows[0], numbers[0], numbers[1], numbers[2]
    located, scratch = (numbers[3], numbers[4]), (rows[1], numbers[5], numbers[6], numbers[7], numbers[8])
    bindings = names[0], names[1], visited[0], visited[1], visited[2], keys, visited[3], visited[4], visited[5], last
    return derived, located, scratch, bindings


@kernel
def locate_heads(told, out, out_head, made, most, line, at, scratch):  # type: ignore[no-untyped-def]
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
        locate(batches, first, end, keys, n, members[m, lines.WORDS], np.int64(ALIVE), most, found, places, low)
        for i in range(n):
            line[these[i]], at[these[i]] = found[i], places[i]


# --- absorbing -------------------------------------------------------------------------------------------------------


@kernel
def add(address, more, log, answer):  # type: ignore[no-untyped-def]
    """Add to a count."""
    at, old = answer[lines.LOGGED], read_count(address)
    log[at, 0], log[at, 1], log[at, 2] = address, 8, old
    answer[lines.LOGGED] += 1
    put_count(address, old + more)


@kernel
def set_mark(batches, b, p, mark, log, answer):  # type: ignore[no-untyped-def]
    """Mark a row of a batch."""
    at, address = answer[lines.LOGGED], batches[b, lines.MARKS] + p
    log[at, 0], log[at, 1], log[at, 2] = address, 1, np.int64(read_mark(address))
    answer[lines.LOGGED] += 1
    put_mark(address, np.uint8(mark))


@kernel
def undo(log):  # type: ignore[no-untyped-def]
    """Put back what was overwritten."""
    for at in range(log.shape[0] - 1, -1, -1):
        if log[at, 1] == 1:
            put_mark(log[at, 0], np.uint8(log[at, 2]))
        elif log[at, 1] == 4:
            put_rank(log[at, 0], np.int32(log[at, 2]))
        else:
            put_count(log[at, 0], log[at, 2])

"""Rounds of a few tuples, one after the other, without going back to the interpreter in between.

A round of a deep recursion, or of a small update, often has a handful of tuples; made of array functions it costs some
70 microseconds around the kernels for each rule. Here one kernel evaluates all of them (`deriving`).

Tuples that become true are *recent*: in the table of their member (a relation of the stratum) as they came, so that the
delta is the end of it, and sorted in each order of the relation, each row with its place in the table behind it.
`gaining` absorbs and `losing` releases derivations, as `run.columnar.support.absorb` does; what they overwrite is
logged. Both stop before a round for which there may be no room, or that is larger than they are made for, and leave it
as if it had not been begun. Here is what they share.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.memory import put_count, put_mark, put_rank, read_count, read_mark
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.searching import locate
from tidelog.run.columnar.machine.kernels.state import Bench, Code, Derivations, Log, Recent
from tidelog.run.kernel_cache import kernel, part
from tidelog.run.kernel_types import Lines, Places, Rows

U = np.uint64


@part
def may_go_on(code: Code, recent: Recent, largest: int) -> bool:
    """Tell whether there is a delta that a rule reads, none that another rule reads, and room for a round."""
    some = False
    for m in range(code.members.shape[0]):
        if recent.end[m] + largest > recent.rows.shape[2]:
            return False
        if recent.end[m] > recent.begun[m] and code.members[m, op.READ]:
            some = True
            if code.members[m, op.BLOCKED]:
                return False
    return some


@part
def move(code: Code, recent: Recent, o: int, m: int, i: int, out: Rows, k: int) -> None:
    """Write as row k the row that recent tuple i of a member is in an order."""
    moves = code.moves
    for w in range(code.orders[o, op.WIDTH]):
        out[k, w] = U(0)
    for f in range(code.orders[o, op.MOVES], code.orders[o, op.MOVED]):
        field = ((recent.rows[m, np.int64(moves[f, 0]), i] >> moves[f, 1]) & moves[f, 2]) + moves[f, 3]
        out[k, np.int64(moves[f, 4])] |= field << moves[f, 5]


@part
def locate_heads(code: Code, derived: Derivations, made: int, least: int, most: int, bench: Bench) -> None:
    """Write where the heads of derivations are that have a mark in a range: batch, or -1, and place."""
    lookup = bench.lookup
    for m in range(code.members.shape[0]):
        n = 0
        for k in range(made):
            if derived.members[k] == m:
                lookup.these[n] = k
                for w in range(derived.rows.shape[1]):
                    lookup.keys[n, w] = derived.rows[k, w]
                n += 1
        o = code.members[m, op.ORDERS]
        first, end = code.orders[o, op.HELD], code.orders[o, op.HOLDING]
        locate(code.batches, first, end, code.members[m, op.WORDS], least, most, n, lookup)
        for i in range(n):
            k = lookup.these[i]
            bench.batches[k], bench.places[k] = lookup.batches[i], lookup.places[i]


# --- overwriting -----------------------------------------------------------------------------------------------------


@part
def note(log: Log, address: int, size: int, value: int) -> None:
    """Log a value that is about to be overwritten."""
    at = log.answer[op.LOGGED]
    log.lines[at, 0], log.lines[at, 1], log.lines[at, 2] = address, size, value
    log.answer[op.LOGGED] = at + 1


@part
def add(address: int, more: int, log: Log) -> None:
    """Add to a count."""
    old = read_count(address)
    note(log, address, 8, old)
    put_count(address, old + more)


@part
def set_mark(batches: Lines, b: int, p: int, mark: int, log: Log) -> None:
    """Mark a row of a batch."""
    address = batches[b, op.MARKS] + p
    note(log, address, 1, np.int64(read_mark(address)))
    put_mark(address, np.uint8(mark))


@part
def undo_to(log: Lines, start: int, end: int) -> None:
    """Put back what was overwritten from one entry to another."""
    for at in range(end - 1, start - 1, -1):
        if log[at, 1] == 1:
            put_mark(log[at, 0], np.uint8(log[at, 2]))
        elif log[at, 1] == 4:
            put_rank(log[at, 0], np.int32(log[at, 2]))
        else:
            put_count(log[at, 0], log[at, 2])


@kernel
def undo(log: Lines) -> None:
    """Put back what was overwritten."""
    undo_to(log, 0, log.shape[0])


@part
def clear(places: Places, value: int, size: int) -> None:
    """Fill the first places of an array."""
    for i in range(size):
        places[i] = value

"""Whether a tuple has a derivation of a low rank: rules evaluated backwards, one binding at a time, to the first.

The rules are told as others are (`lines`). To count all derivations of a tuple takes many times as long where it has
many; and what is of a rank too high is left as soon as it is met.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.searching import bind, bisect, compare, make_key, rank_of, read_mark
from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.kernel_cache import kernel


@kernel
def stands(told, recent, m, i, room, answer):  # type: ignore[no-untyped-def]
    """Tell whether tuple i of a member's table has a derivation of a rank below its own, and answer for the work."""
    variants, fields = told[0], told[2]
    table, own = recent[0], recent[1][m, i]
    base, stride = np.int64(table[m].ctypes.data), 8 * table.shape[2]
    names, after = room[0], 0
    while after < variants.shape[0]:
        variant = variants[after]
        after += 1 + variant[lines.TWIN]
        mine = variant[lines.DELTA] == m
        if not mine or not bind(fields, variant[lines.BINDS], variant[lines.BOUND], base, stride, i, names, 0):
            continue
        if _is_met(told, recent[1], variant[lines.FIRST], variant[lines.LAST], own, room, answer):
            answer[lines.DERIVATIONS] += 1
            return True
    return False


@kernel
def _is_met(told, ranks, first, last, own, room, answer):  # type: ignore[no-untyped-def]
    """Tell whether the first binding passes some steps by tuples of a lower rank.

    Each step has a binding, the key that it makes, and the place where it has come to.
    """
    steps, fields = told[1], told[2]
    names, line, at, keys = room[0], room[2], room[3], room[5]
    d, enters = 0, True
    while d >= 0:
        s = first + d
        if s == last:
            return True
        if enters:
            line[d], at[d] = steps[s, lines.BATCHES], -1
            if not make_key(fields, steps[s, lines.KEY], steps[s, lines.KEYED], names, d, keys, d):
                line[d] = steps[s, lines.END]
        enters = _next(told, ranks, s, d, own, names, keys, line, at, answer)
        if steps[s, lines.ANTI]:
            enters = not enters and at[d] != PASSED
            if enters:
                names[d + 1] = names[d]
            line[d], at[d] = steps[s, lines.END], PASSED
        d += 1 if enters else -1
    return False


PASSED = -2
"""Instead of a place: an anti-join has been passed, or not, and there is nothing more to find."""


@kernel
def _next(told, ranks, s, d, own, names, keys, line, at, answer):  # type: ignore[no-untyped-def]
    """Bind the variables of a step to the next row that it meets, if there is one; tell whether there is."""
    step, fields, batches = told[1][s], told[2], told[3]
    full, shift = step[lines.FULL], step[lines.SHIFT]
    while line[d] < step[lines.END]:
        b = line[d]
        rows, stride, size = batches[b, lines.ROWS], batches[b, lines.STRIDE], batches[b, lines.SIZE]
        if at[d] < 0:
            at[d] = bisect(rows, stride, 0, size, keys, d, full, shift, 1)
            answer[lines.VISITS] += 1
        j = at[d]
        if j >= size or compare(rows, stride, j, keys, d, full, shift) != 0:
            line[d] += 1
            at[d] = -1
            continue
        at[d] += 1
        answer[lines.VISITS] += 1
        marks = batches[b, lines.MARKS]
        if marks and np.int64(read_mark(marks + j)) > batches[b, lines.LIMIT]:
            continue
        if step[lines.RANKED] and rank_of(batches, b, j, ranks) >= own:
            continue
        names[d + 1] = names[d]
        if bind(fields, step[lines.NEW], step[lines.NAMED], rows, stride, j, names, d + 1):
            return True
    return False

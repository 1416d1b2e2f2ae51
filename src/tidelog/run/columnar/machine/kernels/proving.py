"""Whether a tuple has a derivation of a low rank: rules evaluated backwards, one binding at a time, to the first.

To count all derivations of a tuple takes many times as long where it has many; and what is of a rank too high is left
as soon as it is met.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.memory import read_mark
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.deriving import address_of
from tidelog.run.columnar.machine.kernels.searching import bind, bisect, compare, make_key, rank_of
from tidelog.run.columnar.machine.kernels.state import Code, Recent, Registers
from tidelog.run.kernel_cache import part
from tidelog.run.kernel_types import Lines, Places


@part
def stands(code: Code, recent: Recent, m: int, i: int, registers: Registers, answer: Places) -> bool:
    """Tell whether recent tuple i of a member has a derivation of a rank below its own, and answer for the work."""
    variants, own, after = code.variants, recent.ranks[m, i], 0
    rows, stride = address_of(recent.rows, m), 8 * recent.rows.shape[2]
    while after < variants.shape[0]:
        v = after
        after += 1 + variants[v, op.TWIN]
        if variants[v, op.DELTA] != m or not bind(
            code.fields, variants[v, op.BINDS], variants[v, op.BOUND], rows, stride, i, registers.left, 0
        ):
            continue
        if _is_met(code, recent.ranks, variants[v, op.FIRST], variants[v, op.LAST], own, registers, answer):
            answer[op.DERIVATIONS] += 1
            return True
    return False


PASSED = -2
"""Instead of a place: an anti-join has been passed, or not, and there is nothing more to find."""


@part
def _is_met(code: Code, ranks: Lines, first: int, last: int, own: int, registers: Registers, answer: Places) -> bool:
    """Tell whether the first binding passes some instructions by tuples of a lower rank.

    Each instruction has a binding, the key that it makes, and the batch and place that it has come to.
    """
    steps, values, batch, place = code.steps, registers.left, registers.low, registers.key_of
    d, enters = np.int64(0), True
    while d >= 0:
        s = first + d
        if s == last:
            return True
        if enters:
            batch[d], place[d] = steps[s, op.BATCHES], -1
            if not make_key(code.fields, steps[s, op.KEY], steps[s, op.KEYED], values, d, registers.keys, d):
                batch[d] = steps[s, op.END]
        enters = _next(code, ranks, s, d, own, registers, answer)
        if steps[s, op.ANTI]:
            enters = not enters and place[d] != PASSED
            if enters:
                _hand_down(registers, d)
            batch[d], place[d] = steps[s, op.END], PASSED
        d += 1 if enters else -1
    return False


@part
def _hand_down(registers: Registers, d: int) -> None:
    """Let the next instruction begin with the values that this one has."""
    for name in range(registers.left.shape[1]):
        registers.left[d + 1, name] = registers.left[d, name]


@part
def _next(code: Code, ranks: Lines, s: int, d: int, own: int, registers: Registers, answer: Places) -> bool:
    """Bind the registers of an instruction to the next row that it meets, if there is one; tell whether there is."""
    step, batches, keys = code.steps[s], code.batches, registers.keys
    batch, place, full, shift = registers.low, registers.key_of, step[op.FULL], step[op.SHIFT]
    while batch[d] < step[op.END]:
        b = batch[d]
        rows, stride, size = batches[b, op.ROWS], batches[b, op.STRIDE], batches[b, op.SIZE]
        if place[d] < 0:
            place[d] = bisect(rows, stride, 0, size, keys, d, full, shift, 1)
            answer[op.VISITS] += 1
        j = place[d]
        if j >= size or compare(rows, stride, j, keys, d, full, shift) != 0:
            batch[d] += 1
            place[d] = -1
            continue
        place[d] += 1
        answer[op.VISITS] += 1
        marks = batches[b, op.MARKS]
        if marks and np.int64(read_mark(marks + j)) > batches[b, op.LIMIT]:
            continue
        if step[op.RANKED] and rank_of(batches, b, j, ranks) >= own:
            continue
        _hand_down(registers, d)
        if bind(code.fields, step[op.NEW], step[op.NAMED], rows, stride, j, registers.left, d + 1):
            return True
    return False

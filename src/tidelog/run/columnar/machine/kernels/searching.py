"""Searching sorted batches that are known by their addresses, many keys at a time, and binding variables to rows.

A search among millions of rows waits for memory most of the time. So the keys of a step are searched together: all go
down one level before any goes down the next, and the processor fetches what they need side by side.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.columnar.kernels.memory import ALIVE, read_mark, read_rank, read_word
from tidelog.run.columnar.machine.kernels import operands as op
from tidelog.run.columnar.machine.kernels.state import Lookup
from tidelog.run.kernel_cache import part
from tidelog.run.kernel_types import Int, Lines, Places, Rows

U = np.uint64


@part
def compare(rows: int, stride: int, j: int, keys: Rows, d: int, full: int, shift: int) -> int:
    """Return 1 if the prefix of row j comes before key d, -1 if after it, 0 if it equals it."""
    for w in range(full):
        a, b = read_word(rows + w * stride + 8 * j), keys[d, w]
        if a != b:
            return 1 if a < b else -1
    if shift < 64:
        a, b = read_word(rows + full * stride + 8 * j) >> U(shift), keys[d, full]
        if a != b:
            return 1 if a < b else -1
    return 0


@part
def bisect(rows: int, stride: int, p: int, h: int, keys: Rows, d: int, full: int, shift: int, least: int) -> int:
    """Return the first row from p to h that compares with key d below `least`: 1 for not before it, 0 for after it."""
    while p < h:
        middle = (p + h) >> 1
        if compare(rows, stride, middle, keys, d, full, shift) >= least:
            p = middle + 1
        else:
            h = middle
    return p


@part
def run_end(rows: int, stride: int, size: int, keys: Rows, d: int, full: int, shift: int, p: int) -> int:
    """Return the first row from p on whose prefix is not key d; gallops."""
    step, a = 1, p
    while a < size and compare(rows, stride, a, keys, d, full, shift) == 0:
        p = a + 1
        a += step
        step <<= 1
    return bisect(rows, stride, p, min(size, a), keys, d, full, shift, 0)


@part
def search(rows: int, stride: int, size: int, keys: Rows, n: int, full: int, shift: int, low: Places) -> None:
    """Write for each of n keys the first row whose prefix is not below it."""
    low[:n] = 0
    if size == 0 or (full == 0 and shift == 64):
        return
    narrow, s = full + (shift < 64) == 1, U(shift if shift < 64 else 0)
    left = size
    while left > 0:
        half = (left + 1) >> 1
        if narrow:
            for i in range(n):
                low[i] += half * (read_word(rows + 8 * (low[i] + half - 1)) >> s < keys[i, 0])
        else:
            for i in range(n):
                low[i] += half * (compare(rows, stride, low[i] + half - 1, keys, i, full, shift) > 0)
        left -= half


@part
def locate(batches: Lines, first: int, end: int, words: int, least: int, most: int, n: int, lookup: Lookup) -> None:
    """Write for each of n rows looked up the batch and place of one with a mark in a range; batch -1 if none has."""
    keys, low = lookup.keys, lookup.low
    lookup.batches[:n] = -1
    for b in range(first, end):
        rows, stride, size, marks = (
            batches[b, op.ROWS],
            batches[b, op.STRIDE],
            batches[b, op.SIZE],
            batches[b, op.MARKS],
        )
        search(rows, stride, size, keys, n, words, 64, low)
        for i in range(n):
            p = low[i]
            if lookup.batches[i] < 0 and p < size and compare(rows, stride, p, keys, i, words, 64) == 0:
                mark = np.int64(read_mark(marks + p)) if marks else ALIVE
                if least <= mark <= most:
                    lookup.batches[i], lookup.places[i] = b, p


@part
def make_key(fields: Rows, first: int, end: int, registers: Rows, i: int, keys: Rows, d: int) -> bool:
    """Make key d of the variables of binding i and of constants; return whether there is room for all of them."""
    for w in range(keys.shape[1]):
        keys[d, w] = U(0)
    for f in range(first, end):
        code = fields[f, op.WHAT]
        if fields[f, op.KIND] == U(op.SET):
            code = registers[i, np.int64(code)]
        code -= fields[f, op.BASE]
        if code > fields[f, op.MASK]:
            return False
        if fields[f, op.MASK]:
            keys[d, np.int64(fields[f, op.WORD])] |= code << fields[f, op.DOWN]
    return True


@part
def bind(fields: Rows, first: int, end: int, rows: int, stride: int, j: int, registers: Rows, i: int) -> bool:
    """Bind variables of binding i to fields of row j; return whether fields that must equal something, or not, do."""
    for f in range(first, end):
        code = fields[f, op.BASE]
        if fields[f, op.MASK]:
            word = read_word(rows + np.int64(fields[f, op.WORD]) * stride + 8 * j)
            code += (word >> fields[f, op.DOWN]) & fields[f, op.MASK]
        kind = fields[f, op.KIND]
        if kind == U(op.SET):
            registers[i, np.int64(fields[f, op.WHAT])] = code
        elif kind == U(op.SAME):
            if registers[i, np.int64(fields[f, op.WHAT])] != code:
                return False
        elif kind == U(op.UNLIKE):
            if registers[i, np.int64(fields[f, op.WHAT])] == code:
                return False
        elif kind == U(op.OTHER):
            if fields[f, op.WHAT] == code:
                return False
        elif fields[f, op.WHAT] != code:
            return False
    return True


@part
def rank_of(batches: Lines, b: int, j: int, ranks: Lines) -> Int:
    """Return the rank of a row of a batch."""
    member = batches[b, op.MEMBER]
    if member >= 0:
        return ranks[member, np.int64(read_word(batches[b, op.ROWS] + batches[b, op.LINE] + 8 * j))]
    return np.int64(read_rank(batches[b, op.RANKS] + 4 * j)) if batches[b, op.RANKS] else batches[b, op.RANK]

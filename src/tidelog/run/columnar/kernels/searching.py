"""Searching sorted batches that are known by their addresses, many keys at a time, and binding variables to rows.

A search among millions of rows waits for memory most of the time. So the keys of a step are searched together: all go
down one level before any goes down the next, and the processor fetches what they need side by side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from tidelog.run.columnar.machine.kernels import operands as lines
from tidelog.run.kernel_cache import kernel

U = np.uint64
ALIVE = 0


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


read_word, read_rank, read_mark, read_count = (
    _reader(kind) for kind in (types.uint64, types.int32, types.uint8, types.int64)
)
put_rank, put_mark, put_count = (_writer(kind) for kind in (types.int32, types.uint8, types.int64))


@kernel
def compare(rows, stride, j, keys, d, full, shift):  # type: ignore[no-untyped-def]
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


@kernel
def bisect(rows, stride, p, h, keys, d, full, shift, least):  # type: ignore[no-untyped-def]
    """Return the first row from p to h that compares with key d below `least`: 1 for not before it, 0 for after it."""
    while p < h:
        middle = (p + h) >> 1
        if compare(rows, stride, middle, keys, d, full, shift) >= least:
            p = middle + 1
        else:
            h = middle
    return p


@kernel
def run_end(rows, stride, size, keys, d, full, shift, p):  # type: ignore[no-untyped-def]
    """Return the first row from p on whose prefix is not key d; gallops."""
    step, a = 1, p
    while a < size and compare(rows, stride, a, keys, d, full, shift) == 0:
        p = a + 1
        a += step
        step <<= 1
    return bisect(rows, stride, p, min(size, a), keys, d, full, shift, 0)


@kernel
def search(rows, stride, size, keys, n, full, shift, low):  # type: ignore[no-untyped-def]
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


@kernel
def locate(batches, first, end, keys, n, words, least, most, line, at, low):  # type: ignore[no-untyped-def]
    """Write for each of n rows the batch and place of one with a mark in a range; -1 if there is none."""
    line[:n] = -1
    for b in range(first, end):
        rows, stride, size = batches[b, lines.ROWS], batches[b, lines.STRIDE], batches[b, lines.SIZE]
        marks = batches[b, lines.MARKS]
        search(rows, stride, size, keys, n, words, 64, low)
        for i in range(n):
            p = low[i]
            if line[i] < 0 and p < size and compare(rows, stride, p, keys, i, words, 64) == 0:
                mark = np.int64(read_mark(marks + p)) if marks else ALIVE
                if least <= mark <= most:
                    line[i], at[i] = b, p


@kernel
def make_key(fields, first, end, names, i, keys, d):  # type: ignore[no-untyped-def]
    """Make key d of the variables of binding i and of constants; return whether there is room for all of them."""
    for w in range(keys.shape[1]):
        keys[d, w] = U(0)
    for f in range(first, end):
        code = fields[f, lines.WHAT]
        if fields[f, lines.KIND] == U(lines.SET):
            code = names[i, np.int64(code)]
        code -= fields[f, lines.BASE]
        if code > fields[f, lines.MASK]:
            return False
        if fields[f, lines.MASK]:
            keys[d, np.int64(fields[f, lines.WORD])] |= code << fields[f, lines.DOWN]
    return True


@kernel
def bind(fields, first, end, rows, stride, j, names, i):  # type: ignore[no-untyped-def]
    """Bind variables of binding i to fields of row j; return whether fields that must equal something do."""
    for f in range(first, end):
        code = fields[f, lines.BASE]
        if fields[f, lines.MASK]:
            word = read_word(rows + np.int64(fields[f, lines.WORD]) * stride + 8 * j)
            code += (word >> fields[f, lines.DOWN]) & fields[f, lines.MASK]
        kind = fields[f, lines.KIND]
        if kind == U(lines.SET):
            names[i, np.int64(fields[f, lines.WHAT])] = code
        elif kind == U(lines.SAME):
            if names[i, np.int64(fields[f, lines.WHAT])] != code:
                return False
        elif fields[f, lines.WHAT] != code:
            return False
    return True


@kernel
def rank_of(batches, b, j, ranks):  # type: ignore[no-untyped-def]
    """Return the rank of a row of a batch."""
    member = batches[b, lines.MEMBER]
    if member >= 0:
        return ranks[member, np.int64(read_word(batches[b, lines.ROWS] + batches[b, lines.LINE] + 8 * j))]
    return np.int64(read_rank(batches[b, lines.RANKS] + 4 * j)) if batches[b, lines.RANKS] else batches[b, lines.RANK]

"""Kernels for codes that spread little: rows as places in a map of bits, keys as places in a directory, runs that meet.

A map has one bit for each word that can occur; threads may share one, so a bit is set by an atomic operation, which
also tells who was first. A directory has for each key from `origin` on the place where its run begins.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from tidelog.run.kernel_cache import inlined, kernel
from tidelog.run.kernel_types import Int, Mask, Places, Ranks, Rows, Words

U = np.uint64


def _make_set(_context: Any, bits: Any, place: Any, bit: Any) -> Any:
    """Set a bit of the word at a place, and return the word as it was."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        array: Any = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("or", builder.gep(array.data, [arguments[1]]), arguments[2], "monotonic")

    return types.uint64(bits, place, bit), generate


_set: Any = intrinsic(_make_set)


@inlined
def _is_first(bits: Words, word: np.uint64) -> bool:
    """Tell whether the bit of a word was not set; it is now."""
    place, bit = np.int64(word >> U(6)), U(1) << (word & U(63))
    return bits[place] & bit == U(0) and _set(bits, place, bit) & bit == U(0)


@kernel
def fresh(words: Words, bits: Words, out: Words) -> Int:
    """Write the words whose bit is not set, each once, and set their bits; return how many there are."""
    p = 0
    for i in range(words.shape[0]):
        if _is_first(bits, words[i]):
            out[p] = words[i]
            p += 1
    return p


@inlined
def _is_set(bits: Words, word: np.uint64) -> np.uint64:
    """Tell whether the bit of a word is set."""
    return (bits[np.int64(word >> U(6))] >> (word & U(63))) & U(1)


@kernel
def unknown(words: Words, bits: Words, out: Words) -> Int:
    """Write the words whose bit is not set; return how many there are."""
    p = 0
    for i in range(words.shape[0]):
        if not _is_set(bits, words[i]):
            out[p] = words[i]
            p += 1
    return p


@inlined
def _moved(word: np.uint64, row: np.uint64, moves: Rows) -> np.uint64:
    """Return a word with the moved fields of a row."""
    for k in range(moves.shape[0]):
        word |= (((row >> moves[k, 1]) & moves[k, 2]) + moves[k, 3]) << moves[k, 5]
    return word


@kernel
def emit_fresh(low: Places, high: Places, left: Words, batch: Words, moves: Rows, bits: Words, out: Words) -> Int:
    """As `emitting.emit_one`, of words whose bit is not set, each once, and set their bits; return how many."""
    p = 0
    for i in range(low.shape[0]):
        for j in range(low[i], high[i]):
            made = _moved(left[i], batch[j], moves)
            if _is_first(bits, made):
                out[p] = made
                p += 1
    return p


@kernel
def emit_unknown(low: Places, high: Places, left: Words, batch: Words, moves: Rows, bits: Words, out: Words) -> Int:
    """As `emitting.emit_one`, of words whose bit is not set; return how many."""
    p = 0
    for i in range(low.shape[0]):
        for j in range(low[i], high[i]):
            made = _moved(left[i], batch[j], moves)
            if not _is_set(bits, made):
                out[p] = made
                p += 1
    return p


@kernel
def fill_directory(batch: Words, shift: int, origin: np.uint64, starts: Ranks) -> None:
    """Write where the run of each key begins: the sorted words that, shifted right, are `origin` plus its place."""
    s = U(shift)
    key = 0
    for i in range(batch.shape[0]):
        found = np.int64((batch[i] >> s) - origin)
        while key <= found:
            starts[key] = i
            key += 1
    while key < starts.shape[0]:
        starts[key] = batch.shape[0]
        key += 1


@kernel
def find(keys: Words, origin: np.uint64, starts: Ranks, low: Places, high: Places) -> Int:
    """Fill low, high with the run of each key; return the total of their lengths."""
    total = 0
    size = U(starts.shape[0] - 1)
    for i in range(keys.shape[0]):
        key = keys[i] - origin
        if key < size:
            low[i] = starts[key]
            high[i] = starts[key + U(1)]
            total += high[i] - low[i]
        else:
            low[i] = high[i] = 0
    return total


@inlined
def _code(words: Words, i: int, field: Words) -> np.uint64:
    return ((words[i] >> field[0]) & field[1]) + field[2]


@inlined
def _first_from(words: Words, field: Words, code: np.uint64, p: int, end: int) -> Int:
    """Return the first place from p to the end whose code is not below the given one; gallops."""
    step, a = 1, p
    while a < end and _code(words, a, field) < code:
        p = a + 1
        a += step
        step <<= 1
    h = min(a, end)
    while p < h:
        middle = (p + h) >> 1
        if _code(words, middle, field) < code:
            p = middle + 1
        else:
            h = middle
    return p


@inlined
def _put(words: Words, low: int, high: int, field: Words, least: np.uint64, marks: Mask, mark: bool) -> None:
    for j in range(low, high):
        marks[_code(words, j, field) - least] = mark


@kernel
def emit_meeting(
    low: Places,
    high: Places,
    left: Words,
    batch: Words,
    field: Words,
    low2: Places,
    high2: Places,
    batch2: Words,
    field2: Words,
    least: np.uint64,
    marks: Mask,
    moves: Rows,
    apart: int,
    out: Words,
) -> Int:
    """As `emitting.emit_one`, of the words of each range whose code is that of a word of a second range, too.

    The words of a range are in the order of their codes: shifted right, masked, plus a number (`field`, `field2`).
    The codes of a second range that serves several rows in turn are put into `marks`, which is false at first and has a
    place for each code from `least` on. If it has none, and for ranges of which one is more than `apart` times longer,
    both are searched.
    """
    p = 0
    n, size = low.shape[0], U(marks.shape[0])
    marked = -1
    for i in range(n):
        a, end = low[i], high[i]
        b, end2 = low2[i], high2[i]
        if a >= end or b >= end2:
            continue
        if marked >= 0 and low2[marked] != b:
            _put(batch2, low2[marked], high2[marked], field2, least, marks, False)
            marked = -1
        long = apart * (end2 - b) < end - a
        if size > U(0) and not long and marked < 0 and i + 1 < n and low2[i + 1] == b and high2[i + 1] == end2:
            _put(batch2, b, end2, field2, least, marks, True)
            marked = i
        if marked >= 0 and not long:
            for j in range(a, end):
                code = _code(batch, j, field) - least
                if code < size:
                    out[p] = _moved(left[i], batch[j], moves)
                    p += marks[code]
            continue
        gallop = long or apart * (end - a) < end2 - b
        while a < end and b < end2:
            code, code2 = _code(batch, a, field), _code(batch2, b, field2)
            if code == code2:
                out[p] = _moved(left[i], batch[a], moves)
                p += 1
                a += 1
                b += 1
            elif gallop:
                if code < code2:
                    a = _first_from(batch, field, code2, a, end)
                else:
                    b = _first_from(batch2, field2, code, b, end2)
            else:
                a += code < code2
                b += code2 < code
    return p

"""Sorting packed rows by radix, eight bits at a time.

Only digits in which the keys differ cost a pass, so keys of narrow columns in wide fields sort fast, and keys in order
cost one look. Up to a quarter of a million keys the least significant digit goes first (`sort_one`). More keys are
first cut into buckets by their highest digit (`count_digit`, `place_digit`), each of which is then sorted within the
processor's cache (`sort_buckets`); threads can share both. Measured on Zen 4 for 48 differing bits: 7 ns a key in
cache, 9 ns from memory, where numpy's own sort takes 13 ns with AVX2 and 50 to 70 ns where it picks AVX-512.
"""

from __future__ import annotations

import numpy as np

from tidelog.run.kernel_cache import kernel, part
from tidelog.run.kernel_types import Counts, Places, Ranks, Words

U = np.uint64
C = np.uint32


@kernel
def survey(words: Words) -> tuple[np.uint64, bool]:
    """Return the bits in which the words differ, and whether they are in order."""
    bits = U(0)
    ordered = True
    for i in range(1, words.shape[0]):
        bits |= words[i] ^ words[0]
        ordered &= words[i - 1] <= words[i]
    return bits, ordered


@part
def _sort_digits(words: Words, other: Words, bits: np.uint64, counts: Counts) -> bool:
    """Sort words that differ in these bits, using another array; return whether the result is in the other one."""
    n = words.shape[0]
    swapped = False
    bit = 0
    while bit < 64:
        if (bits >> U(bit)) & U(1) == U(0):
            bit += 1
            continue
        s = U(bit)
        counts[:] = C(0)
        for i in range(n):
            counts[(words[i] >> s) & U(255)] += C(1)
        total = C(0)
        for k in range(256):
            count = counts[k]
            counts[k] = total
            total += count
        for i in range(n):
            word = words[i]
            digit = (word >> s) & U(255)
            p = counts[digit]
            other[p] = word
            counts[digit] = p + C(1)
        words, other = other, words
        swapped = not swapped
        bit += 8
    return swapped


@kernel
def sort_one(words: Words, other: Words, bits: np.uint64) -> Words:
    """Sort words that differ in these bits, using another array; return the one of the two that holds the result."""
    return other if _sort_digits(words, other, bits, np.empty(256, C)) else words


@kernel
def count_digit(words: Words, shift: int, counts: Places) -> None:
    """Count the words by their digit above a shift."""
    s = U(shift)
    for i in range(words.shape[0]):
        counts[(words[i] >> s) & U(255)] += 1


@kernel
def place_digit(words: Words, shift: int, places: Places, out: Words) -> None:
    """Put each word at the next place of its digit."""
    s = U(shift)
    for i in range(words.shape[0]):
        word = words[i]
        digit = (word >> s) & U(255)
        p = places[digit]
        out[p] = word
        places[digit] = p + 1


@kernel
def sort_buckets(words: Words, starts: Places, first: int, last: int, bits: np.uint64, few: int) -> None:
    """Sort each bucket from the first to before the last: the words from its start to the next; they differ in bits.

    The sort is stable: what stands below the lowest of the bits, such as the place of a row, is no part of the key.
    A bucket of a `few` words is sorted by insertion.
    """
    largest = 0
    for k in range(first, last):
        largest = max(largest, starts[k + 1] - starts[k])
    other = np.empty(largest, U)
    counts = np.empty(256, C)
    low = U(0)
    while low < U(63) and (bits >> low) & U(1) == U(0):
        low += U(1)
    for k in range(first, last):
        a, b = starts[k], starts[k + 1]
        if b - a > few:
            if _sort_digits(words[a:b], other[: b - a], bits, counts):
                for i in range(a, b):
                    words[i] = other[i - a]
            continue
        for i in range(a + 1, b):
            word = words[i]
            key = word >> low
            p = i
            while p > a and words[p - 1] >> low > key:
                words[p] = words[p - 1]
                p -= 1
            words[p] = word


@kernel
def pack(words: Words, values: Places | Ranks, room: int, out: Words) -> None:
    """Write words with values of `room` bits below them: to sort them as one moves half as much."""
    for i in range(words.shape[0]):
        out[i] = (words[i] << U(room)) | U(values[i])


@kernel
def unpack(packed: Words, room: int, first: np.uint64, words: Words, values: Places | Ranks) -> None:
    """Write words and values again; bits that were lost above are those of the first word, as of all others."""
    up = U(room)
    low, high = (U(1) << up) - U(1), first & ~(~U(0) >> up)
    for i in range(packed.shape[0]):
        words[i] = (packed[i] >> up) | high
        values[i] = packed[i] & low


@kernel
def order_one(
    words: Words, places: Places | Ranks, other_words: Words, other_places: Places | Ranks
) -> tuple[Words, Places | Ranks]:
    """Sort words and carry their places along; return the arrays that hold the results. Equal words keep order."""
    n = words.shape[0]
    bits, ordered = survey(words)
    if ordered:
        return words, places
    starts = np.empty(256, np.int64)
    bit = 0
    while bit < 64:
        if (bits >> U(bit)) & U(1) == U(0):
            bit += 1
            continue
        s = U(bit)
        starts[:] = 0
        for i in range(n):
            starts[(words[i] >> s) & U(255)] += 1
        total = 0
        for k in range(256):
            count = starts[k]
            starts[k] = total
            total += count
        for i in range(n):
            digit = (words[i] >> s) & U(255)
            p = starts[digit]
            other_words[p] = words[i]
            other_places[p] = places[i]
            starts[digit] = p + 1
        words, other_words = other_words, words
        places, other_places = other_places, places
        bit += 8
    return words, places

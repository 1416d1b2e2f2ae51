"""Packing: the columns of a row side by side in 64-bit words.

A value is known to this engine by its *code*, an unsigned 64-bit integer (see `encode`). A `Field` is a place for
codes of the range `base` to `base + 2**bits - 1`. A `Layout` places named fields in words, the first field in the
highest bits of the first word, so that packed rows sort like their codes, field by field. A field never straddles
two words.

`moves` describes how fields travel from one layout to another as an array with one line a field: source word, shift
right, mask, number to add, target word, shift left. All numbers are modulo 2**64.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import U, Words
from tidelog.run.columnar.functions import Arrays

FULL = (1 << 64) - 1
MIDDLE = 1 << 63
"""The code of zero for signed numbers."""


@record
class Range:
    """The least and greatest code that may occur; `low > high` when none does."""

    low: int
    high: int

    def join(self, other: Range) -> Range:
        """Return the smallest range that covers both."""
        if self.low > self.high:
            return other
        if other.low > other.high:
            return self
        return Range(min(self.low, other.low), max(self.high, other.high))

    def meet(self, other: Range) -> Range:
        """Return the codes in both."""
        return Range(max(self.low, other.low), min(self.high, other.high))

    def covers(self, other: Range) -> bool:
        """Tell whether every code of the other is in this one."""
        return other.low > other.high or (self.low <= other.low and other.high <= self.high)

    @property
    def bits(self) -> int:
        """The number of bits that tell its codes apart."""
        return max(0, self.high - self.low).bit_length()


NOTHING = Range(FULL, 0)


def range_of(codes: Words) -> Range:
    """Return the range of an array of codes."""
    return Range(int(codes.min()), int(codes.max())) if codes.size else NOTHING


@record
class Field:
    """A place for codes: bits `shift` to `shift + bits - 1` of a word, holding code minus `base`."""

    word: int
    shift: int
    bits: int
    base: int

    @property
    def range(self) -> Range:
        """The codes that fit."""
        return Range(self.base, min(FULL, self.base + (1 << self.bits) - 1))


@record
class Layout:
    """Named fields in packed rows, in order of significance, and how many words a row has."""

    fields: Mapping[Hashable, Field]
    words: int
    lines: Words = dataclasses.field(init=False, compare=False, repr=False)
    """The fields as an array, one line each in order: word, shift, mask, base."""

    def __post_init__(self) -> None:
        lines = [(f.word, f.shift, (1 << f.bits) - 1, f.base) for f in self.fields.values()]
        object.__setattr__(self, "lines", np.array(lines, U).reshape(len(lines), 4))

    def prefix(self, count: int) -> tuple[int, int]:
        """Return the prefix that the first `count` fields make: full words, and the shift of the next one."""
        if count == 0:
            return 0, 64
        fields = list(self.fields.values())
        last = fields[count - 1]
        next_word = count == len(fields) or fields[count].word != last.word
        return (last.word + 1, 64) if next_word else (last.word, last.shift)

    def key(self, count: int) -> Layout:
        """Return the layout of keys that are compared with the prefix of the first `count` fields."""
        full, shift = self.prefix(count)
        fields = {}
        for name, field in list(self.fields.items())[:count]:
            down = shift if field.word == full else 0
            fields[name] = Field(field.word, field.shift - down, field.bits, field.base)
        return Layout(fields, full + (shift < 64))

    def codes(self, rows: Words, name: Hashable) -> Words:
        """Return the codes of a field."""
        field = self.fields[name]
        if field.bits == 0:
            return np.full(rows.shape[1], field.base, U)
        found: Words = rows[field.word] >> U(field.shift) if field.shift else rows[field.word]
        if field.bits < 64:
            found = found & U((1 << field.bits) - 1)
        return found + U(field.base) if field.base else found

    def ranges(self, rows: Words, arrays: Arrays) -> list[Range]:
        """Return the range of the codes in each field of one row or more."""
        low, high = arrays(rows.shape[1]).extents(rows, self.lines)
        return [Range(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]

    def pack(self, columns: Mapping[Hashable, Words], count: int) -> Words:
        """Return packed rows made of columns of codes, in unsigned integers of any width, all of which must fit."""
        rows = np.zeros((self.words, count), U)
        filled: set[int] = set()
        for name, field in self.fields.items():
            if field.bits == 0:
                continue
            target = rows[field.word]
            if field.word in filled:
                codes = columns[name] - U(field.base) if field.base else columns[name]
                target |= codes << U(field.shift) if field.shift else codes
                continue
            filled.add(field.word)
            target[:] = columns[name]
            if field.base:
                target -= U(field.base)
            if field.shift:
                target <<= U(field.shift)
        return rows

    def pattern(self, codes: Mapping[Hashable, int]) -> list[tuple[int, int]]:
        """Return for each word a mask, and what it leaves of rows with the given codes; of none if one has no room."""
        found = [(0, 0)] * self.words
        for name, code in codes.items():
            field = self.fields[name]
            mask, wanted = found[field.word]
            room = ((1 << field.bits) - 1) << field.shift
            fits = field.range.covers(Range(code, code))
            found[field.word] = mask | room, wanted | ((code - field.base) << field.shift if fits else 1 << 64)
        return found

    def constant(self, codes: Mapping[Hashable, int]) -> Words:
        """Return one packed row with the given fields, the others zero bits."""
        row = [0] * self.words
        for name, code in codes.items():
            field = self.fields[name]
            if field.bits:
                row[field.word] |= (code - field.base) << field.shift
        return np.array(row, U).reshape(self.words, 1)


def place(ranges: Iterable[tuple[Hashable, Range]]) -> Layout:
    """Lay fields out in order with as few bits as their ranges need."""
    return _place(tuple([(name, codes.low if codes.low <= codes.high else 0, codes.bits) for name, codes in ranges]))


def roomy(ranges: Sequence[Range]) -> list[Range]:
    """Widen the ranges of a relation's columns by the bits a word has to spare, so that growth seldom repacks.

    A widened range keeps its usual origin (0, or MIDDLE for signed numbers) when it fits.
    """
    bits = [r.bits for r in ranges]
    spare = (64 - sum(bits)) // max(1, len(ranges)) if sum(bits) <= 64 else 0
    return [_widen(r, min(64, max(1, b + spare))) for r, b in zip(ranges, bits, strict=True)]


def _widen(codes: Range, bits: int) -> Range:
    size = 1 << bits
    if codes.low > codes.high:
        return Range(0, size - 1)
    for base in (0, MIDDLE, max(0, MIDDLE - size // 2), max(0, codes.low - (size - (codes.high - codes.low + 1)) // 2)):
        if base <= codes.low and codes.high < base + size and base + size - 1 <= FULL:
            return Range(base, base + size - 1)
    return Range(codes.low, min(FULL, codes.low + size - 1))


@lru_cache(maxsize=4096)
def _place(wanted: tuple[tuple[Hashable, int, int], ...]) -> Layout:
    # Kept, so that equal layouts are mostly one object: `join.Probe` tells by that whether anything has changed.
    words: list[list[tuple[Hashable, int, int]]] = [[]]
    used = 0
    for item in wanted:
        if used + item[2] > 64:
            words.append([])
            used = 0
        words[-1].append(item)
        used += item[2]
    fields: dict[Hashable, Field] = {}
    for number, items in enumerate(words):
        shift = sum(bits for _, _, bits in items)
        for name, base, bits in items:
            shift -= bits
            fields[name] = Field(number, shift, bits, base)
    return Layout(fields, len(words))


def moves(pairs: Iterable[tuple[Field, Field]]) -> Words:
    """Return the moves that bring each source field to its target field."""
    lines = [
        (s.word, s.shift, (1 << s.bits) - 1, (s.base - t.base) & FULL, t.word, t.shift) for s, t in pairs if t.bits
    ]
    return np.array(lines, U).reshape(len(lines), 6)

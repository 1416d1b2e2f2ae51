"""Inner times: the iteration of each loop around an operator, packed into one number, the outermost highest.

In a loop inside a loop times are ordered in part only: iteration (1, 0) and iteration (0, 3) are both before (1, 3) and
neither is before the other. So what comes at two times meets at the *join* of both, the later iteration of each loop.
Packed times are numbered in the order in which they are run, which is one that agrees with the partial order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.arrays.table import Mask, U, Words

DEEPEST = 3
"""How deep loops may be nested; each has as many iterations as its share of a word counts."""


@record
class Clock:
    """The inner times of operators, by the number of loops around them; outside of loops there is one time, 0."""

    depth: int = 1

    @property
    def bits(self) -> int:
        """How many bits an iteration takes."""
        return 64 // max(self.depth, 1)

    def packed(self, iterations: Sequence[int]) -> int:
        """Return a time as a number."""
        if any(iteration >> self.bits for iteration in iterations):
            raise OverflowError(f"a loop {self.depth} deep has more than {1 << self.bits:,} iterations")
        return sum(iteration << self.bits * place for place, iteration in enumerate(reversed(iterations)))

    def unpacked(self, time: int) -> tuple[int, ...]:
        """Return the iterations of a time, the outermost first.

        >>> Clock(2).unpacked(Clock(2).packed([5, 7]))
        (5, 7)
        """
        mask = (1 << self.bits) - 1
        return tuple([time >> self.bits * place & mask for place in reversed(range(self.depth))])

    def join(self, times: Words, time: int) -> Words:
        """Return the first times that are not before either of two."""
        if self.depth < 2:
            return np.maximum(times, U(time))
        later = np.zeros_like(times)
        for column, iteration, shift in self._fields(times, time):
            later |= np.maximum(column, iteration) << shift
        return later

    def within(self, times: Words, time: int, earlier: Sequence[bool]) -> Mask:
        """Tell which times are not after another in any loop, and before it in those that `earlier` says."""
        inside = np.ones(len(times), np.bool_)
        for (column, iteration, _), strictly in zip(self._fields(times, time), earlier, strict=True):
            inside &= column < iteration if strictly else column <= iteration
        return inside

    def corners(self) -> Iterator[tuple[int, tuple[bool, ...]]]:
        """Yield the terms of a difference in all loops: a sign, and in which of them the iteration before counts."""
        for earlier in product((False, True), repeat=self.depth):
            yield -1 if sum(earlier) % 2 else 1, earlier

    def _fields(self, times: Words, time: int) -> Iterator[tuple[Words, U, U]]:
        mask = U((1 << self.bits) - 1)
        for place, iteration in zip(reversed(range(self.depth)), self.unpacked(time), strict=True):
            shift = U(self.bits * place)
            yield times >> shift & mask, U(iteration), shift


ONE_LOOP = Clock()
"""The times of operators in a loop, or in none."""

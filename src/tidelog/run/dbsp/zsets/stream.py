"""Streams by definition: values of an Abelian group over time, and the operators of DBSP on them.

A `Stream` is a function from times 0, 1, 2, ... to values, computed when asked for and remembered. Nothing here is
fast: this is what the operators of `operators` and `circuit` must agree with, and where the laws of DBSP are tested.

| operator | here | at time t |
| --- | --- | --- |
| lift f | `lift(f, group)(s)` | f(s[t]) |
| z^-1 | `delay(s)` | s[t - 1], and 0 at first |
| I | `integrate(s)` | s[0] + ... + s[t] |
| D | `differentiate(s)` | s[t] - s[t - 1] |
| delta_0 | `introduce(a, group)` | a, and 0 from then on |
| the integral | `eliminate(s)` | no stream: s[0] + s[1] + ... up to the first 0 |
| fix | `fix(q, group)` | the only s with s = q(z^-1 s) |
| Q^Delta | `incremental(q)(s)` | D(q(I(s))) |

A nested stream is a stream over the group `Streams`: its first index is the outer time, the arrival of an update, its
second the inner one, an iteration. `incremental_bilinear` and `incremental_distinct` have the forms of Q^Delta that
need not compute Q again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from tidelog.base.record import record
from tidelog.run.dbsp.zsets.zset import ZSet

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

LONGEST = 10_000
"""Steps without a zero after which a stream is taken to have no end."""


class Group(Protocol[A]):
    """An Abelian group: what streams have as values."""

    def zero(self) -> A:
        """Return the neutral element."""

    def add(self, a: A, b: A) -> A:
        """Return the sum."""

    def negate(self, a: A) -> A:
        """Return the inverse."""

    def is_zero(self, a: A) -> bool:
        """Tell whether an element is the neutral one."""


class Integers:
    """The integers under addition."""

    def zero(self) -> int:
        return 0

    def add(self, a: int, b: int) -> int:
        return a + b

    def negate(self, a: int) -> int:
        return -a

    def is_zero(self, a: int) -> bool:
        return a == 0


@record
class ZSets:
    """The Z-sets of `columns` columns."""

    columns: int

    def zero(self) -> ZSet:
        return ZSet.zero(self.columns)

    def add(self, a: ZSet, b: ZSet) -> ZSet:
        return a + b

    def negate(self, a: ZSet) -> ZSet:
        return -a

    def is_zero(self, a: ZSet) -> bool:
        return not len(a)


class Stream(Generic[A]):
    """A value of a group at every time. `at` may look at earlier times of the stream itself."""

    def __init__(self, group: Group[A], at: Callable[[int], A]) -> None:
        self.group = group
        self._at = at
        self._known: list[A] = []
        self._busy = False

    @staticmethod
    def of(group: Group[A], *values: A) -> Stream[A]:
        """Return the stream that begins with these values and is 0 from then on."""
        return Stream(group, lambda t: values[t] if t < len(values) else group.zero())

    def __getitem__(self, time: int) -> A:
        while len(self._known) <= time:
            if self._busy:
                raise ValueError(f"the value at time {time} depends on itself: a cycle needs a delay")
            self._busy = True
            try:
                self._known.append(self._at(len(self._known)))
            finally:
                self._busy = False
        return self._known[time]

    def take(self, count: int) -> list[A]:
        """Return the first values."""
        return [self[time] for time in range(count)]

    def __add__(self, other: Stream[A]) -> Stream[A]:
        return lift(self.group.add, self.group)(self, other)

    def __neg__(self) -> Stream[A]:
        return lift(self.group.negate, self.group)(self)

    def __sub__(self, other: Stream[A]) -> Stream[A]:
        return self + -other


@record
class Streams(Generic[A]):
    """The streams over a group, which are a group themselves: values are added time by time."""

    values: Group[A]

    def zero(self) -> Stream[A]:
        return Stream.of(self.values)

    def add(self, a: Stream[A], b: Stream[A]) -> Stream[A]:
        return a + b

    def negate(self, a: Stream[A]) -> Stream[A]:
        return -a

    def is_zero(self, a: Stream[A]) -> bool:
        raise TypeError("whether a stream is zero at all times cannot be found out")


def lift(function: Callable[..., B], group: Group[B]) -> Callable[..., Stream[B]]:
    """Return the operator that applies a function at every time; its results are in `group`.

    Lifting an operator gives one on nested streams.
    """
    return lambda *streams: Stream(group, lambda t: function(*[stream[t] for stream in streams]))


def delay(stream: Stream[A]) -> Stream[A]:
    """Return the stream one step later: z^-1.

    >>> delay(Stream.of(Integers(), 3, 1, 4)).take(4)
    [0, 3, 1, 4]
    """
    return Stream(stream.group, lambda t: stream[t - 1] if t else stream.group.zero())


def integrate(stream: Stream[A]) -> Stream[A]:
    """Return the sums of all values so far: I.

    >>> integrate(Stream.of(Integers(), 3, 1, 4)).take(4)
    [3, 4, 8, 8]
    """
    total: Stream[A] = Stream(stream.group, lambda t: stream.group.add(total[t - 1], stream[t]) if t else stream[0])
    return total


def differentiate(stream: Stream[A]) -> Stream[A]:
    """Return the changes from one time to the next: D.

    >>> differentiate(Stream.of(Integers(), 3, 1, 4)).take(4)
    [3, -2, 3, -4]
    """
    return stream - delay(stream)


def introduce(value: A, group: Group[A]) -> Stream[A]:
    """Return the stream that has a value at first and 0 from then on: delta_0."""
    return Stream.of(group, value)


def eliminate(stream: Stream[A]) -> A:
    """Return the sum of a stream up to its first 0: the integral.

    >>> eliminate(Stream.of(Integers(), 3, 1, 4))
    8
    """
    total = stream.group.zero()
    for time in range(LONGEST):
        if stream.group.is_zero(stream[time]):
            return total
        total = stream.group.add(total, stream[time])
    raise ValueError(f"the stream has no 0 in its first {LONGEST} steps")


def fix(query: Callable[[Stream[A]], Stream[A]], group: Group[A]) -> Stream[A]:
    """Return the only stream s = query(z^-1 s), for a causal query.

    >>> ones = Stream(Integers(), lambda t: 1)
    >>> fix(lambda s: s + ones, Integers()).take(4)
    [1, 2, 3, 4]
    """
    answer: list[Stream[A]] = []
    solution: Stream[A] = Stream(group, lambda t: answer[0][t])
    answer.append(query(Stream(group, lambda t: solution[t - 1] if t else group.zero())))
    return solution


def incremental(query: Callable[..., Stream[B]]) -> Callable[..., Stream[B]]:
    """Return Q^Delta = D . Q . I, which turns changes of the input into changes of the output."""
    return lambda *changes: differentiate(query(*map(integrate, changes)))


def incremental_bilinear(function: Callable[[A, B], C], group: Group[C]) -> Callable[[Stream[A], Stream[B]], Stream[C]]:
    """Return (lift f)^Delta of a function that is linear in each argument, without computing f of what is known.

    The lifted function of this is bilinear, too, so applying it twice gives the doubly incremental operator on nested
    streams, (lift (lift f)^Delta)^Delta.
    """
    lifted = lift(function, group)

    def apply(a: Stream[A], b: Stream[B]) -> Stream[C]:
        return lifted(a, b) + lifted(delay(integrate(a)), b) + lifted(a, delay(integrate(b)))

    return apply


def incremental_distinct(changes: Stream[ZSet]) -> Stream[ZSet]:
    """Return (lift distinct)^Delta: the rows whose weight becomes positive, and those whose weight ceases to be."""
    return lift(turned, changes.group)(delay(integrate(changes)), changes)


def turned(known: ZSet, change: ZSet) -> ZSet:
    """Return which rows of a change appear in the set of positive rows (1) or disappear from it (-1).

    >>> turned(ZSet.of({("a",): 1, ("b",): 2}), ZSet.of({("a",): -1, ("b",): -1, ("c",): 1}))
    ZSet({('a',): -1, ('c',): 1})
    """
    return (known + change).distinct() - known.distinct()

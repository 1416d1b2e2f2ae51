"""What time and memory an evaluation may still take, for whoever may take much of either on the way.

Work is cut into pieces of bounded size, and each piece asks: `step` counts small ones, `ask` comes before something
large is made, `work` before a call that cannot be interrupted. Without a limit `current` is None, and asking costs
nothing. Work of unknown length is done in `pieces`. A `Meter` is current within its `with` block, in the threads that
share its work too (`run.threads`).
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextvars import ContextVar, Token, copy_context
from pathlib import Path
from typing import Self, TypeVar

from tidelog.base.errors import LimitError

Made = TypeVar("Made")

STEPS = 256
"""Steps, of some microseconds each, after which the clock is looked at again."""
LARGE = 1 << 16
"""Bytes from which on a value is large: smaller ones cannot exceed a limit unseen, for steps are counted."""
TOGETHER = 1 << 20
"""Bytes that may be asked for before the memory in use is looked at again."""
PIECE = 0.05
"""Seconds that a piece of a long work should take."""


class Meter:
    """Looks at the clock and at the memory; raises `LimitError` when either is beyond its limit, or would be."""

    def __init__(self, seconds: float | None = None, memory: int | None = None) -> None:
        self._seconds = seconds
        self._memory = memory
        self._end = None if seconds is None else time.monotonic() + seconds
        self._steps = STEPS
        self._asked = 0
        self._token: Token[Meter | None] | None = None

    def __enter__(self) -> Self:
        bounded = self._seconds is not None or self._memory is not None
        self._token = current.set(self if bounded else current.get())
        return self

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            current.reset(self._token)

    def seconds_left(self) -> float | None:
        """Return how long the evaluation may still take; None if as long as it likes."""
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def excuse(self, seconds: float) -> None:
        """Do not count time that was spent on what is done once for an installation."""
        if self._end is not None:
            self._end += seconds

    def look(self) -> None:
        """Look at the clock and at the memory."""
        if self._end is not None and time.monotonic() > self._end:
            raise self._too_long()
        if self._memory is not None and memory_in_use() > self._memory:
            raise self._too_large()

    def step(self, count: int = 1) -> None:
        """Count steps of some microseconds each, and look now and then."""
        self._steps -= count
        if self._steps < 0:
            self._steps = STEPS
            self.look()

    def work(self, nanoseconds: float) -> None:
        """Refuse a piece of work that cannot be interrupted and would take longer than is left."""
        left = self.seconds_left()
        if left is not None and nanoseconds * 1e-9 > left:
            raise self._too_long()

    def ask(self, size: int) -> None:
        """Refuse to make something of a size in bytes if there is no room or no time for it."""
        self._asked += size
        if self._asked > TOGETHER:
            self._asked = 0
            if self._memory is not None and memory_in_use() + size > self._memory:
                raise self._too_large()
            self.look()
            self.work(size)

    def error(self, excess: str) -> LimitError:
        """Return the error that says what was exceeded, and where."""
        return LimitError(f"evaluation took {excess}")

    def _too_long(self) -> LimitError:
        return self.error(f"more than {self._seconds:g} seconds")

    def _too_large(self) -> LimitError:
        return self.error(f"more than {self._memory} bytes of memory")


current: ContextVar[Meter | None] = ContextVar("current", default=None)
"""The meter of the evaluation at work, if time or memory are limited."""


def ask(size: int) -> None:
    """Ask the current meter, if there is one, before something of a size in bytes is made.

    >>> with Meter(memory=memory_in_use() + (1 << 25)):
    ...     ask(1 << 20)
    ...     ask(1 << 26)
    Traceback (most recent call last):
    ...
    tidelog.base.errors.LimitError: evaluation took more than ... bytes of memory
    """
    if size > LARGE:
        meter = current.get()
        if meter is not None:
            meter.ask(size)


def within(seconds: float | None, memory: int | None, make: Callable[[], Made]) -> Made:
    """Return what is made under limits, in a context of its own: an interrupt leaves no meter behind."""

    def run() -> Made:
        with Meter(seconds, memory):
            return make()

    return copy_context().run(run)


def look() -> None:
    """Have the current meter, if there is one, look at the clock and at the memory."""
    meter = current.get()
    if meter is not None:
        meter.look()


def pieces() -> Iterator[int]:
    """Yield sizes of the pieces in which to do a long work, without end; without limits there is one piece.

    Before each piece the current meter looks at the clock and at the memory. The next piece is larger if one was quick.
    """
    meter = current.get()
    if meter is None:
        while True:
            yield sys.maxsize
    size = 1
    while True:
        meter.look()
        start = time.monotonic()
        yield size
        size = 4 * size if time.monotonic() - start < PIECE else max(1, size // 2)


def in_pieces(first: int, last: int, make: Callable[[int, int], Made]) -> list[Made]:
    """Return what is made of a range, piece by piece under limits; of an empty range once, too.

    >>> in_pieces(0, 9, lambda first, last: (first, last))
    [(0, 9)]
    >>> with Meter(seconds=60):
    ...     in_pieces(0, 9, lambda first, last: (first, last))
    [(0, 1), (1, 5), (5, 9)]
    """
    if current.get() is None:
        return [make(first, last)]
    made: list[Made] = []
    for size in pieces():
        end = min(first + size, last)
        made.append(make(first, end))
        first = end
        if first >= last:
            break
    return made


def step(count: int = 1) -> None:
    """Count steps with the current meter, if there is one."""
    meter = current.get()
    if meter is not None:
        meter.step(count)


def memory_in_use() -> int:
    """Return the bytes of memory this process holds now, or 0 where the system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return memory_by_ps()


def memory_by_ps() -> int:
    """Return the same as the command `ps` tells it, where there is no /proc: on macOS."""
    import subprocess  # noqa: PLC0415  (slow to load)

    try:
        told = subprocess.run(  # noqa: S603  (a fixed command, and the number of this process)
            ["/bin/ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, check=True, timeout=5
        )
        return int(told.stdout) * 1024
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0

"""Locks that no interrupt leaves taken.

A lock of `threading` is released by a call, and an interrupt may come just before that call. Here a lock is held by a
`Hold`, and a hold lasts as long as some object lives; whoever finds that it is over goes on. For a `with` block the
object is what the statement will call at its end: it stands on the stack of the running frame and nowhere else, so it
is gone when the block is left, be it by an interrupt in the very call that was to release the lock. A traceback keeps
frames and their variables, but not that. The hold of a thread that has ended is over, too.

Those who want the lock stand in a queue, and the first whose hold is not over has it. A queue changes by single calls
of built-in methods, which interrupts cannot divide. Waiting threads are woken, and look by themselves now and then in
case that nobody did.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol
from weakref import ref

LOOK = 0.05
"""Seconds after which a waiting thread looks whether the hold before its own is over."""


Life = Callable[[], object | None]
"""A weak reference, or something like it: gives None when it is over."""


class Blocked(Protocol):
    """What knows the block of the `with` statement that it is used in."""

    block: Life


class ending:  # noqa: N801  (a decorator)
    """Decorates `__exit__`: `block` of the object is then a weak reference that is alive while the block runs.

    >>> class Door:
    ...     block = staticmethod(lambda: None)
    ...     def __enter__(self):
    ...         return self
    ...     @ending
    ...     def __exit__(self, kind, error, trace):
    ...         pass
    >>> with Door() as door:
    ...     door.block() is None
    False
    >>> door.block() is None
    True
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self._function = function

    def __get__(self, owner: Blocked | None, kind: type | None = None) -> Callable[..., None]:
        if owner is None:
            return self._function
        call = partial(self._function, owner)
        owner.block = ref(call)
        return call


def _gone() -> None:
    """Stand for an object that is no more."""


class Hold:
    """One taking of a lock by a thread. As a context manager it has the lock until the block ends, however it ends.

    >>> lock = Lock()
    >>> with Hold(lock) as taken:
    ...     taken, lock.holder() is None
    (True, False)
    >>> lock.holder() is None
    True
    """

    __slots__ = ("__weakref__", "_lock", "bell", "block", "life", "thread")

    def __init__(self, lock: Lock) -> None:
        self._lock = lock
        self.thread = threading.current_thread()
        self.life: Life = _gone
        """A weak reference to the object with which it ends."""
        self.block: Life = _gone
        self.bell: Any = None

    @property
    def over(self) -> bool:
        """Whether it has ended, or has not begun."""
        if self.life() is None:
            return True
        return self.thread is not threading.current_thread() and not self.thread.is_alive()

    def during(self, call: partial[Any]) -> partial[Any]:
        """Return what is to be called at once: while it runs, the hold lasts."""
        self.life = ref(call)
        return call

    def take(self) -> None:
        """Wait until the lock is free, and have it as long as the hold lasts."""
        self._lock.append(self)

    def release(self) -> None:
        """End, and wake who is next."""
        self.life = _gone
        self._lock.remove(self)

    def __enter__(self) -> bool:
        """Take the lock unless this thread, or the hold itself, has it already; tell whether that was done."""
        first = self._lock.holder()
        if first is None or (first is not self and first.thread is not self.thread):
            self.life = self.block
            self._lock.append(self)
            return True
        if first is self:
            self.life = self.block
        return False

    @ending
    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.release()


class Lock:
    """A lock for `Hold`s, first come, first served."""

    def __init__(self) -> None:
        self._queue: deque[Hold] = deque()

    def held(self) -> Hold:
        """Return what takes the lock in a `with` block."""
        return Hold(self)

    def holder(self) -> Hold | None:
        """Return who has the lock."""
        queue = self._queue
        while queue:
            try:
                first = queue[0]
                if not first.over:
                    return first
                queue.remove(first)
            except (IndexError, ValueError):
                continue  # another thread has removed it
        return None

    def append(self, hold: Hold) -> None:
        """Let a hold, which has begun to last, have the lock after all those before it; wait for that."""
        self._queue.append(hold)
        if self._queue[0] is hold:
            return
        hold.bell = threading.Lock()
        hold.bell.acquire()
        while self.holder() is not hold:
            hold.bell.acquire(timeout=LOOK)

    def remove(self, hold: Hold) -> None:
        """Take a hold out of the queue, if it is there, and wake the next."""
        try:
            self._queue.remove(hold)
            bell = self._queue[0].bell
            if bell is not None:
                bell.release()
        except (ValueError, IndexError, RuntimeError):
            pass  # it was not there; nobody waits; or the bell has rung already

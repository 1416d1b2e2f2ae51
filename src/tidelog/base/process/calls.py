"""Functions of a program that call themselves: how deep, and the room on Python's stack that this takes.

Each call of such a function by itself is some frames of Python, of which Python allows a thousand unasked. While one is
running more are allowed, up to what the stack of a thread holds; `MOST_CALLS` is where a program is stopped.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

MOST_CALLS = 1000
"""How deep functions may call themselves; the eight megabytes of a thread's stack hold several times as many."""
FRAMES = 40
"""Frames of Python that one call may take, with what stands between it and the next."""

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class _Depth(threading.local):
    calls = 0


_depth = _Depth()
_lock = threading.Lock()
_limits: list[int] = []
"""The limit of frames as it was, once for each thread in which such a function runs."""


def recursive(call: Callable[Arguments, Result], name: str, error: type[Exception]) -> Callable[Arguments, Result]:
    """Return a function that may call itself; too deep a call raises the error."""

    def deeper(*arguments: Arguments.args, **named: Arguments.kwargs) -> Result:
        if _depth.calls >= MOST_CALLS:
            raise error(f"functions call themselves more than {MOST_CALLS:,} deep, at `{name}`")
        outermost = _depth.calls == 0
        if outermost:
            _allow_frames()
        _depth.calls += 1
        try:
            return call(*arguments, **named)
        finally:
            _depth.calls -= 1
            if outermost:
                _restore_frames()

    return deeper


def _allow_frames() -> None:
    with _lock:
        _limits.append(sys.getrecursionlimit())
        sys.setrecursionlimit(max(_limits[0], 0) + MOST_CALLS * FRAMES)


def _restore_frames() -> None:
    with _lock:
        first = _limits[0]
        _limits.pop()
        if not _limits:
            sys.setrecursionlimit(first)

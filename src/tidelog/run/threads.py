"""The threads of an engine, which share the work of large operations: kernels run without the interpreter lock."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, wait
from contextvars import ContextVar
from typing import Any

from tidelog.base.process.meter import Meter, current
from tidelog.base.tuning.table import Tuning

AT_ONCE = 256
"""Calls that are handed out at once: when one fails, the others have to be taken back."""

helpers: ContextVar[Executor | None] = ContextVar("helpers", default=None)
"""The threads that may share the work."""


def parts_of(tuning: Tuning) -> int:
    """Return into how many parts a large operation is cut."""
    return max(1, min(int(tuning.threads.parts), os.cpu_count() or 1))


def share(pool: Executor | None, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what a function gives for each tuple of arguments, computed with the pool if there is one.

    What nobody has begun is done here. So a helper can share its own work, and nobody waits for who waits.
    """
    if pool is None or len(calls) == 1:
        return [function(*call) for call in calls]
    if len(calls) > AT_ONCE:
        parts = (calls[start : start + AT_ONCE] for start in range(0, len(calls), AT_ONCE))
        return [made for part in parts for made in share(pool, function, part)]
    meter = current.get()
    running = [pool.submit(_help, pool, meter, function, call) for call in calls]
    try:
        return [function(*call) if one.cancel() else one.result() for one, call in zip(running, calls, strict=True)]
    finally:
        wait([one for one in running if not one.cancel()])


def _help(pool: Executor, meter: Meter | None, function: Callable[..., Any], call: tuple[Any, ...]) -> Any:
    before = helpers.set(pool)
    asked = current.set(meter)
    try:
        return function(*call)
    finally:
        current.reset(asked)
        helpers.reset(before)

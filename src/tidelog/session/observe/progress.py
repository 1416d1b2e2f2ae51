"""Bounding an evaluation, and looking on while it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidelog.run.contract.engine import Limits
from tidelog.run.limits import Progress, observer


@contextmanager
def watching(look: Callable[[Progress], None]) -> Iterator[None]:
    """Within the block, call `look` a few times a second while an evaluation runs in this thread.

    >>> from tidelog import Database
    >>> with watching(lambda progress: print(progress.round)):
    ...     db = Database("relation R(x: u8)  R(1).")  # over before there is anything to tell
    """
    token = observer.set(look)
    try:
        yield
    finally:
        observer.reset(token)


__all__ = ["Limits", "Progress", "watching"]

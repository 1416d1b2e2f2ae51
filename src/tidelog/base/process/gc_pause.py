"""Rest for the cycle collector while large trees are built.

Syntax, programs and plans are trees that live on, so walking them in search of garbage finds none. Checking a program
of 4,000 rules takes 1.5 s with the collector and 1.0 s without. Afterwards what was made counts as old (`freeze` and
`unfreeze` only move it there), or the collector would walk it all at once.

What turns the collector on again is the end of an object that the `with` statement holds, so that no interrupt leaves
it off (`base.process.lock` says why).
"""

from __future__ import annotations

import gc
from functools import partial

MANY = 10_000
"""Fewer new objects than this are not worth moving: a rule that is added makes fewer."""


class _Pause(partial[None]):
    """What a `with` statement calls at its end; when it goes, the collector works again."""

    __del__ = gc.enable  # built-in: it is called without the object, and nothing can interrupt it


class collector_paused:  # noqa: N801  (used like a function)
    """Turn the cycle collector off during a `with` block, unless it is off already.

    >>> with collector_paused():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """

    def __enter__(self) -> None:
        gc.disable()

    @property
    def __exit__(self) -> partial[None]:  # noqa: PLE0302, PYI036  (it returns what takes the arguments)
        return _Pause(_make_old) if gc.isenabled() else partial(_nothing)


def _nothing(*_: object) -> None:
    """Leave the collector as it is."""


def _make_old(*_: object) -> None:
    """Let what was made count as old."""
    # If somebody else froze something, `unfreeze` would undo it; to ask means to walk through all of that.
    if gc.get_count()[0] > MANY and gc.get_freeze_count() == 0:
        gc.freeze()
        gc.unfreeze()

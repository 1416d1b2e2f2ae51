"""A folder takes the place of another: at every moment one of them is there, whole.

Linux and macOS exchange two names in one step. Where a file system cannot, there are two steps with a moment between
them, of which the journal knows; that is reported once.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path

from tidelog.run.limits import tell
from tidelog.session.pipeline.places.local import remove, sync

_MARK = ".tidelog"
"""A file in the folder of a sink that says which output it is; readers skip it."""
_HERE = -100
"""In place of a folder's descriptor: paths are as they are."""
_EXCHANGE = 2


def mark(folder: Path, name: str) -> None:
    """Say which output a folder is."""
    (folder / _MARK).write_text(name, encoding="utf-8")
    sync(folder / _MARK)


def take_place(fresh: Path, target: Path, name: str) -> None:
    """Let a folder be at the target, whatever was there; may be done again, from wherever it was interrupted."""
    there = target / _MARK
    if there.is_file() and there.read_text(encoding="utf-8") == name:
        remove(fresh)  # it is there already: what is left is the old one
        return
    old = fresh.with_name(f"{fresh.name}.old")
    if not fresh.exists():
        return
    if not target.exists() and not target.is_symlink():
        fresh.rename(target)
        remove(old)
    elif exchange(fresh, target):
        remove(fresh)
    else:
        tell(f"this file system cannot exchange folders: {target} was away for a moment")
        target.rename(old)
        fresh.rename(target)
        remove(old)
    sync(target)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names in one step; tell whether it was done."""
    call = _call()
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _call() -> ctypes._FuncPointer | None:
    library = ctypes.CDLL(None, use_errno=True)
    if sys.platform == "linux" and hasattr(library, "renameat2"):
        return lambda one, other: library.renameat2(_HERE, one, _HERE, other, _EXCHANGE)  # type: ignore[return-value]
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: library.renamex_np(one, other, _EXCHANGE)  # type: ignore[return-value]
    return None

"""Where compiled code may be kept for the next run: a folder in which nobody else can put files.

What is read from there is executed, so whoever can write there can do what the reader can. Such a folder belongs to the
user (or to root), and neither its group nor others can write to it. The first of these that can be used is taken:

1. `TIDELOG_CACHE_DIR`, or else `NUMBA_CACHE_DIR`, if the environment has it;
2. `__pycache__` beside the source, where Python keeps its own compiled code;
3. `tidelog` in the user's folder for caches: `XDG_CACHE_HOME`, by default `~/.cache`.

A folder that is made is made for its owner alone. In folders other than the source's own, each installation has its own
folder.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from tidelog.base.record import record

VARIABLE = "TIDELOG_CACHE_DIR"
VARIABLES = (VARIABLE, "NUMBA_CACHE_DIR")
ENDING = ".nbc"
"""How the names of files of compiled code end."""


@record
class CacheFolder:
    """The folder to use, None if there is none, and why others were refused that come before it."""

    path: Path | None
    refused: list[str] = field(default_factory=list)
    asked: bool = False
    """Whether the user named one of the refused ones."""


def cache_folder(source: Path) -> CacheFolder:
    """Return where the compiled code of the files in a folder may be kept; the folder is there afterwards."""
    refused: list[str] = []
    asked = False
    for chosen, *folders in _candidates(source):
        reason = next((f"{folder} {why}" for folder in folders if (why := _unusable(folder)) is not None), None)
        if reason is None:
            return CacheFolder(folders[-1], refused, asked)
        refused.append(reason)
        asked |= chosen
    return CacheFolder(None, refused, asked)


def _candidates(source: Path) -> Iterator[tuple[bool, *tuple[Path, ...]]]:
    """Yield whether the user named it, and the folders to look at: the last is the one to use."""
    own = f"{source.name}-{hashlib.sha256(str(source.resolve()).encode(errors='surrogateescape')).hexdigest()[:16]}"
    named = next((os.environ[name] for name in VARIABLES if os.environ.get(name)), None)
    if named is not None:
        root = Path(named).absolute()
        yield True, root, root / own
    yield False, source / "__pycache__"
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")  # noqa: PTH111, PTH118
    if os.path.isabs(home):  # noqa: PTH117  (without a home it is "~" still)
        yield False, Path(home) / "tidelog", Path(home) / "tidelog" / own


def _unusable(folder: Path) -> str | None:
    """Make a folder if need be, and return why it cannot be used."""
    try:
        folder.mkdir(0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except FileExistsError:
        return "is not a folder"
    except OSError as error:
        return f"cannot be made: {error.strerror or error}"
    return untrusted(found) or (None if os.access(folder, os.W_OK | os.X_OK) else "cannot be written")


def untrusted(found: os.stat_result) -> str | None:
    """Return why a file or folder may hold what somebody else put there."""
    if not hasattr(os, "getuid"):
        return None  # a system without owners and modes
    if found.st_uid not in (os.getuid(), 0):
        return "belongs to another user"
    if stat.S_IMODE(found.st_mode) & (stat.S_IWGRP | stat.S_IWOTH):
        return "can be written by others"
    return None

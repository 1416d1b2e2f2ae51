"""Fills freshly allocated arrays with a value that no row has, so that reading what was never written shows.

`np.empty` gives whatever memory held before, which on small data is often zero, or the right answer of a moment ago. In
the modules of Tidelog that use numpy a stand-in for it takes the place of `np` (`poisoned`). Kernels are left alone:
numba resolves their `np.empty` when it compiles them. Their memory comes from the allocator of the C library, and that
of GNU fills what it gives, and otherwise what it takes back, in processes that start with `ALLOCATOR` (`poisoning`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pkgutil import walk_packages
from types import ModuleType
from typing import Any

import numpy as np

import tidelog.run

BYTE = 0x5A
"""What each byte of a fresh array is: words that no layout packs, and places far outside of any array."""
ALLOCATOR = {"GLIBC_TUNABLES": f"glibc.malloc.perturb={BYTE ^ 0xFF}:glibc.malloc.tcache_count=0"}
"""Fill memory with `BYTE` when it is allocated, with the opposite when it is freed; other C libraries ignore it."""
LATE = "tidelog.run.spark"
"""Needs Java to be imported; its arrays are made by the modules of other engines."""


def empty(*given: Any, **named: Any) -> Any:
    """Do what `np.empty` does, with poison.

    >>> hex(int(empty(2, np.uint64)[1]))
    '0x5a5a5a5a5a5a5a5a'
    """
    return _filled(np.empty(*given, **named))


def empty_like(*given: Any, **named: Any) -> Any:
    """Do what `np.empty_like` does, with poison."""
    return _filled(np.empty_like(*given, **named))


def _filled(made: Any) -> Any:
    if made.dtype.kind == "b":
        made.fill(True)
    elif made.dtype.kind in "iu":
        made.fill(int.from_bytes(bytes([BYTE] * made.dtype.itemsize), "little"))
    elif made.dtype.kind == "f":
        made.fill(np.nan)
    return made  # an array of objects holds None, which is no value


def stand_in() -> ModuleType:
    """Return a module that is numpy but for poison in fresh arrays."""
    made = ModuleType("numpy")
    made.__dict__.update(vars(np))
    made.__dict__.update({"empty": empty, "empty_like": empty_like, "__getattr__": lambda name: getattr(np, name)})
    return made


@contextmanager
def poisoned() -> Iterator[int]:
    """Poison fresh arrays within a `with` block; gives the number of modules in which that is so."""
    for found in walk_packages(tidelog.run.__path__, f"{tidelog.run.__name__}."):
        if not found.name.startswith(LATE):
            import_module(found.name)
    modules = [
        module
        for name, module in list(sys.modules.items())
        if name.startswith("tidelog.run.") and ".kernels" not in name and getattr(module, "np", None) is np
    ]
    poison = stand_in()
    for module in modules:
        module.np = poison  # type: ignore[attr-defined]
    try:
        yield len(modules)
    finally:
        for module in modules:
            module.np = np  # type: ignore[attr-defined]


@contextmanager
def poisoning() -> Iterator[None]:
    """Let processes that are started within a `with` block have poison in all that they allocate."""
    before = {name: os.environ.get(name) for name in ALLOCATOR}
    os.environ.update({name: value for name, value in ALLOCATOR.items() if before[name] is None})
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]

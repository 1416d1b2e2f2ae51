"""Compiled kernels, loaded before anything is measured: neither compiling nor loading them is a cost of a choice.

They are loaded as Numba does it when they are called, but not called: the engines decide as in any fresh process
from when on they use kernels, and only what loading takes is spared. A kernel that has not been compiled yet is
compiled by whoever needs it first; `loads` tells, and that measurement is thrown away.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

from numba.core.dispatcher import Dispatcher

import tidelog.run
from tidelog.run.kernel_cache import kept_signatures


@cache
def dispatchers() -> tuple[Any, ...]:
    """Return every kernel of the engines, in whatever form Numba keeps them."""
    packages = pkgutil.walk_packages(tidelog.run.__path__, "tidelog.run.")
    modules = [import_module(package.name) for package in packages if ".kernels" in package.name]
    found = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)}
    return tuple(found.values())


def load_kernels() -> int:
    """Load the code of kernels that were compiled on this machine before; return how many there are."""
    found = 0
    for kernel in dispatchers():
        for signature in kept_signatures(kernel):
            if signature not in kernel.overloads:
                kernel.compile(signature)
                found += 1
    return found


def loads() -> int:
    """Return how often this process has loaded or compiled a kernel so far."""
    stats = [kernel.stats for kernel in dispatchers()]
    return sum(sum(one.cache_hits.values()) + sum(one.cache_misses.values()) for one in stats)

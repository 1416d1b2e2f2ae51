"""Whether kernels were compiled on this machine before, and loading them.

Limits do not count what is done once for a process or an installation: loading and compiling.
"""

from __future__ import annotations

import threading
import time
from importlib import import_module
from pathlib import Path
from types import ModuleType

from tidelog.base.process.cache_folder import ENDING, cache_folder
from tidelog.base.process.meter import current


def are_compiled(kernels: Path) -> bool:
    """Tell whether code is kept of some kernel in a folder of kernels."""
    folder = cache_folder(kernels).path
    return folder is not None and any(folder.glob(f"*{ENDING}"))


def load_kernels(name: str) -> ModuleType:
    """Return a module of kernels. Neither loading it counts against a limit of time, nor compiling what is in it."""
    start = time.monotonic()
    module = import_module(name)
    _excuse_compiling()
    _excuse(start)
    return module


def _excuse(start: float) -> None:
    meter = current.get()
    if meter is not None:
        meter.excuse(time.monotonic() - start)


_listening: list[object] = []


def _excuse_compiling() -> None:
    """Have numba tell when it compiles a kernel, or loads what it compiled before: that is when one is first called."""
    if _listening:
        return
    from numba.core import event  # noqa: PLC0415  (loaded with the first kernels)

    begun = threading.local()

    class Excuse(event.Listener):
        """Hears of the compiler's lock, which a thread may take again while it holds it."""

        def on_start(self, event: object) -> None:
            begun.times = [*getattr(begun, "times", ()), time.monotonic()]

        def on_end(self, event: object) -> None:
            start = begun.times.pop()
            if not begun.times:
                _excuse(start)

    _listening.append(Excuse())
    event.register("numba:compiler_lock", _listening[0])  # type: ignore[no-untyped-call]

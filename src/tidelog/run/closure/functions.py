"""Which form of the functions on graphs to use: `plain`, or `kernels` once a large graph was seen in this process."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from tidelog.run.closure import plain
from tidelog.run.compiling import are_compiled, compile_at
from tidelog.run.limits import tell

COMPILE_AT = compile_at(3_000)
"""Edges from which on a graph is large: in Python it takes about as long as loading the kernels."""

_tables: list[ModuleType] = [plain]


def functions(edges: int = 0) -> Any:
    """Return the functions to use for so many edges."""
    if edges >= COMPILE_AT and len(_tables) == 1:
        if not are_compiled(Path(__file__).parent / "kernels"):
            tell("compiling kernels for closures, once for this installation")
        _tables.append(import_module("tidelog.run.closure.kernels"))
    return _tables[-1]

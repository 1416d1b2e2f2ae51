"""From how many rows on compiled kernels take the place of array functions, and whether they were compiled before.

Loading them takes a while, which few rows are not worth. `TIDELOG_COMPILE_AT` sets another number everywhere: with 0
they are used from the first row on, as a soak should do, whose inputs are small.
"""

from __future__ import annotations

import os
from pathlib import Path

from tidelog.base.cache_folder import ENDING, cache_folder

VARIABLE = "TIDELOG_COMPILE_AT"


def compile_at(rows: int) -> int:
    """Return a number of rows, or the one that the environment wants instead."""
    wanted = os.environ.get(VARIABLE, str(rows))
    if not wanted.isdecimal():
        raise ValueError(f"the environment variable {VARIABLE} should be a number of rows, and is {wanted!r}")
    return int(wanted)


def are_compiled(kernels: Path) -> bool:
    """Tell whether code is kept of some kernel in a folder of kernels."""
    folder = cache_folder(kernels).path
    return folder is not None and any(folder.glob(f"*{ENDING}"))

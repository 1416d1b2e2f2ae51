"""Whether kernels were compiled on this machine before."""

from __future__ import annotations

from pathlib import Path

from tidelog.base.cache_folder import ENDING, cache_folder


def are_compiled(kernels: Path) -> bool:
    """Tell whether code is kept of some kernel in a folder of kernels."""
    folder = cache_folder(kernels).path
    return folder is not None and any(folder.glob(f"*{ENDING}"))

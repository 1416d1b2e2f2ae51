"""Which form of the functions on graphs to use: `plain`, or `kernels` once a large graph was seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.run.closure import plain
from tidelog.run.compiling import are_compiled, load_kernels
from tidelog.run.limits import tell


class Functions:
    """The functions on graphs, in the form that suits the graphs seen so far; and the thresholds by which to choose."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self._table: Any = plain

    def __call__(self, edges: int = 0) -> Any:
        """Return the functions to use for so many edges."""
        if edges >= self.tuning.compiling.edges and self._table is plain:
            if not are_compiled(Path(__file__).parent / "kernels"):
                tell("compiling kernels for closures, once for this installation")
            self._table = load_kernels("tidelog.run.closure.kernels")
        return self._table


_usual = Functions(DEFAULT)
"""Databases share it: what one of them has loaded costs the others nothing."""


def functions_of(tuning: Tuning) -> Functions:
    """Return the functions to use with a table of thresholds."""
    return _usual if tuning is DEFAULT else Functions(tuning)

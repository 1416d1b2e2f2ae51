"""Which form of the functions on graphs is used, `plain` or `kernels`, and what it costs to use them.

Whoever uses them says how many edges it walks and how many words of bits it writes. That is work like any other: it
counts as derivations do, against the budget of an update too (`Watch.walk`). And it tells when kernels are worth it:
once the plain functions have cost about as much as loading kernels does, or are about to. So whatever the graphs are,
both together take at most about twice what the better of them would have.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.run.closure import plain
from tidelog.run.compiling import are_compiled, load_kernels
from tidelog.run.limits import tell, watching

KERNELS = "tidelog.run.closure.kernels"
EDGE, WORD = 0.25, 0.006
"""Units of work (25 ns) of walking an edge, and of uniting a word of bits with another."""
WORDS, PAIRS = 64, 16
"""Words that the plain functions unite, and pairs that they write, in the time of walking an edge."""


class Functions:
    """The functions on graphs, in the form that suits the work so far; and the thresholds by which to choose."""

    def __init__(self, tuning: Tuning) -> None:
        self.tuning = tuning
        self._table: Any = plain
        self._walked = 0
        """Edges that the plain functions have walked."""

    def __call__(self, edges: int = 0, words: int = 0) -> Any:
        """Return the functions by which to walk edges and to write words; how many, is counted here."""
        if edges or words:
            watch = watching.get()
            if watch is not None:
                watch.walk(edges + words, edges * EDGE + words * WORD)
            if self._table is plain:
                self._walked += edges + words // WORDS
                self.expect(0)
        return self._table

    def left(self) -> int:
        """Return how many edges the functions in use may walk before others are worth it."""
        return max(1, self._price - self._walked) if self._table is plain else sys.maxsize

    @property
    def _price(self) -> int:
        """What loading kernels costs, in edges that the plain functions walk in that time."""
        compiling = self.tuning.compiling
        return compiling.edges // int(compiling.spared) if KERNELS in sys.modules else compiling.edges

    def expect(self, edges: int) -> None:
        """Load kernels if walking this many more edges by the plain functions would cost as much."""
        if self._table is plain and self._walked + edges >= self._price:
            if not are_compiled(Path(__file__).parent / "kernels"):
                tell("compiling kernels for closures, once for this installation")
            self._table = load_kernels(KERNELS)


_usual = Functions(DEFAULT)
"""Databases share it: what one of them has loaded costs the others nothing."""


def functions_of(tuning: Tuning) -> Functions:
    """Return the functions to use with a table of thresholds."""
    return _usual if tuning is DEFAULT else Functions(tuning)

"""Which table of array functions to use: numpy's, or compiled ones once an input was large."""

from __future__ import annotations

import sys

import numpy as np

from tidelog.base.tuning.table import DEFAULT, Tuning
from tidelog.run.columnar.arrays.table import CompiledArrays, NumpyArrays, Words

KERNELS = "tidelog.run.columnar.kernels.words"


class Arrays:
    """The array functions, in the form that suits the inputs seen so far; and the thresholds by which to choose.

    An engine has one, and hands it to all that it makes.
    """

    def __init__(self, tuning: Tuning, table: NumpyArrays | None = None) -> None:
        self.tuning = tuning
        self._table = NumpyArrays(tuning) if table is None else table
        self._worked = 0
        """Rows that rounds had so far which numpy did, each with what it costs besides."""

    def __call__(self, rows: int = 0) -> NumpyArrays:
        """Return the table to use for an input of `rows` rows."""
        if not isinstance(self._table, CompiledArrays) and rows >= self._price:
            self._table = CompiledArrays(self.tuning)
        return self._table

    @property
    def _price(self) -> int:
        """What loading kernels costs, in rows that numpy does in that time; it is little if they are there already."""
        compiling = self.tuning.compiling
        return compiling.rows // int(compiling.spared) if KERNELS in sys.modules else compiling.rows

    def after_round(self, rows: int) -> NumpyArrays:
        """Return the table to use after a round on this number of rows: many small rounds are worth kernels, too."""
        if not isinstance(self._table, CompiledArrays):
            self._worked += rows + int(self.tuning.compiling.round)
            return self(self._worked)
        return self._table

    def united(self, a: Words, b: Words) -> Words:
        """Return the distinct rows of two sorted arrays in order; parts of a join often lie side by side."""
        if a.shape[1] and b.shape[1]:
            for first, second in ((a, b), (b, a)):
                if tuple(first[:, -1]) < tuple(second[:, 0]):
                    return np.concatenate((first, second), axis=1)
        table = self(a.shape[1] + b.shape[1])
        merged = table.merge(a, b)
        found = table.unique(merged)
        return found if self.tuning.sorting.own_memory * merged.shape[1] < found.shape[1] else found.copy()


usual = Arrays(DEFAULT)
"""What databases share: what one of them has loaded costs the others nothing."""


def arrays_of(tuning: Tuning) -> Arrays:
    """Return the array functions to use with a table of thresholds."""
    return usual if tuning is DEFAULT else Arrays(tuning)

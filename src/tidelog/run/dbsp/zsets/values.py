"""Python values as codes: the 64-bit words that Z-sets are made of.

An integer from 0 to 2**63 - 1 is its own code, every other hashable value gets the next free code above. Equal codes
mean equal values of one Python type, so `1`, `True` and `1.0` are three values. `Values` never forgets.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from tidelog.run.columnar.arrays.table import U, Words

FIRST = 1 << 63
"""The code of the first value that is not its own code."""


class Values:
    """A numbering of values."""

    def __init__(self) -> None:
        self._codes: dict[tuple[type, Hashable], int] = {}
        self._values: list[Any] = []

    def code(self, value: Hashable) -> int:
        """Return the code of a value, a new one if it was never seen.

        >>> values = Values()
        >>> values.code(7), values.code("a") == values.code("a"), values.code("a") == values.code("b")
        (7, True, False)
        """
        if type(value) is int and 0 <= value < FIRST:
            return value
        key = type(value), value
        found = self._codes.get(key)
        if found is None:
            found = self._codes[key] = FIRST + len(self._values)
            self._values.append(value)
        return found

    def value(self, code: int) -> Any:
        """Return the value of a code."""
        return code if code < FIRST else self._values[code - FIRST]

    def codes(self, rows: Sequence[Sequence[Hashable]], columns: int) -> Words:
        """Return rows of values as packed rows, a word a column."""
        return np.array([[self.code(row[c]) for row in rows] for c in range(columns)], U).reshape(columns, len(rows))

    def rows(self, words: Words) -> Iterable[tuple[Any, ...]]:
        """Return packed rows as tuples of values."""
        if not words.shape[0]:
            return [()] * words.shape[1]
        return zip(*([self.value(code) for code in column] for column in words.tolist()), strict=True)


VALUES = Values()
"""The numbering that Z-sets use unless another is given."""

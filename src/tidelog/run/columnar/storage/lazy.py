"""A batch whose rows are written when somebody reads them; how many there are is known before."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tidelog.run.columnar.arrays.table import Words
from tidelog.run.columnar.functions import Arrays
from tidelog.run.columnar.storage.batch import Batch, Marks

Codes = Mapping[int, int]
"""The codes of a tuple by column."""


class LazyBatch(Batch):
    """So many sorted rows, which `make` writes; `has` tells whether a tuple is among them without writing them."""

    __slots__ = ("_has", "_made", "_make")

    def __init__(
        self,
        size: int,
        make: Callable[[], Words],
        has: Callable[[Codes], bool] | None = None,
        mark: Marks | None = None,
    ) -> None:
        self.size = size
        self._make = make
        self._has = has
        self._made: Words | None = None
        self.rank = None
        self.counts = None
        self.mark = mark
        self._fence = None
        self._directories = None
        self._addresses = None
        self._listed = None
        self._values = None
        self._asked = 0
        self.gone = 0 if mark is None else size
        assert mark is None or mark.all(), "all rows of a lazy batch are marked, or none"

    @property
    def rows(self) -> Words:  # type: ignore[override]
        """The rows, written now if they never were."""
        if self._made is None:
            self._made = self._make()
            assert self._made.shape[1] == self.size, "a lazy batch knows its size"
        return self._made

    def values(self, word: int, mask: int, asked: int) -> frozenset[int] | None:
        return super().values(word, mask, asked) if self.written else None

    @property
    def written(self) -> bool:
        """Whether the rows were read."""
        return self._made is not None

    def has(self, codes: Codes) -> bool | None:
        """Tell whether a tuple is here; None if that is best found among the rows."""
        return self._has(codes) if self._has is not None and not self.written else None

    def unmarked(self, *, bare: bool = False) -> Batch:
        """Return the rows whatever becomes of them here; they have neither ranks nor counts anyway."""
        return LazyBatch(self.size, lambda: self.rows, self._has)

    def moved(self, steps: Words, constant: Words, arrays: Arrays) -> Batch:
        """Return the rows in another layout that keeps their order."""
        if self.written:
            return super().moved(steps, constant, arrays)
        return LazyBatch(self.size, lambda: arrays(self.size).move(self.rows, steps, constant), self._has, self.mark)

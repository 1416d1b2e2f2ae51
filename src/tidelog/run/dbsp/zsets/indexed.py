"""Indexed Z-sets: rows grouped by their first columns, the key.

Grouping is linear, and so is `flatten`, its inverse; in sorted rows the groups are runs, so that grouping costs nothing
once the key stands first. What is computed of a whole group (`aggregate`) is not linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from tidelog.base.record import record
from tidelog.run.columnar.functions import usual as arrays
from tidelog.run.dbsp.zsets.values import VALUES, Values
from tidelog.run.dbsp.zsets.zset import Row, ZSet, matches, of_width


@record
class IndexedZSet:
    """A Z-set whose first `key` columns are looked up.

    >>> sales = ZSet.of({("oslo", 3): 1, ("oslo", 4): 1, ("rome", 5): 1})
    >>> IndexedZSet.by(sales, [0])["oslo",]
    ZSet({(3,): 1, (4,): 1})
    """

    flat: ZSet
    key: int

    @staticmethod
    def by(zset: ZSet, columns: list[int]) -> IndexedZSet:
        """Group a Z-set by some of its columns; they come first, in this order."""
        rest = [c for c in range(zset.columns) if c not in columns]
        return IndexedZSet(zset.project([*columns, *rest]), len(columns))

    def flatten(self) -> ZSet:
        """Return the rows, the key first."""
        return self.flat

    def __add__(self, other: IndexedZSet) -> IndexedZSet:
        return IndexedZSet(self.flat + other.flat, self.key)

    def __neg__(self) -> IndexedZSet:
        return IndexedZSet(-self.flat, self.key)

    def __getitem__(self, key: Row) -> ZSet:
        _, places = matches(VALUES.codes([key], self.key), self.flat.rows)
        return ZSet(np.ascontiguousarray(self.flat.rows[self.key :, places]), self.flat.weights[places])

    def groups(self, values: Values = VALUES) -> Iterator[tuple[Row, dict[Row, int]]]:
        """Yield each key with its group: the rows of the other columns and their weights."""
        flat = self.flat
        if not len(flat):
            return
        first = arrays(len(flat)).firsts(flat.rows[: self.key]) if self.key else np.zeros(1, np.int64)
        keys = values.rows(flat.rows[: self.key, first])
        rows, weights = list(values.rows(flat.rows[self.key :])), flat.weights.tolist()
        ends = [*first[1:].tolist(), len(flat)]
        for key, start, end in zip(keys, first.tolist(), ends, strict=True):
            yield key, dict(zip(rows[start:end], weights[start:end], strict=True))

    def aggregate(
        self, reduce: Callable[[dict[Row, int]], Iterable[Row]], columns: int, values: Values = VALUES
    ) -> ZSet:
        """Return for each key the rows that a function makes of its group, each of `columns` columns, once.

        >>> sales = ZSet.of({("oslo", 3): 1, ("oslo", 4): 2, ("rome", 5): 1})
        >>> total = lambda group: [(sum(amount * weight for (amount,), weight in group.items()),)]
        >>> IndexedZSet.by(sales, [0]).aggregate(total, columns=1)
        ZSet({('oslo', 11): 1, ('rome', 5): 1})
        """
        made = [(*key, *row) for key, group in self.groups(values) for row in of_width(list(reduce(group)), columns)]
        return ZSet.made(values.codes(made, self.key + columns), np.ones(len(made), np.int64)).distinct()

"""Rows as columns of values: each column has some values, and for each row the place of its own among them.

So a text that stands in a million rows is looked at once. Engines that code values take the columns as they are, others
iterate over tuples.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tidelog.base.errors import DataError
from tidelog.base.types import Type, show
from tidelog.plan.nodes import Relation
from tidelog.run.contract.engine import Row

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Places = npt.NDArray[np.int64]


class ValueColumns(Collection[Row]):
    """Rows that stay in columns until somebody looks at one: there is one at least; `types` are theirs."""

    def __init__(self, columns: Sequence[tuple[Sequence[Any], Places]], types: Sequence[Type]) -> None:
        self.columns = tuple(columns)
        self.types = tuple(types)

    def fitting(self, relation: Relation) -> ValueColumns:
        """Return these rows if they are of a relation's types, or raise `DataError`."""
        wanted = tuple(column.type for column in relation.columns)
        if self.types != wanted:
            expected, found = (", ".join(map(show, kinds)) for kinds in (wanted, self.types))
            raise DataError(f"{relation.name}: expected columns of types ({expected}), found ({found})")
        return self

    @cached_property
    def rows(self) -> list[Row]:
        """The rows as tuples."""
        return list(zip(*([values[i] for i in places.tolist()] for values, places in self.columns), strict=True))

    @cached_property
    def _distinct(self) -> frozenset[Row]:
        return frozenset(self.rows)

    def __len__(self) -> int:
        return len(self.columns[0][1])

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __contains__(self, row: object) -> bool:
        return row in self._distinct

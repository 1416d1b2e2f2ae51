"""What goes out to a sink: rows of a relation, or signed rows of a change, on the driver or in Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from tidelog.base.record import record
from tidelog.session.pipeline.state.cells import WEIGHT

SHOWN = "weight"
"""What the column of weights is called in a sink."""
VERSION = "version"
"""What the column of versions is called there."""


@record
class Output:
    """Rows that go out; of the two forms that which costs less is asked for."""

    rows: int
    table: Callable[[], pa.Table]
    """The rows on the driver, as the state holds them (`state.cells`)."""
    frame: Callable[[], Any] | None = None
    """The rows as a DataFrame; None if they are on the driver anyway."""

    def arrow(self, *, signed: bool) -> pa.Table:
        """Return the rows with the columns of a sink."""
        table = self.table()
        if not signed:
            return table.drop_columns([WEIGHT]) if WEIGHT in table.column_names else table
        return table.rename_columns([SHOWN if name == WEIGHT else name for name in table.column_names])

    def spark(self, session: Any, *, signed: bool) -> Any:
        """Return the rows as a DataFrame with the columns of a sink."""
        if self.frame is None:
            return session.createDataFrame(self.arrow(signed=signed))
        frame = self.frame()
        if not signed:
            return frame.drop(WEIGHT)
        return frame.withColumnRenamed(WEIGHT, SHOWN)

    def __add__(self, other: Output) -> Output:
        one, two = self.frame, other.frame
        frame = (lambda: one().unionByName(two())) if one is not None and two is not None else None
        return Output(self.rows + other.rows, lambda: pa.concat_tables([self.table(), other.table()]), frame)

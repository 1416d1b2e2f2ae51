"""What goes out to a sink: rows of a relation, or signed rows of a change, on the driver or in Spark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from tidelog.base.record import record


@record
class Output:
    """Rows that go out; of the two forms that which costs less is asked for."""

    rows: int
    table: Callable[[], pa.Table]
    """The rows on the driver, as the state holds them (`state.cells`)."""
    frame: Callable[[], Any] | None = None
    """The rows as a DataFrame; None if they are on the driver anyway."""

    def spark(self, session: Any) -> Any:
        """Return the rows as a DataFrame."""
        return session.createDataFrame(self.table()) if self.frame is None else self.frame()

    def __add__(self, other: Output) -> Output:
        one, two = self.frame, other.frame
        frame = (lambda: one().unionByName(two())) if one is not None and two is not None else None
        return Output(self.rows + other.rows, lambda: pa.concat_tables([self.table(), other.table()]), frame)

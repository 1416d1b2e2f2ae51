"""A transformer with two results."""

from collections.abc import Callable
from typing import Any

from tidelog.base.extern import Externs

EXTERNS = externs = Externs()


@externs.register("Ranks")
def ranks(rows: tuple[Any, ...], key: Callable[[Any], int]) -> Any:
    """Return pairs of points and rank, and the last row."""
    ordered = sorted(rows, key=key, reverse=True)
    return [(key(row), number) for number, row in enumerate(ordered, 1)], ordered[-1:]

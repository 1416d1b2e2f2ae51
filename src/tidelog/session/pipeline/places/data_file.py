"""A file of Parquet as its footer describes it: what a log says of it, so that readers need not open it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import Any

from tidelog.base.record import record

LONGEST = 64
"""Texts longer than this are no minimum or maximum."""


@record
class DataFile:
    """A file: its path in the table or place, its size, its rows, and the least and the greatest value of columns."""

    path: str
    size: int
    rows: int
    least: Mapping[str, Any] = field(default_factory=dict)
    most: Mapping[str, Any] = field(default_factory=dict)


def described(path: str, size: int, footer: Any) -> DataFile:
    """Return a file by its footer."""
    return DataFile(path, size, footer.num_rows, *_ranges(footer))


def _ranges(footer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the least and the greatest value of columns of integers and short texts, which the footer knows."""
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    for place in range(footer.num_columns):
        parts = [footer.row_group(number).column(place) for number in range(footer.num_row_groups)]
        known = [part.statistics for part in parts if part.statistics is not None and part.statistics.has_min_max]
        if not known or len(known) < len(parts):
            continue
        low, high = min(one.min for one in known), max(one.max for one in known)
        if type(low) is int or (type(low) is str and len(low) <= LONGEST and len(high) <= LONGEST):
            least[parts[0].path_in_schema], most[parts[0].path_in_schema] = low, high
    return least, most

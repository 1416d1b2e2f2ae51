"""Collecting what is wrong with a data file, so that it is reported together."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from tidelog.base.errors import DataError

SHOWN = 20


@dataclass(slots=True)
class Mistakes:
    """The mistakes of one file: the first `SHOWN` are kept, all are counted."""

    path: Path
    told: list[str] = field(default_factory=list)
    count: int = 0

    def add(self, line: int, message: str) -> None:
        """Record a mistake on a line (of a Parquet file: in a row)."""
        self.count += 1
        if self.count <= SHOWN:
            self.told.append(f"{self.path}:{line}: {message}")

    def raise_if_any(self) -> None:
        """Refuse the file if it has mistakes."""
        if self.count > SHOWN:
            self.told.append(f"{self.path}: and {self.count - SHOWN} more mistakes")
        if self.told:
            raise DataError("\n".join(self.told))

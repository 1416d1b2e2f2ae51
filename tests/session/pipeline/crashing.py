"""Processes that die: at a given write, rename, delete or commit everything that the process does to files ends.

What is being written at that moment is there by half.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import deltalake.transaction
import pyarrow.parquet as pq
import pytest
from deltalake import DeltaTable

from tidelog.session.pipeline.sinks import exchange, tables


class Dead(BaseException):
    """The process has died. No handler of errors sees it as one that it knows."""


class Life:
    """Counts what a process does to files, and ends it before a given one; 0 is never."""

    def __init__(self, last: int = 0) -> None:
        self.last = last
        self.names: list[str] = []

    def step(self, name: str, half: Callable[[], None] | None = None) -> None:
        """Note another step; die if it is the last."""
        if self.last and len(self.names) >= self.last:
            raise Dead  # whatever is tried on the way out
        self.names.append(name)
        if len(self.names) == self.last:
            if half is not None:
                half()
            raise Dead


@contextmanager
def living(patch: pytest.MonkeyPatch, life: Life) -> Iterator[None]:
    """Within the block, count the steps of this process."""

    def noting(owner: Any, name: str, torn: Callable[..., None] | None = None) -> None:
        real = getattr(owner, name)

        def noted(*args: Any, **options: Any) -> Any:
            life.step(name, None if torn is None else lambda: torn(*args))
            return real(*args, **options)

        context.setattr(owner, name, noted)

    really_open = Path.open

    def torn_table(table: Any, path: Any, *_: Any) -> None:
        write_half(Path(path))

    def torn_text(path: Path, text: str, *_: Any) -> None:
        with really_open(path, "w", encoding="utf-8") as file:
            file.write(text[: len(text) // 2])

    def torn_bytes(path: Path, content: bytes) -> None:
        with really_open(path, "wb") as file:
            file.write(content[: len(content) // 2])

    def write_half(path: Path) -> None:
        with really_open(path, "wb") as file:
            file.write(b"ha")

    def opened(path: Path, mode: str = "r", *args: Any, **options: Any) -> Any:
        if "w" in mode and path.name != "lock":
            life.step("open", lambda: write_half(path))
        return really_open(path, mode, *args, **options)

    with patch.context() as context:
        noting(pq, "write_table", torn_table)
        noting(DeltaTable, "create_write_transaction")
        noting(deltalake.transaction, "create_table_with_add_actions")
        noting(os, "replace")
        noting(os, "fsync")
        noting(shutil, "rmtree")
        noting(tables, "merge")
        noting(exchange, "exchange")
        for name in ("rename", "unlink", "touch", "mkdir"):
            noting(Path, name)
        noting(Path, "write_text", torn_text)
        noting(Path, "write_bytes", torn_bytes)
        context.setattr(Path, "open", opened)
        yield

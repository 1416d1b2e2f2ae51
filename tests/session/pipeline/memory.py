"""A place in memory, with a clock that stands still."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.session.pipeline.places.place import File, Place


class Memory:
    """Files by their names."""

    address = "memory://store"
    options: Mapping[str, str] = {}
    is_local = False

    def __init__(self) -> None:
        self.content: dict[str, tuple[bytes, int]] = {}
        self.now = 1_000
        """Seconds."""

    def below(self, *names: str) -> Place:
        raise NotImplementedError

    def files(self, name: str = "") -> list[File]:
        found = (one for one in sorted(self.content) if one.startswith(f"{name}/") or not name)
        return [File(one, len(self.content[one][0]), self.content[one][1]) for one in found]

    def file(self, name: str) -> File | None:
        return next((one for one in self.files() if one.name == name), None)

    def read(self, name: str) -> bytes:
        return self.content[name][0]

    def opened(self, name: str) -> Any:
        return io.BytesIO(self.read(name))

    @contextmanager
    def output(self, name: str) -> Iterator[Any]:
        file = io.BytesIO()
        yield file
        self.write(name, file.getvalue())

    def write(self, name: str, content: bytes) -> None:
        self.content[name] = content, self.now * 10**9

    def write_table(self, name: str, table: pa.Table, **options: Any) -> tuple[int, Any]:
        with self.output(name) as file:
            pq.write_table(table, file, **options)
        return len(self.read(name)), pq.read_metadata(self.opened(name))

    def remove(self, name: str) -> None:
        for one in [one for one in self.content if one == name or one.startswith(f"{name}/") or not name]:
            del self.content[one]

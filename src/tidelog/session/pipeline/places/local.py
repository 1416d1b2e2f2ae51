"""A place on this machine."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidelog.base.record import record
from tidelog.session.pipeline.places.place import File

if TYPE_CHECKING:
    import pyarrow as pa

WRITING = ".writing"
"""How the name of a file ends that is being written, and is not there yet."""


@record
class Local:
    """A folder of this machine, which need not be there."""

    path: Path

    @property
    def address(self) -> str:
        """The path."""
        return str(self.path)

    @property
    def options(self) -> Mapping[str, str]:
        """None are needed."""
        return {}

    @property
    def is_local(self) -> bool:
        """It is."""
        return True

    def below(self, *names: str) -> Local:
        """Return a folder in it."""
        return Local(self.path.joinpath(*names))

    def files(self, name: str = "") -> list[File]:
        """Return the files in a folder of it and below."""
        found = (path for path in (self.path / name).rglob("*") if path.is_file())
        return sorted(map(self._file, found), key=lambda one: one.name)

    def file(self, name: str) -> File | None:
        """Return a file, if it is there."""
        path = self.path / name
        return self._file(path) if path.is_file() else None

    def _file(self, path: Path) -> File:
        found = path.stat()
        return File(path.relative_to(self.path).as_posix(), found.st_size, found.st_mtime_ns)

    def read(self, name: str) -> bytes:
        """Return the content of a file."""
        return (self.path / name).read_bytes()

    def opened(self, name: str) -> Any:
        """Return what a reader of Parquet takes."""
        return self.path / name

    @contextmanager
    def output(self, name: str) -> Iterator[Any]:
        """Within the block, let a file that was not there be written to, piece by piece."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("wb") as file:
            yield file
        sync(target)

    def write(self, name: str, content: bytes) -> None:
        """Let a file have this content, by a rename within the folder."""
        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        fresh = target.with_name(f"{target.name}{WRITING}")
        fresh.write_bytes(content)
        sync(fresh)
        os.replace(fresh, target)  # noqa: PTH105  (the step that counts, by its name)
        sync(target)

    def write_table(self, name: str, table: pa.Table, **options: Any) -> tuple[int, Any]:
        """Write a file of Parquet that was not there; return its size and its footer."""
        import pyarrow.parquet as pq  # noqa: PLC0415  (slow to load)

        target = self.path / name
        target.parent.mkdir(parents=True, exist_ok=True)
        footers: list[Any] = []
        pq.write_table(table, target, metadata_collector=footers, **options)
        sync(target)
        return target.stat().st_size, footers[0]

    def remove(self, name: str) -> None:
        """Remove a file, or a folder and all below, if it is there."""
        remove(self.path / name)


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Let a file, and that it is there, outlive a crash of the machine."""
    for one in (path, path.parent):
        descriptor = os.open(one, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

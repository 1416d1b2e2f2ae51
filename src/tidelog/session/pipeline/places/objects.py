"""A place in an object store: what is below an address, as the pipeline's file says below `[storage]`.

    [storage]
    aws_endpoint_url = "https://s3.example.org"   # as the package deltalake names them; credentials may be in the
    aws_region = "eu-central-1"                   # variables of the environment that every tool of S3 reads

An object appears by one step, whole; there are no renames.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tidelog.base.record import record
from tidelog.session.pipeline.places.place import File

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMES = ("s3://", "s3a://")


def is_stored(path: str | None, storage: Mapping[str, str] | None) -> bool:
    """Tell whether an address is in an object store that the driver reaches.

    >>> is_stored("s3a://lake/links", {}), is_stored("s3a://lake/links", None), is_stored("/data/links", {})
    (True, False, False)
    """
    return path is not None and storage is not None and path.startswith(SCHEMES)


def found_at(address: str, storage: Mapping[str, str]) -> tuple[Objects, list[File]]:
    """Return what is at an address, one object or all below it, and the place that has it."""
    parent, _, name = address.rstrip("/").rpartition("/")
    if not parent.endswith("/"):  # else it is a whole bucket
        there = Objects(parent, storage)
        one = there.file(name)
        if one is not None:
            return there, [one]
    place = Objects(address, storage)
    return place, place.files()


@record
class Objects:
    """What is below an address of an object store."""

    address: str
    options: Mapping[str, str]

    @property
    def is_local(self) -> bool:
        """It is not."""
        return False

    @property
    def _handler(self) -> Any:
        return _handler(self.address.rstrip("/"), tuple(sorted(self.options.items())))

    def below(self, *names: str) -> Objects:
        """Return a folder in it."""
        return Objects("/".join([self.address.rstrip("/"), *names]), self.options)

    def files(self, name: str = "") -> list[File]:
        """Return the objects in a folder of it and below."""
        from pyarrow import fs  # noqa: PLC0415  (slow to load)

        system = fs.PyFileSystem(self._handler)
        found = system.get_file_info(fs.FileSelector(name, recursive=True, allow_not_found=True))
        return sorted((_file(one.path, one) for one in found if one.is_file), key=lambda one: one.name)

    def file(self, name: str) -> File | None:
        """Return an object, if it is there."""
        from pyarrow import fs  # noqa: PLC0415  (slow to load)

        (found,) = fs.PyFileSystem(self._handler).get_file_info([name])
        return _file(name, found) if found.is_file else None

    def read(self, name: str) -> bytes:
        """Return an object's content."""
        return bytes(self._handler.open_input_file(name).read())

    def opened(self, name: str) -> Any:
        """Return what a reader of Parquet takes, which asks only for the parts that it needs."""
        return self._handler.open_input_file(name)

    @contextmanager
    def output(self, name: str) -> Iterator[Any]:
        """Within the block, let an object that was not there be written to, piece by piece; it appears at the end."""
        from pyarrow import fs  # noqa: PLC0415  (slow to load)

        with fs.PyFileSystem(self._handler).open_output_stream(name) as file:
            yield file

    def write(self, name: str, content: bytes) -> None:
        """Let an object have this content, in one step."""
        stream = self._handler._handler.open_output_stream(name, None)  # noqa: SLF001  (pyarrow gives it buffers)
        stream.write(content)
        stream.close()

    def write_table(self, name: str, table: pa.Table, **options: Any) -> tuple[int, Any]:
        """Write an object of Parquet; return its size and its footer."""
        import pyarrow as pa  # noqa: PLC0415  (slow to load)
        import pyarrow.parquet as pq  # noqa: PLC0415  (slow to load)

        content, footers = pa.BufferOutputStream(), list[Any]()
        pq.write_table(table, content, metadata_collector=footers, **options)
        whole = content.getvalue().to_pybytes()
        self.write(name, whole)
        return len(whole), footers[0]

    def remove(self, name: str) -> None:
        """Remove an object, or all below a name."""
        for one in self.files(name) or [File(name, 0, 0)]:
            self._handler.delete_file(one.name)


@lru_cache(maxsize=64)
def _handler(address: str, options: tuple[tuple[str, str], ...]) -> Any:
    from deltalake.fs import DeltaStorageHandler  # noqa: PLC0415  (slow to load)

    return DeltaStorageHandler(address, dict(options))


def _file(name: str, found: Any) -> File:
    return File(name, found.size, found.mtime_ns or 0)

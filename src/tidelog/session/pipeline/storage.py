"""Object stores that the driver reads and writes by itself: what a pipeline's file says below `[storage]`.

    [storage]
    aws_endpoint_url = "https://s3.example.org"   # as the package deltalake names them; credentials may be in the
    aws_region = "eu-central-1"                   # variables of the environment that every tool of S3 reads

Without this table addresses are left to Spark. An object appears by one step, whole; there are no renames.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tidelog.base.record import record

SCHEMES = ("s3://", "s3a://")


def is_stored(path: str | None, storage: Mapping[str, str] | None) -> bool:
    """Tell whether an address is in an object store that the driver reaches.

    >>> is_stored("s3a://lake/links", {}), is_stored("s3a://lake/links", None), is_stored("/data/links", {})
    (True, False, False)
    """
    return path is not None and storage is not None and path.startswith(SCHEMES)


@record
class Object:
    """An object below an address: its name there, its size, and what tells it from earlier ones of this name."""

    name: str
    size: int
    stamp: int


def found_at(address: str, storage: Mapping[str, str]) -> tuple[Store, list[Object]]:
    """Return what is at an address, one object or all below it, and the store that reads it."""
    parent, _, name = address.rstrip("/").rpartition("/")
    if not parent.endswith("/"):  # else it is a whole bucket
        store = Store(parent, storage)
        one = store.object(name)
        if one is not None:
            return store, [one]
    store = Store(address, storage)
    return store, store.objects()


class Store:
    """What is below an address of an object store."""

    def __init__(self, address: str, storage: Mapping[str, str]) -> None:
        from deltalake.fs import DeltaStorageHandler  # noqa: PLC0415  (slow to load)

        self._handler: Any = DeltaStorageHandler(address.rstrip("/"), dict(storage))

    def objects(self) -> list[Object]:
        """Return what is there, in order of names."""
        from pyarrow import fs  # noqa: PLC0415  (slow to load)

        system = fs.PyFileSystem(self._handler)
        found = system.get_file_info(fs.FileSelector("", recursive=True, allow_not_found=True))
        files = [Object(one.path, one.size, one.mtime_ns or 0) for one in found if one.is_file]
        return sorted(files, key=lambda one: one.name)

    def object(self, name: str) -> Object | None:
        """Return an object by its name, if it is there."""
        from pyarrow import fs  # noqa: PLC0415  (slow to load)

        (found,) = fs.PyFileSystem(self._handler).get_file_info([name])
        return Object(name, found.size, found.mtime_ns or 0) if found.is_file else None

    def read(self, name: str) -> bytes:
        """Return an object's content."""
        return bytes(self._handler.open_input_file(name).read())

    def write(self, name: str, content: bytes) -> None:
        """Let an object have this content, in one step."""
        stream = self._handler._handler.open_output_stream(name, None)  # noqa: SLF001  (pyarrow gives it buffers)
        stream.write(content)
        stream.close()

    def remove(self, names: Iterable[str]) -> None:
        """Remove objects."""
        for name in names:
            self._handler.delete_file(name)

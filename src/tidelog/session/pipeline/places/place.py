"""A place: a folder on this machine, or what is below an address of an object store.

What is written appears whole, under a name that nobody reads before, and outlives a crash of the machine. Nothing is
renamed once it is there. Whoever runs elsewhere, as executors do, may be given a place.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from tidelog.base.record import record

if TYPE_CHECKING:
    import pyarrow as pa


@record
class File:
    """A file in a place: its name from there on, its size, and what tells it from earlier ones of this name."""

    name: str
    size: int
    stamp: int


class Place(Protocol):
    """A folder that files are read from and written to."""

    @property
    def address(self) -> str:
        """What Delta Lake and people call it."""

    @property
    def options(self) -> Mapping[str, str]:
        """What Delta Lake is to know to reach it."""

    @property
    def is_local(self) -> bool:
        """Whether it is on this machine, and lost with it."""

    def below(self, *names: str) -> Place:
        """Return a folder in it."""

    def files(self, name: str = "") -> list[File]:
        """Return the files in a folder of it and below, in order of names; none if there is no such folder."""

    def file(self, name: str) -> File | None:
        """Return a file, if it is there."""

    def read(self, name: str) -> bytes:
        """Return the content of a file."""

    def opened(self, name: str) -> Any:
        """Return what a reader of Parquet takes."""

    def output(self, name: str) -> AbstractContextManager[Any]:
        """Within the block, let a file that was not there be written to, piece by piece."""

    def write(self, name: str, content: bytes) -> None:
        """Let a file have this content, in one step, whatever it had."""

    def write_table(self, name: str, table: pa.Table, **options: Any) -> tuple[int, Any]:
        """Write a file of Parquet that was not there, and return its size and its footer.

        After a crash half of it may be there.
        """

    def remove(self, name: str) -> None:
        """Remove a file, or a folder and all below, if it is there."""

"""The ways to a sink: where rows wait until their version is committed, and the step that shows them.

| kind | what sinks | rows wait | shown by |
| --- | --- | --- | --- |
| `folder` | files in a local folder | in a hidden folder beside it | taking its place; changes as `PATH/version=N` |
| `delta` | tables of Delta Lake that the driver reaches | in a folder of the table | a commit to its log (`tables`) |
| `lake` | those that are merged into | in the state | a commit of the package deltalake (`tables`) |
| `objects` | files in an object store | in the state | one object after the other; a small sink is one |
| `remote` | anything else | in the state | Spark, which writes what is not there yet (`remote`) |

To show something twice does no harm, from wherever the first time was interrupted.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from tidelog.session.pipeline.config import FULL, MERGE, Sink
from tidelog.session.pipeline.paths import DELTA, local_path_of
from tidelog.session.pipeline.places import executors
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.places.objects import Objects, is_stored
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.sinks.exchange import mark, take_place

FOLDER, TABLE, LAKE, OBJECTS, REMOTE = "folder", "delta", "lake", "objects", "remote"
DONE = "_SUCCESS"
"""The empty file beside those of a folder that is whole, for those who wait for it."""
FILES = ("csv", "json", "parquet")
"""Formats of files that need no Spark."""


def kind_of(sink: Sink) -> str:
    """Return which way a sink goes."""
    local, stored = local_path_of(sink) is not None, is_stored(sink.path, sink.storage)
    if sink.format == DELTA and (local or stored):
        return LAKE if sink.mode == MERGE else TABLE
    if stored and sink.format in FILES:
        return OBJECTS
    return FOLDER if local else REMOTE


def place_of(sink: Sink) -> Place:
    """Return the place of a sink that the driver reaches."""
    local = local_path_of(sink)
    return Local(local) if local is not None else Objects(str(sink.path), sink.storage or {})


class Way(Protocol):
    """What is done for sinks of a kind."""

    as_parquet: bool
    """Whether rows wait as Parquet, whatever the sink's format is."""

    def waiting(self, sink: Sink, number: int, name: str) -> Place:
        """Return where the rows of a version wait, in a place that has this name."""

    def check(self, sink: Sink, staged: Place, schema: pa.Schema) -> None:
        """Refuse rows of a schema that cannot be shown, before there is a version."""

    def publish(self, sink: Sink, staged: Place, number: int) -> None:
        """Show a version."""


class FolderWay:
    """Files in a local folder."""

    as_parquet = False

    def waiting(self, sink: Sink, number: int, name: str) -> Place:
        """Return a hidden folder beside the one that is meant."""
        target = _folder(sink, number)
        return Local(target.with_name(f".{target.name}.{name}"))

    def check(self, sink: Sink, staged: Place, schema: pa.Schema) -> None:
        """Say that the folder is whole, and which output it is."""
        staged.write(DONE, b"")
        mark(_path(staged), _path(staged).name)

    def publish(self, sink: Sink, staged: Place, number: int) -> None:
        """Let the folder take its place."""
        take_place(_path(staged), _folder(sink, number), _path(staged).name)


def _path(place: Place) -> Path:
    assert isinstance(place, Local), "a folder is here"
    return place.path


def _folder(sink: Sink, number: int) -> Path:
    local = local_path_of(sink)
    assert local is not None, "a folder is here"
    return local if sink.mode == FULL else local / f"version={number}"


class ObjectsWay:
    """Files in an object store."""

    as_parquet = False

    def __init__(self, pending: Place) -> None:
        self._pending = pending

    def waiting(self, sink: Sink, number: int, name: str) -> Place:
        """Return a folder of the state."""
        return self._pending.below(name)

    def check(self, sink: Sink, staged: Place, schema: pa.Schema) -> None:
        """Nothing is refused."""

    def publish(self, sink: Sink, staged: Place, number: int) -> None:
        """Write objects; those of the output before go when all are there."""
        found = sorted(one.name for one in staged.files() if one.name.startswith("part-"))
        if not found:
            return  # all was done, but for forgetting it
        target = place_of(sink) if sink.mode == FULL else place_of(sink).below(f"version={number}")
        fresh = [f"part-{place:05}.{sink.format}" for place in range(len(found))]
        for old, name in zip(found, fresh, strict=True):
            target.write(name, staged.read(old))
        for one in target.files():
            if one.name not in fresh:
                target.remove(one.name)
        staged.remove("")


class RemoteWay:
    """What only Spark reaches."""

    as_parquet = True

    def __init__(self, pending: Place, spark: Callable[[], Any]) -> None:
        self._pending = pending
        self._spark = spark

    def waiting(self, sink: Sink, number: int, name: str) -> Place:
        """Return a folder of the state."""
        return self._pending.below(name)

    def check(self, sink: Sink, staged: Place, schema: pa.Schema) -> None:
        """Nothing is refused."""

    def publish(self, sink: Sink, staged: Place, number: int) -> None:
        """Let Spark write what is not there yet."""
        from tidelog.session.pipeline.sinks.remote import publish  # noqa: PLC0415  (loads PySpark)

        if staged.files():
            publish(executors.read_all(self._spark(), staged), sink, number)
            staged.remove("")

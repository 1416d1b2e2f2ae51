"""A full sink has a place of its own: whatever else is there would be deleted when the sink is written.

A full sink replaces what is there, so its path may not be, contain or be inside the pipeline's file, its program, a
library, the state, the folder of changes, a source or another sink. Local paths are compared where they lead to,
through links, addresses as they are written.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.base.errors import UserError
from tidelog.session.pipeline.places.addresses import is_local

if TYPE_CHECKING:
    from tidelog.session.pipeline.config import Config, Sink, SourceTable

TABLE = "table"
"""The format whose path is the name of a table in Spark's catalogue."""
DELTA = "delta"
"""The format of tables of Delta Lake, which need no jar where the driver reaches them."""
WILD = frozenset("*?[{")


def check_paths(config: Config) -> None:
    """Refuse a full sink whose place is not its own, and two sinks in one place."""
    places = [(sink, path) for sink in config.sinks if (path := _path_of(sink)) is not None]
    for number, (sink, path) in enumerate(places):
        others = [(f"another {one}", at) for k, (one, at) in enumerate(places) if k != number]
        for what, other in (*_inputs(config), *others) if sink.mode == "full" else ():
            _check(config, sink, path, what, other)
        if any(_relation(path, other) == "is" for _, other in places[:number]):
            raise UserError(f"{config.file}: {sink} has the path of another sink: give each its own")


def local_path_of(entry: SourceTable | Sink) -> Path | None:
    """Return the path of a source or a sink on this machine; None if it is elsewhere.

    >>> from tidelog.session.pipeline.config import Sink
    >>> local_path_of(Sink("R", "csv", "/data/r")), local_path_of(Sink("R", "csv", "s3://bucket/r"))
    (PosixPath('/data/r'), None)
    """
    if entry.path is None or entry.format == TABLE or not is_local(entry.path):
        return None
    return Path(entry.path)


def _path_of(entry: SourceTable | Sink) -> str | None:
    """Return the path or the address of a source or a sink, if it has one."""
    return None if entry.format == TABLE else entry.path


def _inputs(config: Config) -> Iterator[tuple[str, str]]:
    yield "the pipeline's file", str(config.file)
    yield "the program", str(config.program)
    yield "the state", config.state.address
    if config.changes is not None:
        yield "the folder of changes", str(config.changes)
    yield from (("a library", str(folder)) for folder in config.library)
    for source in config.sources:
        path = _path_of(source)
        if path is not None:
            yield f"the {source}", path


def _check(config: Config, sink: Sink, path: str, what: str, other: str) -> None:
    how = _relation(path, other)
    if how:
        raise UserError(
            f"{config.file}: {sink}: a full sink replaces all that is at its path, and {path} {how} {what} "
            f"({other}); give it a folder of its own"
        )


def _relation(one: str, another: str) -> str:
    """Return how a path stands to another, which may have wild cards; nothing if they do not touch."""
    if is_local(one) != is_local(another):
        return ""
    mine, other = _resolved(one), _as_path(another)
    fixed = next(parent for parent in (other, *other.parents) if not set(str(parent)) & WILD)
    pattern, there = other.parts[len(fixed.parts) :], fixed.resolve() if is_local(another) else fixed
    if mine == there and not pattern:
        return "is"
    if mine == there or mine in there.parents:
        return "contains"
    if there in mine.parents:
        below = zip(mine.parts[len(there.parts) :], pattern, strict=False)
        # Alternatives in braces are Spark's own: they may be anything.
        if all("{" in wanted or fnmatchcase(name, wanted) for name, wanted in below):
            return "is inside"
    return ""


def _resolved(text: str) -> Path:
    return _as_path(text).resolve() if is_local(text) else _as_path(text)


def _as_path(text: str) -> Path:
    """Return a path, or an address as one; a store of S3 has several schemes."""
    if is_local(text):
        return Path(text)
    scheme, _, rest = text.partition(":")
    return Path("/", {"s3a": "s3", "s3n": "s3"}.get(scheme, scheme), rest.strip("/"))

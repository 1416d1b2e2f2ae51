"""A full sink has a place of its own: whatever else is there would be deleted when the sink is written.

A full sink on a local path replaces what is there, so its path may not be, contain or be inside the pipeline's file,
its program, a library, the state, the folder of changes, a source or another sink. Paths are compared where they lead
to, through links.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from tidelog.base.errors import UserError
from tidelog.session.pipeline.addresses import is_local

if TYPE_CHECKING:
    from tidelog.session.pipeline.config import Config, Sink, SourceTable

TABLE = "table"
"""The format whose path is the name of a table in Spark's catalogue."""
DELTA = "delta"
"""The format of tables of Delta Lake, which on this machine need no jar."""
WILD = frozenset("*?[{")


def check_paths(config: Config) -> None:
    """Refuse a full sink whose place is not its own, and two sinks of changes in one place."""
    places = [(sink, path) for sink in config.sinks if (path := local_path_of(sink)) is not None]
    for number, (sink, path) in enumerate(places):
        if sink.mode == "full":
            others = [(f"another {one}", at) for k, (one, at) in enumerate(places) if k != number]
            for what, other in (*_inputs(config), *others):
                _check(config, sink, path, what, other)
    for number, (sink, path) in enumerate(places):
        if any(path.resolve() == other.resolve() for _, other in places[:number]):
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


def _inputs(config: Config) -> Iterator[tuple[str, Path]]:
    yield "the pipeline's file", config.file
    yield "the program", config.program
    yield "the state", config.state
    if config.changes is not None:
        yield "the folder of changes", config.changes
    yield from (("a library", folder) for folder in config.library)
    for source in config.sources:
        path = local_path_of(source)
        if path is not None:
            yield f"the {source}", path


def _check(config: Config, sink: Sink, path: Path, what: str, other: Path) -> None:
    how = _relation(path.resolve(), other)
    if how:
        raise UserError(
            f"{config.file}: {sink}: a full sink replaces all that is at its path, and {path} {how} {what} "
            f"({other}); give it a folder of its own"
        )


def _relation(mine: Path, other: Path) -> str:
    """Return how a path stands to another, which may have wild cards; nothing if they do not touch."""
    fixed = next(parent for parent in (other, *other.parents) if not set(str(parent)) & WILD)
    pattern, there = other.parts[len(fixed.parts) :], fixed.resolve()
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

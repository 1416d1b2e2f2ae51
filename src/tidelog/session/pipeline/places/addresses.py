"""Where things are: every path of a pipeline is qualified once, so that it means the same to the driver and to Spark.

A path without a scheme is on this machine, whatever the default file system of Spark is; Spark gets it as `file:///...`.
A path with a scheme is an address: sources and sinks may be wherever Spark reads and writes. What Tidelog itself reads,
the program and its libraries, is in local folders. The state is there, or in an object store in which a commit is one
step; any other address is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlparse

from tidelog.base.errors import UserError
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.places.objects import SCHEMES, Objects, is_stored
from tidelog.session.pipeline.places.place import Place

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")


def qualified(text: str, folder: Path) -> str:
    """Return a path of the pipeline's file: an address as it is, what is on this machine as a whole path.

    >>> here = Path("/pipes")
    >>> qualified("out/a", here), qualified("file:/data/x%20y", here), qualified("dbfs:/a", here)
    ('/pipes/out/a', '/data/x y', 'dbfs:/a')
    """
    if not _SCHEME.match(text):
        return str(folder / text)
    parts = urlparse(text)
    return unquote(parts.path) if parts.scheme == "file" and parts.netloc in {"", "localhost"} else text


def is_local(path: str) -> bool:
    """Tell whether a qualified path is on this machine."""
    return not _SCHEME.match(path)


def local_folder(text: str, folder: Path, place: str) -> Path:
    """Return a path that has to be on this machine, or refuse it; `place` is where it was found."""
    found = qualified(text, folder)
    if not is_local(found):
        raise UserError(
            f"{place}: expected a local path, found {text!r}; what is read once, as the program, has to be where the "
            "driver runs"
        )
    return Path(found)


def state_place(text: str, folder: Path, place: str, storage: Mapping[str, str]) -> Place:
    """Return where a state is, or refuse an address in which nothing would be committed in one step."""
    found = qualified(text, folder)
    if is_local(found):
        return Local(Path(found))
    if is_stored(found, storage):
        return Objects(found.rstrip("/"), storage)
    raise UserError(
        f"{place}: expected a local path or {' or '.join(SCHEMES)}, found {text!r}: nothing there can be committed in "
        "one step; give a folder that all machines share or an object store, and a sink for what is wanted elsewhere"
    )


def address(path: str | Path) -> str:
    """Return a qualified path as Spark takes it, whatever its default file system is.

    >>> address("/data/my links"), address("s3a://bucket/a")
    ('file:///data/my links', 's3a://bucket/a')
    """
    text = str(path)
    # Not `as_uri`: Hadoop takes paths as they are, without escapes.
    return f"file://{Path(text).absolute()}" if is_local(text) else text


def spark_address(path: str) -> str:
    """Return the address of a place as Spark takes it, whose scheme for S3 is another one.

    >>> spark_address("s3://bucket/a"), spark_address("/data/a")
    ('s3a://bucket/a', 'file:///data/a')
    """
    return address(path).replace("s3://", "s3a://", 1)


def local_path(uri: str) -> str:
    """Return the path of a file that Spark names, or its address if it is elsewhere.

    >>> local_path("file:///data/my%20links.csv"), local_path("s3://bucket/a.csv")
    ('/data/my links.csv', 's3://bucket/a.csv')
    """
    parts = urlparse(uri)
    return unquote(parts.path) if parts.scheme in {"", "file"} else uri

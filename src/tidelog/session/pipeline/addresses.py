"""Where things are: every path of a pipeline is qualified once, so that it means the same to the driver and to Spark.

A path without a scheme is on this machine, whatever the default file system of Spark is; Spark gets it as `file:///...`.
A path with a scheme is an address that only Spark knows: a source or a sink may be there. What Tidelog itself reads and
commits, the program and the state, is in local folders; an address there is refused by name, for nothing would commit
it in one step.
"""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import unquote, urlparse

from tidelog.base.errors import UserError

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
            f"{place}: expected a local path, found {text!r}: what is there cannot be committed in one step; "
            "give a folder that all machines share, and a sink for what is wanted elsewhere"
        )
    return Path(found)


def address(path: str | Path) -> str:
    """Return a qualified path as Spark takes it, whatever its default file system is.

    >>> address("/data/my links"), address("s3a://bucket/a")
    ('file:///data/my links', 's3a://bucket/a')
    """
    text = str(path)
    # Not `as_uri`: Hadoop takes paths as they are, without escapes.
    return f"file://{Path(text).absolute()}" if is_local(text) else text


def local_path(uri: str) -> str:
    """Return the path of a file that Spark names, or its address if it is elsewhere.

    >>> local_path("file:///data/my%20links.csv"), local_path("s3://bucket/a.csv")
    ('/data/my links.csv', 's3://bucket/a.csv')
    """
    parts = urlparse(uri)
    return unquote(parts.path) if parts.scheme in {"", "file"} else uri

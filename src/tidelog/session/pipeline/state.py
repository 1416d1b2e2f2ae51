"""What a pipeline has committed: a folder a version, so that it continues after a restart and can go back.

    STATE/versions/000003/manifest.json     the program, the batch, the changes, and where each table is
    STATE/versions/000003/Link/*.parquet    the facts of an input relation; unchanged ones stay where they are
    STATE/stream/                           how far `watch` has read
    STATE/lock                              held by whoever makes versions

A version is written beside the others under a name that readers skip, its manifest last, and then renamed: it is there
whole or not at all. A batch of a stream is named in the manifest of the version it made, so whether a batch was applied
and its effect are one fact, and a batch that is delivered again is answered from there.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, field
from datetime import UTC, datetime
from pathlib import Path

from tidelog.base.errors import UserError
from tidelog.base.record import record

FORMAT = 1
MANIFEST = "manifest.json"


@record
class Table:
    """The stored facts of a relation: a folder below `versions`, and the number of rows."""

    path: str
    rows: int


@record
class Batch:
    """A batch of a stream: the query that delivers it and its number."""

    query: str
    number: int


@record
class Version:
    """A commit of a pipeline."""

    number: int
    program: str
    """The program's text."""
    tables: Mapping[str, Table]
    at: str = ""
    reason: str = ""
    """What made it: `run`, `changes`, `batch`, `rollback to 3`."""
    changes: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    """How many rows each relation gained and lost."""
    batch: Batch | None = None
    sources: Mapping[str, str] = field(default_factory=dict)
    """What identifies the files that each source was last read from."""


class StateFolder:
    """The versions of a pipeline.

    >>> import tempfile
    >>> state = StateFolder(Path(tempfile.mkdtemp()))
    >>> state.last() is None
    True
    >>> made = state.commit(Version(1, "relation R(x: u8)", {}), lambda folder: None)
    >>> [version.number for version in state.history()]
    [1]
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.versions = folder / "versions"

    # --- reading -----------------------------------------------------------------------------------------------------

    def numbers(self) -> list[int]:
        """Return the numbers of all versions, in order."""
        if not self.versions.is_dir():
            return []
        return sorted(int(path.name) for path in self.versions.iterdir() if path.name.isdigit())

    def history(self) -> list[Version]:
        """Return all versions, in order."""
        return [self.version(number) for number in self.numbers()]

    def last(self) -> Version | None:
        """Return the last version, if there is one."""
        numbers = self.numbers()
        return self.version(numbers[-1]) if numbers else None

    def version(self, number: int) -> Version:
        """Return a version."""
        path = self._folder(number) / MANIFEST
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except OSError:
            known = self.numbers()
            there = f"there are {known[0]} to {known[-1]}" if known else "there is none yet"
            raise UserError(f"{self.folder} has no version {number}: {there}") from None
        except ValueError as error:
            raise UserError(f"{path} is damaged: {error}") from None
        if content.pop("format", None) != FORMAT:
            raise UserError(f"{path} was written by another version of Tidelog")
        content["tables"] = {name: Table(**table) for name, table in content["tables"].items()}
        content["changes"] = {name: (gained, lost) for name, (gained, lost) in content["changes"].items()}
        content["batch"] = Batch(**content["batch"]) if content["batch"] else None
        return Version(**content)

    def find(self, batch: Batch) -> Version | None:
        """Return the version that a batch made, if it was applied."""
        return next((version for version in reversed(self.history()) if version.batch == batch), None)

    def table_path(self, table: Table) -> Path:
        """Return the folder of a table."""
        return self.versions / table.path

    # --- writing -----------------------------------------------------------------------------------------------------

    def commit(self, version: Version, write: Callable[[Path], None]) -> Version:
        """Make a version, whose new tables `write` puts into the folder that it is given."""
        target = self._folder(version.number)
        if target.exists():
            raise UserError(f"{target} exists already: another process writes to {self.folder}")
        fresh = self.versions / f".{target.name}"
        try:
            self.versions.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(fresh, ignore_errors=True)  # left by a process that was killed
            fresh.mkdir()
            write(fresh)
            stamped = asdict(version) | {"format": FORMAT, "at": datetime.now(UTC).isoformat(timespec="seconds")}
            _write_durably(fresh / MANIFEST, json.dumps(stamped, indent=1))
            fresh.rename(target)
        except BaseException as error:
            shutil.rmtree(fresh, ignore_errors=True)
            if isinstance(error, OSError):
                raise UserError(f"cannot write {target}: {error.strerror or error}; no version was made") from None
            raise
        _sync(self.versions)
        return self.version(version.number)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Within the block, nobody else makes versions."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / "lock").open("w")
        except OSError as error:
            raise UserError(f"cannot write to {self.folder}: {error.strerror}") from None
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise UserError(f"{self.folder} is in use by another run of the pipeline") from None
            yield

    def _folder(self, number: int) -> Path:
        return self.versions / f"{number:06d}"


def _write_durably(path: Path, text: str) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def _sync(folder: Path) -> None:
    """Make a rename in the folder outlive a crash of the machine."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

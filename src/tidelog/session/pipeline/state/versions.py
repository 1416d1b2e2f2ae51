"""What a pipeline has committed, so that it continues after a restart and can go back.

    STATE/tables/versions        a row a version: the program, the batch, the changes, and each table's own version
    STATE/tables/facts/Link      the input facts of a relation: a base and signed changes
    STATE/stream/                how far `watch` has read
    STATE/lock, STATE/claims/    held by whoever makes versions

Each is a table of Delta Lake (`log`). A version spans tables: those of facts are committed first, and the row in
`versions` is the only commit point. What a crash left in a table beyond it is not read, and goes with the table's next
commit. The number of a stream's batch is the transaction number of that commit, so whether a batch was applied and its
effect are one fact, and a batch that is delivered again is answered from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, field, replace
from datetime import UTC, datetime
from importlib.util import find_spec
from typing import Any

import pyarrow as pa

from tidelog.base.errors import MissingExtraError, UserError
from tidelog.base.record import record
from tidelog.session.pipeline.places.data_file import DataFile
from tidelog.session.pipeline.places.lease import held
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.state.log import ANY, Log, check_commits

FORMAT = 2
_COLUMNS = pa.schema(
    [
        ("number", pa.int64()),
        ("format", pa.int64()),
        ("at", pa.string()),
        ("reason", pa.string()),
        ("program", pa.string()),
        ("tables", pa.string()),
        ("changes", pa.string()),
        ("batch", pa.string()),
        ("sources", pa.string()),
        ("engine", pa.string()),
        ("journal", pa.string()),
    ]
)
_TEXTS = ("tables", "changes", "batch", "sources")
"""Columns whose texts are JSON."""


@record
class Table:
    """The stored facts of a relation: a table of the state, its version, and the number of rows."""

    path: str
    version: int | None
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
    """What the files of each source were when it was read."""
    engine: str = ""
    """What evaluated it."""
    journal: str = ""
    """What is on its way to the sinks."""


class StateFolder:
    """The state of a pipeline, in a folder or an object store."""

    def __init__(self, place: Place) -> None:
        if find_spec("deltalake") is None:
            raise MissingExtraError("deltalake", "spark")
        self.place = place
        self.tables = place.below("tables")
        self._logs: dict[str, Log] = {}
        self._head: int | None = ANY
        """The last commit to the table of versions, as long as this process holds the state."""
        self._log = self.log("versions")

    # --- reading -----------------------------------------------------------------------------------------------------

    def numbers(self) -> list[int]:
        """Return the numbers of all versions, in order."""
        return sorted(number for one in self._files() for number in range(one.least["number"], one.most["number"] + 1))

    def history(self) -> list[Version]:
        """Return all versions, in order."""
        return [version for _, version in sorted(self._read(self._files()).items())]

    def last(self) -> Version | None:
        """Return the last version, if there is one; only its own file is read."""
        files = self._files()
        if not files:
            return None
        found = self._read([max(files, key=lambda one: one.most["number"])])
        return found[max(found)]

    def since(self, number: int) -> list[Version]:
        """Return the versions from a number on."""
        files = [one for one in self._files() if one.most["number"] >= number]
        return [version for at, version in sorted(self._read(files).items()) if at >= number]

    def identity(self) -> str:
        """Return what no other state is called."""
        return self._log.identity()

    def version(self, number: int) -> Version:
        """Return a version."""
        files = self._files()
        found = self._read([one for one in files if one.least["number"] <= number <= one.most["number"]])
        if number not in found:
            known = self.numbers()
            there = f"there are {known[0]} to {known[-1]}" if known else "there is none yet"
            raise UserError(f"{self.place.address} has no version {number}: {there}")
        return found[number]

    def find(self, batch: Batch) -> Version | None:
        """Return the version that a batch made, if it was applied."""
        applied = self._log.transaction(batch.query)
        if applied is None or applied < batch.number:
            return None
        return next((version for version in reversed(self.history()) if version.batch == batch), self.last())

    def log(self, path: str) -> Log:
        """Return a table of the state."""
        if path not in self._logs:
            self._logs[path] = Log(self.tables.below(*path.split("/")), lambda: self._head != ANY)
        return self._logs[path]

    def free(self, path: str, schema: pa.Schema) -> str:
        """Return the path of a table, or one like it, where there is none of other columns."""
        number, found = 1, path
        while self.log(found).exists() and not self.log(found).schema().equals(schema):
            number += 1
            found = f"{path}-{number}"
        return found

    def _files(self) -> list[DataFile]:
        return [*self._log.files(self._log.version()).values()]

    def _read(self, files: list[DataFile]) -> dict[int, Version]:
        rows = self._log.read(files, _COLUMNS).to_pylist()
        return {row["number"]: _version(self.place.address, row) for row in rows}

    # --- writing -----------------------------------------------------------------------------------------------------

    def commit(self, *versions: Version) -> Version:
        """Let versions, whose tables are written, be the next ones; return the last as it is stored.

        Refused if somebody else has made versions since this process holds the state.
        """
        since, batch = self._log.version(), versions[-1].batch
        if since is None and not self.place.is_local:
            check_commits(self.tables)
        known = self.numbers()
        if known and known[-1] >= versions[0].number:
            raise UserError(
                f"version {versions[0].number} exists already: another process writes to {self.place.address}"
            )
        stamped = [version if version.at else replace(version, at=now()) for version in versions]
        rows = pa.Table.from_pylist([_row(version) for version in stamped], schema=_COLUMNS)
        number = (batch.query, batch.number) if batch is not None else None
        self._commit(since, [self._log.write(rows, "rows")], transaction=number)
        return stamped[-1]

    def _commit(self, since: int | None, added: Sequence[DataFile], **more: Any) -> None:
        made = self._log.commit(_COLUMNS, since, added, head=self._head, **more)
        self._head = made if self._head != ANY else ANY

    def forget(self, kept: int) -> list[int]:
        """Forget all versions but the last ones, in one commit; return their numbers."""
        history = self.history()
        gone = history[:-kept]
        if gone:
            rows = pa.Table.from_pylist([_row(version) for version in history[-kept:]], schema=_COLUMNS)
            old = [one.path for one in self._files()]
            self._commit(self._log.version(), [self._log.write(rows, "rows")], removed=old)
        return [version.number for version in gone]

    def vacuum(self) -> list[str]:
        """Delete the files that no version has; return their addresses."""
        kept: dict[str, set[int]] = {}
        for version in self.history():
            for table in version.tables.values():
                if table.version is not None:
                    kept.setdefault(table.path, set()).add(table.version)
        head = self._log.version()
        gone = self._log.vacuum([head] if head is not None else [])
        for path in sorted({"/".join(one.name.split("/")[:2]) for one in self.tables.files("facts")}):
            gone += self.log(path).vacuum(kept.get(path, ()))
        return gone

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Within the block, nobody else makes versions."""
        with held(self.place) as overtaken:
            self._head = self._log.version()
            if overtaken and self._head is not None:
                self._commit(self._head, [])  # whoever is still at work has not seen this one, and is refused
            try:
                yield
            finally:
                self._head = ANY


def now() -> str:
    """Return the time at which a version is made."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _row(version: Version) -> dict[str, Any]:
    row = asdict(version) | {"format": FORMAT}
    return row | {name: json.dumps(row[name]) for name in _TEXTS}


def _version(place: str, row: dict[str, Any]) -> Version:
    if row.pop("format") != FORMAT:
        raise UserError(f"version {row['number']} in {place} was written by another version of Tidelog")
    content = row | {name: json.loads(row[name]) for name in _TEXTS}
    content["tables"] = {name: Table(**table) for name, table in content["tables"].items()}
    content["changes"] = {name: (gained, lost) for name, (gained, lost) in content["changes"].items()}
    content["batch"] = Batch(**content["batch"]) if content["batch"] else None
    return Version(**content)

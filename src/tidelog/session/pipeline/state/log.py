"""A table of Delta Lake without a session of Spark: whoever writes its files, the driver commits them to its log.

A version of a pipeline spans tables and is committed elsewhere, so a log may be longer than what was committed: a crash
left that behind. A commit says on which version of the table it builds; what the log has beyond it goes with the same
commit. Files stay until `vacuum`, so every version that is kept can be read.

A log is written with `max_commit_retries=0`: a writer who does not know of another one is refused.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from decimal import Decimal
from pathlib import Path
from time import time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.base.errors import BusyError, UserError
from tidelog.base.record import record
from tidelog.session.pipeline.addresses import address

LONGEST = 64
"""Texts longer than this have no minimum and maximum in the log."""


@record
class DataFile:
    """A file of a table: its path there, and what its footer says."""

    path: str
    size: int
    rows: int
    least: Mapping[str, Any] = field(default_factory=dict)
    most: Mapping[str, Any] = field(default_factory=dict)


class Log:
    """The table in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def exists(self) -> bool:
        """Tell whether there is a table."""
        return (self.folder / "_delta_log").is_dir() and any((self.folder / "_delta_log").glob("*.json"))

    def version(self) -> int | None:
        """Return the number of the last commit to the log; None if there is no table."""
        return int(self._table().version()) if self.exists() else None

    def schema(self) -> pa.Schema:
        """Return the columns."""
        return pa.schema(self._table().schema())

    def identity(self) -> str:
        """Return what no other table is called, wherever it is."""
        return str(self._table().metadata().id)

    def transaction(self, application: str) -> int | None:
        """Return the number of the application's last transaction."""
        found = self._table().transaction_version(application) if self.exists() else None
        return None if found is None else int(found)

    def files(self, version: int | None) -> dict[str, DataFile]:
        """Return the files of a version; none is the version before the first."""
        if version is None:
            return {}
        with self._told():
            rows = pa.table(self._table(version).get_add_actions(flatten=True)).to_pylist()
        return {row["path"]: _file(row) for row in rows}

    def read(self, files: Iterable[DataFile], schema: pa.Schema) -> pa.Table:
        """Return the rows of files."""
        with self._told():
            tables = [pq.read_table(self.folder / one.path, partitioning=None).cast(schema) for one in files]
        return pa.concat_tables(tables) if tables else schema.empty_table()

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(self, table: pa.Table, kind: str) -> DataFile:
        """Write a file, which is no part of the table before a commit adds it."""
        path = f"{kind}/{uuid.uuid4()}.parquet"
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(table, target)
        sync(target)
        return self.described(path)

    def described(self, path: str) -> DataFile:
        """Return a file that somebody has written below the table's folder."""
        target = self.folder / path
        footer = pq.read_metadata(target)
        least, most = _ranges(footer)
        return DataFile(path, target.stat().st_size, footer.num_rows, least, most)

    def written_by(self, write: Callable[[str], None], kind: str) -> list[DataFile]:
        """Let executors write a folder of files below the table's, and return them."""
        path = f"{kind}/{uuid.uuid4()}"
        write(address(self.folder / path))
        return self.beside(path)

    def beside(self, path: str) -> list[DataFile]:
        """Return the files in a folder below the table's, which need not be part of the table."""
        found = sorted((self.folder / path).glob("*.parquet"))
        return [self.described(f"{path}/{one.name}") for one in found]

    def schema_of(self, files: Sequence[DataFile]) -> pa.Schema:
        """Return the columns of files."""
        return pq.read_schema(self.folder / files[0].path).remove_metadata()

    def commit(
        self,
        schema: pa.Schema,
        since: int | None,
        added: Sequence[DataFile],
        removed: Iterable[str] = (),
        transaction: tuple[str, int] | None = None,
    ) -> int:
        """Add and remove files on top of a version, whatever came after it; return the new version."""
        from deltalake import CommitProperties, PostCommitHookProperties, Transaction  # noqa: PLC0415  (slow to load)
        from deltalake import Schema as DeltaSchema  # noqa: PLC0415  (slow to load)
        from deltalake.exceptions import DeltaError  # noqa: PLC0415  (slow to load)
        from deltalake.transaction import create_table_with_add_actions  # noqa: PLC0415  (slow to load)

        number = [Transaction(*transaction)] if transaction is not None else None
        properties = CommitProperties(max_commit_retries=0, app_transactions=number)
        columns = DeltaSchema.from_arrow(schema)
        try:
            if not self.exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                create_table_with_add_actions(
                    str(self.folder),
                    columns,
                    [_add(one) for one in added],
                    configuration={"delta.enableExpiredLogCleanup": "false"},
                    commit_properties=properties,
                )
                version = 0
            else:
                table = self._table()
                version = table.version() + 1
                table.create_write_transaction(
                    [*self._changes(table.version(), since, added, set(removed))],
                    "append",
                    columns,
                    commit_properties=properties,
                    post_commithook_properties=PostCommitHookProperties(cleanup_expired_logs=False),
                )
        except DeltaError as error:
            raise BusyError(f"{self.folder} was changed by another process meanwhile ({error})") from None
        sync(self.folder / "_delta_log" / f"{version:020d}.json")
        return int(version)

    def _changes(self, head: int, since: int | None, added: Sequence[DataFile], removed: set[str]) -> Iterator[Any]:
        before = self.files(since)
        there = self.files(head) if head != since else before
        wanted = {path: one for path, one in before.items() if path not in removed} | {one.path: one for one in added}
        yield from (_remove(one) for path, one in there.items() if path not in wanted)
        yield from (_add(one) for path, one in wanted.items() if path not in there)

    def vacuum(self, kept: Iterable[int]) -> list[Path]:
        """Delete the files that no kept version has; return them."""
        wanted = {path for version in kept for path in self.files(version)}
        found = (path for path in self.folder.rglob("*") if path.is_file())
        gone = [
            path
            for path in sorted(found)
            if path.relative_to(self.folder).parts[0] != "_delta_log"
            and path.relative_to(self.folder).as_posix() not in wanted
        ]
        for path in gone:
            path.unlink()
        return gone

    def _table(self, version: int | None = None) -> Any:
        from deltalake import DeltaTable  # noqa: PLC0415  (slow to load)

        return DeltaTable(str(self.folder), version)

    @contextmanager
    def _told(self) -> Iterator[None]:
        from deltalake.exceptions import DeltaError  # noqa: PLC0415  (slow to load)

        try:
            yield
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise UserError(f"{self.folder} cannot be read: the state was damaged from outside ({error})") from None


def sync(path: Path) -> None:
    """Let a file, and that it is there, outlive a crash of the machine."""
    for one in (path, path.parent):
        descriptor = os.open(one, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _add(file: DataFile) -> Any:
    from deltalake.transaction import AddAction  # noqa: PLC0415  (slow to load)

    stats = {"numRecords": file.rows, "minValues": dict(file.least), "maxValues": dict(file.most), "nullCount": {}}
    return AddAction(file.path, file.size, {}, int(time() * 1000), True, json.dumps(stats))


def _remove(file: DataFile) -> Any:
    from deltalake.transaction import RemoveAction  # noqa: PLC0415  (slow to load)

    return RemoveAction(file.path, True, int(time() * 1000), file.size, {})


def _file(row: Mapping[str, Any]) -> DataFile:
    ranges = [
        {key.removeprefix(word): value for key, value in row.items() if key.startswith(word) and value is not None}
        for word in ("min.", "max.")
    ]
    return DataFile(row["path"], row["size_bytes"], row["num_records"], *map(_plain, ranges))


def _plain(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if not isinstance(value, Decimal)}


def _ranges(footer: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the least and the greatest value of columns of integers and short texts, which the footer knows."""
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    for place in range(footer.num_columns):
        parts = [footer.row_group(number).column(place) for number in range(footer.num_row_groups)]
        known = [part.statistics for part in parts if part.statistics is not None and part.statistics.has_min_max]
        if not known or len(known) < len(parts):
            continue
        low, high = min(one.min for one in known), max(one.max for one in known)
        if type(low) is int or (type(low) is str and len(low) <= LONGEST and len(high) <= LONGEST):
            least[parts[0].path_in_schema], most[parts[0].path_in_schema] = low, high
    return least, most

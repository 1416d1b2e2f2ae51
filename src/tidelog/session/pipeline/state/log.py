"""A table of Delta Lake without a session of Spark: whoever writes its files, the driver commits them to its log.

A version of a pipeline spans tables and is committed elsewhere, so a log may be longer than what was committed: a crash
left that behind. A commit says on which version of the table it builds; what the log has beyond it goes with the same
commit. Files stay until `vacuum`, so every version that is kept can be read.

A commit appears by one step (a file that was not there), wherever the table is. It is tried once, on the log as this
process knows it: a writer who does not know of another one is refused. Each has a name, so that one whose answer was
lost on the way is distinguished from one that somebody else has made.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from decimal import Decimal
from time import time
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.base.errors import BusyError, DataError, UserError
from tidelog.session.pipeline.places.data_file import DataFile, described
from tidelog.session.pipeline.places.local import sync
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.told import is_away, plain, reaching

NAME = "tidelog"
"""What the name of a commit is called in it."""
ANY = -1
"""In place of a version: whichever is the last."""
LATELY = 4
"""So far back a commit is looked for whose answer was lost: others may have come after it."""


class Log:
    """The table in a place; `alone` tells whether nobody else commits to it now, so that it need not be looked at."""

    def __init__(self, place: Place, alone: Callable[[], bool] = lambda: False) -> None:
        self.place = place
        self._alone = alone
        self._table: Any = None
        """The table as it was when it was last looked at."""
        self._stale = False
        """Whether this process has committed to it since."""
        self._files: dict[int, dict[str, DataFile]] = {}

    def exists(self) -> bool:
        """Tell whether there is a table."""
        return self._looked() is not None

    def version(self) -> int | None:
        """Return the number of the last commit to the log; None if there is no table."""
        table = self._looked()
        return None if table is None else int(table.version())

    def schema(self) -> pa.Schema:
        """Return the columns."""
        return pa.schema(self._known().schema())

    def identity(self) -> str:
        """Return what no other table is called, wherever it is."""
        return str(self._known().metadata().id)

    def transaction(self, application: str) -> int | None:
        """Return the number of the application's last transaction."""
        table = self._looked()
        found = table.transaction_version(application) if table is not None else None
        return None if found is None else int(found)

    def files(self, version: int | None) -> dict[str, DataFile]:
        """Return the files of a version; none is the version before the first."""
        if version is None:
            return {}
        if version not in self._files:
            with self._told():
                table = self._known()
                found = table if table.version() == version else self.opened(version)
                rows = pa.table(found.get_add_actions(flatten=True)).to_pylist()
            self._files[version] = {row["path"]: _file(row) for row in rows}
        return self._files[version]

    def read(self, files: Iterable[DataFile], schema: pa.Schema) -> pa.Table:
        """Return the rows of files."""
        with self._told():
            found = [pq.read_table(self.place.opened(one.path), partitioning=None).cast(schema) for one in files]
        return pa.concat_tables(found) if found else schema.empty_table()

    # --- writing -----------------------------------------------------------------------------------------------------

    def write(self, table: pa.Table, kind: str) -> DataFile:
        """Write a file, which is no part of the table before a commit adds it."""
        path = f"{kind}/{uuid.uuid4()}.parquet"
        return described(path, *self.place.write_table(path, table))

    def beside(self, path: str) -> tuple[list[DataFile], pa.Schema]:
        """Return the files in a folder below the table's, which need not be part of the table, and their columns."""
        found = [one for one in self.place.files(path) if one.name.endswith(".parquet")]
        footers = [pq.read_metadata(self.place.opened(one.name)) for one in found]
        schema = footers[0].schema.to_arrow_schema().remove_metadata() if footers else pa.schema([])
        return [described(one.name, one.size, footer) for one, footer in zip(found, footers, strict=True)], schema

    def commit(
        self,
        schema: pa.Schema,
        since: int | None,
        added: Sequence[DataFile],
        removed: Iterable[str] = (),
        transaction: tuple[str, int] | None = None,
        *,
        head: int | None = ANY,
        whole: bool = False,
    ) -> int:
        """Add and remove files on top of a version, whatever came after it; return the new version.

        `since` ANY is the last one as it is then. With `whole` those added are all, and columns may be others. `head`
        is the last commit that there may be, if another one means that somebody else is at work.
        """
        from deltalake.exceptions import DeltaError  # noqa: PLC0415  (slow to load)

        table, name = self._looked(), str(uuid.uuid4())
        if head != ANY and head != (None if table is None else table.version()):
            raise BusyError(
                f"{self.place.address} was changed by another process meanwhile: version {head} was the last"
            )
        try:
            if table is None:
                self._create(schema, added, _properties(name, transaction))
            else:
                differing = self._changes(table.version(), since, added, set(removed))
                changes, mode = ([*map(_add, added)], "overwrite") if whole else ([*differing], "append")
                _append(table, mode, schema, changes, _properties(name, transaction))
            version = int(table.version()) + 1 if table is not None else 0
        except (DeltaError, OSError) as error:
            self._table = None
            made = self._made(name)
            if made is None:
                raise self._refused(error, overtaken=table is None and self._table is not None) from None
            version = made  # the answer was lost, not the commit
        self._stale = True
        if self.place.is_local:
            sync(self.place.path / "_delta_log" / f"{version:020d}.json")  # type: ignore[attr-defined]
        return version

    def _create(self, schema: pa.Schema, added: Sequence[DataFile], properties: Any) -> None:
        from deltalake import Schema  # noqa: PLC0415  (slow to load)
        from deltalake.transaction import create_table_with_add_actions  # noqa: PLC0415  (slow to load)

        if self.place.is_local:
            self.place.path.mkdir(parents=True, exist_ok=True)  # type: ignore[attr-defined]
        create_table_with_add_actions(
            self.place.address,
            Schema.from_arrow(schema),
            [_add(one) for one in added],
            configuration={"delta.enableExpiredLogCleanup": "false", "delta.checkpointInterval": "10"},
            storage_options=dict(self.place.options),
            commit_properties=properties,
        )

    def _changes(self, head: int, since: int | None, added: Sequence[DataFile], removed: set[str]) -> Iterator[Any]:
        there = self.files(head)
        before = there if since == ANY else self.files(since)
        wanted = {path: one for path, one in before.items() if path not in removed} | {one.path: one for one in added}
        yield from (_remove(one) for path, one in there.items() if path not in wanted)
        yield from (_add(one) for path, one in wanted.items() if path not in there)

    def _made(self, name: str) -> int | None:
        """Return the version that the commit of a name has made, if it is there."""
        table = self._looked()
        lately = table.history(LATELY) if table is not None else []
        return next((int(one["version"]) for one in lately if one.get(NAME) == name), None)

    def _refused(self, error: Exception, *, overtaken: bool) -> UserError:
        """Return what to say of a commit that was not made; `overtaken` tells that somebody else has made the table."""
        from deltalake.exceptions import CommitFailedError  # noqa: PLC0415  (slow to load)

        if overtaken or isinstance(error, CommitFailedError):
            return BusyError(f"{self.place.address} was changed by another process meanwhile ({plain(error)})")
        kind = BusyError if is_away(error) else DataError
        return kind(f"{self.place.address} cannot be written: {getattr(error, 'strerror', None) or plain(error)}")

    def vacuum(self, kept: Iterable[int]) -> list[str]:
        """Delete the files that no kept version has; return their addresses."""
        wanted = {path for version in kept for path in self.files(version)}
        found = (one.name for one in self.place.files() if one.name.partition("/")[0] != "_delta_log")
        gone = [name for name in found if name not in wanted]
        for name in gone:
            self.place.remove(name)
        return [f"{self.place.address}/{name}" for name in gone]

    # --- the log -----------------------------------------------------------------------------------------------------

    def _looked(self) -> Any:
        """Return the table as it is now, or None."""
        from deltalake.exceptions import TableNotFoundError  # noqa: PLC0415  (slow to load)

        with reaching(self.place.address), suppress(TableNotFoundError):
            if self._table is None:
                self._table = self.opened()
            elif self._stale or not self._alone():
                self._table.update_incremental()
            self._stale = False
        return self._table

    def _known(self) -> Any:
        """Return the table as it was when it was last looked at."""
        return self._table if self._table is not None else self.opened()

    def opened(self, version: int | None = None) -> Any:
        """Return the table, now or at a version."""
        from deltalake import DeltaTable  # noqa: PLC0415  (slow to load)

        return DeltaTable(self.place.address, version, storage_options=dict(self.place.options))

    @contextmanager
    def _told(self) -> Iterator[None]:
        from deltalake.exceptions import DeltaError  # noqa: PLC0415  (slow to load)

        try:
            yield
        except (DeltaError, OSError, pa.ArrowException) as error:
            if is_away(error):
                raise BusyError(f"{self.place.address} cannot be reached now: {plain(error)}") from None
            raise UserError(
                f"{self.place.address} cannot be read: the state was damaged from outside ({plain(error)})"
            ) from None


def check_commits(place: Place) -> None:
    """Refuse a store that lets two writers make the same commit: some ignore the condition of a write."""
    from deltalake.exceptions import CommitFailedError  # noqa: PLC0415  (slow to load)

    trial = f"trial-{uuid.uuid4()}"
    log, schema = Log(place.below(trial)), pa.schema([("a", pa.int64())])
    try:
        log.commit(schema, None, [])
        for one in (log.opened(), log.opened()):  # neither knows of the other's
            try:
                _append(one, "append", schema, [], _properties("", None))
            except CommitFailedError:
                return
    finally:
        place.remove(trial)
    raise UserError(
        f"{place.address}: this store lets two writers make the same commit, for it ignores the condition of a write "
        "(If-None-Match); keep the state in a folder, or in a store that knows conditional writes"
    )


def _properties(name: str, transaction: tuple[str, int] | None) -> Any:
    from deltalake import CommitProperties, Transaction  # noqa: PLC0415  (slow to load)

    number = [Transaction(*transaction)] if transaction is not None else None
    return CommitProperties({NAME: name}, max_commit_retries=0, app_transactions=number)


def _append(table: Any, mode: Any, schema: pa.Schema, changes: Sequence[Any], properties: Any) -> None:
    from deltalake import PostCommitHookProperties  # noqa: PLC0415  (slow to load)
    from deltalake import Schema as DeltaSchema  # noqa: PLC0415  (slow to load)

    hooks = PostCommitHookProperties(cleanup_expired_logs=False)
    columns = DeltaSchema.from_arrow(schema)
    table.create_write_transaction(
        [*changes], mode, columns, commit_properties=properties, post_commithook_properties=hooks
    )


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

"""Tables of Delta Lake, on this machine or in an object store: the driver commits without Spark, and no jar is needed.

Each version is there once: its number is the transaction number of the commit. An answer that is lost on the way, so
that nobody knows whether the commit was made, is settled by looking for it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidelog.base.errors import BusyError, UserError
from tidelog.session.pipeline.config import FULL, Sink
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.sinks.shapes import SHOWN
from tidelog.session.pipeline.sinks.ways import place_of
from tidelog.session.pipeline.state.log import ANY, Log

ATTEMPTS = 20
"""So often a commit is tried to a table that others change."""
Application = Callable[[Sink], str]
"""What a table knows a sink by."""


class TableWay:
    """Tables that get files of changes, or files in place of all they have."""

    as_parquet = True

    def __init__(self, application: Application) -> None:
        self._application = application
        self._logs: dict[str, Log] = {}

    def waiting(self, sink: Sink, number: int, name: str) -> Place:
        """Return a folder of the table."""
        return place_of(sink).below(name)

    def check(self, sink: Sink, staged: Place, schema: pa.Schema) -> None:
        """Refuse a table that gets changes of other columns; one that is replaced may get others."""
        if sink.mode != FULL and self._log(sink).exists():
            _compare(sink, self._log(sink).schema(), schema)

    def publish(self, sink: Sink, staged: Place, number: int) -> None:
        """Add the files to the table, or let it have these alone; others may write to it meanwhile."""
        for _ in range(ATTEMPTS - 1):
            with suppress(BusyError):
                self._commit(sink, staged, number)
                return
        self._commit(sink, staged, number)

    def _commit(self, sink: Sink, staged: Place, number: int) -> None:
        log, application = self._log(sink), self._application(sink)
        there = log.transaction(application) or 0
        if there > number or (there == number and sink.mode != FULL):
            return
        added, schema = log.beside(staged.address.rpartition("/")[2])
        known = log.files(log.version())
        if added and not any(one.path in known for one in added):
            log.commit(schema, ANY, added, transaction=(application, number), whole=sink.mode == FULL)

    def _log(self, sink: Sink) -> Log:
        place = place_of(sink)
        if place.address not in self._logs:
            self._logs[place.address] = Log(place)
        return self._logs[place.address]


class LakeWay:
    """Tables that rows are put in and out of by a key, beside rows of other keys that others have put there."""

    as_parquet = True

    def __init__(self, pending: Place, application: Application) -> None:
        self._pending = pending
        self._application = application
        self._tables: dict[str, Any] = {}

    def waiting(self, sink: Sink, number: int, name: str) -> Place:
        """Return a folder of the state."""
        return self._pending.below(name)

    def check(self, sink: Sink, staged: Place, schema: pa.Schema) -> None:
        """Refuse a table that has not the columns of what it is to get."""
        table = self._table(sink)
        if table is not None:
            wanted = schema.remove(schema.get_field_index(SHOWN))
            there = pa.schema(table.schema())
            _compare(sink, pa.schema([one for one in there if one.name in wanted.names]), wanted)

    def publish(self, sink: Sink, staged: Place, number: int) -> None:
        """Merge the rows, once."""
        if self.number(sink) < number and staged.files():
            try:
                self._merge(sink, _read(staged), number)
            except Exception:
                if self.number(sink) < number:  # else the answer was lost, not the commit
                    raise
        staged.remove("")

    def _merge(self, sink: Sink, rows: pa.Table, number: int) -> None:
        from deltalake import CommitProperties, DeltaTable, Transaction  # noqa: PLC0415  (slow to load)

        table = self._table(sink)
        if table is None:
            schema, place = rows.schema.remove(rows.schema.get_field_index(SHOWN)), place_of(sink)
            table = DeltaTable.create(place.address, schema, storage_options=dict(place.options))
        merge(table, sink.key, rows, CommitProperties(app_transactions=[Transaction(self._application(sink), number)]))

    def number(self, sink: Sink) -> int:
        """Return the last version that the table has; 0 if there is none."""
        table = self._table(sink)
        return int(table.transaction_version(self._application(sink)) or 0) if table is not None else 0

    def _table(self, sink: Sink) -> Any:
        """Return the table as it is now, if there is one."""
        from deltalake import DeltaTable  # noqa: PLC0415  (slow to load)
        from deltalake.exceptions import TableNotFoundError  # noqa: PLC0415  (slow to load)

        place = place_of(sink)
        found = self._tables.pop(place.address, None)
        with suppress(TableNotFoundError):
            if found is None:
                found = DeltaTable(place.address, storage_options=dict(place.options))
            else:
                found.update_incremental()
            self._tables[place.address] = found
        return found


def merge(table: Any, key: Sequence[str], rows: pa.Table, properties: Any) -> None:
    """Put rows in and out of a table by a key, in one commit."""
    names = [name for name in rows.column_names if name != SHOWN]
    merged = table.merge(rows, _equal(key), "s", "t", commit_properties=properties)
    values = {f'"{name}"': f's."{name}"' for name in names}
    weight = f's."{SHOWN}"'
    merged = merged.when_matched_delete(f"{weight} < 0").when_matched_update(values, f"{weight} > 0")
    merged.when_not_matched_insert(values, f"{weight} > 0").execute()


def _read(staged: Place) -> pa.Table:
    """Return the rows that wait."""
    names = (one.name for one in staged.files() if one.name.endswith(".parquet"))
    return pa.concat_tables([pq.read_table(staged.opened(name), partitioning=None) for name in names])


def _equal(key: Sequence[str]) -> str:
    return " and ".join(f't."{name}" = s."{name}"' for name in key)


def _compare(sink: Sink, there: pa.Schema, wanted: pa.Schema) -> None:
    """Refuse a table that has not the columns of what it is to get."""
    found, given = (sorted((one.name, _plain(one.type)) for one in schema) for schema in (there, wanted))
    if found != given:
        shown = [", ".join(f"{name}: {type}" for name, type in columns) for columns in (found, given)]
        raise UserError(f"{sink}: the table there has the columns ({shown[0]}), and is to get ({shown[1]})")


def _plain(type: pa.DataType) -> str:
    """Return what a column's type is called; texts are the same however Arrow holds them, moments wherever they are."""
    if pa.types.is_timestamp(type) and type.tz is not None:
        return "timestamp"
    return "string" if pa.types.is_string_view(type) or pa.types.is_large_string(type) else str(type)

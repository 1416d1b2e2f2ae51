"""Tables of Delta Lake that get rows by a key, or that are in an object store: the driver commits without Spark.

Each version is there once: its number is the transaction number of the commit. An answer that is lost on the way, so
that nobody knows whether the commit was made, is settled by looking for that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from tidelog.base.errors import UserError
from tidelog.session.pipeline.config import FULL, MERGE, Sink
from tidelog.session.pipeline.sinks.shapes import SHOWN

ENTRY = "tidelog"
"""What the number of a full sink's output is called in the commit that shows it."""


class Lake:
    """The table of a sink."""

    def __init__(self, sink: Sink, application: str) -> None:
        self._sink = sink
        self._application = application
        self._options = dict(sink.storage or {})

    def check(self, wanted: pa.Schema) -> None:
        """Refuse a table that has not the columns of what it is to get."""
        table = self._table()
        if table is None or self._sink.mode == FULL:
            return
        there = pa.schema(table.schema())
        if self._sink.mode == MERGE:
            wanted = wanted.remove(wanted.get_field_index(SHOWN))
            there = pa.schema([one for one in there if one.name in wanted.names])
        found, given = (sorted((one.name, _plain(one.type)) for one in schema) for schema in (there, wanted))
        if found != given:
            shown = [", ".join(f"{name}: {type}" for name, type in columns) for columns in (found, given)]
            raise UserError(f"{self._sink}: the table there has the columns ({shown[0]}), and is to get ({shown[1]})")

    def number(self) -> int:
        """Return the last version that the table has; 0 if there is none."""
        table = self._table()
        return int(table.transaction_version(self._application) or 0) if table is not None else 0

    def publish(self, rows: pa.Table, number: int, entry: str) -> None:
        """Let the table show a version, once; `entry` names this output of it."""
        if self._has(number, entry):
            return
        try:
            self._commit(rows, number, entry)
        except Exception:
            if not self._has(number, entry):  # the answer was lost, not the commit
                raise

    def _has(self, number: int, entry: str) -> bool:
        if self._sink.mode != FULL:
            return self.number() >= number
        table = self._table()
        return table is not None and any(one.get(ENTRY) == entry for one in table.history(1))

    def _commit(self, rows: pa.Table, number: int, entry: str) -> None:
        from deltalake import CommitProperties, DeltaTable, Transaction, write_deltalake  # noqa: PLC0415  (slow)

        properties = CommitProperties(
            custom_metadata={ENTRY: entry}, app_transactions=[Transaction(self._application, number)]
        )
        where = str(self._sink.path)
        if self._sink.mode != MERGE:
            mode: Any = "overwrite" if self._sink.mode == FULL else "append"
            schema: Any = "overwrite" if self._sink.mode == FULL else None
            write_deltalake(
                where, rows, mode=mode, schema_mode=schema, storage_options=self._options, commit_properties=properties
            )
            return
        table = self._table()
        if table is None:
            schema = rows.schema.remove(rows.schema.get_field_index(SHOWN))
            table = DeltaTable.create(where, schema, storage_options=self._options)
        names = [name for name in rows.column_names if name != SHOWN]
        merged = table.merge(rows, _equal(self._sink.key), "s", "t", commit_properties=properties)
        values = {f'"{name}"': f's."{name}"' for name in names}
        weight = f's."{SHOWN}"'
        merged = merged.when_matched_delete(f"{weight} < 0").when_matched_update(values, f"{weight} > 0")
        merged.when_not_matched_insert(values, f"{weight} > 0").execute()

    def _table(self) -> Any:
        from deltalake import DeltaTable  # noqa: PLC0415  (slow to load)
        from deltalake.exceptions import TableNotFoundError  # noqa: PLC0415  (slow to load)

        try:
            return DeltaTable(str(self._sink.path), storage_options=self._options)
        except TableNotFoundError:
            return None


def _equal(key: Sequence[str]) -> str:
    return " and ".join(f't."{name}" = s."{name}"' for name in key)


def _plain(type: pa.DataType) -> str:
    """Return what a column's type is called; texts are the same however Arrow holds them."""
    return "string" if pa.types.is_string_view(type) or pa.types.is_large_string(type) else str(type)

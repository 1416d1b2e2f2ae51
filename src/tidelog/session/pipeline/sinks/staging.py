"""Sinks and the quarantine follow versions: staged before a version is committed, published after it.

Rows wait where nobody looks (`ways`), and a journal says so. Once the version is there, each sink shows them by one
step, which may be done again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidelog.base.errors import DataError, SinkError
from tidelog.base.tuning.files import Pipelines
from tidelog.session.pipeline.config import CHANGES, Sink
from tidelog.session.pipeline.paths import DELTA
from tidelog.session.pipeline.places import executors
from tidelog.session.pipeline.places.addresses import is_local, spark_address
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.places.objects import Objects
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.sinks.journal import Entry, Journal, Note, fresh_id
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sinks.shapes import Stamp, shaped_frame, shaped_table
from tidelog.session.pipeline.sinks.tables import LakeWay, TableWay
from tidelog.session.pipeline.sinks.ways import (
    FOLDER,
    LAKE,
    OBJECTS,
    REMOTE,
    TABLE,
    FolderWay,
    ObjectsWay,
    RemoteWay,
    Way,
    kind_of,
)
from tidelog.session.pipeline.sinks.writing import write_here
from tidelog.session.pipeline.state.versions import StateFolder
from tidelog.session.pipeline.told import told

QUARANTINE = "quarantine"
"""The mode of a sink that gets rows of each version that have no weights."""


class Sinks:
    """What is on its way from a state to sinks; `spark` starts or returns the session, if it is needed."""

    def __init__(
        self, state: StateFolder, configured: Sequence[Sink], spark: Callable[[], Any], tuning: Pipelines
    ) -> None:
        self._state = state
        self._configured = configured
        self._spark = spark
        self._tuning = tuning
        pending = state.place.below("pending")
        self._journal = Journal(pending)
        self._lakes = LakeWay(pending, self._application)
        self._ways: dict[str, Way] = {
            FOLDER: FolderWay(),
            TABLE: TableWay(self._application),
            LAKE: self._lakes,
            OBJECTS: ObjectsWay(pending),
            REMOTE: RemoteWay(pending, spark),
        }

    def is_known(self, sink: Sink) -> bool:
        """Tell whether a sink that is merged into has got its first rows."""
        with told(sink):
            if sink.format == DELTA:
                return self._lakes.number(sink) > 0
            from tidelog.session.pipeline.sinks.remote import is_there  # noqa: PLC0415  (loads PySpark)

            return is_there(sink, self._spark())

    def stage(self, wanted: Iterable[tuple[Sink, Output]], number: int, at: str) -> Entry:
        """Write what sinks are to get, of a version made at that time, where nobody sees it."""
        name, going = fresh_id(), list(wanted)
        notes = [self._note(sink, number, f"{name[:12]}-{place}") for place, (sink, _) in enumerate(going)]
        entry = Entry(name, number, tuple(notes))
        if not notes:
            return entry
        self._journal.write(entry)
        for note, (sink, output) in zip(notes, going, strict=True):
            with told(sink):
                self._write(note, sink, output, Stamp(number, at))
        return entry

    def publish(self, entry: Entry) -> None:
        """Let sinks show what is staged, and forget the journal; may be done again."""
        for note in entry.notes:
            sink, staged = self._sink(note), self._staged(note)
            try:
                with told(sink):
                    if self._is_gone(sink):
                        staged.remove("")
                    else:
                        self._ways[note.kind].publish(sink, staged, entry.number)
            except DataError as error:
                raise SinkError(f"{error}; version {entry.number} stands, and the next run writes it") from None
        self._journal.forget(entry)

    def confirm(self, entry: Entry) -> None:
        """Let what is staged be published although no version names it."""
        if entry.notes:
            self._journal.write(replace(entry, sure=True))

    def settle(self) -> None:
        """End what was under way when a process ended, or undo it if its version was not committed."""
        entries = self._journal.entries()
        committed = {version.journal for version in self._state.since(entries[0].number)} if entries else set()
        for entry in entries:
            if entry.sure or entry.id in committed:
                self.publish(entry)
            else:
                for note in entry.notes:
                    self._staged(note).remove("")
                self._journal.forget(entry)

    # --- one sink ----------------------------------------------------------------------------------------------------

    def _note(self, sink: Sink, number: int, name: str) -> Note:
        kind = kind_of(sink)
        return Note(kind, _identity(sink) | {"key": sink.key}, self._ways[kind].waiting(sink, number, name).address)

    def _sink(self, note: Note) -> Sink:
        """Return the sink of a note, with the options that it has now."""
        known = {name: value for name, value in note.sink.items() if name != "key"}
        there = (sink for sink in self._configured if _identity(sink) == known)
        storage = None if self._state.place.is_local else self._state.place.options  # of the quarantine
        return replace(next(there, Sink(**known, storage=storage)), key=tuple(note.sink.get("key", ())))

    def _is_gone(self, sink: Sink) -> bool:
        """Tell whether a sink is no more in the pipeline."""
        return sink.mode != QUARANTINE and _identity(sink) not in map(_identity, self._configured)

    def _staged(self, note: Note) -> Place:
        """Return where the rows of a note wait: in the state, or with the sink."""
        if is_local(note.staged):
            return Local(Path(note.staged))
        if note.staged.startswith(f"{self._state.place.address}/"):
            return Objects(note.staged, self._state.place.options)
        return Objects(note.staged, self._sink(note).storage or {})

    def _write(self, note: Note, sink: Sink, output: Output, stamp: Stamp) -> None:
        way, staged = self._ways[note.kind], self._staged(note)
        written = replace(sink, format="parquet", options={}) if way.as_parquet else sink
        numbered = note.kind in {TABLE, LAKE} and sink.mode == CHANGES
        schema = None
        if output.frame is None or output.rows <= self._tuning.driver_rows:
            table = shaped_table(output.table(), sink, stamp, numbered=numbered)
            schema = table.schema if write_here(written, table, staged) else None
        if schema is None:
            frame = shaped_frame(output.spark(self._spark()), sink, stamp, numbered=numbered)
            pieces = frame.coalesce(1) if output.rows <= self._tuning.file_rows else frame
            schema = _write_large(written, pieces, staged)
        way.check(sink, staged, schema)

    def _application(self, sink: Sink) -> str:
        """Return what a table of Delta Lake knows the sink by."""
        return f"tidelog {self._state.identity()} {sink.relation} {sink.mode}" if self._state.numbers() else ""


def _write_large(sink: Sink, frame: Any, staged: Place) -> pa.Schema:
    """Let executors write rows; return their columns."""
    from pyspark.sql.pandas.types import to_arrow_schema

    if sink.format == "parquet" and not sink.options:
        executors.write(frame, staged, "")
    else:
        from tidelog.session.pipeline.sinks.remote import write_frame  # noqa: PLC0415  (loads PySpark)

        write_frame(sink, frame, spark_address(staged.address), "overwrite")
    return to_arrow_schema(frame.schema)


def _identity(sink: Sink) -> dict[str, Any]:
    return {"relation": sink.relation, "format": sink.format, "path": sink.path, "mode": sink.mode}

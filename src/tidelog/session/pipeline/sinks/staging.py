"""Sinks and the quarantine follow versions: staged before a version is committed, published after it.

| sink | staged in | published by |
| --- | --- | --- |
| a local folder | a hidden folder beside it | taking its place; changes as `PATH/version=N` |
| a local table of Delta Lake | a folder of files in it | a commit to its log, changes with the version as transaction |
| anything else | the state's folder | Spark, which writes what is not there yet |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from tidelog.base.errors import UserError
from tidelog.base.tuning.files import Pipelines
from tidelog.session.pipeline.addresses import address
from tidelog.session.pipeline.config import Sink
from tidelog.session.pipeline.paths import DELTA, local_path_of
from tidelog.session.pipeline.sinks.journal import Entry, Journal, Note, fresh_id
from tidelog.session.pipeline.sinks.local import write_here
from tidelog.session.pipeline.sinks.output import VERSION, Output
from tidelog.session.pipeline.sinks.place import mark, remove, take_place
from tidelog.session.pipeline.state.log import Log
from tidelog.session.pipeline.state.versions import StateFolder
from tidelog.session.pipeline.told import told

FOLDER, REMOTE = "folder", "remote"
QUARANTINE = "quarantine"
"""The mode of a sink that gets rows of each version that have no weights."""


class Sinks:
    """What is on its way from a state folder to sinks; `spark` starts or returns the session, if it is needed."""

    def __init__(
        self, state: StateFolder, configured: Sequence[Sink], spark: Callable[[], Any], tuning: Pipelines
    ) -> None:
        self._state = state
        self._configured = configured
        self._spark = spark
        self._tuning = tuning
        self._journal = Journal(state.folder / "pending")

    def stage(self, wanted: Iterable[tuple[Sink, Output]], number: int) -> Entry:
        """Write what sinks are to get where nobody sees it."""
        name, going = fresh_id(), list(wanted)
        notes = [self._note(sink, number, f"{name[:12]}-{place}") for place, (sink, _) in enumerate(going)]
        entry = Entry(name, number, tuple(notes))
        if not notes:
            return entry
        self._journal.write(entry)
        for note, (sink, output) in zip(notes, going, strict=True):
            with told(sink):
                self._write(note, sink, output, number)
        return entry

    def publish(self, entry: Entry) -> None:
        """Let sinks show what is staged, and forget the journal; may be done again."""
        for note in entry.notes:
            sink = self._sink(note)
            with told(sink):
                self._publish(note, sink, entry)
        self._journal.forget(entry)

    def confirm(self, entry: Entry) -> None:
        """Let what is staged be published although no version names it."""
        if entry.notes:
            self._journal.write(replace(entry, sure=True))

    def settle(self) -> None:
        """End what was under way when a process ended, or undo it if its version was not committed."""
        entries = [*self._journal.entries()]
        committed = {version.journal for version in self._state.since(entries[0].number)} if entries else set()
        for entry in entries:
            if entry.sure or entry.id in committed:
                self.publish(entry)
            else:
                for note in entry.notes:
                    remove(Path(note.staged))
                self._journal.forget(entry)

    def _sink(self, note: Note) -> Sink:
        """Return the sink of a note, with the options that it has now."""
        there = (sink for sink in self._configured if _identity(sink) == note.sink)
        return next(there, Sink(**note.sink))

    # --- one sink ----------------------------------------------------------------------------------------------------

    def _note(self, sink: Sink, number: int, name: str) -> Note:
        local = local_path_of(sink)
        if local is None:
            kind, staged = REMOTE, self._state.folder / "pending" / name
        elif sink.format == DELTA:
            kind, staged = DELTA, local / name
        else:
            kind, target = FOLDER, _target(sink, local, number)
            staged = target.with_name(f".{target.name}.{name}")
        return Note(kind, _identity(sink), str(staged), sink.mode == "changes")

    def _write(self, note: Note, sink: Sink, output: Output, number: int) -> None:
        staged = Path(note.staged)
        staged.parent.mkdir(parents=True, exist_ok=True)
        if note.kind != FOLDER:
            sink = replace(sink, format="parquet", options={})
        numbered = note.kind == DELTA and note.signed
        small = output.frame is None or output.rows <= self._tuning.driver_rows
        if not (small and write_here(sink, _numbered(output.arrow(signed=note.signed), number, numbered), staged)):
            from pyspark.sql import functions as f

            from tidelog.session.pipeline.sinks.remote import write_frame  # noqa: PLC0415  (loads PySpark)

            frame = output.spark(self._spark(), signed=note.signed)
            frame = frame.withColumn(VERSION, f.lit(number).cast("long")) if numbered else frame
            pieces = frame.coalesce(1) if output.rows <= self._tuning.file_rows else frame
            write_frame(sink, pieces, address(staged), "overwrite")
        if note.kind == FOLDER:
            mark(staged, staged.name)
        elif note.kind == DELTA:
            _check_table(sink, Log(staged.parent), staged.name)

    def _publish(self, note: Note, sink: Sink, entry: Entry) -> None:
        staged, local = Path(note.staged), local_path_of(sink)
        if note.kind == FOLDER:
            assert local is not None, "a folder is here"
            take_place(staged, _target(sink, local, entry.number), staged.name)
        elif note.kind == DELTA:
            assert local is not None, "a table is here"
            self._publish_delta(Log(local), sink, staged, entry)
        elif sink not in self._configured:
            remove(staged)  # the sink is gone from the pipeline
        elif staged.exists():
            from tidelog.session.pipeline.sinks.remote import publish  # noqa: PLC0415  (loads PySpark)

            publish(self._spark(), sink, staged, entry.number)
            remove(staged)

    def _publish_delta(self, log: Log, sink: Sink, staged: Path, entry: Entry) -> None:
        """Add the files to the table, or let it have these alone; a version's changes once, by its number."""
        head = log.version()
        added = log.beside(staged.name)
        there = log.files(head)
        if any(one.path in there for one in added):
            return
        application = f"tidelog {self._state.identity()} {sink.relation} {sink.mode}"
        if sink.mode == "full":
            log.commit(log.schema_of(added), head, added, there)
        elif (log.transaction(application) or 0) < entry.number:
            log.commit(log.schema_of(added), head, added, transaction=(application, entry.number))


def _identity(sink: Sink) -> dict[str, Any]:
    return {"relation": sink.relation, "format": sink.format, "path": sink.path, "mode": sink.mode}


def _target(sink: Sink, local: Path, number: int) -> Path:
    return local if sink.mode == "full" else local / f"version={number}"


def _numbered(table: pa.Table, number: int, numbered: bool) -> pa.Table:
    return table.append_column(VERSION, pa.array([number] * table.num_rows, pa.int64())) if numbered else table


def _check_table(sink: Sink, log: Log, staged: str) -> None:
    """Refuse a table that has other columns than what it is to get."""
    wanted = log.schema_of(log.beside(staged))
    if log.exists() and not log.schema().equals(wanted):
        there, given = (", ".join(f"{one.name}: {one.type}" for one in schema) for schema in (log.schema(), wanted))
        raise UserError(f"{sink}: the table there has the columns ({there}), and is to get ({given})")

"""Sinks and the quarantine follow versions: staged before a version is committed, published after it.

| sink | staged in | published by |
| --- | --- | --- |
| a local folder | a hidden folder beside it | taking its place; changes as `PATH/version=N` |
| a local table of Delta Lake | a folder of files in it | a commit to its log, changes with the version as transaction |
| a table of Delta Lake that is merged into, or in an object store | the state's folder | a commit of the driver |
| files in an object store | the state's folder | one object after the other; a small sink is one |
| anything else | the state's folder | Spark, which writes what is not there yet |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from tidelog.base.errors import DataError, SinkError, UserError
from tidelog.base.tuning.files import Pipelines
from tidelog.session.pipeline.addresses import address
from tidelog.session.pipeline.config import CHANGES, FULL, MERGE, Sink
from tidelog.session.pipeline.paths import DELTA, local_path_of
from tidelog.session.pipeline.sinks.journal import Entry, Journal, Note, fresh_id
from tidelog.session.pipeline.sinks.lake import Lake
from tidelog.session.pipeline.sinks.local import write_here
from tidelog.session.pipeline.sinks.output import Output
from tidelog.session.pipeline.sinks.place import mark, remove, take_place
from tidelog.session.pipeline.sinks.shapes import Stamp, shaped_frame, shaped_table
from tidelog.session.pipeline.state.log import Log
from tidelog.session.pipeline.state.versions import StateFolder
from tidelog.session.pipeline.storage import Store, is_stored
from tidelog.session.pipeline.told import told

FOLDER, LAKE, OBJECTS, REMOTE = "folder", "lake", "objects", "remote"
FILES = ("csv", "json", "parquet")
"""Formats of files that need no Spark."""
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

    def is_known(self, sink: Sink) -> bool:
        """Tell whether a sink that is merged into has got its first rows."""
        with told(sink):
            if sink.format == DELTA:
                return self._lake(sink).number() > 0
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
            sink = self._sink(note)
            try:
                with told(sink):
                    self._publish(note, sink, entry)
            except DataError as error:
                raise SinkError(f"{error}; version {entry.number} stands, and the next run writes it") from None
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
        known = {name: value for name, value in note.sink.items() if name != "key"}
        there = (sink for sink in self._configured if _identity(sink) == known)
        return replace(next(there, Sink(**known)), key=tuple(note.sink.get("key", ())))

    # --- one sink ----------------------------------------------------------------------------------------------------

    def _note(self, sink: Sink, number: int, name: str) -> Note:
        local, kind = local_path_of(sink), _kind(sink)
        staged = self._state.folder / "pending" / name
        if local is not None and kind == DELTA:
            staged = local / name
        elif local is not None and kind == FOLDER:
            target = _target(sink, local, number)
            staged = target.with_name(f".{target.name}.{name}")
        return Note(kind, _identity(sink) | {"key": sink.key}, str(staged), sink.mode not in {FULL, QUARANTINE})

    def _write(self, note: Note, sink: Sink, output: Output, stamp: Stamp) -> None:
        staged = Path(note.staged)
        staged.parent.mkdir(parents=True, exist_ok=True)
        written = sink if note.kind in {FOLDER, OBJECTS} else replace(sink, format="parquet", options={})
        numbered = note.kind in {DELTA, LAKE} and sink.mode == CHANGES
        small = output.frame is None or output.rows <= self._tuning.driver_rows
        if not (small and write_here(written, shaped_table(output.table(), sink, stamp, numbered=numbered), staged)):
            from tidelog.session.pipeline.sinks.remote import write_frame  # noqa: PLC0415  (loads PySpark)

            frame = shaped_frame(output.spark(self._spark()), sink, stamp, numbered=numbered)
            pieces = frame.coalesce(1) if output.rows <= self._tuning.file_rows else frame
            write_frame(written, pieces, address(staged), "overwrite")
        if note.kind == FOLDER:
            mark(staged, staged.name)
        elif note.kind == DELTA:
            _check_table(sink, Log(staged.parent), staged.name)
        elif note.kind == LAKE:
            self._lake(sink).check(pq.read_schema(next(staged.glob("*.parquet"))))

    def _publish(self, note: Note, sink: Sink, entry: Entry) -> None:
        staged, local = Path(note.staged), local_path_of(sink)
        if note.kind == FOLDER:
            assert local is not None, "a folder is here"
            take_place(staged, _target(sink, local, entry.number), staged.name)
        elif note.kind == DELTA:
            assert local is not None, "a table is here"
            self._publish_delta(Log(local), sink, staged, entry)
        elif _identity(sink) not in map(_identity, self._configured):
            remove(staged)  # the sink is gone from the pipeline
        elif staged.exists() and note.kind == LAKE:
            rows = pq.read_table(staged, partitioning=None)
            self._lake(sink).publish(rows, entry.number, staged.name)
            remove(staged)
        elif staged.exists() and note.kind == OBJECTS:
            _upload(sink, staged, entry.number)
            remove(staged)
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
        application = self._application(sink)
        if sink.mode == "full":
            log.commit(log.schema_of(added), head, added, there)
        elif (log.transaction(application) or 0) < entry.number:
            log.commit(log.schema_of(added), head, added, transaction=(application, entry.number))

    def _lake(self, sink: Sink) -> Lake:
        return Lake(sink, self._application(sink) if self._state.numbers() else "")

    def _application(self, sink: Sink) -> str:
        """Return what a table of Delta Lake knows the sink by."""
        return f"tidelog {self._state.identity()} {sink.relation} {sink.mode}"


def _kind(sink: Sink) -> str:
    """Return what publishes a sink."""
    local, stored = local_path_of(sink) is not None, is_stored(sink.path, sink.storage)
    if sink.format == DELTA and (stored or (local and sink.mode == MERGE)):
        return LAKE
    if stored and sink.format in FILES:
        return OBJECTS
    return REMOTE if not local else DELTA if sink.format == DELTA else FOLDER


def _upload(sink: Sink, staged: Path, number: int) -> None:
    """Write objects; those of the output before go when all are there."""
    path = str(sink.path) if sink.mode == FULL else f"{sink.path}/version={number}"
    store = Store(path, sink.storage or {})
    files = sorted(staged.glob(f"part-*.{sink.format}"))
    fresh = [f"part-{place:05}.{sink.format}" for place in range(len(files))]
    for file, name in zip(files, fresh, strict=True):
        store.write(name, file.read_bytes())
    store.remove(one.name for one in store.objects() if one.name not in fresh)


def _identity(sink: Sink) -> dict[str, Any]:
    return {"relation": sink.relation, "format": sink.format, "path": sink.path, "mode": sink.mode}


def _target(sink: Sink, local: Path, number: int) -> Path:
    return local if sink.mode == "full" else local / f"version={number}"


def _check_table(sink: Sink, log: Log, staged: str) -> None:
    """Refuse a table that has other columns than what it is to get."""
    wanted = log.schema_of(log.beside(staged))
    if log.exists() and not log.schema().equals(wanted):
        there, given = (", ".join(f"{one.name}: {one.type}" for one in schema) for schema in (log.schema(), wanted))
        raise UserError(f"{sink}: the table there has the columns ({there}), and is to get ({given})")

"""What is on its way to the sinks, written down before it begins and forgotten when it has ended.

    STATE/pending/0b6f...json    the number of a version, and for each sink what is staged where

A version names its journal. So at the next start each journal is ended, if its version was committed, or undone: what
is staged is published or removed. Both may be done again from wherever they were interrupted. A run that makes no
version, but writes full sinks again, has a journal that says so itself, once all is staged.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidelog.base.record import record
from tidelog.session.pipeline.state.log import sync


@record
class Note:
    """What goes to one sink."""

    kind: str
    """`folder`, `delta` or `remote`: which module publishes it."""
    sink: dict[str, Any]
    """Which sink it is; its options, which may hold passwords, are not written down."""
    staged: str
    """Where it is until then."""
    signed: bool


@record
class Entry:
    """A journal: what one commit sends to the sinks."""

    id: str
    number: int
    notes: tuple[Note, ...]
    sure: bool = False
    """Whether it is to be published although no version names it."""


class Journal:
    """The journals of a state folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def entries(self) -> Iterator[Entry]:
        """Return what is under way, in order; what was being written of a journal had not begun."""
        for path in self.folder.glob("*.writing"):
            path.unlink()
        found = [_entry(path) for path in sorted(self.folder.glob("*.json"))]
        yield from sorted(found, key=lambda entry: entry.number)

    def write(self, entry: Entry) -> None:
        """Write down what is to begin, in place of what was written of it before."""
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(entry)
        fresh = path.with_suffix(".writing")
        told = {"number": entry.number, "sure": entry.sure, "notes": [_told(note) for note in entry.notes]}
        fresh.write_text(json.dumps(told, indent=1), encoding="utf-8")
        sync(fresh)
        os.replace(fresh, path)  # noqa: PTH105  (the step that counts, by its name)
        sync(path)

    def forget(self, entry: Entry) -> None:
        """Forget what has ended."""
        self._path(entry).unlink(missing_ok=True)

    def _path(self, entry: Entry) -> Path:
        return self.folder / f"{entry.id}.json"


def fresh_id() -> str:
    """Return a name that nothing else has."""
    return uuid.uuid4().hex


def _told(note: Note) -> dict[str, Any]:
    return {"kind": note.kind, "sink": note.sink, "staged": note.staged, "signed": note.signed}


def _entry(path: Path) -> Entry:
    content = json.loads(path.read_text(encoding="utf-8"))
    notes = tuple(Note(**note) for note in content["notes"])
    return Entry(path.stem, content["number"], notes, content["sure"])

"""What is on its way to the sinks, written down before it begins and forgotten when it has ended.

    STATE/pending/0b6f...json    the number of a version, and for each sink what is staged where

A version names its journal. So at the next start each journal is ended, if its version was committed, or undone: what
is staged is published or removed. Both may be done again from wherever they were interrupted. A run that makes no
version, but writes full sinks again, has a journal that says so itself, once all is staged.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import Any

from tidelog.base.record import record
from tidelog.session.pipeline.places.local import WRITING
from tidelog.session.pipeline.places.place import Place
from tidelog.session.pipeline.told import reaching


@record
class Note:
    """What goes to one sink."""

    kind: str
    """Which way it goes (`ways`)."""
    sink: dict[str, Any]
    """Which sink it is; its options, which may hold passwords, are not written down."""
    staged: str
    """The address of the place where it is until then."""


@record
class Entry:
    """A journal: what one commit sends to the sinks."""

    id: str
    number: int
    notes: tuple[Note, ...]
    sure: bool = False
    """Whether it is to be published although no version names it."""


class Journal:
    """The journals of a state."""

    def __init__(self, place: Place) -> None:
        self.place = place

    def entries(self) -> list[Entry]:
        """Return what is under way, in order; what was being written of a journal had not begun."""
        return sorted(self._found(), key=lambda entry: entry.number)

    def _found(self) -> Iterator[Entry]:
        with reaching(self.place.address):
            files = self.place.files()
        for file in files:
            if file.name.endswith(WRITING):
                self.place.remove(file.name)
            elif file.name.endswith(".json") and "/" not in file.name:
                yield _entry(file.name, self.place.read(file.name))

    def write(self, entry: Entry) -> None:
        """Write down what is to begin, in place of what was written of it before."""
        notes = [{"kind": one.kind, "sink": one.sink, "staged": one.staged} for one in entry.notes]
        content = {"number": entry.number, "sure": entry.sure, "notes": notes}
        with reaching(self.place.address):
            self.place.write(f"{entry.id}.json", json.dumps(content, indent=1).encode())

    def forget(self, entry: Entry) -> None:
        """Forget what has ended."""
        with reaching(self.place.address):
            self.place.remove(f"{entry.id}.json")


def fresh_id() -> str:
    """Return a name that nothing else has."""
    return uuid.uuid4().hex


def _entry(name: str, text: bytes) -> Entry:
    content = json.loads(text)
    notes = (Note(note["kind"], note["sink"], note["staged"]) for note in content["notes"])
    return Entry(name.removesuffix(".json"), content["number"], tuple(notes), content["sure"])

"""One process at a time makes versions: a lock of the operating system, or a claim in an object store.

On this machine a lock goes with its process. An object store has none: each process that begins writes an object of its
own below `claims/`, renews it while it works, and looks for others. Of two that see each other the later one gives way;
a claim that was not renewed for `PATIENCE` seconds, by the clock of the store, is nobody's. A process may be taken for
dead while it only waits, so this is politeness: what lets no version be made twice is the commit of the version
(`state.versions`), which fails for whoever was overtaken.
"""

from __future__ import annotations

import fcntl
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Thread

from tidelog.base.errors import BusyError, UserError
from tidelog.session.pipeline.places.local import Local
from tidelog.session.pipeline.places.place import File, Place
from tidelog.session.pipeline.told import reaching

PATIENCE = 60
"""Seconds after which a claim that was not renewed counts for nothing."""
CLAIMS = "claims"


@contextmanager
def held(place: Place) -> Iterator[bool]:
    """Within the block nobody else holds the place; tells whether somebody was overtaken who may still be at work."""
    if isinstance(place, Local):
        with _locked(place):
            yield False
    else:
        with _claimed(place) as overtaken:
            yield overtaken


@contextmanager
def _locked(place: Local) -> Iterator[None]:
    try:
        place.path.mkdir(parents=True, exist_ok=True)
        lock = (place.path / "lock").open("w")
    except OSError as error:
        raise UserError(f"cannot write to {place.path}: {error.strerror}") from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise BusyError(f"{place.path} is in use by another run of the pipeline") from None
        yield


@contextmanager
def _claimed(place: Place) -> Iterator[bool]:
    name = f"{CLAIMS}/{uuid.uuid4()}"
    with reaching(place.address):
        place.write(name, b"")
    done = Event()
    renewing = Thread(target=_renew, args=(place, name, done), daemon=True)
    try:
        with reaching(place.address):
            others = _others(place, name)
            for one in others:
                place.remove(one.name)
        renewing.start()
        yield bool(others)
    finally:
        done.set()
        if renewing.ident is not None:
            renewing.join(PATIENCE / 4)
        with suppress(Exception):  # whoever comes next waits
            place.remove(name)


def _others(place: Place, name: str) -> list[File]:
    """Return the claims that are nobody's any more; give way if there is one of somebody's."""
    claims = {one.name: one for one in place.files(CLAIMS)}
    mine = claims.pop(name)
    for one in claims.values():
        age = (mine.stamp - one.stamp) / 1e9
        if age < PATIENCE and (one.stamp, one.name) < (mine.stamp, name):
            raise BusyError(
                f"{place.address} is in use by another run of the pipeline, which said so {max(0, age):.0f} s ago; "
                f"if that has died, it counts for nothing {PATIENCE} s after"
            )
    return [one for one in claims.values() if (mine.stamp - one.stamp) / 1e9 >= PATIENCE]


def _renew(place: Place, name: str, done: Event) -> None:
    while not done.wait(PATIENCE / 4):
        with suppress(Exception):  # a store that is away for a while; the next time it may be there
            place.write(name, b"")

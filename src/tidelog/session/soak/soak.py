"""Follows random histories, each with an engine, a strategy and a table of thresholds of its own, and many of them.

A seed names a history and all that is drawn for it, so processes share the work by taking parts of the seeds. What
fails is made smaller (`shrink`). The ways taken at thresholds are counted: one that no history took is a gap.

Histories of larger graphs (`graphs`), for which the reference engine is too slow, are compared with the engine `tuples`
and its strategy `recompute`; those of many rows (`at_size`) with DuckDB.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from tidelog.base.errors import LimitError, ProgramError
from tidelog.base.tuning.table import all_paths
from tidelog.base.tuning.thresholds import Path, Paths
from tidelog.session.soak.at_size import AtSize
from tidelog.session.soak.families import draw_history
from tidelog.session.soak.following import Following
from tidelog.session.soak.graphs import graph_history
from tidelog.session.soak.histories import History, watched
from tidelog.session.soak.poison import poisoned, poisoning
from tidelog.session.soak.settings import Asked, Setting
from tidelog.session.soak.shrink import show, shrink

PART = 20
"""How many histories a process follows before it tells of them."""
MANY = 1_000
"""The number of histories that should take every way at every threshold."""
WAYS = frozenset(all_paths())


@dataclass(frozen=True, slots=True)
class Failure:
    """A history that went wrong, made small, and how, as text."""

    seed: int
    text: str

    def __str__(self) -> str:
        return f"seed {self.seed}\n{self.text}"


@dataclass(slots=True)
class Tally:
    """What a soak has done so far."""

    histories: int = 0
    commits: int = 0
    changes: int = 0
    paths: Paths = field(default_factory=Paths)

    def add(self, other: Tally) -> None:
        """Add what another has done."""
        self.histories += other.histories
        self.commits += other.commits
        self.changes += other.changes
        self.paths.taken.update(other.paths.taken)

    @property
    def ways(self) -> int:
        """The number of ways at thresholds that there are."""
        return len(WAYS)

    def missing(self) -> list[Path]:
        """Return the ways at thresholds that no history took."""
        return sorted(WAYS - self.paths.taken.keys())


def soak_by(
    jobs: int, histories: int, seed: int, asked: Asked, progress: Callable[[Tally], None]
) -> tuple[Tally, Failure | None]:
    """Follow histories as `soak` does, by so many processes; what is found first to go wrong ends it."""
    if jobs == 1:
        return soak(histories, seed, asked, progress)
    tally = Tally()
    starts = iter(range(0, histories, PART))
    spawning = multiprocessing.get_context("spawn")
    with poisoning(), ProcessPoolExecutor(jobs, spawning, _end_with_parent) as processes:
        running: set[Future[tuple[Tally, Failure | None]]] = set()
        while True:
            for start in islice(starts, jobs - len(running)):
                running.add(processes.submit(_part, min(PART, histories - start), seed + start, asked))
            if not running:
                return tally, None
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for part, failure in (one.result() for one in done):
                tally.add(part)
                if failure is not None:
                    return tally, failure
            progress(tally)


def _end_with_parent() -> None:
    """Let this process end when the one that started it does, even if that was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=end, daemon=True).start()


def _part(histories: int, seed: int, asked: Asked) -> tuple[Tally, Failure | None]:
    return soak(histories, seed, asked, lambda _: None)


def soak(histories: int, seed: int, asked: Asked, progress: Callable[[Tally], None]) -> tuple[Tally, Failure | None]:
    """Follow histories, of which number i has the seed `seed + i`; stop at the first that goes wrong.

    >>> tally, failure = soak(2, 0, Asked("reference"), lambda tally: None)
    >>> tally.histories, failure
    (2, None)
    """
    tally = Tally()
    with poisoned():
        for number in range(seed, seed + histories):
            failure = _one(number, asked, tally)
            if failure is not None:
                return tally, failure
            tally.histories += 1
            progress(tally)
    return tally, None


def _one(seed: int, asked: Asked, tally: Tally) -> Failure | None:
    """Follow the history that a seed names."""
    if asked.rows is not None:
        return _at_size(seed, asked.rows, asked, tally)
    history, setting = drawn(seed, asked)
    error = failing(history, setting, tally)
    return smallest(seed, setting, history, error) if error is not None else None


def _at_size(seed: int, rows: int, asked: Asked, tally: Tally) -> Failure | None:
    history = AtSize(seed, rows, asked)
    try:
        commits, changes = history.follow()
    except Exception as error:  # noqa: BLE001  (whatever an engine raises is what a soak looks for)
        return Failure(seed, f"{history.told}\n{type(error).__name__}: {error}")
    tally.commits += commits
    tally.changes += changes
    return None


def drawn(seed: int, asked: Asked) -> tuple[History, Setting]:
    """Return the history that a seed names, and with what to follow it."""
    random = Random(seed)  # noqa: S311  (a test needs no secrets)
    history = watched(graph_history(random) if asked.large else draw_history(random), random)
    return history, Setting.drawn(random, history.start, asked)


def smallest(seed: int, setting: Setting, history: History, error: Exception) -> Failure:
    """Make a failing history small, as long as it fails in the same way: a part of one may make no sense at all."""
    small = shrink(history, lambda candidate: type(failing(candidate, setting, Tally())) is type(error))
    found = failing(small, setting, Tally()) or error
    return Failure(seed, f"{setting}\n{show(small, setting.declare(small.start))}\n{type(found).__name__}: {found}")


def failing(history: History, setting: Setting, tally: Tally) -> Exception | None:
    """Follow a history and return what went wrong."""
    try:
        following = Following(history, setting, tally.paths)
        tally.commits += following.follow()
        tally.changes += following.changes
    except (ProgramError, LimitError):
        return None  # a smaller program that is none, or a graph that is too large
    except Exception as error:  # noqa: BLE001  (whatever an engine raises is what a soak looks for)
        return error
    return None

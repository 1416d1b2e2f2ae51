"""Follows random histories, each with an engine, a strategy and a table of thresholds of its own, and many of them.

A seed names a history and all that is drawn for it, so processes can share the work (`processes`). What fails is made
smaller (`shrink`). The ways taken at thresholds are counted: one that no history took is a gap.

Histories of larger graphs (`graphs`), for which the reference engine is too slow, are compared with the engine `tuples`
and its strategy `recompute`; those of many rows (`at_size`) with DuckDB.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tidelog.base.errors import LimitError, ProgramError
from tidelog.base.tuning.table import all_paths
from tidelog.base.tuning.thresholds import Path, Paths
from tidelog.session.soak.draw.families import draw_history
from tidelog.session.soak.draw.graphs import graph_history
from tidelog.session.soak.following import Following
from tidelog.session.soak.histories import History, watched
from tidelog.session.soak.poison import poisoned
from tidelog.session.soak.settings import Asked, Setting
from tidelog.session.soak.shrink import show, shrink
from tidelog.session.soak.sized.at_size import AtSize

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
    goals: int = 0
    paths: Paths = field(default_factory=Paths)

    def add(self, other: Tally) -> None:
        """Add what another has done."""
        self.histories += other.histories
        self.commits += other.commits
        self.changes += other.changes
        self.goals += other.goals
        self.paths.taken.update(other.paths.taken)

    @property
    def ways(self) -> int:
        """The number of ways at thresholds that there are."""
        return len(WAYS)

    def missing(self) -> list[Path]:
        """Return the ways at thresholds that no history took."""
        return sorted(WAYS - self.paths.taken.keys())


def soak(histories: int, seed: int, asked: Asked, progress: Callable[[Tally], None]) -> tuple[Tally, Failure | None]:
    """Follow histories in this process, number i with the seed `seed + i`; stop at the first that goes wrong.

    >>> tally, failure = soak(2, 0, Asked("reference"), lambda tally: None)
    >>> tally.histories, failure
    (2, None)
    """
    tally = Tally()
    with poisoned():
        for number in range(seed, seed + histories):
            found, failure = follow_seed(number, asked)
            tally.add(found)
            if failure is not None:
                return tally, failure
            progress(tally)
    return tally, None


def follow_seed(seed: int, asked: Asked) -> tuple[Tally, Failure | None]:
    """Follow the history that a seed names; if it goes wrong, make it small."""
    tally = Tally()
    if asked.rows is not None:
        at_size = AtSize(seed, asked.rows, asked)
        error = _error(lambda: at_size, tally, asked)
        failure = None if error is None else Failure(seed, f"{at_size.told}\n{type(error).__name__}: {error}")
    else:
        history, setting = drawn(seed, asked)
        error = failing(history, setting, tally, asked)
        failure = None if error is None else smallest(seed, setting, history, error, asked)
    tally.histories += failure is None
    return tally, failure


def drawn(seed: int, asked: Asked) -> tuple[History, Setting]:
    """Return the history that a seed names, and with what to follow it."""
    random = Random(seed)  # noqa: S311  (a test needs no secrets)
    history = watched(graph_history(random) if asked.large else draw_history(random), random)
    return history, Setting.drawn(random, history.start, asked)


def smallest(seed: int, setting: Setting, history: History, error: Exception, asked: Asked) -> Failure:
    """Make a failing history small, as long as it fails in the same way: a part of one may make no sense at all."""
    small = shrink(history, lambda candidate: type(failing(candidate, setting, Tally(), asked)) is type(error))
    found = failing(small, setting, Tally(), asked) or error
    return Failure(seed, f"{setting}\n{show(small, setting.declare(small.start))}\n{type(found).__name__}: {found}")


def failing(history: History, setting: Setting, tally: Tally, asked: Asked) -> Exception | None:
    """Follow a history and return what went wrong; a smaller program that is none, or a graph too large, is not."""
    return _error(lambda: Following(history, setting, tally.paths), tally, asked)


def _error(made: Callable[[], Following | AtSize], tally: Tally, asked: Asked) -> Exception | None:
    if asked.seconds is not None:
        faulthandler.dump_traceback_later(asked.seconds, exit=True)
    try:
        followed = made()
        tally.commits += followed.follow()
        tally.changes += followed.changes
        tally.goals += followed.goals
    except (ProgramError, LimitError):
        return None
    except Exception as error:  # noqa: BLE001  (whatever an engine raises is what a soak looks for)
        return error
    finally:
        faulthandler.cancel_dump_traceback_later()
    return None

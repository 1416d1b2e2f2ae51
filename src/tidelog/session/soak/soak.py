"""Follows random histories with two databases at once: one on the engine in question, one on the reference engine.

Histories of larger graphs (`graphs`), for which the reference engine is too slow, are compared with the engine `tuples`
and its strategy `recompute`.

After every commit all relations and all changes must be equal. On the way some transactions are rolled back first, some
are previewed, and one input relation has a primary key and is filled by upserts. What fails is made smaller (`shrink`).

A seed names a history, so processes share the work by taking parts of the seeds.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, replace
from itertools import islice
from random import Random

from tidelog.base.errors import LimitError, ProgramError
from tidelog.base.record import record
from tidelog.run.contract import NO_LIMITS, Limits, Row
from tidelog.session.changes import Changes
from tidelog.session.database import Database
from tidelog.session.soak.graphs import graph_history
from tidelog.session.soak.histories import History, Step, random_history
from tidelog.session.soak.shrink import show, shrink
from tidelog.session.soak.spec import Program
from tidelog.session.transaction import Transaction

LENGTH = 12
PART = 20
"""How many histories a process follows before it tells of them."""
MOST = Limits(tuples=20_000)
"""A graph for which a commit makes more tuples is followed no further."""


class Difference(Exception):  # noqa: N818  (what a soak looks for, not an error of its user)
    """The engine and the reference engine disagree."""


@record
class Setting:
    """What is followed: an engine and its strategy, on larger graphs or not; the input with a primary key, if any."""

    engine: str | None
    strategy: str
    large: bool = False
    keyed: str | None = None

    def databases(self, program: Program) -> tuple[Database, Database]:
        """Return the database in question, and the one that it is compared with."""
        text = declare_key(str(program), self.keyed)
        twin = Database(text, "tuples", "recompute") if self.large else Database(text, "reference")
        return Database(text, self.engine, self.strategy, limits=MOST if self.large else NO_LIMITS), twin


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

    def add(self, other: Tally) -> None:
        """Add what another has done."""
        self.histories += other.histories
        self.commits += other.commits
        self.changes += other.changes


def soak_by(
    jobs: int, histories: int, seed: int, setting: Setting, progress: Callable[[Tally], None]
) -> tuple[Tally, Failure | None]:
    """Follow histories as `soak` does, by so many processes; what is found first to go wrong ends it."""
    if jobs == 1:
        return soak(histories, seed, setting, progress)
    tally = Tally()
    starts = iter(range(0, histories, PART))
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), _end_with_parent) as processes:
        running: set[Future[tuple[Tally, Failure | None]]] = set()
        while True:
            for start in islice(starts, jobs - len(running)):
                running.add(processes.submit(_part, min(PART, histories - start), seed + start, setting))
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


def _part(histories: int, seed: int, setting: Setting) -> tuple[Tally, Failure | None]:
    return soak(histories, seed, setting, lambda _: None)


def soak(
    histories: int, seed: int, setting: Setting, progress: Callable[[Tally], None]
) -> tuple[Tally, Failure | None]:
    """Follow histories, of which number i has the seed `seed + i`; stop at the first that goes wrong.

    >>> tally, failure = soak(2, 0, Setting("reference", "auto"), lambda tally: None)
    >>> tally.histories, tally.commits, failure
    (2, 24, None)
    """
    tally = Tally()
    for number in range(seed, seed + histories):
        random = Random(number)  # noqa: S311  (a test needs no secrets)
        if setting.large:
            history = graph_history(random)
        else:
            history = random_history(random, LENGTH)
            wide = [relation.name for relation in history.start.inputs if len(relation.kinds) > 1]
            setting = replace(setting, keyed=random.choice([None, *wide]))
        error = failing(history, setting, tally)
        if error is not None:
            return tally, smallest(number, setting, history, error)
        tally.histories += 1
        progress(tally)
    return tally, None


def smallest(seed: int, setting: Setting, history: History, error: Exception) -> Failure:
    """Make a failing history small."""
    small = shrink(history, lambda candidate: failing(candidate, setting, Tally()) is not None)
    found = failing(small, setting, Tally()) or error
    return Failure(seed, f"{declare_key(show(small), setting.keyed)}\n{type(found).__name__}: {found}")


def failing(history: History, setting: Setting, tally: Tally) -> Exception | None:
    """Follow a history and return what went wrong."""
    try:
        follow(history, setting, tally)
    except (ProgramError, LimitError):
        return None  # a smaller program that is none, or a graph that is too large
    except Exception as error:  # noqa: BLE001  (whatever an engine raises is what a soak looks for)
        return error
    return None


def follow(history: History, setting: Setting, tally: Tally) -> None:
    """Play a history; raise `Difference` at the first commit after which the databases disagree."""
    database, reference = setting.databases(history.start)
    for number, step in enumerate(history.steps):
        if number % 3 == 2:
            undone = database.transaction().begin()
            before = history.steps[number - 1]
            play(undone, Step(before.deleted, before.inserted), setting.keyed)
            play(undone, step, setting.keyed)
            undone.rollback()
        with database.transaction() as tx:
            play(tx, step, setting.keyed)
            previewed = plain(tx.preview()) if number % 3 == 1 else None
        with reference.transaction() as expected:
            play(expected, step, setting.keyed)
        made, wanted = plain(tx.result.changes), plain(expected.result.changes)
        if made != wanted:
            raise Difference(f"step {number} changed {made}, but should have changed {wanted}")
        if previewed not in (None, made):
            raise Difference(f"step {number} changed {made}, but its preview was {previewed}")
        compare(database, reference, f"after step {number}")
        tally.commits += 1
        tally.changes += sum(map(len, made.values()))
    database.verify()


def play(tx: Transaction, step: Step, keyed: str | None) -> None:
    """Do in a transaction what a step says."""
    for relation, rows in step.deleted.items():
        if relation == keyed:
            tx.delete_keys(relation, sorted({row[0] for row in rows}, key=repr))
        else:
            tx.delete(relation, sorted(rows, key=repr))
    for relation, rows in step.inserted.items():
        (tx.upsert if relation == keyed else tx.insert)(relation, sorted(rows, key=repr))
    for rule in step.rules_removed:
        tx.remove_rules(str(rule))
    for rule in step.rules_added:
        tx.add_rules(str(rule))


def compare(database: Database, reference: Database, when: str) -> None:
    """Compare all relations of two databases."""
    for view in reference.relations():
        found, wanted = set(database.relation(view.name).rows(ordered=False)), set(view.rows(ordered=False))
        if found != wanted:
            raise Difference(
                f"{when} {view.name} lacks {wanted - found or '{}'} and has {found - wanted or '{}'} too much"
            )
        if database.relation(view.name).count() != len(wanted):
            raise Difference(f"{when} {view.name} counts {database.relation(view.name).count()} of {len(wanted)} rows")


def plain(changes: Changes) -> dict[str, list[tuple[Row, int]]]:
    """Return changes as data."""
    return {name: [*changes[name]] for name in sorted(changes)}


def declare_key(text: str, keyed: str | None) -> str:
    """Give a relation of a program text a primary key: its first column.

    >>> declare_key("input relation A(c0: bool, c1: bool)", "A")
    'input relation A(c0: bool, c1: bool) primary key (x) x.c0'
    """
    if keyed is None:
        return text
    beginning = f"input relation {keyed}("
    lines = (f"{line} primary key (x) x.c0" if line.startswith(beginning) else line for line in text.split("\n"))
    return "\n".join(lines)

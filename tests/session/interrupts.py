"""Interrupting a database before any line: which lines run in a scene, raising at one of them, looking at what is left.

A `Scene` is something that a program does with a database, from the facts and rules it begins with. A first run notes
which lines of Tidelog run, and how often (`lines_of`). Then the scene is played once for each of them, and an
exception is raised there (`Player.play`): the state must be the one before or after the transaction that was at work,
as the number of commits says, with all that is kept beside it; nothing is locked; and what comes afterwards is right.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from random import Random
from types import CodeType, FrameType
from typing import Any

import tidelog
from tests.session.scenes import LONG, PROGRAM, SCENES, Rows, Scene, Stage, Step, back
from tidelog import Database, Transaction

FOLDER = str(Path(tidelog.__file__).parent)
Point = tuple[str, int]
"""A file and a line."""


class Interrupted(BaseException):
    """As a `KeyboardInterrupt`: nobody who catches errors catches it."""


class FailedError(Exception):
    """As an error of a library, or too little memory."""


def rows_of(db: Database) -> Rows:
    """Return the rows of every relation."""
    return {view.name: view.rows() for view in db.relations()}


def opened(**options: Any) -> Database:
    """Return a database with the facts that scenes begin with."""
    db = Database(PROGRAM, **options)
    with db.transaction() as tx:
        back(tx)
    return db


@cache
def states(scene: Scene) -> list[Rows]:
    """Return what is true before a scene, and after each of its commits, by the reference engine."""
    db = opened(engine="reference")
    found = [rows_of(db)]
    for step in scene.steps:
        with db.transaction() as tx:
            step(tx)
        found.append(rows_of(db))
    return found


# --- lines -----------------------------------------------------------------------------------------------------------


@dataclass
class Lines:
    """How often lines ran in a scene, and of which code they are."""

    counts: Counter[Point] = field(default_factory=Counter)
    codes: dict[Point, set[CodeType]] = field(default_factory=dict)

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        """Count lines of Tidelog."""
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            point = frame.f_code.co_filename, frame.f_lineno
            self.counts[point] += 1
            self.codes.setdefault(point, set()).add(frame.f_code)
        return self.trace


def lines_of(scene: Scene, stage: Stage) -> Lines:
    """Play a scene and return the lines that ran."""
    found = Lines()
    sys.settrace(found.trace)
    try:
        scene.act(stage)
    finally:
        sys.settrace(None)
    return found


class Interrupter:
    """Raises an exception before the n-th run of a line."""

    def __init__(self, point: Point, codes: set[CodeType], run: int, error: type[BaseException]) -> None:
        self._line, self._codes, self._error = point[1], codes, error
        self._left = run
        self.raised = False

    def trace(self, frame: FrameType, event: str, _: Any) -> Any:
        """Raise when the line has run often enough."""
        if frame.f_code not in self._codes:
            return None
        if event == "line" and frame.f_lineno == self._line:
            self._left -= 1
            if self._left == 0:
                sys.settrace(None)
                self.raised = True
                raise self._error(f"{frame.f_code.co_filename}:{self._line}")
        return self.trace


@dataclass(frozen=True)
class Interrupt:
    """Where to interrupt a scene: before the n-th run of a line."""

    scene: Scene
    point: Point
    run: int

    @property
    def name(self) -> str:
        """The line, as seen from the package."""
        return f"{self.point[0].removeprefix(FOLDER)}:{self.point[1]}"

    def __str__(self) -> str:
        return f"{self.scene.name}: {self.name}, run {self.run}"


# --- playing ---------------------------------------------------------------------------------------------------------


class Player:
    """Plays scenes on a database, on the same as long as nothing is wrong with it, so that nothing wrong stays hidden.

    Rows, counts, locks and results are looked at each time. Every `rarely`-th time, and before a database is given up,
    it is verified, and what was interrupted is done again: what is wrong with the rest is still wrong then, and which
    interrupt it was is found by playing those before it again, each on a database of its own.
    """

    def __init__(self, seed: int, *, rarely: int, scenes: Sequence[Scene] = SCENES, **options: Any) -> None:
        self._random = Random(seed)
        self._rarely = rarely
        self._options = options
        self._strategy = options.get("strategy", "auto")
        self._other = ThreadPoolExecutor(1)
        self._scenes = scenes
        self._lines: dict[str, Lines] = {}
        for scene in scenes:
            for _ in range(2):  # in the second run what is kept for all databases is there
                self._lines[scene.name] = lines_of(scene, self._fresh())
        self._stage = self._fresh()
        self._lately: list[tuple[Interrupt, type[BaseException]]] = []
        self.tried = self.raised = 0
        self.problems: list[str] = []

    def _fresh(self) -> Stage:
        return Stage(opened(**self._options), self._strategy)

    def interrupts(self, folders: Sequence[str], twice: Sequence[str] = ()) -> list[Interrupt]:
        """Return each line of some folders once, before its first run or at random a later one; of some, both."""
        places: dict[Point, list[tuple[Scene, int]]] = {}
        for scene in self._scenes:
            for point, count in sorted(self._lines[scene.name].counts.items()):
                if point[0].removeprefix(FOLDER).startswith(tuple(folders)):
                    places.setdefault(point, []).append((scene, count))
        found = []
        for point, everywhere in places.items():
            scenes = [(scene, count) for scene, count in everywhere if scene.act not in LONG] or everywhere
            first = Interrupt(self._random.choice(scenes)[0], point, 1)
            repeated = [(scene, count) for scene, count in scenes if count > 1]
            if not repeated:
                found.append(first)
                continue
            scene, count = self._random.choice(repeated)
            both = first, Interrupt(scene, point, self._random.randint(2, count))
            if point[0].removeprefix(FOLDER).startswith(tuple(twice)):
                found += both
            else:
                found.append(self._random.choice(both))
        return found

    def play_all(self, interrupts: Sequence[Interrupt]) -> None:
        """Interrupt at each of these places, by two kinds of exceptions in turn, and note what is wrong then."""
        for number, interrupt in enumerate(interrupts, 1):
            self.tried += 1
            error = (Interrupted, FailedError)[number % 2]
            self._lately.append((interrupt, error))
            closely = number % self._rarely == 0 or number == len(interrupts)
            try:
                raised = self._play(interrupt, error, closely=closely)
                if not raised:  # on a database that has been used less is made anew
                    self._renew()
                    raised = self._play(interrupt, error, closely=closely)
                if not raised and interrupt.run > 1:  # or less often, now that kernels do what it did
                    first = replace(interrupt, run=1)
                    self._lately.append((first, error))
                    raised = self._play(first, error, closely=closely)
                self.raised += raised
            except Exception as problem:  # noqa: BLE001  (whatever it is, it is wrong)
                self._blame(problem)
            else:
                self._lately = [] if closely else self._lately

    def _renew(self) -> None:
        self._look_closely(rows_of(self._stage.db), (), rows_of(self._stage.db))
        self._stage, self._lately = self._fresh(), self._lately[-1:]

    def _blame(self, problem: Exception) -> None:
        """Find which of the last interrupts left something wrong."""
        found = 0
        gc.enable()
        for interrupt, error in self._lately:
            self._stage, self._other = self._fresh(), ThreadPoolExecutor(1)
            try:
                self._play(interrupt, error, closely=True)
            except Exception as wrong:  # noqa: BLE001
                found += 1
                self.problems.append(f"{interrupt} ({error.__name__}): {wrong!r}"[:500])
        if not found:
            those = "; ".join(str(interrupt) for interrupt, _ in self._lately)
            self.problems.append(f"together {those}: {problem!r}"[:1000])
        self._stage, self._other, self._lately = self._fresh(), ThreadPoolExecutor(1), []

    def _play(self, interrupt: Interrupt, error: type[BaseException], *, closely: bool) -> bool:
        stage, scene = self._stage, interrupt.scene
        for kept_from_before in (stage.transactions, stage.subscriptions, stage.heard):
            kept_from_before.clear()
        begun = stage.db.commit_number
        interrupter = Interrupter(interrupt.point, self._lines[scene.name].codes[interrupt.point], interrupt.run, error)
        kept: BaseException | None = None  # with its traceback, as an interactive session keeps it
        sys.settrace(interrupter.trace)
        try:
            scene.act(stage)
        except (Interrupted, FailedError, tidelog.EvaluationError) as problem:  # engines tell the rule of an error
            kept = problem
        finally:
            sys.settrace(None)
        self._look(scene, begun, ended=kept is None, closely=closely)
        del kept
        return interrupter.raised

    def _look(self, scene: Scene, begun: int, *, ended: bool, closely: bool) -> None:
        """Look at what an interrupt has left, and go back to what scenes begin with."""
        stage, db, expected = self._stage, self._stage.db, states(scene)
        for subscription in stage.subscriptions:
            subscription.cancel()
        self._other.submit(_visit, db).result(timeout=20)
        done = db.commit_number - begun
        assert done <= len(scene.steps), "more commits than transactions"
        assert not ended or done == len(scene.steps) or stage.subscriptions, "the commit has returned"
        _compare(rows_of(db), expected[done])
        assert all(view.count() == len(expected[done][view.name]) for view in db.relations()), "counts"
        results = [tx.result.number for tx in stage.transactions if _has_result(tx)]
        assert results == list(range(begun + 1, begun + 1 + done)), "results"
        assert gc.isenabled(), "the collector is off"
        if db.strategy != self._strategy:
            db.set_strategy(self._strategy)
        if closely:
            self._look_closely(expected[done], scene.steps[done:], expected[-1])
            done = len(scene.steps)
        if stage.subscriptions:
            self._check_heard(begun)
        if done:
            with db.transaction() as tx:
                back(tx)
            _compare(tx.result.changes, _differences(expected[done], expected[0]))
            _compare(rows_of(db), expected[0])

    def _look_closely(self, now: Rows, steps: Sequence[Step], then: Rows) -> None:
        """Verify, and do what was interrupted again."""
        self._stage.db.verify()
        if steps:
            with self._stage.db.transaction() as tx:
                for step in steps:
                    step(tx)
            _compare(tx.result.changes, _differences(now, then))

    def _check_heard(self, begun: int) -> None:
        heard = self._stage.heard
        told = [number for number in heard if number != begun]
        assert heard in (told, [begun, *told]), f"told of {heard}, which is in disorder"
        assert told == list(range(begun + 1, begun + 1 + len(told))), f"told of {heard}, which is not each commit once"


def _visit(db: Database) -> None:
    """Use a database from another thread."""
    with db.transaction() as tx:
        tx.rollback()
    db.relation("Path").count()


def _has_result(tx: Transaction) -> bool:
    try:
        return tx.result is not None
    except tidelog.UserError:
        return False


def _differences(before: Rows, after: Rows) -> Mapping[str, list[tuple[tuple[Any, ...], int]]]:
    found = {}
    for name in after:
        old, new = set(before.get(name, ())), set(after[name])
        if old != new:
            found[name] = [(row, 1) for row in sorted(new - old)] + [(row, -1) for row in sorted(old - new)]
    return found


def _compare(found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    proper = {name: [*rows] for name, rows in found.items()}
    if proper != expected:
        names = [name for name in {**proper, **expected} if proper.get(name) != expected.get(name)]
        raise AssertionError("; ".join(f"{name} is {proper.get(name)}, not {expected.get(name)}" for name in names))

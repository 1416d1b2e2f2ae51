"""The goals that are watched: who watches each, and what becomes of it when nobody does any more.

A view that is closed is noted, and the next update of the engine no longer asks for what it gave. A close may be
interrupted before it is noted: who watches what is looked at as a whole when the engine goes over to other goals.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from functools import partial
from operator import call
from typing import Any, Protocol

from tidelog.run.contract.engine import Delta, Row
from tidelog.session.changes import Commit
from tidelog.session.program.standing import Standing
from tidelog.session.subscriptions import Subscription

IDLE = 8
"""How many goals that nobody watches any more may stay in the plan; to be rid of them it is made anew."""
Asked = Mapping[str, frozenset[Row]]
"""What is given for the parameters of each goal, by its name."""


class Letter(partial[object]):
    """A call of a view's callback, or of what collects changes: no line runs between taking it and the call."""

    view: Watching


class Watching(Protocol):
    """A view of a live goal."""

    since: int
    """The last commit that it does not hear of."""

    @property
    def active(self) -> bool:
        """Whether it follows commits."""

    def letters(self, change: Delta, commit: int) -> list[Letter]:
        """Return the calls that tell what a commit has changed."""


class Watched(Watching, Protocol):
    """A view that is being opened."""

    def open(self, goal: Standing, given: Row, since: int) -> None:
        """Say which goal it is, with which parameters, and after which commit it begins."""


class LiveGoal(Subscription):
    """The views of one goal, each with what it gave for the parameters: a commit reaches those that it changes."""

    __slots__ = ("parameters", "views")

    def __init__(self, relation: str, parameters: int) -> None:
        super().__init__(relation, call, 0)
        self.parameters = parameters
        self.views: dict[Row, list[Watching]] = {}

    def add(self, given: Row, view: Watching) -> None:
        """Let a view hear of the commits after its own."""
        self.views[given] = [*self.watching(given), view]

    def watching(self, given: Row) -> list[Watching]:
        """Return the open views that gave some values for the parameters."""
        return [view for view in self.views.get(given, ()) if view.active]

    def letters(self, commit: Commit) -> Iterable[tuple[Any, ...]]:
        """Return what a commit says: for each view what changed of its answers."""
        change = commit.live.get(self.relation, Delta())
        own = self.parameters
        found: dict[Row, tuple[list[Row], list[Row]]] = {}
        for place, rows in enumerate((change.inserted, change.deleted)):
            for row in rows:
                found.setdefault(row[:own], ([], []))[place].append(row[own:])
        return [
            (letter,)
            for given, rows in found.items()
            for view in self.watching(given)
            if commit.number > view.since
            for letter in view.letters(Delta(*rows), commit.number)
        ]

    def call(self) -> None:
        """Make the next call, unless its view was closed meanwhile."""
        if self.mail.changes[0][0].view.active:
            Subscription.call(self)
        else:
            self.mail.changes.popleft()


class LiveGoals:
    """The goals of one database that are watched, by name."""

    def __init__(self) -> None:
        self._goals: dict[str, LiveGoal] = {}
        self.closed: list[tuple[str, Row]] = []
        """The goals and parameters of views that were closed since the last update."""

    def of(self, name: str, parameters: int) -> LiveGoal:
        """Return the views of a goal."""
        return self._goals.setdefault(name, LiveGoal(name, parameters))

    def watched(self, asked: Asked) -> Asked:
        """Return what open views have given, of all that was asked."""
        return {goal: frozenset(given for given in rows if self._has(goal, given)) for goal, rows in asked.items()}

    def still_asked(self, asked: Asked) -> Asked:
        """Return what was asked without that of which all views are known to be closed."""
        gone: dict[str, set[Row]] = {}
        for goal, given in self.closed:
            if not self._has(goal, given):
                gone.setdefault(goal, set()).add(given)
        return {goal: rows - gone.get(goal, set()) for goal, rows in asked.items()} if gone else asked

    def forget(self, closed: int) -> None:
        """Keep nothing of the views that were closed first, which an update has dropped. May be done again."""
        for name, given in self.closed[:closed]:
            goal = self._goals.get(name)
            if goal is not None and not goal.watching(given):
                goal.views.pop(given, None)
                if not goal.views:
                    self._goals.pop(name, None)
                    goal.cancel()
        del self.closed[:closed]

    def _has(self, goal: str, given: Row) -> bool:
        return goal in self._goals and bool(self._goals[goal].watching(given))


def goals_in_use(goals: Mapping[Hashable, Standing], asked: Asked) -> dict[Hashable, Standing]:
    """Return the goals that somebody watches."""
    return {key: goal for key, goal in goals.items() if asked.get(goal.name)}

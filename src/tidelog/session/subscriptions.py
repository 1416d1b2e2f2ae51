"""Telling subscribers of commits, in order, each commit once.

A commit puts itself in a queue, gives up the write lock, and then delivers what the queue has. So a callback may open
a transaction of its own: its commit waits in the queue until the present delivery is done. A callback that raises does
not undo the commit, which has happened: the error is kept in `Commit.failures` and told as a `SubscriptionWarning`.
"""

from __future__ import annotations

import threading
import warnings
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tidelog.session.changes import Change, Commit

Callback = Callable[[Change], object]


class SubscriptionWarning(RuntimeWarning):
    """A subscriber raised an error."""


@dataclass(eq=False, slots=True)
class Subscription:
    """A callback for the changes of one relation after commit `since`, until `cancel`."""

    relation: str
    callback: Callback
    since: int
    active: bool = True

    def cancel(self) -> None:
        """Call no more."""
        self.active = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cancel()


@dataclass(slots=True)
class Subscriptions:
    """The subscribers of a database and the commits they are still to hear of."""

    _members: list[Subscription] = field(default_factory=list)
    _queue: deque[Commit] = field(default_factory=deque)
    _delivery: threading.RLock = field(default_factory=threading.RLock)
    _delivering: bool = False

    def add(self, relation: str, callback: Callback, current: Callable[[], tuple[int, Change | None]]) -> Subscription:
        """Subscribe; `current` gives the number of the last commit and, if wanted, the state to start from."""
        with self._delivery:  # no later commit is delivered before the state
            since, state = current()
            if state is not None:
                self._call(callback, state)
            subscription = Subscription(relation, callback, since)
            self._members.append(subscription)
        self.deliver()
        return subscription

    def _call(self, callback: Callback, state: Change) -> None:
        nested, self._delivering = self._delivering, True  # commits that the callback makes wait in the queue
        try:
            callback(state)
        finally:
            self._delivering = nested

    def publish(self, commit: Commit) -> None:
        """Put a commit in the queue. To be called in order of commits, before `deliver`."""
        self._queue.append(commit)

    def deliver(self) -> None:
        """Tell what is in the queue, unless this thread is telling already."""
        failures: list[str] = []
        with self._delivery:
            if self._delivering:
                return
            self._delivering = True
            try:
                while self._queue:
                    failures += self._tell(self._queue.popleft())
            finally:
                self._delivering = False
        if failures:
            warnings.warn("\n".join(failures), SubscriptionWarning, stacklevel=4)

    def _tell(self, commit: Commit) -> list[str]:
        failures: list[str] = []
        self._members[:] = [member for member in self._members if member.active]
        for member in list(self._members):
            if member.active and commit.number > member.since and member.relation in commit.changes:
                try:
                    member.callback(commit.changes[member.relation])
                except Exception as error:  # noqa: BLE001  (whatever it is, the commit stands)
                    commit.failures.append(error)
                    failures.append(f"subscriber of {member.relation} at commit {commit.number}: {error!r}")
        return failures

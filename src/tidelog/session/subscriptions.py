"""Telling subscribers of commits, in order, each commit once.

A commit puts itself in a queue, gives up the write lock, and then delivers what the queue has. So a callback may open
a transaction of its own: its commit waits in the queue until the present delivery is done. A callback that raises does
not undo the commit, which has happened: the error is kept in `Commit.failures` and reported as a `SubscriptionWarning`.

Whatever interrupts a commit or its delivery, a callback is called once for each commit that became visible and changed
its relation, in order of commits, and for no other. What is left to deliver is taken up when that transaction ends
after all, or before the next one begins, or when somebody subscribes, in the thread that does so. A call in which the
interrupt came has been made.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any, Self

from tidelog.base.process.lock import Life, Lock, ending
from tidelog.base.record import record
from tidelog.session.changes import Change, Commit

Callback = Callable[[Change], object]


class SubscriptionWarning(RuntimeWarning):
    """A subscriber raised an error."""


@record
class Mail:
    """The last commit that a subscriber was considered for, and what of it is still to be told."""

    commit: int
    changes: deque[tuple[Any, ...]] = field(default_factory=deque)


class Subscription:
    """A callback for the changes of one relation after some commit, until `cancel`, or the end of a `with` block."""

    __slots__ = ("_life", "block", "callback", "mail", "relation")

    def __init__(self, relation: str, callback: Callable[..., object], since: int) -> None:
        self.relation = relation
        self.callback = callback
        self.mail = Mail(since)
        self.block: Life = _for_ever
        self._life: Life = _for_ever

    @property
    def active(self) -> bool:
        """Whether it is still called."""
        return self._life() is not None

    def cancel(self) -> None:
        """Call no more."""
        self._life = _no_more

    def letters(self, commit: Commit) -> Iterable[tuple[Any, ...]]:
        """Return what a commit says: the arguments of each call."""
        return [(commit.changes[self.relation],)] if self.relation in commit.changes else ()

    def call(self) -> None:
        """Call with what is still to be told; there is something."""
        # Nothing comes between taking it and the call: an interrupt neither loses it nor lets it be told twice.
        next(starmap(self.callback, iter(self.mail.changes.popleft, None)))

    def __enter__(self) -> Self:
        if self.active:
            self._life = self.block
        return self

    @ending
    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.cancel()


def _for_ever() -> object | None:
    return _for_ever


def _no_more() -> object | None:
    return None


@dataclass(slots=True)
class Subscriptions:
    """The subscribers of a database and the commits they are still to hear of. `published` gives the last visible."""

    published: Callable[[], int]
    _members: list[Subscription] = field(default_factory=list)
    _queue: deque[Commit] = field(default_factory=deque)
    _delivery: Lock = field(default_factory=Lock)

    def add(self, relation: str, callback: Callback, current: Callable[[], tuple[int, Change | None]]) -> Subscription:
        """Subscribe; `current` gives the number of the last commit and, if wanted, the state to start from."""
        subscription = Subscription(relation, callback, 0)
        try:
            with self._delivery.held():  # no later commit is delivered before the state
                since, state = current()
                subscription.mail = Mail(since)
                if state is not None:
                    callback(state)
                self._members.append(subscription)
            self.deliver()
            return subscription  # noqa: TRY300  (an interrupt may come before this line, too)
        except BaseException:
            subscription.cancel()  # whoever does not get it cannot cancel it
            raise

    def enter(self, subscription: Subscription) -> None:
        """Let a subscription hear of commits from now on; twice is once."""
        if not any(member is subscription for member in self._members):
            self._members.append(subscription)

    def publish(self, commit: Commit) -> None:
        """Put a commit in the queue, just before it becomes visible."""
        self._queue.append(commit)

    def withdraw(self) -> None:
        """Take commits out of the queue that did not become visible."""
        while self._queue and self._queue[-1].number > self.published():
            self._queue.pop()

    def resume(self) -> None:
        """Take a delivery up that was interrupted."""
        if self._queue and self._delivery.holder() is None:
            self.deliver()

    def deliver(self) -> None:
        """Tell what is in the queue, unless this thread is telling already."""
        if not self._queue:
            return
        failures: list[str] = []
        with self._delivery.held() as taken:
            while taken and self._queue and self._queue[0].number <= self.published():
                failures += self._tell(self._queue[0])
                self._queue.popleft()
        if failures:
            warnings.warn("\n".join(failures), SubscriptionWarning, stacklevel=4)

    def _tell(self, commit: Commit) -> list[str]:
        """Tell each subscriber of a commit that has not been considered for it, or not been told."""
        failures: list[str] = []
        self._members[:] = [member for member in self._members if member.active]
        for member in list(self._members):
            if commit.number > member.mail.commit:
                member.mail = Mail(commit.number, deque(member.letters(commit)))
            while member.active and member.mail.changes:
                try:
                    member.call()
                except Exception as error:  # noqa: BLE001  (whatever it is, the commit stands)
                    commit.failures.append(error)
                    failures.append(f"subscriber of {member.relation} at commit {commit.number}: {error!r}")
        return failures

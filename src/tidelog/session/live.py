"""Live goals: views of the answers to a goal, which follow each commit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Self
from weakref import WeakSet

from tidelog.base.errors import UserError
from tidelog.base.plain.plain import Plain
from tidelog.base.process.lock import Life, ending
from tidelog.run.contract.engine import Delta, Row, Rows
from tidelog.session.changes import Change
from tidelog.session.frames.tabular import Tabular
from tidelog.session.live_goals import Letter
from tidelog.session.program.standing import Standing, relation_of
from tidelog.session.store import Store


class Feed:
    """The changes of a live goal since it was made: iterating gives those that have come, each once.

    >>> import tidelog
    >>> db = tidelog.Database("input relation Edge(a: u8, b: u8)")
    >>> feed = db.watch("Edge(1, x)").changes()
    >>> with db.transaction() as tx:
    ...     tx.insert("Edge", [(1, 2), (3, 4)])
    >>> [[*change] for change in feed], [*feed]
    ([[((2,), 1)]], [])
    """

    def __init__(self) -> None:
        self.waiting: deque[Change] = deque()

    def __iter__(self) -> Iterator[Change]:
        while self.waiting:
            yield self.waiting.popleft()

    def __len__(self) -> int:
        return len(self.waiting)


class View(Tabular):
    """The answers to a goal, kept true: `rows()` as of the last commit, changes with each commit, until `close`.

    >>> import tidelog
    >>> db = tidelog.Database("input relation Edge(a: u8, b: u8)", facts={"Edge": [(1, 2)]})
    >>> with db.watch("Edge($from, x)", {"from": 1}, lambda change: print(change.commit, [*change])) as view:
    ...     with db.transaction() as tx:
    ...         tx.insert("Edge", [(1, 3), (2, 3)])
    ...     view.rows()
    1 [((3,), 1)]
    [(2,), (3,)]
    """

    def __init__(
        self, store: Store, text: str, parameters: Mapping[str, Any], callback: Callable[[Change], object] | None
    ) -> None:
        self.text = text
        self.block: Life = _for_ever
        self.since = 0
        self._store = store
        self._callback = callback
        self._feeds: WeakSet[Feed] = WeakSet()
        self._life: Life = _for_ever
        self._goal: Standing | None = None
        self._given: Row = ()
        try:
            store.watch(self, text, parameters)
        except BaseException:
            self.close()  # whoever does not get it cannot close it
            raise

    def open(self, goal: Standing, given: Row, since: int) -> None:
        """Say which goal it is, with which parameters, and after which commit it begins."""
        self._goal, self._given, self.since = goal, given, since
        self.fields = goal.columns
        self.plain = Plain(goal.program.types | self._store.plan.types)  # type: ignore[operator]
        self._relation = relation_of(goal)

    @property
    def active(self) -> bool:
        """Whether it still follows commits."""
        return self._life() is not None

    def raw_rows(self) -> Rows:
        """Return the answers as of the last commit, unordered and as the engine keeps them."""
        if not self.active or self._goal is None:
            raise UserError(f"the live goal `{self.text}` is closed")
        rows = self._store.look_up(self._goal.name, dict(enumerate(self._given)))
        return self._without_parameters(rows)

    def _without_parameters(self, rows: Rows) -> Rows:
        given = len(self._given)
        return [row[given:] for row in rows] if given else rows

    def changes(self) -> Feed:
        """Return what has the changes of each commit from now on, in order, for whoever iterates."""
        feed = Feed()
        self._feeds.add(feed)
        return feed

    def letters(self, change: Delta, commit: int) -> list[Letter]:
        """Return the calls that tell what a commit has changed; for the store."""
        told = Change(self._relation, change, self.plain, commit)
        letters = [Letter(feed.waiting.append, told) for feed in self._feeds]
        if self._callback is not None:
            letters.append(Letter(self._callback, told))
        for letter in letters:
            letter.view = self
        return letters

    def close(self) -> None:
        """Follow no more: the next commit no longer computes it, unless others watch the same."""
        if self._life is not _no_more:
            self._life = _no_more
            if self._goal is not None:
                self._store.unwatch(self._goal.name, self._given)

    def __repr__(self) -> str:
        return f"<View of {self.text}>" if self.active else f"<View of {self.text}, closed>"

    def __enter__(self) -> Self:
        if self.active:
            self._life = self.block
        return self

    @ending
    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.close()


def _for_ever() -> object | None:
    return _for_ever


def _no_more() -> object | None:
    return None
